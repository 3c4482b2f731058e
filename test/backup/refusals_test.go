// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/port"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

func TestBadInputIsReportedInASentenceThatNamesWhatToChange(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	s3 := stores.StartS3(t)
	e := newEnv(t, s3)
	server.NewSecret(t, e.namespace, "empty", map[string][]byte{"other": []byte("x")})
	server.NewSecret(t, e.namespace, "wrong", s3.Wrong)
	server.NewSecret(t, e.namespace, "half", map[string][]byte{"credentials": []byte("[default]\naws_access_key_id = AKIAHALFHALFHALFHALF\n")})
	p := startOperator(t, launch{namespace: e.namespace})

	tests := []struct {
		name    string
		change  func(*v1beta2.EtcdBackup)
		reason  string
		words   []string
		stalled bool
	}{
		{
			"missing-secret", func(b *v1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "nosuch" },
			"SecretNotUsable",
			[]string{`"nosuch"`, "s3.awsSecret"},
			false,
		},
		{
			"half-a-key", func(b *v1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "half" },
			"InvalidStore",
			[]string{`"half"`, "aws_secret_access_key"},
			false,
		},
		{
			"wrong-keys", func(b *v1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "wrong" },
			"CredentialsRefused",
			[]string{`"wrong"`},
			false,
		},
		{
			"no-bucket", func(b *v1beta2.EtcdBackup) { b.Spec.S3.Path = "nosuchbucket/x" },
			"BucketNotFound",
			[]string{`"nosuchbucket"`, "path"},
			false,
		},
		{
			"unreachable-store", func(b *v1beta2.EtcdBackup) { b.Spec.S3.Endpoint = "http://" + port.Free(t) },
			"StoreUnreachable",
			[]string{"endpoint", "connection refused"},
			false,
		},
		{
			"unreachable-etcd", func(b *v1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = []string{"http://" + port.Free(t)} },
			"EtcdUnavailable",
			[]string{"connection refused"},
			false,
		},
		{"plain-etcd-by-tls", func(b *v1beta2.EtcdBackup) {
			b.Spec.EtcdEndpoints = []string{strings.Replace(etcd.urls()[0], "http://", "https://", 1)}
		}, "EtcdUnavailable", []string{"use http://"}, false},
		{
			"tls-secret-without-files", func(b *v1beta2.EtcdBackup) { b.Spec.ClientTLSSecret = "empty" },
			"SecretNotUsable",
			[]string{"clientTLSSecret", "etcd-client.crt"},
			false,
		},
		{
			"auth-secret-without-user", func(b *v1beta2.EtcdBackup) { b.Spec.EtcdAuthSecret = "empty" },
			"SecretNotUsable",
			[]string{"etcdAuthSecret"},
			false,
		},
		{
			"encryption-secret-without-keys", func(b *v1beta2.EtcdBackup) { b.Spec.EncryptionSecret = "empty" },
			"SecretNotUsable",
			[]string{"recipients", "identities"},
			false,
		},
		{"no-volume", func(b *v1beta2.EtcdBackup) {
			b.Spec.StorageType, b.Spec.File = v1beta2.BackupStorageTypeFile, &v1beta2.FileBackupSource{Path: "a/b"}
		}, "InvalidStore", []string{"-file-store-dir"}, false},
		{"no-such-zone", func(b *v1beta2.EtcdBackup) {
			b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: "@daily", TimeZone: "Mars/Olympus"}}
		}, "InvalidSpec", []string{"timeZone", "Mars/Olympus"}, true},
		{"no-such-cron", func(b *v1beta2.EtcdBackup) {
			b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: "61 * * * *"}}
		}, "InvalidSpec", []string{"cron"}, true},
	}
	for _, test := range tests {
		b := e.backup(test.name, test.name, etcd.urls()...)
		test.change(b)
		e.create(b)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := e.awaitReason(test.name, test.reason)
			for _, word := range test.words {
				if !strings.Contains(c.Message, word) {
					t.Errorf("message = %q, want %s in it", c.Message, word)
				}
			}
			b := e.read(test.name)
			if got := meta.IsStatusConditionTrue(b.Status.Conditions, "Stalled"); got != test.stalled {
				t.Errorf("stalled = %t, want %t", got, test.stalled)
			}
			if got := meta.IsStatusConditionTrue(b.Status.Conditions, "Reconciling"); got == test.stalled {
				t.Errorf("reconciling = %t, want %t", got, !test.stalled)
			}
			if b.Status.Succeeded || (!test.stalled && b.Status.Reason != c.Message) {
				t.Errorf("status = %+v, want the message in Reason", b.Status)
			}
		})
	}
	// What can be corrected outside of the object is found without touching it.
	server.NewSecret(t, e.namespace, "nosuch", s3.Config.Secret)
	e.awaitSuccess("missing-secret")

	select {
	case <-p.Ended():
		t.Error("the operator ended")
	default:
	}
	for _, secret := range []string{"sekret0123456789", "AKIAHALFHALFHALFHALF"} {
		if strings.Contains(p.Output(), secret) {
			t.Errorf("the log shows %s", secret)
		}
	}
}

func TestRefusedByTheAPIServer(t *testing.T) {
	t.Parallel()
	e := newEnv(t, stores.StartFile(t))
	for name, change := range map[string]func(*v1beta2.EtcdBackup){
		"unknown storage type": func(b *v1beta2.EtcdBackup) { b.Spec.StorageType = "FTP" },
		"path without a key":   func(b *v1beta2.EtcdBackup) { b.Spec.File.Path = "folder" },
		"path out of the volume": func(b *v1beta2.EtcdBackup) {
			b.Spec.File.Path = "folder/../../etc/passwd"
		},
		"schedule beside an interval": func(b *v1beta2.EtcdBackup) {
			b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 5, Schedule: &v1beta2.BackupSchedule{Cron: "@daily"}}
		},
		"cron with a time zone": func(b *v1beta2.EtcdBackup) {
			b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: "TZ=UTC 1 2 * * *"}}
		},
		"unknown compression": func(b *v1beta2.EtcdBackup) { b.Spec.Compression = "Zip" },
		"block that the type needs": func(b *v1beta2.EtcdBackup) {
			b.Spec.StorageType = v1beta2.BackupStorageTypeS3
		},
	} {
		b := e.backup("refused", "folder/key", "http://localhost:1")
		change(b)
		if err := kube.Create(t.Context(), b); err == nil {
			t.Errorf("%s: the API server accepted it", name)
			if err := kube.Delete(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
}
