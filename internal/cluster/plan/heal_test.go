// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

func TestHealing(t *testing.T) {
	deleting := func(name string) func(*scene) {
		return func(s *scene) { s.pod(name).DeletionTimestamp = now() }
	}
	check(t, map[string]planCase{
		"a member without a pod and without a volume goes":            {change: func(s *scene) { s.losePod("c-c") }, want: "replace-lost-voter: remove member c-c"},
		"one with a volume gets its pod back":                         {scene: three().withVolumes(), change: func(s *scene) { s.losePod("c-c") }, want: "create-pods: create Pod c-c"},
		"a leader that is being deleted hands over first":             {change: deleting("c-a"), want: "replace-lost-voter: move leader from c-a to b"},
		"a follower that is being deleted leaves":                     {change: deleting("c-b"), want: "replace-lost-voter: remove member c-b"},
		"with a volume its pod's end is waited for":                   {scene: three().withVolumes(), change: deleting("c-b"), want: "wait: MemberStopping"},
		"an evicted pod takes its data with it":                       {change: func(s *scene) { s.pod("c-b").Status.Phase = corev1.PodFailed; s.silence("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"an evicted pod on a volume is recreated":                     {scene: three().withVolumes(), change: func(s *scene) { s.pod("c-b").Status.Phase = corev1.PodFailed; s.silence("c-b") }, want: "create-pods: delete Pod c-b"},
		"a pod that its kubelet has just rejected stays for a moment": {scene: three().withVolumes(), change: func(s *scene) { s.reject("c-b", 2*time.Second) }, want: "wait: PodUnschedulable"},
		"then there is another one":                                   {scene: three().withVolumes(), change: func(s *scene) { s.reject("c-b", 11*time.Second) }, want: "create-pods: delete Pod c-b"},
		"a voter without a volume has lost its data with such a pod":  {change: func(s *scene) { s.reject("c-b", 2*time.Second) }, want: "replace-lost-voter: remove member c-b"},
		"a lost volume": {scene: three().withVolumes(), change: func(s *scene) { s.Claims[1].Status.Phase = corev1.ClaimLost; s.silence("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"a member that is out of room": {change: func(s *scene) {
			s.status("c-b", func(m *etcd.Status) { m.Errors = []string{"memberID:2 alarm:NOSPACE "} })
		}, want: "wait: MemberAlarm"},
		"an alarm about one member is not about the others": {scene: three().withVolumes(), change: func(s *scene) {
			alarm := fmt.Sprintf("memberID:%d alarm:CORRUPT ", s.Etcd.Status["c-b"].MemberID)
			for name := range s.Etcd.Status {
				s.status(name, func(m *etcd.Status) { m.Errors = []string{alarm} })
			}
			s.Claims[1].Status.Phase = corev1.ClaimLost
		}, want: "replace-lost-voter: remove member c-b"},
		"a pod comes back before another member comes": {scene: three().withVolumes(), change: func(s *scene) {
			s.Cluster.Spec.Size = 5
			s.losePod("c-c")
		}, want: "create-pods: create Pod c-c"},
		"a member that only does not answer stays": {change: func(s *scene) { s.silence("c-b") }, want: "wait: MemberUnhealthy"},
		"its node is away for a while":             {change: func(s *scene) { s.nodeAway("c-b", 50*time.Second) }, want: "wait: NodeUnreachable"},
		"its node is away for too long":            {change: func(s *scene) { s.nodeAway("c-b", 61*time.Second) }, want: "replace-lost-voter: remove member c-b"},
		"more patience with a volume":              {scene: three().withVolumes(), change: func(s *scene) { s.nodeAway("c-b", 61*time.Second) }, want: "wait: NodeUnreachable"},
		"the user's own patience": {change: func(s *scene) {
			s.Cluster.Spec.NodeLostToleranceSeconds = ptr.To[int64](10)
			s.nodeAway("c-b", 11*time.Second)
		}, want: "replace-lost-voter: remove member c-b"},
		"the longest patience that a spec can have": {change: func(s *scene) {
			s.Cluster.Spec.NodeLostToleranceSeconds = ptr.To[int64](math.MaxInt64)
			s.nodeAway("c-b", time.Hour)
		}, want: "wait: NodeUnreachable"},
		"its node was deleted":                           {change: func(s *scene) { s.Nodes["node-c-b"] = view.Node{}; s.silence("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"it crashes for the third time":                  {change: func(s *scene) { s.crash("c-b", 3) }, want: "wait: MemberCrashing"},
		"it crashes again and again":                     {change: func(s *scene) { s.crash("c-b", 4) }, want: "replace-lost-voter: remove member c-b"},
		"it found its data gone":                         {change: func(s *scene) { dataGone(s, "c-b") }, want: "replace-lost-voter: remove member c-b"},
		"a pod that etcd does not know":                  {change: func(s *scene) { s.addPod("c-x") }, want: "delete-leftovers: delete Pod c-x"},
		"its data is kept while nobody is there to stay": {scene: newScene("c-a"), change: func(s *scene) { s.addPod("c-x"); deleting("c-a")(s) }, want: "wait: QuorumAtRisk"},
		"a volume that nobody needs goes last":           {scene: three().withVolumes(), change: func(s *scene) { s.Claims = append(s.Claims, *manifests.Claim(s.made, "c-x")) }, want: "delete-leftovers: delete PersistentVolumeClaim c-x"},
	})
}

// The pod of a learner that was never started has nothing that could be lost with it.
func TestALearnerThatNeverStartedGetsAnotherPod(t *testing.T) {
	joining := func(change func(*scene, *corev1.Pod)) func(*scene) {
		return func(s *scene) {
			s.Cluster.Spec.Size = 4
			s.Budget = manifests.Budget(s.Cluster, manifests.MinAvailable(4, 3))
			s.unstarted("c-d", true)
			s.addPod("c-d")
			pod := s.pod("c-d")
			pod.DeletionTimestamp, pod.Status = now(), corev1.PodStatus{Phase: corev1.PodPending}
			change(s, pod)
		}
	}
	check(t, map[string]planCase{
		"its pod's end is waited for": {change: joining(func(*scene, *corev1.Pod) {}), want: "wait: MemberStopping"},
		"not one that has run": {change: joining(func(_ *scene, pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", ContainerID: "x"}}
		}), want: "replace-lost-learner: remove member c-d"},
		"not on a node that does not come back": {change: joining(func(s *scene, _ *corev1.Pod) { s.Nodes["node-c-d"] = view.Node{} }), want: "replace-lost-learner: remove member c-d"},
	})
}

func dataGone(s *scene, name string) {
	s.silence(name)
	s.pod(name).Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: manifests.ContainerGate, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost}},
	}}
}

func TestAMemberThatHasStartedNeverStartsOnAnEmptyVolume(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"with a majority":    func(s *scene) { s.losePod("c-c") },
		"without a majority": func(s *scene) { s.losePod("c-c"); s.silence("c-a", "c-b") },
	} {
		s := three().withVolumes()
		change(s)
		pod := createdPod(t, s)
		if pod.Name != "c-c" || !slices.Contains(pod.Spec.InitContainers[0].Command, manifests.FlagHasData) {
			t.Errorf("%s: the gate would let it start without data", name)
		}
	}
}

// pending lets a member have a pod that no node takes, made for a node selector that is corrected by now.
func pending(s *scene, name string) {
	wrong := s.made.DeepCopy()
	wrong.Spec.Pod.NodeSelector = map[string]string{"disk": "sdd"}
	pod := s.pod(name)
	pod.Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(wrong)
	pod.Spec.NodeName, pod.Spec.NodeSelector = "", wrong.Spec.Pod.NodeSelector
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "no node matches",
	}}}
	s.silence(name)
}

