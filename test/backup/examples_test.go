// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// classic is the example manifest of the original operator, as its users have it.
const classic = `apiVersion: "etcd.database.coreos.com/v1beta2"
kind: "EtcdBackup"
metadata:
  name: example-etcd-cluster-backup
spec:
  etcdEndpoints: [<etcd-cluster-endpoints>]
  storageType: S3
  s3:
    # The format of "path" must be: "<s3-bucket-name>/<path-to-backup-file>"
    # e.g: "mybucket/etcd.backup"
    path: <full-s3-path>
    awsSecret: <aws-secret>
`

// periodic is the same for a series. The finalizer is what the original left in objects that users have
// saved.
const periodic = `apiVersion: "etcd.database.coreos.com/v1beta2"
kind: "EtcdBackup"
metadata:
  name: example-etcd-cluster-periodic-backup
  finalizers: [backup-operator-periodic]
spec:
  etcdEndpoints: [<etcd-cluster-endpoints>]
  storageType: S3
  backupPolicy:
    # 0 > enable periodic backup
    backupIntervalInSecond: 2
    maxBackups: 4
  s3:
    path: <full-s3-path>
    awsSecret: <aws-secret>
`

func TestExampleManifestsWorkWithNothingFilledInButTheirPlaceholders(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	server := stores.StartS3(t)
	// The manifests name no endpoint: as for every AWS tool, the config file of the secret does.
	server.Config.Secret["config"] = append(server.Config.Secret["config"], "endpoint_url = "+server.URL+"\n"...)
	e := newEnv(t, server)
	startOperator(t, launch{namespace: e.namespace})
	ours := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "example", "etcd-backup-operator", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, manifest := range map[string]string{
		"example-etcd-cluster-backup":          ours("backup_cr.yaml"),
		"example-etcd-cluster-periodic-backup": strings.ReplaceAll(ours("periodic_backup_cr.yaml"), "125", "2"),
		"classic":                              strings.Replace(classic, "example-etcd-cluster-backup", "classic", 1),
		"classic-periodic":                     strings.Replace(periodic, "example-etcd-cluster-periodic-backup", "classic-periodic", 1),
	} {
		filled := strings.NewReplacer("<etcd-cluster-endpoints>", `"`+etcd.urls()[0]+`"`,
			"<full-s3-path>", stores.Bucket+"/"+name+"/etcd.backup", "<aws-secret>", "aws").Replace(manifest)
		kubectl := exec.CommandContext(t.Context(), filepath.Join(programs.Bin, "kubectl"), "--kubeconfig", kubeconfig(t, ""), "-n", e.namespace, "create", "-f", "-")
		kubectl.Stdin = strings.NewReader(filled)
		if out, err := kubectl.CombinedOutput(); err != nil {
			t.Fatalf("kubectl create of %s: %v\n%s", name, err, out)
		}
	}
	for _, name := range []string{"example-etcd-cluster-backup", "classic"} {
		e.awaitSuccess(name)
		e.checkWhole(name+"/etcd.backup", nil)
	}
	for _, name := range []string{"example-etcd-cluster-periodic-backup", "classic-periodic"} {
		b := e.awaitSuccess(name)
		e.checkWhole(b.Status.Backups[0].Name, nil)
	}
	columns, err := exec.CommandContext(t.Context(), filepath.Join(programs.Bin, "kubectl"), "--kubeconfig", kubeconfig(t, ""), "-n", e.namespace, "get", "etcdbackups").CombinedOutput()
	if err != nil || !strings.Contains(string(columns), "SUCCEEDED") || !strings.Contains(string(columns), "LAST SUCCESS") {
		t.Errorf("kubectl get: %v\n%s", err, columns)
	}
}

func TestOSSByItsOwnNameThroughAProxyWithItsNewerSignature(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(10)
	oss := stores.NewOSS()
	// The server plays the proxy: it is asked for http://<bucket>.oss-cn-hangzhou.aliyuncs.com/..., which
	// is the original's default endpoint.
	proxy := httptest.NewServer(oss)
	t.Cleanup(proxy.Close)
	e := newEnv(t, &stores.Server{URL: proxy.URL})
	newSecret(t, e.namespace, "oss", stores.OSSSecret())
	startOperator(t, launch{namespace: e.namespace, env: []string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=127.0.0.1"}})
	b := e.backup("one", "", etcd.urls()...)
	b.Spec.StorageType = v1beta2.BackupStorageTypeOSS
	// The bucket does not exist yet: the original made it, and so do we.
	b.Spec.OSS = &v1beta2.OSSBackupSource{Path: "newbucket/etcd.backup", OSSSecret: "oss"}
	e.create(b)
	e.awaitSuccess("one")
	if keys := oss.Keys("newbucket"); !slices.Equal(keys, []string{"etcd.backup"}) {
		t.Errorf("objects = %v", keys)
	}
	if oss.Signatures("V4") == 0 || oss.Signatures("V1") != 0 || oss.Uploads() != 0 {
		t.Errorf("%d requests with V4, %d with V1, %d uploads left", oss.Signatures("V4"), oss.Signatures("V1"), oss.Uploads())
	}
}
