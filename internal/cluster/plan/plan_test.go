// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
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
	"github.com/etcd-operator/etcd-operator/internal/membergate"
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
			p := plan.Next(s.Snapshot)
			if got := shortly(p); got != tc.want {
				t.Errorf("plan: %s, want %s; waits: %+v", got, tc.want, p.Waits)
			}
		})
	}
}

func now() *metav1.Time { return &metav1.Time{Time: noon} }

func TestNothingIsDoneWithoutNeed(t *testing.T) {
	check(t, map[string]planCase{
		"three healthy members":              {want: "at rest"},
		"three healthy members with volumes": {scene: three().withVolumes(), want: "at rest"},
		"the object is being deleted":        {change: func(s *scene) { s.Cluster.DeletionTimestamp = now(); s.Cluster.Spec.Size = 5 }, want: "wait: Deleting"},
		"paused":                             {change: func(s *scene) { s.Cluster.Spec.Paused = true; s.Cluster.Spec.Size = 5 }, want: "wait: Paused"},
		"an old object of size 0":            {change: func(s *scene) { s.Cluster.Spec.Size = 0 }, want: "wait: InvalidSpec"},
		"a service of somebody else":         {change: func(s *scene) { s.PeerService.OwnerReferences = nil }, want: "wait: NameTaken"},
		"a budget that nobody wants":         {change: func(s *scene) { s.Cluster.Spec.PodDisruptionBudget = ptr.To(false) }, want: "Delete *v1.PodDisruptionBudget c"},
	})
}

func fresh() *scene {
	s := newScene()
	s.Cluster.Spec.Size = 3
	s.Cluster.Status = v1beta2.ClusterStatus{}
	s.Etcd.Membership = nil
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
		"first the names":                    {scene: fresh(), change: func(s *scene) { s.PeerService = nil }, want: "Create *v1.Service c"},
		"then the choice is written down":    {scene: fresh(), want: "Record"},
		"then the pod, gated":                {scene: recorded(""), want: "Create *v1.Pod c-a"},
		"then which pod it is":               {scene: recorded(""), change: func(s *scene) { seedPod(s, nil) }, want: "Record c-a"},
		"only then it may run":               {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, nil) }, want: "Change *v1.Pod c-a"},
		"then it is waited for":              {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, ungated) }, want: "wait: SeedStarting"},
		"a seed that vanished is not remade": {scene: recorded("pod-c-a"), want: "wait: SeedLost"},
		"nor one replaced by another pod":    {scene: recorded("pod-other"), change: func(s *scene) { seedPod(s, ungated) }, want: "wait: SeedLost"},
		"with the user's consent it is":      {scene: recorded("pod-c-a"), change: func(s *scene) { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"} }, want: "Record"},
		"consent for another seed is none":   {scene: recorded("pod-c-a"), change: func(s *scene) { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-z"} }, want: "wait: SeedLost"},
		"a status of another operator":       {scene: fresh(), change: func(s *scene) { s.Cluster.Status.Phase = v1beta2.ClusterPhaseRunning }, want: "wait: OriginUnknown"},
		"our own status before the first step": {scene: fresh(), change: func(s *scene) {
			s.Cluster.Status.Phase, s.Cluster.Status.Bootstrap = v1beta2.ClusterPhaseFailed, &v1beta2.BootstrapStatus{}
		}, want: "Record"},
		"pods of another operator":     {scene: fresh(), change: func(s *scene) { seedPod(s, ungated) }, want: "Record"},
		"a missing secret comes first": {scene: fresh(), change: withPeerTLS, want: "wait: WaitingForSecret"},
		"consent for one that was taken over": {scene: recorded(""), change: func(s *scene) {
			s.Cluster.Status.Bootstrap.Token, s.Cluster.Status.ClusterID = "", "c1"
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"}
		}, want: "Record"},
		"all gone after it ran":               {change: func(s *scene) { s.Pods, s.Etcd.Membership, s.Etcd.Status = nil, nil, nil }, want: "wait: AllDataLost"},
		"members of a foreign cluster answer": {change: func(s *scene) { s.Etcd.Membership.ClusterID = 0xbad }, want: "wait: MembersDisagree"},
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
		"it is noted":                   {scene: onVolume("pod-c-a", false), change: func(s *scene) { seedPod(s, runs) }, want: "Change *v1.PersistentVolumeClaim c-a"},
		"once":                          {scene: onVolume("pod-c-a", true), change: func(s *scene) { seedPod(s, runs) }, want: "wait: SeedStarting"},
		"not before etcd runs":          {scene: onVolume("pod-c-a", false), change: func(s *scene) { seedPod(s, func(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil }) }, want: "wait: SeedStarting"},
		"another pod may go on with it": {scene: onVolume("pod-c-a", true), want: "Record c-a"},
		"but not without the data": {scene: onVolume("pod-c-a", true), change: func(s *scene) {
			seedPod(s, runs)
			s.Pods[0].Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: manifests.ContainerGate, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost},
			}}}
		}, want: "wait: SeedLost"},
	})
	for _, noted := range []bool{false, true} {
		step := plan.Next(onVolume("", noted).Snapshot).Step
		pod, ok := step.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("the step is %+v, want that a pod is made", step)
		}
		if got := slices.Contains(pod.Spec.InitContainers[0].Command, manifests.FlagHasData); got != noted {
			t.Errorf("etcd has run on the volume: %t; the gate asks for data: %t", noted, got)
		}
	}
}

