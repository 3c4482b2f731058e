// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// lacksImage lets a container of a member's pod wait for an image that cannot be had.
func lacksImage(s *scene, name, container, image string) {
	pod := s.pod(name)
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if containers[i].Name == container {
				containers[i].Image = image
			}
		}
	}
	waits := corev1.ContainerStatus{Name: container, Image: "ran-before", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}
	if container == "etcd" {
		waits.ContainerID = "x"
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{waits}
	} else {
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = nil, []corev1.ContainerStatus{waits}
	}
	if s.Etcd.Membership != nil {
		s.silence(name)
	}
}

func TestTheMessageNamesTheImageThatIsMissing(t *testing.T) {
	for _, container := range []string{"etcd", "check-dns"} {
		s := three()
		lacksImage(s, "c-c", container, "missing")
		p := plan.Next(s.View)
		if !p.Is(plan.ImageNotAvailable) || !strings.Contains(p.Waits[0].Message, "cannot get image missing") {
			t.Errorf("%s: %v", container, p.Waits)
		}
	}
}

func TestVolumesGrowWithoutQuorum(t *testing.T) {
	larger := func(s *scene) {
		s.Cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
		for i := range s.Claims {
			s.Claims[i].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		}
	}
	lost := func(s *scene) { larger(s); s.crash("c-b", 4); s.silence("c-c") }
	check(t, map[string]planCase{
		"of a majority that is lost":         {scene: three().withVolumes(), change: lost, want: "grow-volumes: patch PersistentVolumeClaim c-a (resources.requests.storage=2Gi)"},
		"not of one that is being deleted":   {scene: three().withVolumes(), change: func(s *scene) { lost(s); s.Claims[0].DeletionTimestamp = now() }, want: "grow-volumes: patch PersistentVolumeClaim c-b (resources.requests.storage=2Gi)"},
		"not of one that etcd does not know": {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.addPod("c-x") }, want: "delete-leftovers: delete Pod c-x"},
	})
}

func TestAMemberForAChangeThatWasRevertedGoesAtOnce(t *testing.T) {
	surplus := func(change func(*scene)) *scene {
		s := three()
		changed := s.Cluster.DeepCopy()
		changed.Spec.Pod = &v1beta2.PodPolicy{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Mi")}}}
		s.made = changed
		s.addMember("c-d")
		s.learner("c-d", 0)
		if change != nil {
			change(s)
		}
		return s
	}
	unstarted := func(s *scene) {
		s.Etcd.Membership.Members[3].Name = ""
		delete(s.pod("c-d").Annotations, manifests.AnnotationMemberID)
		s.crash("c-d", 0)
	}
	wanted := func(s *scene) { s.Cluster = s.made }
	check(t, map[string]planCase{
		"one that has not started":  {scene: surplus(unstarted), want: "drop-unstarted: remove member c-d"},
		"one that crashes":          {scene: surplus(func(s *scene) { s.crash("c-d", 1) }), want: "replace-lost-learner: remove member c-d"},
		"one that does not answer":  {scene: surplus(func(s *scene) { s.silence("c-d") }), want: "shrink: remove member c-d"},
		"not while it is asked for": {scene: surplus(func(s *scene) { wanted(s); s.crash("c-d", 1) }), want: "wait: MemberCrashing"},
		"nor before it was started": {scene: surplus(func(s *scene) { wanted(s); unstarted(s) }), want: "wait: MemberCrashing"},
	})
}

func TestACorrectedHelperImageReachesThePodThatWaitsForIt(t *testing.T) {
	waits := func(s *scene, name, given string) {
		lacksImage(s, name, "check-dns", "mirror/"+given)
		s.pod(name).Annotations[manifests.AnnotationHelperImage] = given
	}
	joins := func(s *scene) {
		s.Cluster.Spec.Size = 4
		s.Budget = manifests.Budget(s.Cluster, 3)
		s.unstarted("c-d", true)
		s.addPod("c-d")
	}
	check(t, map[string]planCase{
		"of a member with a volume":           {scene: three().withVolumes(), change: func(s *scene) { waits(s, "c-c", "wrong") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"without quorum":                      {scene: three().withVolumes(), change: func(s *scene) { waits(s, "c-c", "wrong"); s.silence("c-b") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"of a member that joins":              {change: func(s *scene) { joins(s); waits(s, "c-d", "wrong") }, want: "create-pods: delete Pod c-d"},
		"not while it is the one to wait for": {scene: three().withVolumes(), change: func(s *scene) { waits(s, "c-c", "operator") }, want: "wait: ImageNotAvailable"},
		"not of a pod that runs": {scene: three().withVolumes(), change: func(s *scene) {
			s.pod("c-c").Annotations[manifests.AnnotationHelperImage] = "wrong"
		}, want: "steady state"},
		"of the first member": {scene: recorded("pod-c-a"), change: func(s *scene) {
			seedPod(s, func(pod *corev1.Pod) { pod.Spec.SchedulingGates, pod.Spec.NodeName = nil, "n" })
			waits(s, "c-a", "wrong")
		}, want: "hold-seed: patch Pod c-a (+finalizer seed-never-served)"},
	})
}

func TestAnotherDefaultOfTheOperatorReachesOnlyPodsThatWaitForAnImage(t *testing.T) {
	mirror := func(s *scene) { s.Defaults = manifests.Defaults{Repository: "mirror/etcd"} }
	secrets := func(s *scene) { s.Defaults = manifests.Defaults{PullSecrets: []string{"mirror"}} }
	waits := func(s *scene, container string) { lacksImage(s, "c-c", container, "quay.io/coreos/etcd:v3.6.16") }
	check(t, map[string]planCase{
		"not pods that run":       {change: mirror, want: "steady state"},
		"nor for other Secrets":   {change: secrets, want: "steady state"},
		"one that waits for etcd": {change: func(s *scene) { mirror(s); waits(s, "etcd") }, want: `fix-unstartable: patch Pod c-c (+annotation defaults={"repository":"mirror/etcd"} annotation image=mirror/etcd:v3.6.16 +annotation restarting=x containers[0].image=mirror/etcd:v3.6.16)`},
		"one in which etcd never ran": {scene: three().withVolumes(), change: func(s *scene) {
			secrets(s)
			waits(s, "etcd")
			s.pod("c-c").Status.ContainerStatuses[0].ContainerID = ""
		}, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"one that waits for the helper":    {scene: three().withVolumes(), change: func(s *scene) { secrets(s); waits(s, "check-dns") }, want: "fix-unstartable: delete Pod c-c if unchanged"},
		"not one that waits for the right": {scene: three().withVolumes(), change: func(s *scene) { waits(s, "etcd") }, want: "wait: ImageNotAvailable"},
	})
}

func TestAMemberThatWasRemovedNeedsNoSuccessor(t *testing.T) {
	check(t, map[string]planCase{"while its pod stops": {change: func(s *scene) {
		s.addPod("c-x")
		pod := s.pod("c-x")
		pod.Annotations[manifests.AnnotationPolicy], pod.DeletionTimestamp = "old", now()
	}, want: "steady state"}})
}
