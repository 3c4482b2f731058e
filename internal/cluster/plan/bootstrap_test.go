// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

func fresh() *scene {
	s := newScene()
	s.Cluster.Spec.Size = 3
	s.Cluster.Status = v1beta2.ClusterStatus{}
	s.Etcd.Membership = nil
	s.Budget = nil // which comes when there is a cluster
	return s
}

// recorded is a fresh object whose seed has been chosen.
func recorded(uid string) *scene {
	s := fresh()
	s.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Seed: "c-a", Token: "t", PodUID: uid}
	return s
}

func seedPod(s *scene, change func(*corev1.Pod)) {
	pod := manifests.MemberPod(s.Cluster, manifests.Start{Member: "c-a", Token: "t", HelperImage: "operator"})
	pod.UID = "pod-c-a"
	if change != nil {
		change(pod)
	}
	s.Pods = append(s.Pods, *pod)
}

func TestTheClusterIsStartedOnce(t *testing.T) {
	ungated := func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil }
	check(t, map[string]planCase{
		"first the names":                       {scene: fresh(), change: func(s *scene) { s.PeerService = nil }, want: "sync-peer-service: create Service c"},
		"then the choice is recorded":           {scene: fresh(), want: "choose-seed: record (+bootstrap.seed=c-new +bootstrap.token=token)"},
		"then the pod, gated":                   {scene: recorded(""), want: "create-seed: create Pod c-a"},
		"then which pod it is":                  {scene: recorded(""), change: func(s *scene) { seedPod(s, nil) }, want: "record-seed-pod: record (+bootstrap.podUID=pod-c-a)"},
		"only then it may run":                  {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, nil) }, want: "start-seed: patch Pod c-a (-schedulingGates)"},
		"then it is waited for":                 {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, ungated) }, want: "wait: SeedStarting"},
		"a seed that vanished is not recreated": {scene: recorded("pod-c-a"), want: "wait: SeedLost"},
		"nor one replaced by another pod":       {scene: recorded("pod-other"), change: func(s *scene) { seedPod(s, ungated) }, want: "wait: SeedLost"},
		"with the user's consent it is":         {scene: recorded("pod-c-a"), change: func(s *scene) { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"} }, want: "start-over: record (-bootstrap.podUID bootstrap.seed=c-new bootstrap.token=token)"},
		"consent for another seed is none":      {scene: recorded("pod-c-a"), change: func(s *scene) { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-z"} }, want: "wait: SeedLost"},
		"a status of another operator":          {scene: fresh(), change: func(s *scene) { s.Cluster.Status.Phase = v1beta2.ClusterPhaseRunning }, want: "wait: OriginUnknown"},
		"our own status before the first step": {scene: fresh(), change: func(s *scene) {
			s.Cluster.Status.Phase, s.Cluster.Status.Bootstrap = v1beta2.ClusterPhaseFailed, &v1beta2.BootstrapStatus{}
		}, want: "choose-seed: record (+bootstrap.seed=c-new +bootstrap.token=token)"},
		"a budget is left of a cluster that the status has lost": {scene: fresh(), change: hadCluster, want: "wait: OriginUnknown"},
		"whatever was reported since then": {scene: fresh(), change: func(s *scene) {
			hadCluster(s)
			s.Cluster.Status.Phase, s.Cluster.Status.Bootstrap = v1beta2.ClusterPhaseFailed, &v1beta2.BootstrapStatus{}
		}, want: "wait: OriginUnknown"},
		"with the user's consent another is started": {scene: fresh(), change: func(s *scene) {
			hadCluster(s)
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "yes"}
		}, want: "start-over: record (+bootstrap.seed=c-new +bootstrap.token=token)"},
		"pods of another operator":     {scene: fresh(), change: func(s *scene) { seedPod(s, ungated) }, want: "adopt: record (+bootstrap.podUID=pod-c-a +bootstrap.seed=c-a)"},
		"a missing secret comes first": {scene: fresh(), change: withPeerTLS, want: "wait: WaitingForSecret"},
		"consent for one that was adopted": {scene: recorded(""), change: func(s *scene) {
			s.Cluster.Status.Bootstrap.Token, s.Cluster.Status.ClusterID = "", "c1"
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"}
		}, want: "start-over: record (bootstrap.seed=c-new +bootstrap.token=token -clusterID)"},
		"all gone after it ran":               {change: func(s *scene) { s.Pods, s.Etcd.Membership, s.Etcd.Status = nil, nil, nil }, want: "wait: AllDataLost"},
		"members of a foreign cluster answer": {change: func(s *scene) { s.Etcd.Membership.ClusterID = 0xbad }, want: "wait: MembersDisagree"},
	})
}