func withPeerTLS(s *scene) {
	s.Cluster.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "peer"}}}
}

// TestASeedThatNeverServedIsRemadeForACorrectedSpec follows the chain of steps, each of
// which may be the last before a crash.
func TestASeedThatNeverServedIsRemadeForACorrectedSpec(t *testing.T) {
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
		"it is held":                           {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, waiting); corrected(s) }, want: "Change *v1.Pod c-a"},
		"it is deleted":                        {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held); corrected(s) }, want: "Delete *v1.Pod c-a"},
		"the record forgets it":                {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, going); corrected(s) }, want: "Record c-a"},
		"it is let go":                         {scene: recorded(""), change: func(s *scene) { seedPod(s, going); corrected(s) }, want: "Change *v1.Pod c-a"},
		"one that runs is left alone":          {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, func(p *corev1.Pod) { waiting(p); ran(p) }); corrected(s) }, want: "wait: SeedStarting"},
		"one that ran meanwhile is let go":     {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, func(p *corev1.Pod) { going(p); ran(p) }); corrected(s) }, want: "Change *v1.Pod c-a"},
		"the correction was taken back":        {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, held) }, want: "Change *v1.Pod c-a"},
		"a new image needs no new pod at all":  {scene: recorded("pod-c-a"), change: func(s *scene) { seedPod(s, waiting); s.Cluster.Spec.Version = "3.6.10" }, want: "Change *v1.Pod c-a"},
		"a gated one is simply deleted":        {scene: recorded(""), change: func(s *scene) { seedPod(s, nil); corrected(s) }, want: "Delete *v1.Pod c-a"},
		"the volume of a lost pod is its data": {scene: recorded("pod-c-a"), change: func(s *scene) { s.withVolumes(); s.Claims = append(s.Claims, *manifests.Claim(s.Cluster, "c-a")) }, want: "Record c-a"},
	})
}

