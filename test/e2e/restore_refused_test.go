// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// What is not a whole snapshot is refused, with the reason, and the cluster that was to be replaced
// continues as if nothing had happened.
func TestAnInvalidBackupIsRefusedAndNothingIsTouched(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	c := create(n, "alive", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	c.fill(30)
	c.backUp(s3, "whole")
	body, _, err := s3.Open().Get(t.Context(), "whole")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	before, pods := c.get(), c.uids()
	w := c.startWriterEvery(10*time.Millisecond, writePatience)
	for name, object := range map[string][]byte{
		"cut-off":       whole[:len(whole)/2],
		"without-a-sum": whole[:len(whole)-32],
		"flipped":       flipped,
		"foreign":       []byte("apiVersion: v1\nkind: ConfigMap\n"),
		"empty":         {},
	} {
		if err := s3.Open().Put(t.Context(), name, bytes.NewReader(object), nil, func() store.Labels { return nil }); err != nil {
			t.Fatal(err)
		}
		restore(n, name, "alive", s3, name, "")
		r := awaitRestore(n, name, func(r *v1beta2.EtcdRestore) bool { return r.Status.CompletionTime != nil })
		if r.Status.Succeeded || !strings.Contains(r.Status.Reason, "not an intact etcd snapshot") || !strings.Contains(r.Status.Reason, name) || !meta.IsStatusConditionTrue(r.Status.Conditions, "Stalled") {
			t.Errorf("a restore of the object %s ends with the status %+v", name, r.Status)
		}
	}
	restore(n, "missing", "alive", s3, "missing", "")
	r := awaitRestore(n, "missing", func(r *v1beta2.EtcdRestore) bool { return r.Status.CompletionTime != nil })
	if r.Status.Succeeded || !strings.Contains(r.Status.Reason, "no such object") {
		t.Errorf("a restore of an object that is not there ends with the status %+v", r.Status)
	}
	w.finishWithoutFailures()
	after := c.get()
	if after.Status.ClusterID != before.Status.ClusterID || after.Generation != before.Generation || !maps.Equal(pods, c.uids()) || after.Annotations[v1beta2.AnnotationRestore] != "" {
		t.Errorf("the cluster was touched: %+v became %+v", before, after)
	}
	c.mustHave(30)
}

// A restore can be undone by deleting its object while the first member has not got its data: here it
// never does, because the backup is gone from the store by the time.
func TestARestoreThatFailsIsUndoneByDeletingIt(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	installRestoreOperator(n)
	s3 := n.StartS3()
	c := create(n, "undone", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	c.fill(30)
	c.backUp(s3, "etcd.backup")
	id, pods := c.get().Status.ClusterID, c.uids()
	w := c.startWriterEvery(10*time.Millisecond, writePatience)
	n.StopOperator()
	restore(n, "failing", "undone", s3, "etcd.backup", "")
	awaitRestore(n, "failing", func(r *v1beta2.EtcdRestore) bool { return r.Status.Phase == v1beta2.RestorePhaseRequested })
	if err := s3.Open().Delete(t.Context(), "etcd.backup"); err != nil {
		t.Fatal(err)
	}
	n.ResumeOperator()
	awaitRestore(n, "failing", func(r *v1beta2.EtcdRestore) bool {
		ready := meta.FindStatusCondition(r.Status.Conditions, "Ready")
		return r.Status.CompletionTime == nil && ready != nil && strings.Contains(ready.Message, "no such object")
	})
	restore(n, "second", "undone", s3, "etcd.backup", "")
	second := awaitRestore(n, "second", func(r *v1beta2.EtcdRestore) bool { return r.Status.CompletionTime != nil })
	if second.Status.Succeeded || !strings.Contains(second.Status.Reason, `"failing" is already restoring EtcdCluster "undone"`) {
		t.Errorf("a second restore has the status %+v", second.Status)
	}
	n.Kubectl("delete", "etcdrestore", "failing")
	c.Eventually(patience, func(context.Context) error {
		if now := c.get(); now.Status.ClusterID != id || !maps.Equal(pods, c.uids()) {
			return fmt.Errorf("the cluster %s of pods %v became %s of %v", id, pods, now.Status.ClusterID, c.uids())
		}
		return nil
	})
	c.awaitReady()
	w.finishWithoutFailures()
	c.mustHave(30)
}