func hadCluster(s *scene) { s.Budget = manifests.Budget(s.Cluster, 1) }

// A first member that serves is a cluster, whether or not the operator hears it.
func TestAFirstMemberThatServesIsNotInterrupted(t *testing.T) {
	runs := func(ready corev1.ConditionStatus, since time.Duration) func(*scene) {
		return func(s *scene) {
			seedPod(s, func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates, pod.Spec.NodeName = nil, "n"
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", ContainerID: "x", State: corev1.ContainerState{
					Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-since))},
				}}}
			})
			s.Cluster.Spec.Version = "3.6.10"
		}
	}
	const changed = "change-seed-image: patch Pod c-a (annotation image=quay.io/coreos/etcd:v3.6.10 +annotation restarting=x annotation etcd.version=3.6.10 containers[0].image=quay.io/coreos/etcd:v3.6.10)"
	check(t, map[string]planCase{
		"it is ready":                        {scene: recorded("pod-c-a"), change: runs(corev1.ConditionTrue, time.Hour), want: "wait: SeedStarting"},
		"it was started a moment ago":        {scene: recorded("pod-c-a"), change: runs(corev1.ConditionFalse, 10*time.Second), want: "wait: SeedStarting"},
		"it runs, and does not become ready": {scene: recorded("pod-c-a"), change: runs(corev1.ConditionFalse, time.Minute), want: changed},
	})
}

// A volume on which etcd was seen running has data: what comes after must not do without it.
func TestAVolumeThatEtcdHasRunOnIsRemembered(t *testing.T) {
	runs := func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates, pod.Spec.NodeName = nil, "n"
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", ContainerID: "x", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	onVolume := func(podUID string, noted bool) *scene {
		s := recorded(podUID)
		s.Cluster.Spec.Pod = three().withVolumes().Cluster.Spec.Pod
		claim := manifests.Claim(s.Cluster, "c-a")
		if noted {
			claim.Annotations = map[string]string{manifests.AnnotationStarted: "true"}
		}
		s.Claims = []corev1.PersistentVolumeClaim{*claim}
		return s
	}
	check(t, map[string]planCase{
		"it is noted":                   {scene: onVolume("pod-c-a", false), change: func(s *scene) { seedPod(s, runs) }, want: "note-started: patch PersistentVolumeClaim c-a (+annotation started=true)"},
		"once":                          {scene: onVolume("pod-c-a", true), change: func(s *scene) { seedPod(s, runs) }, want: "wait: SeedStarting"},
		"not before etcd runs":          {scene: onVolume("pod-c-a", false), change: func(s *scene) { seedPod(s, func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil }) }, want: "wait: SeedStarting"},
		"another pod may go on with it": {scene: onVolume("pod-c-a", true), want: "replace-lost-seed: record (-bootstrap.podUID)"},
		"but not without the data": {scene: onVolume("pod-c-a", true), change: func(s *scene) {
			seedPod(s, runs)
			s.Pods[0].Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: manifests.ContainerGate, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost},
			}}}
		}, want: "wait: SeedLost"},
	})
	for _, noted := range []bool{false, true} {
		pod := createdPod(t, onVolume("", noted))
		if got := slices.Contains(pod.Spec.InitContainers[0].Command, manifests.FlagHasData); got != noted {
			t.Errorf("etcd has run on the volume: %t; the gate asks for data: %t", noted, got)
		}
	}
}