func TestGrowing(t *testing.T) {
	grow := func(s *scene) {
		s.Cluster.Spec.Size++
		s.Budget = manifests.Budget(s.Cluster, s.Cluster.Spec.Size-1)
	}
	check(t, map[string]planCase{
		"a learner is added":                   {change: grow, want: "AddMember c-new as learner"},
		"all missing ones at once":             {change: func(s *scene) { grow(s); grow(s); s.unstarted("c-d", true) }, want: "AddMember c-new as learner"},
		"one at a time before 3.6":             {change: func(s *scene) { grow(s); grow(s); s.version("3.5.35"); s.unstarted("c-d", true) }, want: "Create *v1.Pod c-d"},
		"one at a time beside adopted members": {change: func(s *scene) { grow(s); grow(s); s.pod("c-b").Spec.Containers[0].Env = nil; s.unstarted("c-d", true) }, want: "Create *v1.Pod c-d"},
		"voters where there are no learners":   {change: func(s *scene) { grow(s); s.version("3.3.27") }, want: "AddMember c-new"},
		"no voter while another is unhealthy":  {change: func(s *scene) { grow(s); s.version("3.3.27"); s.silence("c-b") }, want: "wait: QuorumAtRisk"},
		"then its pod":                         {change: func(s *scene) { grow(s); s.unstarted("c-d", true) }, want: "Create *v1.Pod c-d"},
		"its volume before that":               {scene: three().withVolumes(), change: func(s *scene) { grow(s); s.unstarted("c-d", true) }, want: "Create *v1.PersistentVolumeClaim c-d"},
		"a learner that caught up is promoted": {change: func(s *scene) { s.learner("c-c", 9900) }, want: "Promote c-c"},
		"one that has not is waited for":       {change: func(s *scene) { s.learner("c-c", 100) }, want: "wait: MemberJoining"},
		"one that keeps crashing is given up":  {change: func(s *scene) { s.learner("c-c", 0); s.crash("c-c", 4) }, want: "Remove c-c"},
		"a pod that would join with an old list goes": {change: func(s *scene) {
			grow(s)
			grow(s)
			s.unstarted("c-d", true)
			s.addPod("c-d")
			s.silence("c-d")
			s.unstarted("c-e", true)
		}, want: "Delete *v1.Pod c-d"},
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
		manifests.SetImage(s.made, &s.Pods[i])
		delete(s.Pods[i].Annotations, manifests.AnnotationRestarting)
	}
}

func TestHealing(t *testing.T) {
	deleting := func(name string) func(*scene) {
		return func(s *scene) { s.pod(name).DeletionTimestamp = now() }
	}
	check(t, map[string]planCase{
		"a member without a pod and without a volume goes": {change: func(s *scene) { s.losePod("c-c") }, want: "Remove c-c"},
		"one with a volume gets its pod back":              {scene: three().withVolumes(), change: func(s *scene) { s.losePod("c-c") }, want: "Create *v1.Pod c-c"},
		"a leader that is being deleted hands over first":  {change: deleting("c-a"), want: "MoveLeader c-a to b"},
		"a follower that is being deleted leaves":          {change: deleting("c-b"), want: "Remove c-b"},
		"with a volume its pod's end is waited for":        {scene: three().withVolumes(), change: deleting("c-b"), want: "wait: MemberStopping"},
		"an evicted pod takes its data with it":            {change: func(s *scene) { s.pod("c-b").Status.Phase = corev1.PodFailed; s.silence("c-b") }, want: "Remove c-b"},
		"an evicted pod on a volume is made anew":          {scene: three().withVolumes(), change: func(s *scene) { s.pod("c-b").Status.Phase = corev1.PodFailed; s.silence("c-b") }, want: "Delete *v1.Pod c-b"},
		"a lost volume": {scene: three().withVolumes(), change: func(s *scene) { s.Claims[1].Status.Phase = corev1.ClaimLost; s.silence("c-b") }, want: "Remove c-b"},
		"a member that is out of room": {change: func(s *scene) {
			s.status("c-b", func(m *etcd.Status) { m.Errors = []string{"memberID:2 alarm:NOSPACE "} })
		}, want: "wait: MemberAlarm"},
		"an alarm about one member is not about the others": {scene: three().withVolumes(), change: func(s *scene) {
			alarm := fmt.Sprintf("memberID:%d alarm:CORRUPT ", s.Etcd.Status["c-b"].MemberID)
			for name := range s.Etcd.Status {
				s.status(name, func(m *etcd.Status) { m.Errors = []string{alarm} })
			}
			s.Claims[1].Status.Phase = corev1.ClaimLost
		}, want: "Remove c-b"},
		"a pod comes back before another member comes": {scene: three().withVolumes(), change: func(s *scene) {
			s.Cluster.Spec.Size = 5
			s.losePod("c-c")
		}, want: "Create *v1.Pod c-c"},
		"a member that only does not answer stays": {change: func(s *scene) { s.silence("c-b") }, want: "wait: MemberUnhealthy"},
		"its node is away for a while":             {change: func(s *scene) { s.nodeAway("c-b", 50*time.Second) }, want: "wait: NodeUnreachable"},
		"its node is away for too long":            {change: func(s *scene) { s.nodeAway("c-b", 61*time.Second) }, want: "Remove c-b"},
		"more patience with a volume":              {scene: three().withVolumes(), change: func(s *scene) { s.nodeAway("c-b", 61*time.Second) }, want: "wait: NodeUnreachable"},
		"the user's own patience": {change: func(s *scene) {
			s.Cluster.Spec.NodeLostToleranceSeconds = ptr.To[int64](10)
			s.nodeAway("c-b", 11*time.Second)
		}, want: "Remove c-b"},
		"its node was deleted":                 {change: func(s *scene) { s.Nodes["node-c-b"] = snapshot.Node{}; s.silence("c-b") }, want: "Remove c-b"},
		"it crashes for the third time":        {change: func(s *scene) { s.crash("c-b", 3) }, want: "wait: MemberCrashing"},
		"it crashes again and again":           {change: func(s *scene) { s.crash("c-b", 4) }, want: "Remove c-b"},
		"it found its data gone":               {change: func(s *scene) { dataGone(s, "c-b") }, want: "Remove c-b"},
		"a pod that etcd does not know":        {change: func(s *scene) { s.addPod("c-x") }, want: "Delete *v1.Pod c-x"},
		"a volume that nobody needs goes last": {scene: three().withVolumes(), change: func(s *scene) { s.Claims = append(s.Claims, *manifests.Claim(s.made, "c-x")) }, want: "Delete *v1.PersistentVolumeClaim c-x"},
	})
}

func dataGone(s *scene, name string) {
	s.silence(name)
	s.pod(name).Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: manifests.ContainerGate, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost}},
	}}
}

