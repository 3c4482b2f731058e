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
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// asVersion lets all members have been made for, and run, a version.
func asVersion(s *scene, tag, running string) {
	for _, c := range []*v1beta2.EtcdCluster{s.Cluster, s.made} {
		c.Spec.Version = tag
	}
	s.Cluster.Status.CurrentVersion = running
	for i := range s.Pods {
		s.Pods[i].Spec.Containers[0].Image = manifests.Image(s.made)
		s.Pods[i].Annotations[manifests.AnnotationVersion] = tag
		s.Pods[i].Annotations[manifests.AnnotationImage] = manifests.Image(s.made)
		s.Pods[i].Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.made)
		status := s.Etcd.Status[s.Pods[i].Name]
		status.Version = running
		s.Etcd.Status[s.Pods[i].Name] = status
	}
}

func TestAVersionKeepsItsSuffix(t *testing.T) {
	created := func(s *scene) string {
		t.Helper()
		step := plan.Next(s.Snapshot).Step
		if step == nil || step.Kind != plan.Create {
			t.Fatalf("plan: %s", shortly(plan.Next(s.Snapshot)))
		}
		return manifests.PodImage(step.Object.(*corev1.Pod))
	}
	s := three()
	asVersion(s, "3.5.35-vendor", "3.5.35")
	if got := shortly(plan.Next(s.Snapshot)); got != "at rest" {
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

// What belongs to somebody else is left alone, and keeps nobody from healing a cluster that is there.
func TestNamesOfOthersDoNotStopTheCareOfACluster(t *testing.T) {
	foreignBudget := func(s *scene) { s.Budget.OwnerReferences = nil }
	foreignService := func(s *scene) { s.ClientService.OwnerReferences = nil }
	check(t, map[string]planCase{
		"a budget": {change: foreignBudget, want: "wait: NameTaken"},
		"a budget, and none is wanted": {change: func(s *scene) {
			foreignBudget(s)
			s.Cluster.Spec.PodDisruptionBudget = ptr.To(false)
		}, want: "at rest"},
		"a budget, and a member is gone":     {change: func(s *scene) { foreignBudget(s); s.losePod("c-b") }, want: "Remove c-b"},
		"a service for clients":              {change: foreignService, want: "wait: NameTaken"},
		"a service, and a member is gone":    {change: func(s *scene) { foreignService(s); s.losePod("c-b") }, want: "Remove c-b"},
		"before there is anything, it waits": {scene: fresh(), change: foreignService, want: "wait: NameTaken"},
		"what was taken over is cared for": {scene: fresh(), change: func(s *scene) {
			seedPod(s, func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil })
			foreignBudget(s)
		}, want: "Record"},
	})
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
		"an upgrade":    {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.Cluster.Spec.Version = "3.6.17" }, want: "Change *v1.Pod c-b"},
		"a member less": {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.Cluster.Spec.Size = 1; drained(s, "c-b", 2*time.Second) }, want: "Remove c-b"},
	})
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
		"which is not asked for":             {change: with("ETCD_FORCE_NEW_CLUSTER", "false"), want: "Remove c-c"},
		"settings in a file":                 {change: with("ETCD_CONFIG_FILE", "/etc/etcd.yaml"), want: "wait: InvalidSpec"},
		"nothing that etcd would look at":    {change: with("ETCD_CONFIG_FILE", ""), want: "Remove c-c"},
		"settings that are nobody's concern": {change: with("ETCD_QUOTA_BACKEND_BYTES", "1"), want: "Remove c-c"},
	})
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
		"one":  {scene: growing("1"), want: "Create *v1.Pod c-d"},
		"many": {scene: growing("7"), want: "AddMember c-new as learner"},
	})
}

