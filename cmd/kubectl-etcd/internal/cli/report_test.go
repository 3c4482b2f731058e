// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// planted is in every secret of the test; nothing of it may be in the archive.
const planted = "pl4nted"

// secretsEverywhere is a cluster with secrets wherever a user may have put some.
func secretsEverywhere(t *testing.T) *bench {
	t.Helper()
	objects := clusterOf("c", func(c *v1beta2.EtcdCluster) {
		c.Annotations = map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": `{"spec":{"x":"` + planted + `-applied"}}`,
			"team.example.com/note":                            planted + "-annotation",
		}
		c.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "SOMETHING", Value: planted + "-env"}, {Name: "ETCD_AUTH_TOKEN", Value: planted + "-token"}}}
		c.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
			Member: &v1beta2.MemberSecret{PeerSecret: "peer", ServerSecret: "server"}, OperatorSecret: "operator",
		}}
		c.Status.Conditions[0].Message = "cannot log in with password=" + planted + "-password to http://root:" + planted + "-url@host:2379"
	})
	for _, o := range objects[1:] {
		pod := o.(*corev1.Pod)
		pod.Annotations = map[string]string{"vault.example.com/token": planted + "-pod-annotation"}
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: planted + "-pod-env"}}
	}
	backup := backupOf("nightly", "c", func(b *v1beta2.EtcdBackup) {
		b.Status.Reason = "the store refuses " + planted + "-in-the-secret"
		b.Status.URL = "https://store/b?X-Amz-Signature=" + planted + "-signature"
	})
	secret := func(name string, data map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: manifests.ClusterLabels("c")}, StringData: data, Data: bytesOf(data)}
	}
	key := "-----BEGIN EC PRIVATE KEY-----\n" + planted + "keykeykey\n-----END EC PRIVATE KEY-----\n"
	objects = append(objects, backup,
		secret("aws", map[string]string{"credentials": "[default]\naws_secret_access_key = " + planted + "-in-the-secret\n"}),
		secret("operator", map[string]string{"etcd-client.key": key}), secret("peer", map[string]string{"peer.key": key}), secret("server", map[string]string{"server.key": key}),
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-x", Namespace: namespace, Labels: map[string]string{"name": "etcd-operator"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd-operator"}}},
		},
		&corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: namespace}, InvolvedObject: corev1.ObjectReference{Kind: "EtcdCluster", Name: "c"},
			Reason: "Failed", Message: "Authorization: Bearer " + planted + ".event.token was refused: " + planted + "-in-the-secret",
		})
	return newBench(t, objects...)
}

func bytesOf(data map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for name, value := range data {
		out[name] = []byte(value)
	}
	return out
}

// unpack reads the files of an archive.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for packed := tar.NewReader(zipped); ; {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(packed)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(header.Name, "/")
		files[name] = string(text)
	}
}

func TestNoSecretIsInAReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	out := secretsEverywhere(t).must(exitWell, "report", "c", "-f", path)
	contains(t, out, "objects/etcdcluster.yaml", "written to "+path)
	files := unpack(t, path)
	for _, name := range []string{
		"CONTENTS.txt", "status.txt", "summary.yaml", "events.yaml", "objects/etcdcluster.yaml", "objects/pods.yaml", "objects/etcdbackups.yaml",
		"objects/services.yaml", "logs/c-a/etcd.log", "logs/etcd-operator-x/etcd-operator.log",
	} {
		if files[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	for name, text := range files {
		if i := strings.Index(text, planted); i >= 0 {
			t.Errorf("%s has a secret: %s", name, text[max(i-60, 0):min(i+60, len(text))])
		}
		if name != "CONTENTS.txt" && !strings.Contains(files["CONTENTS.txt"], name) {
			t.Errorf("CONTENTS.txt does not list %s", name)
		}
	}
	// What is no secret is still there.
	contains(t, files["objects/etcdcluster.yaml"], "operatorSecret: operator", "size: 3", "name: SOMETHING")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
}