func TestWithoutQuorumNothingIsTakenAway(t *testing.T) {
	check(t, map[string]planCase{
		"two of three pods are gone": {change: func(s *scene) { s.losePod("c-b"); s.losePod("c-c") }, want: "wait: QuorumLost"},
		"two of three do not answer": {change: func(s *scene) { s.silence("c-b", "c-c") }, want: "wait: QuorumLost"},
		"shrinking does not help":    {change: func(s *scene) { s.silence("c-b", "c-c"); s.Cluster.Spec.Size = 1 }, want: "wait: QuorumLost"},
		"a leader is being elected":  {change: leaderless, want: "wait: NoLeader"},
		"etcd asks for a user":       {change: askForUser, want: "wait: AccessRefused"},
		"volumes may still be made to stay": {scene: three().withVolumes(), change: func(s *scene) {
			s.silence("c-b", "c-c")
			s.Cluster.Spec.DeletionPolicy = v1beta2.DeletionPolicyRetain
		}, want: "Change *v1.PersistentVolumeClaim c-a"},
		"members with volumes get their pods":    {scene: three().withVolumes(), change: func(s *scene) { s.losePod("c-b"); s.losePod("c-c") }, want: "Create *v1.Pod c-b"},
		"one dead member too many":               {scene: newScene("c-a", "c-b"), change: func(s *scene) { s.pod("c-b").DeletionTimestamp = now(); s.pod("c-a").DeletionTimestamp = now() }, want: "wait: QuorumAtRisk"},
		"two that are being deleted still leave": {change: func(s *scene) { s.pod("c-b").DeletionTimestamp = now(); s.pod("c-c").DeletionTimestamp = now() }, want: "Remove c-b"},
		"the only member of one is not thrown":   {scene: newScene("c-a"), change: func(s *scene) { s.pod("c-a").DeletionTimestamp = now() }, want: "wait: QuorumAtRisk"},
	})
}

// askForUser is a cluster whose authentication is on.
func askForUser(s *scene) {
	s.Etcd.Membership, s.Etcd.Status, s.Etcd.Silent = nil, nil, map[string]string{}
	for i := range s.Pods {
		s.Etcd.Silent[s.Pods[i].Name] = etcd.ErrAccessRefused.Error()
		s.Etcd.Refusing = append(s.Etcd.Refusing, s.Pods[i].Name)
	}
}

func leaderless(s *scene) {
	s.Etcd.Membership = nil
	for name, status := range s.Etcd.Status {
		status.Leader = 0
		s.Etcd.Status[name] = status
		s.Cluster.Status.MemberStatuses = append(s.Cluster.Status.MemberStatuses, v1beta2.MemberStatus{Name: name})
	}
}