// A pod that is made while a secret is not there looks for its files under the wrong names for good.
func TestNoPodIsMadeWithoutItsSecrets(t *testing.T) {
	secured := func(keys ...string) *scene {
		s := three().withVolumes()
		withPeerTLS(s)
		s.made.Spec.TLS = s.Cluster.Spec.TLS
		for i := range s.Pods {
			s.Pods[i].Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.made)
		}
		if keys != nil {
			s.Secrets = map[string]snapshot.Secret{"peer": {Exists: true, Keys: keys}}
		}
		return s
	}
	standard := []string{"tls.crt", "tls.key", "ca.crt"}
	gone := func(s *scene) { s.losePod("c-c") }
	noQuorum := func(s *scene) { gone(s); s.silence("c-b") }
	renamed := func(s *scene) {
		s.Cluster = s.Cluster.DeepCopy()
		s.Cluster.Spec.TLS.Static.Member.PeerSecret = "other"
	}
	withClientTLS := func(operator snapshot.Secret) *scene {
		s := secured(standard...)
		s.Cluster.Spec.TLS.Static.Member.ServerSecret, s.Cluster.Spec.TLS.Static.OperatorSecret = "peer", "operator"
		s.Secrets["operator"] = operator
		return s
	}
	check(t, map[string]planCase{
		"with it":                              {scene: secured(standard...), change: gone, want: "Create *v1.Pod c-c"},
		"without it":                           {scene: secured(), change: gone, want: "wait: WaitingForSecret"},
		"with half of it":                      {scene: secured("tls.crt"), change: gone, want: "wait: WaitingForSecret"},
		"with it and no quorum":                {scene: secured(standard...), change: noQuorum, want: "Create *v1.Pod c-c"},
		"without it and no quorum":             {scene: secured(), change: noQuorum, want: "wait: WaitingForSecret"},
		"nor is one deleted for another":       {scene: secured(standard...), change: renamed, want: "wait: WaitingForSecret"},
		"which gets its clients back":          {scene: secured(standard...), change: func(s *scene) { renamed(s); drained(s, "c-b", 2*time.Second) }, want: "Change *v1.Pod c-b"},
		"members that run are left alone":      {scene: secured(), want: "at rest"},
		"the operator's own has to be there":   {scene: withClientTLS(snapshot.Secret{}), change: gone, want: "wait: WaitingForSecret"},
		"but what is in it is no matter of it": {scene: withClientTLS(snapshot.Secret{Exists: true, Problem: "no pair"}), change: gone, want: "Create *v1.Pod c-c"},
	})
}

// Consent to start over counts only while nothing is left: the advice to give it names what has to go.
func TestTheAdviceToStartOverWorks(t *testing.T) {
	former := func(s *scene) {
		s.Former.Claims = []corev1.PersistentVolumeClaim{*manifests.Claim(three().withVolumes().Cluster, "c-old")}
	}
	lost := func(change func(*scene)) *scene {
		s := three()
		s.Pods, s.Etcd = nil, snapshot.Etcd{}
		change(s)
		return s
	}
	seedless := func() *scene {
		s := recorded("pod-c-a")
		former(s)
		return s
	}
	consent := func(s *scene) { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"} }
	for name, tc := range map[string]struct {
		scene *scene
		want  string
	}{
		"nothing is left":         {lost(func(*scene) {}), "or set the annotation " + manifests.AnnotationBootstrapAgain + "=c-a "},
		"a volume before is left": {lost(former), "or delete the volume claim c-old and then set the annotation "},
		"the seed is lost":        {seedless(), "or delete the volume claim c-old and then set the annotation "},
	} {
		if p := plan.Next(tc.scene.Snapshot); p.Step != nil || !strings.Contains(p.Waits[0].Message, tc.want) {
			t.Errorf("%s: the plan is %s, with %+v", name, shortly(p), p.Waits)
		}
		tc.scene.Former = snapshot.Former{}
		consent(tc.scene)
		if got := shortly(plan.Next(tc.scene.Snapshot)); got != "Record" {
			t.Errorf("%s: once that is done, the plan is %s", name, got)
		}
	}
}

// Resources that Kubernetes does not let a pod have keep nothing else waiting.
func TestResourcesAreChangedAfterWhatMatters(t *testing.T) {
	more := func(s *scene) { withCPU(s, "100m"); s.Cluster.Spec.Pod.Resources = cpu("200m") }
	check(t, map[string]planCase{
		"an upgrade":    {change: func(s *scene) { more(s); s.Cluster.Spec.Version = "3.6.17" }, want: "Change *v1.Pod c-b"},
		"a member less": {change: func(s *scene) { more(s); s.Cluster.Spec.Size = 1; drained(s, "c-b", 2*time.Second) }, want: "Remove c-b"},
		"storage for etcd's logs is no matter of resizing": {change: func(s *scene) {
			more(s)
			s.Cluster.Spec.Pod.Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		}, want: "AddMember c-new as learner"},
	})
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
		manifests.RecordApplied(s.Cluster, &s.Pods[i])
	}
	wrong := s.Cluster.DeepCopy()
	wrong.Spec.Pod.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")}
	pod.Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.Cluster)
	manifests.SetResources(wrong, pod)
	manifests.RecordApplied(wrong, pod)
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
		"the seed is held":               {scene: recorded("pod-c-a"), change: seed(nil), want: "Change *v1.Pod c-a"},
		"and deleted":                    {scene: recorded("pod-c-a"), change: seed(held), want: "Delete *v1.Pod c-a"},
		"not one that runs":              {scene: recorded("pod-c-a"), change: seed(serves), want: "wait: SeedStarting"},
		"a gated one is simply deleted":  {scene: recorded(""), change: func(s *scene) { seedPod(s, func(pod *corev1.Pod) { tooLargePod(s, pod) }) }, want: "Delete *v1.Pod c-a"},
		"a learner that has not started": {change: func(s *scene) { joins(s); s.pod("c-d").Status.ContainerStatuses = nil }, want: "Delete *v1.Pod c-d"},
		"not one that is about to":       {change: joins, want: "wait: MemberJoining"},
		"a member with a volume":         {scene: three().withVolumes(), change: func(s *scene) { tooLarge(s, "c-c") }, want: "Delete *v1.Pod c-c"},
		"the same without quorum":        {scene: three().withVolumes(), change: func(s *scene) { tooLarge(s, "c-c"); s.silence("c-b") }, want: "Delete *v1.Pod c-c"},
		"not one that is not held up": {scene: three().withVolumes(), change: func(s *scene) {
			tooLargePod(s, s.pod("c-c"))
			s.silence("c-c")
		}, want: "wait: MemberUnhealthy"},
		"the first member of a restored cluster": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.seed(idle, idle, func(pod *corev1.Pod) { pod.Spec.NodeName = ""; tooLargePod(s, pod) })
		}), want: "Delete *v1.Pod c-s"},
		"not once its data is whole": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.seed(ended, ended, func(pod *corev1.Pod) { tooLargePod(s, pod) })
		}), want: "Record c-s"},
	})
}

