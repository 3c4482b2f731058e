// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

func TestUpgrading(t *testing.T) {
	to := func(v string) func(*scene) { return func(s *scene) { s.Cluster.Spec.Version = v } }
	upgraded := func(s *scene, names ...string) {
		for _, name := range names {
			drift.SetImage(s.Cluster, manifests.Defaults{}, s.pod(name))
			delete(s.pod(name).Annotations, manifests.AnnotationRestarting)
			status := s.Etcd.Status[name]
			status.Version = manifests.Version(s.Cluster)
			s.Etcd.Status[name] = status
		}
	}
	leaderRestarts := func(ago time.Duration) func(*scene) {
		return func(s *scene) {
			to("3.7.3")(s)
			upgraded(s, "c-b", "c-c")
			drained(s, "c-a", ago)
			drained(s, "c-c", ago)
			drift.SetImage(s.Cluster, manifests.Defaults{}, s.pod("c-a"))
		}
	}
	check(t, map[string]planCase{
		"followers first":                     {change: func(s *scene) { to("3.7.3")(s); drained(s, "c-b", 2*time.Second) }, want: "roll: patch Pod c-b (annotation image=quay.io/coreos/etcd:v3.7.3 +annotation restarting=x annotation etcd.version=3.7.3 containers[0].image=quay.io/coreos/etcd:v3.7.3)"},
		"not the next before it is back":      {change: func(s *scene) { to("3.7.3")(s); upgraded(s, "c-b"); s.silence("c-b") }, want: "wait: MemberUnhealthy"},
		"nor while the old one still answers": {change: func(s *scene) { to("3.7.3")(s); drift.SetImage(s.Cluster, manifests.Defaults{}, s.pod("c-b")) }, want: "wait: MemberUnhealthy"},
		"a change reverted before it began": {change: func(s *scene) {
			to("3.7.3")(s)
			drift.SetImage(s.Cluster, manifests.Defaults{}, s.pod("c-b"))
			to("3.6.16")(s)
			drift.SetImage(s.Cluster, manifests.Defaults{}, s.pod("c-b"))
		}, want: "sync-metadata: patch Pod c-b (-annotation restarting)"},
		"the leader's turn comes last": {change: func(s *scene) {
			to("3.7.3")(s)
			upgraded(s, "c-b", "c-c")
			drained(s, "c-a", 2*time.Second)
			drained(s, "c-c", 2*time.Second)
		}, want: "roll: patch Pod c-a (annotation image=quay.io/coreos/etcd:v3.7.3 +annotation restarting=x annotation etcd.version=3.7.3 containers[0].image=quay.io/coreos/etcd:v3.7.3)"},
		"its clients go to its successor": {change: func(s *scene) { to("3.7.3")(s); upgraded(s, "c-b", "c-c"); drained(s, "c-a", 2*time.Second) }, want: "roll: patch Pod c-c (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"which is the one that runs longest": {change: func(s *scene) {
			to("3.7.3")(s)
			upgraded(s, "c-b", "c-c")
			drained(s, "c-a", 2*time.Second)
			s.pod("c-b").Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(noon.Add(-time.Minute))
		}, want: "roll: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"until it has ended they go nowhere else": {change: leaderRestarts(3 * time.Second), want: "wait: MemberUnhealthy"},
		"though not for ever":                     {change: leaderRestarts(20 * time.Second), want: "sync-metadata: patch Pod c-c (+label etcd_serving=true -annotation drained-since)"},
		"a member that is joining joins as it was made": {scene: newScene("c-a", "c-b"), change: func(s *scene) {
			s.Cluster.Spec.Size = 3
			s.unstarted("c-d", true)
			s.addPod("c-d")
			s.silence("c-d")
			to("3.7.3")(s)
		}, want: "wait: MemberJoining"},
		"a skipped minor is refused":           {change: to("3.8.0"), want: "wait: MinorVersionSkipped"},
		"a downgrade is refused":               {change: to("3.5.35"), want: "wait: DowngradeRefused"},
		"a patch version down is fine":         {change: func(s *scene) { to("3.6.10")(s); drained(s, "c-b", 2*time.Second) }, want: "roll: patch Pod c-b (annotation image=quay.io/coreos/etcd:v3.6.10 +annotation restarting=x annotation etcd.version=3.6.10 containers[0].image=quay.io/coreos/etcd:v3.6.10)"},
		"reverted in the middle":               {change: func(s *scene) { to("3.7.3")(s); upgraded(s, "c-b"); to("3.6.16")(s); drained(s, "c-b", 2*time.Second) }, want: "roll: patch Pod c-b (annotation image=quay.io/coreos/etcd:v3.6.16 +annotation restarting=x annotation etcd.version=3.6.16 containers[0].image=quay.io/coreos/etcd:v3.6.16)"},
		"a bad image is reverted":              {change: func(s *scene) { to("3.7.9")(s); upgraded(s, "c-b"); to("3.6.16")(s); s.silence("c-b") }, want: "roll: patch Pod c-b (annotation image=quay.io/coreos/etcd:v3.6.16 +annotation restarting=x annotation etcd.version=3.6.16 containers[0].image=quay.io/coreos/etcd:v3.6.16)"},
		"a single member is replaced":          {scene: newScene("c-a"), change: to("3.7.3"), want: "grow: add member c-new as learner"},
		"a lost member comes back as the old":  {change: func(s *scene) { to("3.7.3")(s); s.losePod("c-c") }, want: "replace-lost-voter: remove member c-c"},
		"healing goes on beside a refused one": {change: func(s *scene) { to("3.8.0")(s); s.losePod("c-c") }, want: "replace-lost-voter: remove member c-c"},
	})
}

