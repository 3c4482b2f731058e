// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenes_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// scene is what happens to a cluster of three that has a backup, and how it then is.
type scene struct {
	name   string
	health summary.Health
	// state is a part of the headline.
	state string
	do    func(*stage)
	until func(*stage) bool
	// lasts says that the state does not pass by itself: it is looked at a minute later.
	lasts bool
}

var scenes = []scene{
	{"healthy", summary.Well, "Healthy", func(*stage) {}, func(s *stage) bool { return s.IsSettled() }, true},
	{"scaling", summary.Degraded, "Growing to 5 members", func(s *stage) { s.Change(func(c *v1beta2.ClusterSpec) { c.Size = 5 }) }, reports(plan.MemberJoining), false},
	{"upgrading", summary.Degraded, "Upgrading to 3.7.3", func(s *stage) { s.Change(func(c *v1beta2.ClusterSpec) { c.Version = "3.7.3" }) }, oneRuns("3.7.3"), false},
	{"degraded", summary.Degraded, "Node unreachable", func(s *stage) { s.failNodes(1) }, reports(plan.NodeUnreachable), true},
	{"without-quorum", summary.NotServing, "Quorum lost", func(s *stage) { s.failNodes(2) }, reports(plan.QuorumLost), true},
	{"paused", summary.Degraded, "Paused", func(s *stage) {
		s.Change(func(c *v1beta2.ClusterSpec) { c.Paused, c.Size = true, 5 })
	}, reports(plan.Paused), true},
	{"restoring", summary.Degraded, "Restoring", func(s *stage) { world.Must(s.Kube.Create(restoreOf("nightly"))) }, reports(plan.Restoring), false},
	{"out-of-space", summary.Degraded, "Out of space", func(s *stage) { s.Universe.Full = true }, reports(plan.MemberAlarm), true},
}

// stage is a simulation with all three operators, and the events that users get.
type stage struct {
	*stories.BackupSimulation
	t      *testing.T
	events []view.Event
}

// play plays the scene from its beginning to its state. It is called in a bubble.
func (c scene) play(t *testing.T) *view.View {
	t.Helper()
	sim, err := stories.NewBackups(1, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sim.End()
	s := &stage{BackupSimulation: sim, t: t}
	sim.OnEvent = func(e report.Event) {
		s.events = append(s.events, view.Event{Time: sim.Loop.Date(), Warning: e.Warning, Reason: e.Reason, Message: e.Message, Count: 1})
	}
	world.Must(sim.Kube.Create(backupOf("nightly")))
	s.run(func() bool { return s.backup().Status.Succeeded && s.IsSettled() })
	s.pass(3 * time.Minute)
	c.do(s)
	s.run(func() bool { return c.until(s) })
	if c.lasts {
		s.pass(45 * time.Second)
		s.run(func() bool { return c.until(s) })
	}
	return s.view()
}

// run lets time pass until done.
func (s *stage) run(done func() bool) {
	s.t.Helper()
	if err := s.RunUntil(s.Loop.Now()+30*time.Minute, done); err != nil {
		s.t.Fatal(err)
	}
	if !done() {
		s.t.Fatalf("it does not come to that: %s", s.Explain())
	}
}

func (s *stage) pass(d time.Duration) {
	s.t.Helper()
	if err := s.RunUntil(s.Loop.Now()+d, func() bool { return false }); err != nil {
		s.t.Fatal(err)
	}
}

// failNodes takes the power from the nodes of so many members, the leader's last.
func (s *stage) failNodes(count int) {
	pods := s.Members()
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		leads := func(p *corev1.Pod) int {
			if process := s.Kube.ProcessOf(p.Name); process != nil && process.IsLeading() {
				return 1
			}
			return 0
		}
		return leads(a) - leads(b)
	})
	for _, pod := range pods[:count] {
		s.Kube.FailNode(pod.Spec.NodeName)
	}
}

func (s *stage) backup() *v1beta2.EtcdBackup {
	return s.Kube.Find(kubemodel.Backups, "nightly").(*v1beta2.EtcdBackup)
}

func backupOf(name string) *v1beta2.EtcdBackup {
	return &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: kubemodel.Namespace},
		Spec: v1beta2.BackupSpec{
			EtcdEndpoints: []string{"http://" + world.Name + "-client:2379"}, StorageType: v1beta2.BackupStorageTypeS3, Verify: v1beta2.BackupVerificationRestore,
			BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{
				Path: world.Bucket + "/" + name, AWSSecret: world.StoreSecret, Endpoint: "http://store.example.com", ForcePathStyle: true,
			}},
		},
	}
}

func restoreOf(backup string) *v1beta2.EtcdRestore {
	return &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Name: "rollback", Namespace: kubemodel.Namespace},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: v1beta2.BackupStorageTypeS3, EtcdCluster: v1beta2.EtcdClusterRef{Name: world.Name},
			RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{
				Path: world.Bucket + "/" + backup, AWSSecret: world.StoreSecret, Endpoint: "http://store.example.com", ForcePathStyle: true,
			}},
		},
	}
}

func reports(reason plan.Reason) func(*stage) bool {
	return func(s *stage) bool {
		c := s.Condition(v1beta2.ClusterConditionReady)
		return c != nil && c.Reason == string(reason)
	}
}

func oneRuns(version string) func(*stage) bool {
	return func(s *stage) bool {
		has := func(version string) bool {
			return slices.ContainsFunc(s.Cluster().Status.MemberStatuses, func(m v1beta2.MemberStatus) bool { return m.Healthy && m.Version == version })
		}
		return has(version) && has("3.6.16")
	}
}
