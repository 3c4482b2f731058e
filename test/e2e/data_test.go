// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// A member that finds its volume empty must not start: it would vote without remembering
// what it has voted for. It is replaced.
func TestAMemberWhoseDataIsWipedIsReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "wiped", withVolumes)
	c.fill(20)
	target := other(c.pods(), c.leader())
	data := c.dataDir(target)
	c.damageWhileOff(target, func() error { return os.RemoveAll(data) })
	c.awaitGone(target)
	c.awaitReady()
	if members := c.etcdMembers(); len(members) != 3 || slices.Contains(names(members), target) {
		t.Errorf("etcd has the members %v after the data of %s was wiped", names(members), target)
	}
	c.mustHave(20)
}

// A member whose database is damaged crashes each time it starts. While the others have
// the data it is replaced.
func TestAMemberThatCrashesOnItsDataIsReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "crash", withVolumes)
	c.fill(20)
	target := other(c.pods(), c.leader())
	db := filepath.Join(c.dataDir(target), "member", "snap", "db")
	c.damageWhileOff(target, func() error { return os.WriteFile(db, []byte("this is no database"), 0o600) })
	c.awaitReason("MemberCrashing")
	c.awaitGone(target)
	c.awaitReady()
	c.mustHave(20)
}

// dataDir is where the member's data is on this machine, which is the lab's nodes' disk.
func (c *etcdCluster) dataDir(member string) string {
	c.Helper()
	claim, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).Get(c.Context(), member, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	volume, err := c.Kube.CoreV1().PersistentVolumes().Get(c.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	dir := filepath.Join(volume.Spec.Local.Path, "data")
	if _, err := os.Stat(filepath.Join(dir, "member")); err != nil {
		c.Fatal(err)
	}
	return dir
}

// damageWhileOff does something to a member's data while its pod is not there. The
// operator is paused meanwhile: it would recreate the pod.
func (c *etcdCluster) damageWhileOff(member string, damage func() error) {
	c.Helper()
	c.patch(`{"paused":true}`)
	c.Eventually(patience, func(context.Context) error {
		if !c.get().Status.ControlPaused {
			return fmt.Errorf("the operator has not paused")
		}
		return nil
	})
	c.Kubectl("delete", "pod", member, "--wait=true")
	if err := damage(); err != nil {
		c.Fatal(err)
	}
	c.patch(`{"paused":false}`)
}

// A member that is cut off from the others is waited for and reported: it has its data, and
// the others do without it. When it is reached again it continues as if nothing had happened.
func TestAMemberThatIsUnreachableIsNotReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "cut", `{size: 3, version: "3.6.16"}`)
	before, uids := c.etcdMembers(), c.uids()
	w := c.startWriter()
	target := c.leader()
	if err := tenant.Lab().CutPod(t.Context(), c.Namespace, target); err != nil {
		t.Fatal(err)
	}
	c.Eventually(patience, func(context.Context) error {
		for _, m := range c.get().Status.MemberStatuses {
			if m.Name == target && !m.Healthy && m.Message != "" {
				return nil
			}
		}
		return fmt.Errorf("the status does not say that %s is cut off: %+v", target, c.get().Status.MemberStatuses)
	})
	if err := tenant.Lab().HealPod(t.Context(), c.Namespace, target); err != nil {
		t.Fatal(err)
	}
	c.awaitReady()
	w.finish()
	if after := c.etcdMembers(); fmt.Sprint(after) != fmt.Sprint(before) || fmt.Sprint(c.uids()) != fmt.Sprint(uids) {
		t.Errorf("members %v in pods %v became %v in %v", before, uids, after, c.uids())
	}
}