func drained(s *scene, name string, ago time.Duration) {
	pod := s.pod(name)
	delete(pod.Labels, manifests.LabelServing)
	pod.Annotations[manifests.AnnotationDrained] = noon.Add(-ago).Format(time.RFC3339Nano)
}

func TestShrinking(t *testing.T) {
	smaller := func(s *scene) { s.Cluster.Spec.Size = 2; s.Budget = manifests.Budget(s.Cluster, 2) }
	check(t, map[string]planCase{
		"clients are sent away first":      {change: smaller, want: "Change *v1.Pod c-b"},
		"they get a moment":                {change: func(s *scene) { smaller(s); drained(s, "c-c", 100*time.Millisecond) }, want: "wait: MovingClients"},
		"then the member leaves":           {change: func(s *scene) { smaller(s); drained(s, "c-c", 2*time.Second) }, want: "Remove c-c"},
		"an unhealthy one goes first":      {change: func(s *scene) { smaller(s); s.silence("c-b") }, want: "Remove c-b"},
		"even a leader hands over at last": {scene: newScene("c-a"), change: func(s *scene) { s.Cluster.Spec.Size = 1; s.addMember("c-b"); s.Budget = manifests.Budget(s.Cluster, 2) }, want: "Change *v1.Pod c-b"},
		"the crowded zone loses one":       {change: func(s *scene) { smaller(s); zones(s, "x", "y", "y") }, want: "Change *v1.Pod c-b"},
		"a zone of its own stays":          {change: func(s *scene) { smaller(s); zones(s, "x", "x", "y") }, want: "Change *v1.Pod c-b"},
		"not while another is joining": {change: func(s *scene) {
			s.Cluster.Spec.Size = 1
			s.learner("c-c", 100)
			s.Budget = manifests.Budget(s.Cluster, 2)
		}, want: "Remove c-c"},
		"a change of mind lets it go on":    {change: func(s *scene) { drained(s, "c-c", time.Second) }, want: "Change *v1.Pod c-c"},
		"a member with a volume goes alike": {scene: three().withVolumes(), change: func(s *scene) { smaller(s); drained(s, "c-c", 2*time.Second) }, want: "Remove c-c"},
	})
}

func zones(s *scene, names ...string) {
	for i, zone := range names {
		node := s.Nodes["node-"+s.Pods[i].Name]
		node.Zone = zone
		s.Nodes["node-"+s.Pods[i].Name] = node
	}
}

