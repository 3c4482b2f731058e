// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

type planCase struct {
	scene  *scene
	change func(*scene)
	want   string
}

func check(t *testing.T, cases map[string]planCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tc.scene
			if s == nil {
				s = three()
			}
			if tc.change != nil {
				tc.change(s)
			}
			p := plan.Next(s.guarded().View)
			if got := printPlan(s.View, p); got != tc.want {
				t.Errorf("plan: %s, want %s; waits: %+v", got, tc.want, p.Waits)
			}
		})
	}
}

// createdPod is the pod that the plan of a scene creates.
func createdPod(t *testing.T, s *scene) *corev1.Pod {
	t.Helper()
	p := plan.Next(s.guarded().View)
	create, ok := p.Step.(plan.CreateObject)
	if !ok {
		t.Fatalf("plan: %s, want that a pod is created", printPlan(s.View, p))
	}
	pod, ok := create.Object.(*corev1.Pod)
	if !ok {
		t.Fatalf("plan: %s, want that a pod is created", printPlan(s.View, p))
	}
	return pod
}

func now() *metav1.Time { return &metav1.Time{Time: noon} }

func TestNothingIsDoneWithoutNeed(t *testing.T) {
	check(t, map[string]planCase{
		"three healthy members":              {want: "steady state"},
		"three healthy members with volumes": {scene: three().withVolumes(), want: "steady state"},
		"the object is being deleted":        {change: func(s *scene) { s.Cluster.DeletionTimestamp = now(); s.Cluster.Spec.Size = 5 }, want: "wait: Deleting"},
		"paused":                             {change: func(s *scene) { s.Cluster.Spec.Paused = true; s.Cluster.Spec.Size = 5 }, want: "wait: Paused"},
		"an old object of size 0":            {change: func(s *scene) { s.Cluster.Spec.Size = 0 }, want: "wait: InvalidSpec"},
		"a service of somebody else":         {change: func(s *scene) { s.PeerService.OwnerReferences = others }, want: "wait: NameTaken"},
		"a budget that nobody wants":         {change: func(s *scene) { s.Cluster.Spec.PodDisruptionBudget = ptr.To(false) }, want: "sync-budget: delete PodDisruptionBudget c"},
	})
}

func TestOfADeletedObjectOnlyTheFinalizerOfPodsIsRemoved(t *testing.T) {
	held := func(pod *corev1.Pod) { pod.Finalizers = []string{"user", manifests.FinalizerSeed} }
	deleted := func(s *scene) { s.Cluster.DeletionTimestamp = now() }
	gone := func(s *scene) { s.Cluster, s.Gone = &v1beta2.EtcdCluster{}, true }
	const releases = "release-deleted: patch Pod c-a (-finalizer seed-never-served)"
	check(t, map[string]planCase{
		"of one that is being deleted":     {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held); deleted(s) }, want: releases},
		"of one that is gone":              {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held); gone(s) }, want: releases},
		"of one with an invalid spec":      {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held); deleted(s); s.Cluster.Spec.Size = 0 }, want: releases},
		"also of a previous incarnation":   {change: func(s *scene) { deleted(s); held(s.pod("c-a")); s.Previous.Pods, s.Pods = s.Pods, nil }, want: releases},
		"a pod that nobody holds is left":  {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, nil); deleted(s) }, want: "wait: Deleting"},
		"nothing is done for one that was": {change: func(s *scene) { gone(s) }, want: "wait: Deleting"},
	})
	s := three()
	deleted(s)
	held(s.pod("c-a"))
	held(s.pod("c-c"))
	if p := plan.Next(s.View); len(p.Concurrent) != 1 || !p.Is(plan.Deleting) {
		t.Errorf("of two pods that are held, the plan is %s and %d more, waiting for %v", printPlan(s.View, p), len(p.Concurrent), p.Waits)
	}
}

// An object from before the rule that refuses them may have settings with which members that are well count as lost.
func TestUnsafeSettingsOfEtcdStopEverything(t *testing.T) {
	with := func(name, value string) func(*scene) {
		return func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: name, Value: value}}}
			s.losePod("c-c")
		}
	}
	check(t, map[string]planCase{
		"another folder for the log":         {change: with("ETCD_WAL_DIR", "/var/etcd/wal"), want: "wait: InvalidSpec"},
		"a cluster of its own":               {change: with("ETCD_FORCE_NEW_CLUSTER", "true"), want: "wait: InvalidSpec"},
		"which is not asked for":             {change: with("ETCD_FORCE_NEW_CLUSTER", "false"), want: "replace-lost-voter: remove member c-c"},
		"settings in a file":                 {change: with("ETCD_CONFIG_FILE", "/etc/etcd.yaml"), want: "wait: InvalidSpec"},
		"nothing that etcd would look at":    {change: with("ETCD_CONFIG_FILE", ""), want: "replace-lost-voter: remove member c-c"},
		"settings that are nobody's concern": {change: with("ETCD_QUOTA_BACKEND_BYTES", "1"), want: "replace-lost-voter: remove member c-c"},
	})
}