// TestASeedThatNeverServedIsRecreatedForACorrectedSpec follows the chain of steps, each of
// which may be the last before a crash.
func TestASeedThatNeverServedIsRecreatedForACorrectedSpec(t *testing.T) {
	corrected := func(s *scene) {
		s.Cluster.Spec.Pod = &v1beta2.PodPolicy{NodeSelector: map[string]string{"right": "one"}}
	}
	waiting := func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil }
	held := func(pod *corev1.Pod) { waiting(pod); pod.Finalizers = []string{manifests.FinalizerSeed} }
	going := func(pod *corev1.Pod) { held(pod); pod.DeletionTimestamp = now() }
	ran := func(pod *corev1.Pod) {
		pod.Spec.NodeName = "n"
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", ContainerID: "x", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	check(t, map[string]planCase{
		"it is held":                           {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, waiting); corrected(s) }, want: "hold-seed: patch Pod c-a (+finalizer seed-never-served)"},
		"it is deleted":                        {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held); corrected(s) }, want: "replace-held-seed: delete Pod c-a if unchanged"},
		"the record forgets it":                {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, going); corrected(s) }, want: "replace-held-seed: record (-bootstrap.podUID)"},
		"it is released":                       {scene: recorded(""), change: func(s *scene) { seedPod(s, going); corrected(s) }, want: "release-seed: patch Pod c-a (-finalizer seed-never-served)"},
		"one that runs is left alone":          {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, func(p *corev1.Pod) { waiting(p); ran(p) }); corrected(s) }, want: "wait: SeedStarting"},
		"one that ran meanwhile is released":   {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, func(p *corev1.Pod) { going(p); ran(p) }); corrected(s) }, want: "replace-held-seed: patch Pod c-a (-finalizer seed-never-served)"},
		"the correction was reverted":          {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held) }, want: "replace-held-seed: patch Pod c-a (-finalizer seed-never-served)"},
		"a new image needs no new pod at all":  {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, waiting); s.Cluster.Spec.Version = "3.6.10" }, want: "change-seed-image: patch Pod c-a (annotation image=quay.io/coreos/etcd:v3.6.10 annotation etcd.version=3.6.10 containers[0].image=quay.io/coreos/etcd:v3.6.10)"},
		"a gated one is simply deleted":        {scene: recorded(""), change: func(s *scene) { seedPod(s, nil); corrected(s) }, want: "recreate-seed: delete Pod c-a if unchanged"},
		"the volume of a lost pod is its data": {scene: recorded("pod-c-a"), change: func(s *scene) { s.withVolumes(); s.Claims = append(s.Claims, *manifests.Claim(s.Cluster, "c-a")) }, want: "replace-lost-seed: record (-bootstrap.podUID)"},
	})
}

// Consent to start over counts only while nothing is left: the advice to give it names what has to go.
func TestTheAdviceToStartOverWorks(t *testing.T) {
	previous := func(s *scene) {
		s.Previous.Claims = []corev1.PersistentVolumeClaim{*manifests.Claim(three().withVolumes().Cluster, "c-old")}
	}
	lost := func(change func(*scene)) *scene {
		s := three()
		s.Pods, s.Etcd = nil, view.Etcd{}
		change(s)
		return s
	}
	seedless := func() *scene {
		s := recorded("pod-c-a")
		previous(s)
		return s
	}
	consent := func(s *scene) { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"} }
	for name, tc := range map[string]struct {
		scene *scene
		want  string
	}{
		"nothing is left":           {lost(func(*scene) {}), "or set the annotation " + manifests.AnnotationBootstrapAgain + "=c-a "},
		"a previous volume is left": {lost(previous), "or delete the volume claim c-old and then set the annotation "},
		"the seed is lost":          {seedless(), "or delete the volume claim c-old and then set the annotation "},
	} {
		if p := plan.Next(tc.scene.guarded().View); p.Step != nil || !strings.Contains(p.Waits[0].Message, tc.want) {
			t.Errorf("%s: the plan is %s, with %+v", name, planned(tc.scene), p.Waits)
		}
		tc.scene.Previous = view.Previous{}
		consent(tc.scene)
		if got := planned(tc.scene); !strings.HasPrefix(got, "start-over: record (-bootstrap.podUID bootstrap.seed=c-new bootstrap.token=token") {
			t.Errorf("%s: once that is done, the plan is %s", name, got)
		}
	}
}