func TestUpgrading(t *testing.T) {
	to := func(v string) func(*scene) { return func(s *scene) { s.Cluster.Spec.Version = v } }
	upgraded := func(s *scene, names ...string) {
		for _, name := range names {
			manifests.SetImage(s.Cluster, s.pod(name))
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
			manifests.SetImage(s.Cluster, s.pod("c-a"))
		}
	}
	check(t, map[string]planCase{
		"followers first":                     {change: func(s *scene) { to("3.7.3")(s); drained(s, "c-b", 2*time.Second) }, want: "Change *v1.Pod c-b"},
		"not the next before it is back":      {change: func(s *scene) { to("3.7.3")(s); upgraded(s, "c-b"); s.silence("c-b") }, want: "wait: MemberUnhealthy"},
		"nor while the old one still answers": {change: func(s *scene) { to("3.7.3")(s); manifests.SetImage(s.Cluster, s.pod("c-b")) }, want: "wait: MemberUnhealthy"},
		"a change taken back before it began": {change: func(s *scene) {
			to("3.7.3")(s)
			manifests.SetImage(s.Cluster, s.pod("c-b"))
			to("3.6.16")(s)
			manifests.SetImage(s.Cluster, s.pod("c-b"))
		}, want: "Change *v1.Pod c-b"},
		"the leader's turn comes last": {change: func(s *scene) {
			to("3.7.3")(s)
			upgraded(s, "c-b", "c-c")
			drained(s, "c-a", 2*time.Second)
			drained(s, "c-c", 2*time.Second)
		}, want: "Change *v1.Pod c-a"},
		"its clients go to its successor": {change: func(s *scene) { to("3.7.3")(s); upgraded(s, "c-b", "c-c"); drained(s, "c-a", 2*time.Second) }, want: "Change *v1.Pod c-c"},
		"which is the one that runs longest": {change: func(s *scene) {
			to("3.7.3")(s)
			upgraded(s, "c-b", "c-c")
			drained(s, "c-a", 2*time.Second)
			s.pod("c-b").Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(noon.Add(-time.Minute))
		}, want: "Change *v1.Pod c-b"},
		"until it has ended they go nowhere else": {change: leaderRestarts(3 * time.Second), want: "wait: MemberUnhealthy"},
		"though not for ever":                     {change: leaderRestarts(20 * time.Second), want: "Change *v1.Pod c-c"},
		"a member that is joining joins as it was made": {scene: newScene("c-a", "c-b"), change: func(s *scene) {
			s.Cluster.Spec.Size = 3
			s.unstarted("c-d", true)
			s.addPod("c-d")
			s.silence("c-d")
			to("3.7.3")(s)
		}, want: "wait: MemberJoining"},
		"a skipped minor is refused":           {change: to("3.8.0"), want: "wait: MinorVersionSkipped"},
		"a downgrade is refused":               {change: to("3.5.35"), want: "wait: DowngradeRefused"},
		"a patch version down is fine":         {change: func(s *scene) { to("3.6.10")(s); drained(s, "c-b", 2*time.Second) }, want: "Change *v1.Pod c-b"},
		"taken back in the middle":             {change: func(s *scene) { to("3.7.3")(s); upgraded(s, "c-b"); to("3.6.16")(s); drained(s, "c-b", 2*time.Second) }, want: "Change *v1.Pod c-b"},
		"a bad image is taken back":            {change: func(s *scene) { to("3.7.9")(s); upgraded(s, "c-b"); to("3.6.16")(s); s.silence("c-b") }, want: "Change *v1.Pod c-b"},
		"a single member is replaced":          {scene: newScene("c-a"), change: to("3.7.3"), want: "AddMember c-new as learner"},
		"a lost member comes back as the old":  {change: func(s *scene) { to("3.7.3")(s); s.losePod("c-c") }, want: "Remove c-c"},
		"healing goes on beside a refused one": {change: func(s *scene) { to("3.8.0")(s); s.losePod("c-c") }, want: "Remove c-c"},
	})
}

func TestAMemberThatHasStartedNeverStartsOnAnEmptyVolume(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"with a majority":    func(s *scene) { s.losePod("c-c") },
		"without a majority": func(s *scene) { s.losePod("c-c"); s.silence("c-a", "c-b") },
	} {
		s := three().withVolumes()
		change(s)
		p := plan.Next(s.Snapshot)
		if got := shortly(p); got != "Create *v1.Pod c-c" {
			t.Fatalf("%s: plan: %s", name, got)
		}
		pod, ok := p.Step.Object.(*corev1.Pod)
		if !ok || !slices.Contains(pod.Spec.InitContainers[0].Command, manifests.FlagHasData) {
			t.Errorf("%s: the gate would let it start without data", name)
		}
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
			p := plan.Next(s.Snapshot)
			if p.Step == nil || p.Step.Kind != plan.Create {
				t.Fatalf("plan: %s, want that a pod is made", shortly(p))
			}
			pod, ok := p.Step.Object.(*corev1.Pod)
			if !ok {
				t.Fatalf("plan: %s, want that a pod is made", shortly(p))
			}
			if got := slices.Contains(pod.Spec.Containers[0].Command, membergate.ProgramJoin); got != tc.want {
				t.Errorf("by snapshot: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestChangingPods(t *testing.T) {
	env := func(s *scene) {
		if s.Cluster.Spec.Pod == nil {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{}
		}
		s.Cluster.Spec.Pod.EtcdEnv = []corev1.EnvVar{{Name: "A", Value: "b"}}
	}
	check(t, map[string]planCase{
		"without a volume by one member more": {change: env, want: "AddMember c-new as learner"},
		"after which an old one goes": {change: func(s *scene) {
			env(s)
			s.made = s.Cluster
			s.addMember("c-d")
			s.Budget = manifests.Budget(s.Cluster, 3)
			drained(s, "c-b", 2*time.Second)
		}, want: "Remove c-b"},
		"the old leader goes last":         {change: func(s *scene) { env(s); drained(s, "c-a", 2*time.Second); onlyOld(s, "c-a") }, want: "MoveLeader c-a to b"},
		"with a volume by a new pod on it": {scene: three().withVolumes(), change: func(s *scene) { env(s); drained(s, "c-b", 2*time.Second) }, want: "Delete *v1.Pod c-b"},
		"with anti-affinity the old one makes room": {change: func(s *scene) {
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{AntiAffinity: true}
			drained(s, "c-b", 2*time.Second)
		}, want: "Remove c-b"},
		"labels in place":    {change: func(s *scene) { s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Labels: map[string]string{"a": "b"}} }, want: "Change *v1.Pod c-a"},
		"resources in place": {change: func(s *scene) { withCPU(s, "100m"); s.Cluster.Spec.Pod.Resources = cpu("200m") }, want: "Resize *v1.Pod c-a"},
		"resources that change the quality of service by new pods": {change: func(s *scene) { s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Resources: cpu("200m")} }, want: "AddMember c-new as learner"},
		"a larger volume": {scene: three().withVolumes(), change: func(s *scene) {
			s.Cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
			for i := range s.Claims {
				s.Claims[i].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
			}
		}, want: "Change *v1.PersistentVolumeClaim c-a"},
		"a new member is marked once it has started": {change: func(s *scene) { delete(s.pod("c-b").Annotations, manifests.AnnotationMemberID) }, want: "Change *v1.Pod c-b"},
		"and serves once it has its vote":            {change: func(s *scene) { delete(s.pod("c-b").Labels, manifests.LabelServing) }, want: "Change *v1.Pod c-b"},
	})
}

