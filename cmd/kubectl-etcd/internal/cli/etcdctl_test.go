// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatEtcdctlIsTold(t *testing.T) {
	environ := []string{"HOME=/root", "ETCDCTL_ENDPOINTS=http://other:2379", "ETCDCTL_CACERT=/ca", "ETCDCTL_USER=root:x", "ETCDCTL_API=3"}
	want := []string{"HOME=/root", "ETCDCTL_USER=root:x", "ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=unix:///a,unix:///b", "ETCDCTL_DIAL_TIMEOUT=15s", etcdctlMark + "=1"}
	if diff := cmp.Diff(want, etcdctlEnv(environ, []string{"member", "list"}, []string{"unix:///a", "unix:///b"})); diff != "" {
		t.Error(diff)
	}
	// etcdctl refuses a variable that a flag says too.
	want = []string{"HOME=/root", "ETCDCTL_USER=root:x", "ETCDCTL_API=3", etcdctlMark + "=1"}
	if diff := cmp.Diff(want, etcdctlEnv(environ, []string{"--endpoints=x", "--dial-timeout", "1s", "get", "k"}, []string{"unix:///a"})); diff != "" {
		t.Error(diff)
	}
}

func TestASnapshotIsTakenOfOneMember(t *testing.T) {
	if !needsOneEndpoint([]string{"--debug", "snapshot", "save", "file"}) || needsOneEndpoint([]string{"get", "snapshot"}) {
		t.Error("etcdctl takes a snapshot of one endpoint only")
	}
}

func TestEtcdctlNeedsAClusterAndACommand(t *testing.T) {
	b := newBench(t, clusterOf("c")...)
	for _, args := range [][]string{{"etcdctl"}, {"etcdctl", "c"}, {"etcdctl", "--", "member", "list"}} {
		contains(t, b.must(exitFailed, args...), "kubectl etcd etcdctl NAME -- member list")
	}
	contains(t, b.must(exitNotFound, "etcdctl", "c", "--member", "c-z", "--", "member", "list"), "c-z is no running member; there are c-a, c-b, c-c")
}
