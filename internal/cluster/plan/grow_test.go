// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

func TestGrowing(t *testing.T) {
	grow := func(s *scene) {
		s.Cluster.Spec.Size++
		s.Budget = manifests.Budget(s.Cluster, s.Cluster.Spec.Size-1)
	}
	check(t, map[string]planCase{
		"a learner is added":                   {change: grow, want: "grow: add member c-new as learner"},
		"all missing ones at once":             {change: func(s *scene) { grow(s); grow(s); s.unstarted("c-d", true) }, want: "grow: add member c-new as learner"},
		"one at a time before 3.6":             {change: func(s *scene) { grow(s); grow(s); s.version("3.5.35"); s.unstarted("c-d", true) }, want: "create-pods: create Pod c-d"},
		"one at a time beside adopted members": {change: func(s *scene) { grow(s); grow(s); s.pod("c-b").Spec.Containers[0].Env = nil; s.unstarted("c-d", true) }, want: "create-pods: create Pod c-d"},
		"voters where there are no learners":   {change: func(s *scene) { grow(s); s.version("3.3.27") }, want: "grow: add member c-new"},
		"no voter while another is unhealthy":  {change: func(s *scene) { grow(s); s.version("3.3.27"); s.silence("c-b") }, want: "wait: QuorumAtRisk"},
		"then its pod":                         {change: func(s *scene) { grow(s); s.unstarted("c-d", true) }, want: "create-pods: create Pod c-d"},
		"its volume before that":               {scene: three().withVolumes(), change: func(s *scene) { grow(s); s.unstarted("c-d", true) }, want: "create-pods: create PersistentVolumeClaim c-d"},
		"a learner that caught up is promoted": {change: func(s *scene) { s.learner("c-c", 9900) }, want: "promote-learner: promote member c-c"},
		"one that has not is waited for":       {change: func(s *scene) { s.learner("c-c", 100) }, want: "wait: MemberJoining"},
		"one that keeps crashing is given up":  {change: func(s *scene) { s.learner("c-c", 0); s.crash("c-c", 4) }, want: "replace-lost-learner: remove member c-c"},
		"a pod that would join with an old list goes": {change: func(s *scene) {
			grow(s)
			grow(s)
			s.unstarted("c-d", true)
			s.addPod("c-d")
			s.silence("c-d")
			s.unstarted("c-e", true)
		}, want: "create-pods: delete Pod c-d"},
	})
}

func (s *scene) version(v string) {
	for _, c := range []*v1beta2.EtcdCluster{s.Cluster, s.made} {
		c.Spec.Version = v
	}
	for name, status := range s.Etcd.Status {
		status.Version = v
		s.Etcd.Status[name] = status
	}
	for i := range s.Pods {
		drift.SetImage(s.made, manifests.Defaults{}, &s.Pods[i])
		delete(s.Pods[i].Annotations, manifests.AnnotationRestarting)
	}
}

