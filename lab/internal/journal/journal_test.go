// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/lab/internal/proc"
)

func open(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordIsWhatWasWrittenAndSurvivesReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	first, second := proc.Identity{PID: 7, Start: 1, Boot: "b"}, proc.Identity{PID: 7, Start: 2, Boot: "b"}
	j := open(t, path)
	must(t,
		j.Cgroup("/sys/fs/cgroup/cpu/x"), j.Cgroup("/sys/fs/cgroup/memory/x"), j.Cgroup("/sys/fs/cgroup/cpu/x"),
		j.Controller("cpuset"), j.Controller("cpuset"),
		j.Link("l0"), j.Link("l0"),
		j.Started("node1", first), j.Running("node1"),
		j.Started("node2", first),
		j.Started("node1", second),
	)
	want := Record{
		Cgroups:     []string{"/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/memory/x"},
		Controllers: []string{"cpuset"},
		Links:       []string{"l0"},
		Machines:    map[string]Machine{"node1": {Process: second}, "node2": {Process: first}},
	}
	if diff := cmp.Diff(want, j.Record()); diff != "" {
		t.Errorf("while open (-want +got):\n%s", diff)
	}
	again := open(t, path)
	if diff := cmp.Diff(want, again.Record()); diff != "" {
		t.Errorf("opened again (-want +got):\n%s", diff)
	}
	must(t, again.Running("node1"), again.Leave())
	want.Machines["node1"] = Machine{Process: second, Complete: true}
	want.Leaving = true
	read, err := Read(path)
	must(t, err)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("read after more was written (-want +got):\n%s", diff)
	}
}

func TestAnUnfinishedLastLineIsForgottenAndTheNextOneIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	must(t, os.WriteFile(path, []byte(`{"link":"l0"}`+"\n"+`{"cgroup":"/sys/fs/cg`), 0o600))
	j := open(t, path)
	must(t, j.Link("l1"))
	got, err := Read(path)
	must(t, err)
	want := Record{Links: []string{"l0", "l1"}, Machines: map[string]Machine{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestADamagedLineIsAnErrorThatNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	must(t, os.WriteFile(path, []byte(`{"link":"l0"}`+"\n"+"garbage\n"), 0o600))
	_, err := Open(path)
	if err == nil {
		t.Fatal("a damaged journal was opened")
	}
	if want := path + ", line 2"; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

func TestAJournalThatDoesNotExistIsEmpty(t *testing.T) {
	got, err := Read(filepath.Join(t.TempDir(), "none"))
	must(t, err)
	if diff := cmp.Diff(Record{Machines: map[string]Machine{}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
