// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// restore and cluster are the objects that every case begins with.
var (
	restore = scene.Restore
	cluster = scene.Cluster
)

// seen is one case: what was seen, and what is decided.
type seen struct {
	restore   *v1beta2.EtcdRestore
	cluster   *v1beta2.EtcdCluster
	requested *v1beta2.EtcdCluster // another cluster with a request of the name
	live      types.UID            // empty is that of the restore
	others    []*v1beta2.EtcdRestore
	check     *view.Check
	refused   *problem.Problem
	after     time.Duration
	// want is the decision, a colon, and what is done: a step, or how long to wait and why.
	want string
}

func (s seen) view() *view.View {
	v := &view.View{
		Now: scene.Noon.Add(s.after), Key: types.NamespacedName{Namespace: "ns", Name: "r"}, Restore: s.restore, LiveUID: s.live,
		Served: true, Cluster: s.cluster, BackupURL: scene.BackupURL, Check: s.check, RequestProblem: s.refused,
	}
	if s.restore != nil && s.live == "" {
		v.LiveUID = s.restore.UID
	}
	for _, c := range []*v1beta2.EtcdCluster{s.cluster, s.requested} {
		if c != nil && c.Annotations[v1beta2.AnnotationRestore] != "" {
			v.Requested = append(v.Requested, *c)
		}
	}
	for _, other := range s.others {
		v.Others = append(v.Others, *other)
	}
	return v
}

func decides(t *testing.T, cases map[string]seen) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := describe(plan.Next(tc.view())); got != tc.want {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// describe is a verdict in one line.
func describe(v plan.Verdict) string {
	if v.Step != nil {
		return v.Decision + ": " + v.Step.String()
	}
	text := v.Decision + ": wait"
	if v.LookAgain > 0 {
		text += " " + v.LookAgain.String()
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(v.Waits, "; "))
}

// checked is a check that has ended.
func checked(id string, out view.Outcome) *view.Check { return &view.Check{ID: id, Outcome: &out} }

var (
	intact = view.Outcome{Backup: *restore(scene.Accepted).Status.Backup}
	broken = view.Outcome{Problem: &problem.Problem{Reason: "SnapshotBroken", Message: "it is cut off", Stalled: true}}
	away   = view.Outcome{Problem: &problem.Problem{Reason: "StoreUnreachable", Message: "it does not answer"}}
	kept   = view.Outcome{ClusterSpec: &v1beta2.ClusterSpec{Size: 5}}
)