// tooLarge lets a member have a pod that no node takes, made for resources that are corrected by now.
func tooLarge(s *scene, name string) {
	pending(s, name)
	tooLargePod(s, s.pod(name))
}

func tooLargePod(s *scene, pod *corev1.Pod) {
	if s.Cluster.Spec.Pod == nil {
		s.Cluster.Spec.Pod = &v1beta2.PodPolicy{}
	}
	s.Cluster.Spec.Pod.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	for i := range s.Pods {
		drift.RecordApplied(s.Cluster, &s.Pods[i])
	}
	wrong := s.Cluster.DeepCopy()
	wrong.Spec.Pod.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")}
	pod.Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.Cluster)
	drift.SetResources(wrong, pod)
	drift.RecordApplied(wrong, pod)
}

func TestCorrectedResourcesReachAMemberThatTheyHeldUp(t *testing.T) {
	seed := func(change func(*corev1.Pod)) func(*scene) {
		return func(s *scene) {
			seedPod(s, func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = nil
				if change != nil {
					change(pod)
				}
				tooLargePod(s, pod)
			})
		}
	}
	joins := func(s *scene) {
		s.Cluster.Spec.Size = 4
		s.Budget = manifests.Budget(s.Cluster, 3)
		s.unstarted("c-d", true)
		s.addPod("c-d")
		tooLargePod(s, s.pod("c-d"))
	}
	held := func(pod *corev1.Pod) { pod.Finalizers = []string{manifests.FinalizerSeed} }
	serves := func(pod *corev1.Pod) {
		pod.Spec.NodeName = "n"
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", ContainerID: "x", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	check(t, map[string]planCase{
		"the seed is held":               {scene: recorded("pod-c-a"), change: seed(nil), want: "hold-seed: patch Pod c-a (+finalizer seed-never-served)"},
		"and deleted":                    {scene: recorded("pod-c-a"), change: seed(held), want: "replace-held-seed: delete Pod c-a if unchanged"},
		"not one that runs":              {scene: recorded("pod-c-a"), change: seed(serves), want: "wait: SeedStarting"},
		"a gated one is simply deleted":  {scene: recorded(""), change: func(s *scene) { seedPod(s, func(pod *corev1.Pod) { tooLargePod(s, pod) }) }, want: "recreate-seed: delete Pod c-a if unchanged"},
		"a learner that has not started": {change: func(s *scene) { joins(s); s.pod("c-d").Status.ContainerStatuses = nil }, want: "create-pods: delete Pod c-d"},
		"not one that is about to":       {change: joins, want: "wait: MemberJoining"},
		"a member with a volume":         {scene: three().withVolumes(), change: func(s *scene) { tooLarge(s, "c-c") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"the same without quorum":        {scene: three().withVolumes(), change: func(s *scene) { tooLarge(s, "c-c"); s.silence("c-b") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"not one that is not held up": {scene: three().withVolumes(), change: func(s *scene) {
			tooLargePod(s, s.pod("c-c"))
			s.silence("c-c")
		}, want: "wait: MemberUnhealthy"},
		"the first member of a restored cluster": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.seed(idle, idle, func(pod *corev1.Pod) { pod.Spec.NodeName = ""; tooLargePod(s, pod) })
		}), want: "recreate-restored-seed: delete Pod c-s if unchanged"},
		"not once its data is complete": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.seed(ended, ended, func(pod *corev1.Pod) { tooLargePod(s, pod) })
		}), want: "record-restored-data: record (+bootstrap.restore.revisionBumped=7 bootstrap.restore.stage=Replacing +restores)"},
	})
}

func TestACorrectedPodPolicyReachesAMemberThatItHeldUp(t *testing.T) {
	check(t, map[string]planCase{
		"by itself":         {scene: three().withVolumes(), change: func(s *scene) { pending(s, "c-c") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"with more members": {scene: three().withVolumes(), change: func(s *scene) { pending(s, "c-c"); s.Cluster.Spec.Size = 5 }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"without quorum":    {scene: three().withVolumes(), change: func(s *scene) { pending(s, "c-c"); s.silence("c-b") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"not corrected": {scene: three().withVolumes(), change: func(s *scene) {
			pending(s, "c-c")
			s.Cluster.Spec.Pod.NodeSelector = map[string]string{"disk": "sdd"}
		}, want: "wait: PodUnschedulable"},
		"its data is not on a volume": {change: func(s *scene) {
			s.made.Spec.Pod = &v1beta2.PodPolicy{}
			pending(s, "c-c")
			s.Etcd.Membership = nil
		}, want: "wait: NoLeader"},
	})
}