func TestACorrectedPodPolicyReachesAMemberThatItHeldUp(t *testing.T) {
	check(t, map[string]planCase{
		"by itself":         {scene: three().withVolumes(), change: func(s *scene) { pending(s, "c-c") }, want: "Delete *v1.Pod c-c"},
		"with more members": {scene: three().withVolumes(), change: func(s *scene) { pending(s, "c-c"); s.Cluster.Spec.Size = 5 }, want: "Delete *v1.Pod c-c"},
		"without quorum":    {scene: three().withVolumes(), change: func(s *scene) { pending(s, "c-c"); s.silence("c-b") }, want: "Delete *v1.Pod c-c"},
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

// Where another operator's cluster has lost its majority, its pods tell how many members it had.
func TestAClusterThatWasTakenOverWithoutItsMajorityIsSaidToHaveLostIt(t *testing.T) {
	s := three()
	s.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Seed: "c-a"}
	s.silence("c-b", "c-c")
	s.Cluster.Status.MemberStatuses = nil
	if got := shortly(plan.Next(s.Snapshot)); got != "wait: QuorumLost" {
		t.Errorf("plan: %s", got)
	}
}

// A pod that the API server refuses, by a quota for example, keeps nobody from taking back what he asked for.
func TestAMemberThatHasNotStartedIsTakenBack(t *testing.T) {
	fits := func(s *scene, size int) { s.Cluster.Spec.Size = size; s.Budget = manifests.Budget(s.Cluster, 2) }
	check(t, map[string]planCase{
		"one":                          {change: func(s *scene) { fits(s, 3); s.unstarted("c-d", true) }, want: "Remove c-d"},
		"one of two":                   {change: func(s *scene) { fits(s, 3); s.unstarted("c-d", true); s.unstarted("c-e", true) }, want: "Remove c-d"},
		"not while it is wanted":       {change: func(s *scene) { fits(s, 4); s.unstarted("c-d", true) }, want: "Create *v1.Pod c-d"},
		"the one without a pod before": {change: func(s *scene) { fits(s, 4); s.unstarted("c-d", true); s.addPod("c-d"); s.unstarted("c-e", true) }, want: "Remove c-e"},
		"one with a vote":              {change: func(s *scene) { fits(s, 3); s.version("3.3.27"); s.unstarted("c-d", false) }, want: "Remove c-d"},
		"not the successor of another": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "A", Value: "b"}}}
			s.unstarted("c-d", true)
		}, want: "Create *v1.Pod c-d"},
		"members with data have their pods first": {scene: three().withVolumes(), change: func(s *scene) {
			fits(s, 4)
			s.losePod("c-c")
			s.unstarted("c-0", true)
		}, want: "Create *v1.Pod c-c"},
	})
}

