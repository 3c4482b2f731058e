// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/lab/pki"
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
	s3 := stores.StartS3(t)
	// The manifests name no endpoint: as for every AWS tool, the config file of the secret does.
	s3.Config.Secret["config"] = append(s3.Config.Secret["config"], "endpoint_url = "+s3.URL+"\n"...)
	e := newEnv(t, s3)
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
		kubectl := exec.CommandContext(t.Context(), filepath.Join(server.Artifacts.Bin, "kubectl"), "--kubeconfig", server.Kubeconfig(), "-n", e.namespace, "create", "-f", "-")
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
	columns, err := exec.CommandContext(t.Context(), filepath.Join(server.Artifacts.Bin, "kubectl"), "--kubeconfig", server.Kubeconfig(), "-n", e.namespace, "get", "etcdbackups").CombinedOutput()
	if err != nil || !strings.Contains(string(columns), "SUCCEEDED") || !strings.Contains(string(columns), "LAST SUCCESS") {
		t.Errorf("kubectl get: %v\n%s", err, columns)
	}
}

func TestOSSByItsOwnNameThroughAProxyWithItsNewerSignature(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(10)
	oss := stores.NewOSS()
	service, ca := serveAs(t, oss, "newbucket.oss-cn-hangzhou.aliyuncs.com")
	proxy := httptest.NewServer(tunnelTo(t, "newbucket.oss-cn-hangzhou.aliyuncs.com:443", service))
	t.Cleanup(proxy.Close)
	e := newEnv(t, &stores.Server{URL: proxy.URL})
	secret := stores.OSSSecret()
	secret["ca.crt"] = ca
	server.NewSecret(t, e.namespace, "oss", secret)
	startOperator(t, launch{namespace: e.namespace, env: []string{"HTTP_PROXY=" + proxy.URL, "HTTPS_PROXY=" + proxy.URL, "NO_PROXY=127.0.0.1"}})
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

// serveAs serves over TLS under a name. It returns its address, and the authority of its certificate.
func serveAs(t *testing.T, h http.Handler, name string) (address string, ca []byte) {
	t.Helper()
	authority, err := pki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own, err := authority.Certificate("service", pki.Identity{CommonName: name, DNSNames: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	if ca, err = os.ReadFile(authority.CA().Cert); err != nil {
		t.Fatal(err)
	}
	service := httptest.NewUnstartedServer(h)
	service.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	service.StartTLS()
	t.Cleanup(service.Close)
	return service.Listener.Addr().String(), ca
}

// tunnelTo is a proxy that leads to an address whoever asks for a name. It refuses what comes without TLS: a proxy, and
// everybody on the way, could read it.
func tunnelTo(t *testing.T, name, address string) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != name {
			t.Errorf("the proxy is asked for %s %s", r.Method, r.URL)
			http.Error(w, "only with TLS", http.StatusForbidden)
			return
		}
		out, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		in, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			_, _ = io.Copy(out, in)
			_ = out.Close()
		}()
		_, _ = io.Copy(in, out)
		_ = in.Close()
	})
}
