// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMachineOfTheControlPlane(t *testing.T) {
	dir := t.TempDir()
	store, err := pki.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ControlPlane{
		Dir:      "/state/control-plane",
		Logs:     "/state/logs",
		AuditDir: "/state/audit",
		Lab:      "/state/bin/lab",
		StateDir: "/state",
		Set:      &artifacts.Set{Bin: "/cache/kubernetes", Etcd: map[string]string{artifacts.ControlPlaneEtcd: "/cache/etcd"}},
		PKI:      store,
	}.Spec([]string{"/sys/fs/cgroup/etcd-operator-lab/control-plane/system"}, "/state/run/control-plane.json")
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(string(content), dir, "/state/pki") + "\n"
	const path = "testdata/machine.json"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if that is right, run go test ./internal/controlplane -update (-want +got):\n%s", path, diff)
	}
}