// others is somebody else, who owns an object.
var others = []metav1.OwnerReference{{UID: "somebody-else", Controller: ptr.To(true)}}

// What belongs to nobody and leads to the members was made for the cluster.
func TestServicesThatLostTheirOwnerOrALabelAreAdopted(t *testing.T) {
	check(t, map[string]planCase{
		"a service for members":           {change: func(s *scene) { s.PeerService.OwnerReferences = nil }, want: "sync-peer-service: patch Service c (+owner EtcdCluster c)"},
		"a service for clients":           {change: func(s *scene) { s.ClientService.OwnerReferences = nil }, want: "sync-client-service: patch Service c-client (+owner EtcdCluster c)"},
		"a budget":                        {change: func(s *scene) { s.Budget.OwnerReferences = nil }, want: "sync-budget: patch PodDisruptionBudget c (+owner EtcdCluster c)"},
		"one that leads elsewhere is not": {change: func(s *scene) { s.PeerService.OwnerReferences, s.PeerService.Spec.Selector = nil, nil }, want: "wait: NameTaken"},
		"one of before the cluster is not": {change: func(s *scene) {
			s.PeerService.OwnerReferences = nil
			s.Cluster.CreationTimestamp = metav1.NewTime(s.PeerService.CreationTimestamp.Add(time.Hour))
		}, want: "wait: NameTaken"},
	})
}

// What belongs to somebody else is left alone, and keeps nobody from healing a cluster that is there.
func TestNamesOfOthersDoNotStopTheCareOfACluster(t *testing.T) {
	foreignBudget := func(s *scene) { s.Budget.OwnerReferences = others }
	foreignPeers := func(s *scene) { s.PeerService.OwnerReferences = others }
	foreignService := func(s *scene) { s.ClientService.OwnerReferences = others }
	check(t, map[string]planCase{
		"a budget": {change: foreignBudget, want: "wait: NameTaken"},
		"a budget, and none is wanted": {change: func(s *scene) {
			foreignBudget(s)
			s.Cluster.Spec.PodDisruptionBudget = ptr.To(false)
		}, want: "steady state"},
		"a budget, and a member is gone":     {change: func(s *scene) { foreignBudget(s); s.losePod("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"a service for clients":              {change: foreignService, want: "wait: NameTaken"},
		"a service, and a member is gone":    {change: func(s *scene) { foreignService(s); s.losePod("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"a service for members":              {change: foreignPeers, want: "wait: NameTaken"},
		"that, and a member is gone":         {change: func(s *scene) { foreignPeers(s); s.losePod("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"that, before there is anything":     {scene: fresh(), change: func(s *scene) { s.PeerService = manifests.PeerService(s.Cluster); foreignPeers(s) }, want: "wait: NameTaken"},
		"before there is anything, it waits": {scene: fresh(), change: foreignService, want: "wait: NameTaken"},
		"what was adopted is cared for": {scene: fresh(), change: func(s *scene) {
			seedPod(s, func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil })
			hadCluster(s)
			foreignBudget(s)
		}, want: "adopt: record (+bootstrap.podUID=pod-c-a +bootstrap.seed=c-a)"},
	})
}

// A message that counted down would be written at each look.
func TestMessagesDoNotCountDown(t *testing.T) {
	message := func(later time.Duration) string {
		s := three()
		s.nodeAway("c-b", 10*time.Second)
		s.Now = noon.Add(later)
		return plan.Next(s.View).Waits[0].Message
	}
	if first, second := message(0), message(7*time.Second); first != second || !strings.Contains(first, "12:00:50 UTC") {
		t.Errorf("%q becomes %q", first, second)
	}
}

// Where parts of a view are missing, the planner neither panics nor acts on what it
// does not know.
func TestWhatIsNotKnownIsNotActedOn(t *testing.T) {
	check(t, map[string]planCase{
		"no nodes":           {change: func(s *scene) { s.Nodes = nil }, want: "steady state"},
		"pods without state": {change: func(s *scene) { s.pod("c-a").Status = corev1.PodStatus{} }, want: "steady state"},
		"no statuses":        {change: func(s *scene) { s.Etcd.Status = nil }, want: "wait: MemberUnhealthy"},
		"no pods":            {change: func(s *scene) { s.Pods = nil }, want: "wait: QuorumAtRisk"},
		"a nameless member":  {change: func(s *scene) { s.Etcd.Membership.Members[0] = etcd.Member{ID: id("c-a")} }, want: "wait: MemberJoining"},
		"no labels":          {change: func(s *scene) { s.pod("c-a").Labels, s.pod("c-a").Annotations = nil, nil }, want: "adopt-pods: patch Pod c-a (+label app=etcd +label etcd_cluster=c)"},
		"none but those":     {change: func(s *scene) { s.pod("c-a").Labels, s.pod("c-a").Annotations = manifests.ClusterLabels("c"), nil }, want: "sync-metadata: patch Pod c-a (+label etcd_serving=true +annotation applied={} +annotation member-id=61 +annotation policy=44136fa355b3678a +annotation restarts=0)"},
	})
}
