// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestPathsNameABucketAndAKey(t *testing.T) {
	for path, want := range map[string][2]string{
		"bucket/key":     {"bucket", "key"},
		"bucket/a/b/c":   {"bucket", "a/b/c"},
		"/bucket/key":    {"bucket", "key"},
		"bucket":         {},
		"bucket/":        {},
		"bucket/folder/": {},
		"":               {},
		"/":              {},
		"//key":          {},
		"bucket//":       {},
		"bucket/../key":  {},
		"bucket/a/..":    {},
		"../key":         {},
		"bucket/a..b":    {"bucket", "a..b"},

		"bucket/" + strings.Repeat("k", 1024): {"bucket", strings.Repeat("k", 1024)},
		"bucket/" + strings.Repeat("k", 1025): {},
	} {
		bucket, key, err := SplitPath(path)
		if got := [2]string{bucket, key}; got != want || (err == nil) != (want[0] != "") {
			t.Errorf("SplitPath(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
}

// examples has an example of each kind, with every field of its block set, and the address of an object in it.
var examples = map[string]struct {
	backup v1beta2.BackupSource
	config Config
	url    string
}{
	"S3": {
		v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "b/k", AWSSecret: "s", Endpoint: "e", ForcePathStyle: true, Profile: "p", Checksums: true}},
		Config{Kind: "S3", Path: "b/k", SecretName: "s", SecretField: "s3.awsSecret", Endpoint: "e", ForcePathStyle: true, Profile: "p", Checksums: true, Namespace: "ns"},
		"s3://b/k",
	},
	"ABS": {
		v1beta2.BackupSource{ABS: &v1beta2.ABSBackupSource{Path: "b/k", ABSSecret: "s", Endpoint: "e"}},
		Config{Kind: "ABS", Path: "b/k", SecretName: "s", SecretField: "abs.absSecret", Endpoint: "e", Namespace: "ns"},
		"https://account.blob.core.windows.net/b/k",
	},
	"GCS": {
		v1beta2.BackupSource{GCS: &v1beta2.GCSBackupSource{Path: "b/k", GCPSecret: "s", Endpoint: "e"}},
		Config{Kind: "GCS", Path: "b/k", SecretName: "s", SecretField: "gcs.gcpSecret", Endpoint: "e", Namespace: "ns"},
		"gs://b/k",
	},
	"OSS": {
		v1beta2.BackupSource{OSS: &v1beta2.OSSBackupSource{Path: "b/k", OSSSecret: "s", Endpoint: "e"}},
		Config{Kind: "OSS", Path: "b/k", SecretName: "s", SecretField: "oss.ossSecret", Endpoint: "e", Namespace: "ns"},
		"oss://b/k",
	},
	"File": {
		v1beta2.BackupSource{File: &v1beta2.FileBackupSource{Path: "b/k"}},
		Config{Kind: "File", Path: "b/k", Namespace: "ns"},
		"file:///backups/ns/b/k",
	},
}

func backupTo(name string) *v1beta2.EtcdBackup {
	return &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns"},
		Spec:       v1beta2.BackupSpec{StorageType: v1beta2.BackupStorageType(name), BackupSource: examples[name].backup},
	}
}

func TestEveryKindHasAnExample(t *testing.T) {
	for _, name := range Names() {
		if _, ok := examples[name]; !ok {
			t.Errorf("%s has none", name)
		}
	}
}

func TestABlockBecomesAConfigAndTheBlockOfARestore(t *testing.T) {
	for name, example := range examples {
		b := backupTo(name)
		c, err := OfBackup(b)
		if diff := cmp.Diff(example.config, c); diff != "" || err != nil {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
		r := &v1beta2.EtcdRestore{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns"},
			Spec:       v1beta2.RestoreSpec{BackupStorageType: b.Spec.StorageType, RestoreSource: RestoreSource(b, "b/k_v7")},
		}
		want := example.config
		want.Path, want.Checksums = "b/k_v7", false // who reads sends nothing to be checked
		c, err = OfRestore(r)
		if diff := cmp.Diff(want, c); diff != "" || err != nil {
			t.Errorf("the restore from %s: %v, %s", name, err, diff)
		}
	}
}

func TestABlockOfAnotherKindIsRefused(t *testing.T) {
	for name, example := range examples {
		other := "S3"
		if name == other {
			other = "File"
		}
		b := backupTo(name)
		b.Spec.BackupSource = examples[other].backup
		if _, err := OfBackup(b); err == nil {
			t.Errorf("%s was read from the block of %s", example.config.Kind, other)
		}
	}
	b := backupTo("File")
	b.Spec.StorageType = "Tape"
	_, err := OfBackup(b)
	if want := `storageType "Tape" is not known; use S3, ABS, GCS, OSS or File`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = OfRestore(&v1beta2.EtcdRestore{Spec: v1beta2.RestoreSpec{BackupStorageType: "S3"}})
	if want := "s3 must be set, because backupStorageType is S3"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestABackupInAnotherStoreIsKnownByItsAddress(t *testing.T) {
	for name, example := range examples {
		b := backupTo(name)
		b.Status.URL = example.url
		if !WrittenTo(b, "b/k") {
			t.Errorf("%s: %s is not where the spec says", name, example.url)
		}
		for other := range examples {
			if b.Spec.StorageType = v1beta2.BackupStorageType(other); other != name && WrittenTo(b, "b/k") {
				t.Errorf("%s is taken for an object in %s", example.url, other)
			}
		}
		b.Spec.StorageType = v1beta2.BackupStorageType(name)
		if WrittenTo(b, "elsewhere/k") {
			t.Errorf("%s: %s is taken for an object of another bucket", name, example.url)
		}
		b.Status.Backups = []v1beta2.KeptBackup{{Name: "k_v1"}}
		if !WrittenTo(b, "b/k_v1") || WrittenTo(b, "elsewhere/k_v1") {
			t.Errorf("%s: an object of a series is not told from that of another bucket", name)
		}
	}
	b := backupTo("S3")
	if !WrittenTo(b, "b/k") {
		t.Error("an object of an older operator, which wrote no address, is refused")
	}
}