// withCPU lets the pods have been made with a request.
func withCPU(s *scene, quantity string) {
	s.Cluster.Spec.Pod = &v1beta2.PodPolicy{Resources: cpu(quantity)}
	for i := range s.Pods {
		manifests.SetResources(s.Cluster, &s.Pods[i])
		manifests.RecordApplied(s.Cluster, &s.Pods[i])
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

func TestTheNewMembersPodFitsTheList(t *testing.T) {
	s := three()
	s.Cluster.Spec.Size = 5
	s.Budget = manifests.Budget(s.Cluster, 4)
	s.unstarted("c-d", true)
	s.unstarted("c-e", true)
	p := plan.Next(s.Snapshot)
	if p.Step == nil || p.Step.Kind != plan.Create {
		t.Fatalf("plan: %s", shortly(p))
	}
	pod := p.Step.Object.(*corev1.Pod)
	s.Pods = append(s.Pods, *pod)
	next := plan.Next(s.Snapshot)
	if got := shortly(next); got != "Create *v1.Pod c-e" {
		t.Fatalf("plan: %s", got)
	}
	s.Pods = append(s.Pods, *next.Step.Object.(*corev1.Pod))
	if got := shortly(plan.Next(s.Snapshot)); got != "wait: MemberJoining" {
		t.Fatalf("with both pods made the plan is %s", got)
	}
}

// TestEveryPlanIsTotal runs the planner on snapshots with parts missing: it must
// neither panic nor act on what it does not know.
func TestEveryPlanIsTotal(t *testing.T) {
	check(t, map[string]planCase{
		"no nodes":           {change: func(s *scene) { s.Nodes = nil }, want: "at rest"},
		"pods without state": {change: func(s *scene) { s.pod("c-a").Status = corev1.PodStatus{} }, want: "at rest"},
		"no statuses":        {change: func(s *scene) { s.Etcd.Status = nil }, want: "wait: MemberUnhealthy"},
		"no pods":            {change: func(s *scene) { s.Pods = nil }, want: "wait: QuorumAtRisk"},
		"a nameless member":  {change: func(s *scene) { s.Etcd.Membership.Members[0] = etcd.Member{ID: id("c-a")} }, want: "wait: MemberJoining"},
		"no labels":          {change: func(s *scene) { s.pod("c-a").Labels, s.pod("c-a").Annotations = nil, nil }, want: "Change *v1.Pod c-a"},
	})
}