func TestChangingPods(t *testing.T) {
	env := func(s *scene) {
		if s.Cluster.Spec.Pod == nil {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{}
		}
		s.Cluster.Spec.Pod.EtcdEnv = []corev1.EnvVar{{Name: "A", Value: "b"}}
	}
	check(t, map[string]planCase{
		"without a volume by one member more": {change: env, want: "grow: add member c-new as learner"},
		"after which an old one goes": {change: func(s *scene) {
			env(s)
			s.made = s.Cluster
			s.addMember("c-d")
			s.Budget = manifests.Budget(s.Cluster, 3)
			drained(s, "c-b", 2*time.Second)
		}, want: "shrink: remove member c-b"},
		"the old leader goes last":         {change: func(s *scene) { env(s); drained(s, "c-a", 2*time.Second); onlyOld(s, "c-a") }, want: "shrink: move leader from c-a to b"},
		"with a volume by a new pod on it": {scene: three().withVolumes(), change: func(s *scene) { env(s); drained(s, "c-b", 2*time.Second) }, want: "roll: delete Pod c-b"},
		"with anti-affinity the old one makes room": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{AntiAffinity: true}
			drained(s, "c-b", 2*time.Second)
		}, want: "roll: remove member c-b"},
		"labels in place":    {change: func(s *scene) { s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Labels: map[string]string{"a": "b"}} }, want: "sync-metadata: patch Pod c-a (+label a=b annotation applied={\"labels\":[\"a\"]})"},
		"resources in place": {change: func(s *scene) { withCPU(s, "100m"); s.Cluster.Spec.Pod.Resources = cpu("200m") }, want: "resize-pods: resize Pod c-a (annotation applied=… containers[0].resources.requests.cpu=200m)"},
		"resources by new pods where Kubernetes cannot resize": {change: func(s *scene) {
			withCPU(s, "100m")
			s.Cluster.Spec.Pod.Resources, s.CannotResize = cpu("200m"), true
		}, want: "grow: add member c-new as learner"},
		"resources that change the quality of service by new pods": {change: func(s *scene) { s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Resources: cpu("200m")} }, want: "grow: add member c-new as learner"},
		"a larger volume": {scene: three().withVolumes(), change: func(s *scene) {
			s.Cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
			for i := range s.Claims {
				s.Claims[i].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
			}
		}, want: "grow-volumes: patch PersistentVolumeClaim c-a (resources.requests.storage=2Gi)"},
		"a new member is marked once it has started": {change: func(s *scene) { delete(s.pod("c-b").Annotations, manifests.AnnotationMemberID) }, want: "sync-metadata: patch Pod c-b (+annotation member-id=62)"},
		"and serves once it has its vote":            {change: func(s *scene) { delete(s.pod("c-b").Labels, manifests.LabelServing) }, want: "sync-metadata: patch Pod c-b (+label etcd_serving=true)"},
	})
}

// withCPU lets the pods have been made with a request.
func withCPU(s *scene, quantity string) {
	s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Resources: cpu(quantity)}
	for i := range s.Pods {
		drift.SetResources(s.Cluster, &s.Pods[i])
		drift.RecordApplied(s.Cluster, &s.Pods[i])
	}
}

func cpu(quantity string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}}
}

// onlyOld makes all pods but one those of the current spec, and adds the additional member.
func onlyOld(s *scene, old string) {
	s.made = s.Cluster
	for i := range s.Pods {
		if s.Pods[i].Name != old {
			s.Pods[i].Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.Cluster)
		}
	}
	s.addMember("c-d")
	s.Budget = manifests.Budget(s.Cluster, 3)
}

// A volume that Kubernetes does not let grow keeps nothing else waiting.
func TestVolumesGrowLast(t *testing.T) {
	larger := func(s *scene) {
		s.Cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
		for i := range s.Claims {
			s.Claims[i].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		}
	}
	check(t, map[string]planCase{
		"an upgrade":    {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.Cluster.Spec.Version = "3.6.17" }, want: "roll: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"a member less": {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.Cluster.Spec.Size = 1; drained(s, "c-b", 2*time.Second) }, want: "shrink: remove member c-b"},
	})
}

