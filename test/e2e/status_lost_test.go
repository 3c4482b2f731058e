// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// The status is a cache of facts that can be found again. Whoever removes it, or a part of it, from a cluster that
// was once restored loses nothing.
func TestAClusterThatServesOutlivesTheLossOfItsStatus(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"the record of the bootstrap": `[{"op":"remove","path":"/status/bootstrap"}]`,
		"all of it":                   `[{"op":"replace","path":"/status","value":{}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			installRestoreOperator(n)
			s3 := n.StartS3()
			c := create(n, "status", `{size: 1, version: "3.6.16"}`)
			c.awaitReady()
			c.fill(20)
			c.backUp(s3, "etcd.backup")
			restore(n, "back", c.name, s3, "etcd.backup", "")
			awaitRestored(n, "back")
			c.awaitReady()
			before, untouched := c.get().Status.ClusterID, c.untouched()
			n.Kubectl("patch", "etcd", c.name, "--subresource=status", "--type=json", "-p", patch)
			holds(n, 15*time.Second, untouched)
			c.awaitReady()
			c.mustHave(20)
			if after := c.get().Status; after.ClusterID != before || after.Bootstrap == nil || after.Bootstrap.Seed == "" {
				t.Errorf("the cluster was %s, and the status says %+v", before, after)
			}
			// It is cared for as before.
			c.patch(`{"size":2}`)
			c.awaitReady()
			c.mustHave(20)
		})
	}
}