func TestAMemberThatGetsASnapshotIsStartedTwice(t *testing.T) {
	log := func(s *scene, index uint64) { s.status("c-a", func(status *etcd.Status) { status.RaftIndex = index }) }
	grow := func(s *scene) { s.Cluster.Spec.Size++; s.unstarted("c-d", true) }
	for name, tc := range map[string]struct {
		scene  *scene
		change func(*scene)
		want   bool
	}{
		"the log begins with the first entry": {change: func(s *scene) { grow(s); log(s, 30) }},
		"its beginning is gone":               {change: func(s *scene) { grow(s); log(s, 200) }, want: true},
		"before 3.6 it is kept for longer":    {change: func(s *scene) { grow(s); s.version("3.5.35"); log(s, 200) }},
		"though not for ever":                 {change: func(s *scene) { grow(s); s.version("3.5.35"); log(s, 200_000) }, want: true},
		"a restored cluster begins with one": {change: func(s *scene) {
			s.Cluster.Status.Bootstrap.Restore = &v1beta2.BootstrapRestore{UID: "r1", Stage: v1beta2.RestoreStageStarting}
			for i := range s.Pods {
				s.Pods[i].Labels[manifests.LabelIncarnation] = "r1"
			}
			grow(s)
			log(s, 30)
		}, want: true},
		"a member with a volume has its data": {scene: three().withVolumes(), change: func(s *scene) { s.losePod("c-c") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.scene
			if s == nil {
				s = three()
			}
			tc.change(s)
			pod := createdPod(t, s)
			if got := slices.Contains(pod.Spec.Containers[0].Command, membergate.ProgramJoin); got != tc.want {
				t.Errorf("by snapshot: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestTheNewMembersPodFitsTheList(t *testing.T) {
	s := three()
	s.Cluster.Spec.Size = 5
	s.Budget = manifests.Budget(s.Cluster, 4)
	s.unstarted("c-d", true)
	s.unstarted("c-e", true)
	s.Pods = append(s.Pods, *createdPod(t, s))
	if got := planned(s); got != "create-pods: create Pod c-e" {
		t.Fatalf("plan: %s", got)
	}
	s.Pods = append(s.Pods, *createdPod(t, s))
	if got := planned(s); got != "wait: MemberJoining" {
		t.Fatalf("with both pods made the plan is %s", got)
	}
}

// etcd takes no more learners at a time than its members were started for.
func TestLearnersJoinOneByOneWhereTheSpecLeavesNoRoomForMore(t *testing.T) {
	growing := func(room string) *scene {
		s := three()
		s.Cluster.Spec.Size = 5
		s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_MAX_LEARNERS", Value: room}}}
		s.made.Spec.Pod = s.Cluster.Spec.Pod
		s.Pods, s.Etcd.Membership.Members = nil, nil
		for _, name := range []string{"c-a", "c-b", "c-c"} {
			s.addMember(name)
		}
		s.unstarted("c-d", true)
		return s
	}
	check(t, map[string]planCase{
		"one":  {scene: growing("1"), want: "create-pods: create Pod c-d"},
		"many": {scene: growing("7"), want: "grow: add member c-new as learner"},
	})
}

// A pod that the API server refuses, by a quota for example, keeps nobody from reverting the size.
func TestAMemberThatHasNotStartedIsDropped(t *testing.T) {
	fits := func(s *scene, size int) { s.Cluster.Spec.Size = size; s.Budget = manifests.Budget(s.Cluster, 2) }
	check(t, map[string]planCase{
		"one":                          {change: func(s *scene) { fits(s, 3); s.unstarted("c-d", true) }, want: "drop-unstarted: remove member c-d"},
		"one of two":                   {change: func(s *scene) { fits(s, 3); s.unstarted("c-d", true); s.unstarted("c-e", true) }, want: "drop-unstarted: remove member c-d"},
		"not while it is wanted":       {change: func(s *scene) { fits(s, 4); s.unstarted("c-d", true) }, want: "create-pods: create Pod c-d"},
		"the one without a pod before": {change: func(s *scene) { fits(s, 4); s.unstarted("c-d", true); s.addPod("c-d"); s.unstarted("c-e", true) }, want: "drop-unstarted: remove member c-e"},
		"one with a vote":              {change: func(s *scene) { fits(s, 3); s.version("3.3.27"); s.unstarted("c-d", false) }, want: "drop-unstarted: remove member c-d"},
		"not the successor of another": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "A", Value: "b"}}}
			s.unstarted("c-d", true)
		}, want: "create-pods: create Pod c-d"},
		"members with data have their pods first": {scene: three().withVolumes(), change: func(s *scene) {
			fits(s, 4)
			s.losePod("c-c")
			s.unstarted("c-0", true)
		}, want: "create-pods: create Pod c-c"},
	})
}

// Older releases take no member while one is not connected; asking them would say nothing of who that is.
func TestOlderReleasesAreNotAskedForAMemberBesideASickOne(t *testing.T) {
	sick := func(tag string) func(*scene) {
		return func(s *scene) {
			asVersion(s, tag, tag)
			s.Cluster.Spec.Size = 6
			s.Budget = manifests.Budget(s.Cluster, manifests.MinAvailable(6, 5))
			s.silence("c-c")
		}
	}
	check(t, map[string]planCase{
		"3.5.21": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.5.21"), want: "wait: QuorumAtRisk"},
		"3.5.35": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.5.35"), want: "grow: add member c-new as learner"},
		"3.6.15": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.6.15"), want: "wait: QuorumAtRisk"},
		"3.6.16": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.6.16"), want: "grow: add member c-new as learner"},
	})
}