// Learners have no vote: they neither make a majority nor are missing in one.
func TestLearnersAreNoPartOfAMajority(t *testing.T) {
	// lose takes the majority away, and leaves the roles that the members had.
	lose := func(s *scene, silent []string, roles map[string]v1beta2.MemberRole) {
		leaderless(s)
		for _, name := range silent {
			delete(s.Etcd.Status, name)
		}
		s.Cluster.Status.MemberStatuses = nil
		for name, role := range roles {
			s.Cluster.Status.MemberStatuses = append(s.Cluster.Status.MemberStatuses, v1beta2.MemberStatus{Name: name, Role: role})
			if role == v1beta2.MemberRoleLearner && s.Etcd.Status[name].MemberID != 0 {
				s.status(name, func(m *etcd.Status) { m.Learner = true })
			}
		}
	}
	const voter, learner, unstarted = v1beta2.MemberRoleVoter, v1beta2.MemberRoleLearner, v1beta2.MemberRoleUnstarted
	check(t, map[string]planCase{
		"two learners survive the only voter": {change: func(s *scene) {
			lose(s, []string{"c-a"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": learner, "c-c": learner})
		}, want: "wait: QuorumLost"},
		"the only voter answers": {change: func(s *scene) {
			lose(s, nil, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": learner, "c-c": learner})
		}, want: "wait: NoLeader"},
		"two of three elect a leader while two more join": {change: func(s *scene) {
			lose(s, []string{"c-c"}, map[string]v1beta2.MemberRole{"c-a": v1beta2.MemberRoleLeader, "c-b": voter, "c-c": voter, "c-d": unstarted, "c-e": learner})
		}, want: "wait: NoLeader"},
		"one of three does not": {change: func(s *scene) {
			lose(s, []string{"c-b", "c-c"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": voter, "c-c": voter, "c-d": unstarted})
		}, want: "wait: QuorumLost"},
		"a learner that got its vote since then": {change: func(s *scene) {
			lose(s, []string{"c-c"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": learner, "c-c": voter})
			s.status("c-b", func(m *etcd.Status) { m.Learner = false })
		}, want: "wait: NoLeader"},
		"before there were learners all had a vote": {change: func(s *scene) {
			s.version("3.3.27")
			lose(s, []string{"c-b", "c-c"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": unstarted})
		}, want: "wait: QuorumLost"},
	})
}

// Members are kept apart by whoever asked for it.
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
		}, want: "Remove c-b"},
		"a zone each is another matter": {change: func(s *scene) { s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Affinity: apart(corev1.LabelTopologyZone)} }, want: "AddMember c-new as learner"},
		"antiAffinity has no effect beside affinity": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{AntiAffinity: true, Affinity: &corev1.Affinity{}}
		}, want: "AddMember c-new as learner"},
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
		"3.5.35": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.5.35"), want: "AddMember c-new as learner"},
		"3.6.15": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.6.15"), want: "wait: QuorumAtRisk"},
		"3.6.16": {scene: newScene("c-a", "c-b", "c-c", "c-d", "c-e"), change: sick("3.6.16"), want: "AddMember c-new as learner"},
	})
}

// A learner that crashes on what is being rolled out is not replaced by the next one that does.
func TestALearnerThatCrashesOnAChangeStays(t *testing.T) {
	crashing := func(times int32) *scene {
		s := three()
		s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_NONSENSE", Value: "1"}}}
		s.made = s.Cluster
		s.addMember("c-d")
		s.learner("c-d", 0)
		s.crash("c-d", times)
		return s
	}
	check(t, map[string]planCase{
		"four times":                     {scene: crashing(4), want: "wait: MemberCrashing"},
		"and the change is taken back":   {scene: crashing(4), change: func(s *scene) { s.Cluster = s.Cluster.DeepCopy(); s.Cluster.Spec.Pod = nil }, want: "Remove c-d"},
		"for so long that it may be ill": {scene: crashing(8), want: "Remove c-d"},
	})
}

// Kubernetes counts the restarts of a pod's whole life. Only those since etcd was last well are crashes in a row.
func TestOnlyCrashesInARowCount(t *testing.T) {
	restarted := func(s *scene, name string, noted string, times int32) {
		s.crash(name, times)
		s.pod(name).Annotations[manifests.AnnotationRestarts] = noted
	}
	rebooted := func(s *scene, name string) { // the gate runs in front of etcd
		s.crash(name, 9)
		etcd := &s.pod(name).Status.ContainerStatuses[0]
		etcd.State.Waiting.Reason = "PodInitializing"
		etcd.LastTerminationState.Terminated.ExitCode = 255
	}
	unnoted := func(s *scene) {
		s.crash("c-b", 12)
		delete(s.pod("c-b").Annotations, manifests.AnnotationRestarts)
	}
	check(t, map[string]planCase{
		"one, after a long life":                         {change: func(s *scene) { restarted(s, "c-b", "11", 12) }, want: "wait: MemberCrashing"},
		"four, after a long life":                        {change: func(s *scene) { restarted(s, "c-b", "8", 12) }, want: "Remove c-b"},
		"a reboot is none":                               {change: func(s *scene) { rebooted(s, "c-b") }, want: "wait: MemberUnhealthy"},
		"nor is it one of a learner":                     {change: func(s *scene) { s.learner("c-b", 0); rebooted(s, "c-b") }, want: "wait: MemberJoining"},
		"a pod of an older operator is counted from now": {change: unnoted, want: "Change *v1.Pod c-b"},
		"a kubelet that counts anew":                     {change: func(s *scene) { restarted(s, "c-b", "11", 2) }, want: "wait: MemberCrashing"},
		"a member that has never served":                 {change: func(s *scene) { s.learner("c-c", 0); unstartedPod(s, "c-c", 4) }, want: "Remove c-c"},
	})
}

// unstartedPod lets a member crash before etcd has heard of it.
func unstartedPod(s *scene, name string, times int32) {
	s.crash(name, times)
	pod := s.pod(name)
	delete(pod.Annotations, manifests.AnnotationMemberID)
	delete(pod.Annotations, manifests.AnnotationRestarts)
	for i := range s.Etcd.Membership.Members {
		if s.Etcd.Membership.Members[i].Name == name {
			s.Etcd.Membership.Members[i].Name = ""
		}
	}
}

// The restarts are noted once after each, and while the member is well: not while it crashes.
func TestRestartsAreNotedOfMembersThatAreWell(t *testing.T) {
	for name, tc := range map[string]struct {
		noted, want string
		crashing    bool
	}{
		"restarted":                     {noted: "2", want: "3"},
		"since when is not known":       {want: "3"},
		"nor while it crashes":          {want: "3", crashing: true},
		"crashes do not make it forget": {noted: "2", crashing: true},
		"nothing has happened":          {noted: "3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := three()
			s.pod("c-b").Status.ContainerStatuses[0].RestartCount = 3
			if tc.crashing {
				s.crash("c-b", 3)
			}
			s.pod("c-b").Annotations[manifests.AnnotationRestarts] = tc.noted
			if tc.noted == "" {
				delete(s.pod("c-b").Annotations, manifests.AnnotationRestarts)
			}
			step := plan.Next(s.Snapshot).Step
			if tc.want == "" {
				if step != nil {
					t.Fatalf("step: %+v, want none", step)
				}
				return
			}
			if step == nil || step.Object == nil || step.Object.GetAnnotations()[manifests.AnnotationRestarts] != tc.want {
				t.Fatalf("step: %+v, want that %s restarts are noted", step, tc.want)
			}
		})
	}
}

func TestResourcesThatANodeDoesNotGiveAreSaid(t *testing.T) {
	s := three()
	pod := s.pod("c-b")
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible, Message: "Node didn't have enough capacity: cpu",
	})
	if got := shortly(plan.Next(s.Snapshot)); got != "wait: ResourcesPending" {
		t.Errorf("plan: %s", got)
	}
}

// A message that counted down would be written at each look.
func TestMessagesDoNotCountDown(t *testing.T) {
	message := func(later time.Duration) string {
		s := three()
		s.nodeAway("c-b", 10*time.Second)
		s.Now = noon.Add(later)
		return plan.Next(s.Snapshot).Waits[0].Message
	}
	if first, second := message(0), message(7*time.Second); first != second || !strings.Contains(first, "12:00:50 UTC") {
		t.Errorf("%q becomes %q", first, second)
	}
}
