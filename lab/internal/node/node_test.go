// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/images"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func example(dir string) Node {
	return Node{
		Number:          2,
		Dir:             dir,
		Logs:            "/state/logs",
		Cgroup:          "etcd-operator-lab/node2",
		Lab:             "/state/bin/lab",
		Set:             &artifacts.Set{Bin: "/cache/kubernetes", Containerd: "/usr/bin/containerd", Ctr: "/usr/bin/ctr", Runc: "/usr/sbin/runc", CNIPlugins: "/usr/lib/cni"},
		CA:              "/state/pki/ca.crt",
		Certificate:     pki.Pair{Cert: "/state/pki/node2.crt", Key: "/state/pki/node2.key"},
		Kubeconfig:      "/state/pki/node2.kubeconfig",
		ProxyKubeconfig: "/state/pki/kube-proxy.kubeconfig",
		BootID:          "a-boot-id",
		Tars:            []images.Tar{{Path: "/cache/pause.tar", Hash: "aa"}},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; if that is right, run go test ./internal/node -update (-want +got):\n%s", path, diff)
	}
}

func TestConfigurationOfANode(t *testing.T) {
	rendered, err := example("/state/nodes/node2").configuration()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range rendered {
		golden(t, filepath.Base(name), content)
	}
}

func TestMachineOfANode(t *testing.T) {
	spec := example("/state/nodes/node2").Spec([]string{"/sys/fs/cgroup/etcd-operator-lab/node2/system"}, "/state/run/node2", "/var/lib/lab")
	content, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "machine.json", content)
}

func TestWriteLeavesFilesThatDidNotChangeAlone(t *testing.T) {
	n := example(t.TempDir())
	stat := func(name string) os.FileInfo {
		info, err := os.Stat(filepath.Join(n.Dir, "config", name))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	if err := n.Write(); err != nil {
		t.Fatal(err)
	}
	proxy, kubelet := stat("kube-proxy.yaml"), stat("kubelet.yaml")
	n.CA = "/elsewhere/ca.crt"
	if err := n.Write(); err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(proxy, stat("kube-proxy.yaml")) {
		t.Error("kube-proxy's configuration was written again, which ends kube-proxy")
	}
	if os.SameFile(kubelet, stat("kubelet.yaml")) {
		t.Error("kubelet's configuration was not written although it changed")
	}
}

func TestNumberIsTheInverseOfName(t *testing.T) {
	for n := 1; n <= 12; n++ {
		if got, ok := Number(Name(n)); !ok || got != n {
			t.Errorf("%s: %d %t", Name(n), got, ok)
		}
	}
	for _, name := range []string{"", "node", "node0", "node-1", "node01", "2", "control-plane", "nodenode1", strings.ToUpper("node1")} {
		if n, ok := Number(name); ok {
			t.Errorf("%q is taken for node %d", name, n)
		}
	}
}
