// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"strings"
	"testing"
)

// Whoever comes from the original, or from --cluster-wide, has more rights than one namespace needs, and is told.
func TestTheScriptMayBeRepeatedAndWarnsOfRightsThatAreLeft(t *testing.T) {
	t.Parallel()
	server := start(t)
	const warning = "warning: ClusterRoleBinding etcd-operator still grants rights in all namespaces"
	mode := func(warned bool, flags ...string) {
		t.Helper()
		if out := server.createRole(t, flags...); strings.Contains(out, warning) != warned {
			t.Errorf("create_role.sh %s says\n%s\nwant a warning: %t", strings.Join(flags, " "), out, warned)
		}
	}
	mode(false)
	again := server.createRole(t)
	for _, line := range strings.Split(strings.TrimSpace(again), "\n") {
		if !strings.HasSuffix(line, " unchanged") {
			t.Errorf("the second time it says %s", line)
		}
	}
	server.kubectl(t, "create", "clusterrolebinding", "etcd-operator", "--clusterrole=etcd-operator", "--serviceaccount=default:default") // the original
	mode(true)
	mode(false, "--cluster-wide") // they are wanted now
	mode(true)
	server.kubectl(t, "delete", "clusterrolebinding", "etcd-operator")
	mode(false)
	mode(false, "--namespace=kube-system")
}