// Resources that Kubernetes does not let a pod have keep nothing else waiting.
func TestResourcesAreChangedAfterWhatMatters(t *testing.T) {
	more := func(s *scene) { withCPU(s, "100m"); s.Cluster.Spec.Pod.Resources = cpu("200m") }
	check(t, map[string]planCase{
		"an upgrade":    {change: func(s *scene) { more(s); s.Cluster.Spec.Version = "3.6.17" }, want: "roll: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"a member less": {change: func(s *scene) { more(s); s.Cluster.Spec.Size = 1; drained(s, "c-b", 2*time.Second) }, want: "shrink: remove member c-b"},
		"storage for etcd's logs is no matter of resizing": {change: func(s *scene) {
			more(s)
			s.Cluster.Spec.Pod.Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		}, want: "grow: add member c-new as learner"},
	})
}

// Members are kept apart by whoever asked for it.
func TestNobodyIsInterruptedBesideAMemberThatIsFarBehind(t *testing.T) {
	behind := func(name string, entries uint64) func(*scene) {
		return func(s *scene) {
			s.Cluster.Spec.Version = "3.6.20"
			s.status(name, func(m *etcd.Status) { m.AppliedIndex -= entries })
			if name == "c-b" || entries <= 5000 {
				drained(s, "c-b", 2*time.Second)
			}
		}
	}
	const changed = "roll: patch Pod c-b (annotation image=quay.io/coreos/etcd:v3.6.20 +annotation restarting=x annotation etcd.version=3.6.20 containers[0].image=quay.io/coreos/etcd:v3.6.20)"
	check(t, map[string]planCase{
		"a little":                  {change: behind("c-c", 4000), want: changed},
		"far":                       {change: behind("c-c", 9000), want: "wait: QuorumAtRisk"},
		"it is the member itself":   {change: behind("c-b", 9000), want: changed},
		"nor removed, for the size": {change: func(s *scene) { behind("c-c", 9000)(s); s.Cluster.Spec.Version = "3.6.16"; s.Cluster.Spec.Size = 2 }, want: "wait: QuorumAtRisk"},
	})
}

func TestAnAffinityOfTheUsersOwnCountsAsAntiAffinity(t *testing.T) {
	apart := func(key string) *corev1.Affinity {
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{manifests.LabelCluster: "c"}},
		}}}}
	}
	check(t, map[string]planCase{
		"a node each": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Affinity: apart(corev1.LabelHostname)}
			drained(s, "c-b", 2*time.Second)
		}, want: "roll: remove member c-b"},
		"a zone each is another matter": {change: func(s *scene) { s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Affinity: apart(corev1.LabelTopologyZone)} }, want: "grow: add member c-new as learner"},
		"antiAffinity has no effect beside affinity": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{AntiAffinity: true, Affinity: &corev1.Affinity{}}
		}, want: "grow: add member c-new as learner"},
	})
}

// asVersion lets all members have been made for, and run, a version.
func asVersion(s *scene, tag, running string) {
	for _, c := range []*v1beta2.EtcdCluster{s.Cluster, s.made} {
		c.Spec.Version = tag
	}
	s.Cluster.Status.CurrentVersion = running
	for i := range s.Pods {
		s.Pods[i].Spec.Containers[0].Image = manifests.Defaults{}.Image(s.made)
		s.Pods[i].Annotations[manifests.AnnotationVersion] = tag
		s.Pods[i].Annotations[manifests.AnnotationImage] = manifests.Defaults{}.Image(s.made)
		s.Pods[i].Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.made)
		status := s.Etcd.Status[s.Pods[i].Name]
		status.Version = running
		s.Etcd.Status[s.Pods[i].Name] = status
	}
}

func TestAVersionKeepsItsSuffix(t *testing.T) {
	created := func(s *scene) string {
		t.Helper()
		return manifests.PodImage(createdPod(t, s))
	}
	s := three()
	asVersion(s, "3.5.35-vendor", "3.5.35")
	if got := planned(s); got != "steady state" {
		t.Errorf("at first: %s", got)
	}
	s.Cluster.Spec.Size = 4
	s.unstarted("c-d", true)
	if image := created(s); !strings.HasSuffix(image, ":v3.5.35-vendor") {
		t.Errorf("a new member gets %s", image)
	}
	s.Cluster.Spec.Version = "3.6.16-vendor" // no member has it yet
	if image := created(s); !strings.HasSuffix(image, ":v3.5.35-vendor") {
		t.Errorf("a new member beside an upgrade gets %s", image)
	}
}

func TestResourcesThatANodeDoesNotGiveAreReported(t *testing.T) {
	s := three()
	pod := s.pod("c-b")
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible, Message: "Node didn't have enough capacity: cpu",
	})
	if got := planned(s); got != "wait: ResourcesPending" {
		t.Errorf("plan: %s", got)
	}
}
