// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// asked is how the restore operator asks for a restore.
func asked(s *scene) {
	s.Cluster.Annotations = map[string]string{v1beta2.AnnotationRestore: v1beta2.RestoreRequest{
		UID: "r1", Name: "again", Secret: "ticket", URL: "https://x/y", Size: 1, SHA256: strings.Repeat("a", 64), RevisionBump: 7,
	}.String()}
	s.Secrets = map[string]snapshot.Secret{"ticket": {Exists: true, Keys: []string{"ca.crt", "token"}}}
}

// restoring is the scene of three members that a restore is about to replace.
func restoring(stage v1beta2.RestoreStage, change func(*scene)) *scene {
	s := three()
	asked(s)
	s.Former.Pods, s.Pods = s.Pods, nil
	s.Etcd = snapshot.Etcd{}
	s.Cluster.Status.ClusterID = ""
	s.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Seed: "c-s", Token: "t2", LastRequest: "r1", Restore: &v1beta2.BootstrapRestore{
		UID: "r1", Name: "again", Secret: "ticket", URL: "https://x/y", Stage: stage,
		Previous: &v1beta2.PreviousCluster{Seed: "c-a", Token: "t", PodUID: "pod-c-a", ClusterID: "c1"},
	}}
	if change != nil {
		change(s)
	}
	return s
}

// seed adds the pod of the restored cluster's first member, whose init containers are in these states.
func (s *scene) seed(fetch, restore corev1.ContainerState, change func(*corev1.Pod)) {
	pod := manifests.MemberPod(s.Cluster, manifests.Start{Member: "c-s", Token: "t2", HelperImage: "operator", Restore: s.Cluster.Status.Bootstrap.Restore})
	pod.UID = "pod-c-s"
	pod.Spec.NodeName = "n"
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: manifests.ContainerFetch, State: fetch}, {Name: manifests.ContainerRestore, State: restore}}
	if change != nil {
		change(pod)
	}
	s.Pods = append(s.Pods, *pod)
}

var (
	works = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: `{"revisionBumped":7}`}}
	fails = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	idle  = corev1.ContainerState{}
)

func filling(s *scene) { s.seed(works, idle, nil) }
func whole(s *scene)   { s.seed(ended, ended, nil) }

func TestARestoreBeginsWhenItCan(t *testing.T) {
	check(t, map[string]planCase{
		"over a live cluster":                     {change: asked, want: "Record c-new"},
		"over one without quorum":                 {change: func(s *scene) { asked(s); s.silence("c-b", "c-c") }, want: "Record c-new"},
		"over one that is lost":                   {change: func(s *scene) { asked(s); s.Pods, s.Etcd = nil, snapshot.Etcd{} }, want: "Record c-new"},
		"in a new object":                         {scene: fresh(), change: asked, want: "Record c-new"},
		"in one whose origin is unknown":          {scene: fresh(), change: func(s *scene) { asked(s); s.Cluster.Status.Phase = v1beta2.ClusterPhaseRunning }, want: "Record c-new"},
		"not twice":                               {change: func(s *scene) { asked(s); s.Cluster.Status.Bootstrap.LastRequest = "r1" }, want: "at rest"},
		"not while paused":                        {change: func(s *scene) { asked(s); s.Cluster.Spec.Paused = true }, want: "wait: Paused"},
		"not while the object is being deleted":   {change: func(s *scene) { asked(s); s.Cluster.DeletionTimestamp = now() }, want: "wait: Deleting"},
		"not without a ticket":                    {change: func(s *scene) { asked(s); s.Secrets = nil }, want: "wait: WaitingForSecret"},
		"not with half a ticket":                  {change: func(s *scene) { asked(s); s.Secrets["ticket"] = snapshot.Secret{Exists: true, Keys: []string{"token"}} }, want: "wait: WaitingForSecret"},
		"meanwhile the cluster is cared for":      {change: func(s *scene) { asked(s); s.Secrets = nil; s.losePod("c-c") }, want: "Remove c-c"},
		"no empty one is started in its place":    {scene: fresh(), change: func(s *scene) { asked(s); s.Secrets = nil }, want: "wait: WaitingForSecret"},
		"nor where the request cannot be read":    {scene: fresh(), change: broken, want: "wait: RestoreRequestInvalid"},
		"which does not harm one that is there":   {change: func(s *scene) { broken(s); s.losePod("c-c") }, want: "Remove c-c"},
		"a TLS secret for new members is missing": {change: func(s *scene) { asked(s); withPeerTLS(s); s.made.Spec.TLS = s.Cluster.Spec.TLS }, want: "wait: WaitingForSecret"},
	})
}

func broken(s *scene) { s.Cluster.Annotations = map[string]string{v1beta2.AnnotationRestore: "{"} }

// TestTheRestoredClusterTakesThePlaceOfTheOther follows the chain of steps, each of which may be
// the last before a crash.
func TestTheRestoredClusterTakesThePlaceOfTheOther(t *testing.T) {
	const fill, replace, start = v1beta2.RestoreStageFilling, v1beta2.RestoreStageReplacing, v1beta2.RestoreStageStarting
	started := func(s *scene) { s.Former.Pods = nil; s.Cluster.Status.Bootstrap.PodUID = "pod-c-s" }
	none := func(s *scene) { s.Former.Pods = nil }
	deleting := func(s *scene) {
		for i := range s.Former.Pods {
			s.Former.Pods[i].DeletionTimestamp = now()
		}
	}
	check(t, map[string]planCase{
		"first its pod":                             {scene: restoring(fill, nil), want: "Create *v1.Pod c-s"},
		"with its volume before":                    {scene: restoring(fill, func(s *scene) { s.Cluster.Spec.Pod = three().withVolumes().Cluster.Spec.Pod }), want: "Create *v1.PersistentVolumeClaim c-s"},
		"which is filled while the others run":      {scene: restoring(fill, filling), want: "wait: Restoring"},
		"or fails to, while the others run":         {scene: restoring(fill, func(s *scene) { s.seed(fails, idle, nil) }), want: "wait: RestoreFailing"},
		"when it is whole that is written down":     {scene: restoring(fill, whole), want: "Record c-s"},
		"only then the others are deleted":          {scene: restoring(replace, whole), want: "Delete *v1.Pod c-a"},
		"and waited for":                            {scene: restoring(replace, func(s *scene) { whole(s); deleting(s) }), want: "wait: Restoring"},
		"when none is left the pod is written down": {scene: restoring(replace, func(s *scene) { whole(s); none(s) }), want: "Record c-s"},
		"only then it may start":                    {scene: restoring(start, func(s *scene) { whole(s); started(s) }), want: "Change *v1.Pod c-s"},
		"and is waited for":                         {scene: restoring(start, func(s *scene) { s.seed(ended, ended, manifests.LetStart); started(s) }), want: "wait: SeedStarting"},
		"one that somebody let start is not used":   {scene: restoring(replace, func(s *scene) { s.seed(ended, ended, manifests.LetStart); none(s) }), want: "wait: NameTaken"},
		"one that vanishes before is made again":    {scene: restoring(replace, none), want: "Create *v1.Pod c-s"},
		"one that vanishes after is not":            {scene: restoring(start, started), want: "wait: SeedLost"},
		"one that lost its data is not filled again": {scene: restoring(start, func(s *scene) {
			s.seed(fails, idle, func(pod *corev1.Pod) {
				manifests.LetStart(pod)
				pod.Status.InitContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost}
			})
			started(s)
		}), want: "wait: SeedLost"},
		"a changed spec makes it anew":                 {scene: restoring(fill, func(s *scene) { filling(s); s.Cluster.Spec.Version = "3.6.10" }), want: "Delete *v1.Pod c-s"},
		"the ticket is gone":                           {scene: restoring(fill, func(s *scene) { s.Secrets = nil }), want: "wait: WaitingForSecret"},
		"no node for it: one of the others makes room": {scene: restoring(fill, unschedulable), want: "Delete *v1.Pod c-a"},
		"one that is not well goes first": {scene: restoring(fill, func(s *scene) {
			unschedulable(s)
			s.Former.Pods[1].Status.Conditions = nil
		}), want: "Delete *v1.Pod c-b"},
		"none where the others would be too few": {scene: restoring(fill, func(s *scene) {
			unschedulable(s)
			s.Former.Pods[0].Status.Conditions, s.Former.Pods[1].Status.Conditions = nil, nil
		}), want: "wait: PodUnschedulable"},
		"but only one": {scene: restoring(fill, func(s *scene) { unschedulable(s); s.Former.Pods = s.Former.Pods[1:] }), want: "wait: PodUnschedulable"},
		"old members that answer are no surprise": {scene: restoring(start, func(s *scene) { whole(s); started(s); s.Etcd = three().Etcd }), want: "wait: MembersDisagree"},
		"a pod that appears later is deleted": {scene: restoring(start, func(s *scene) {
			s.seed(ended, ended, manifests.LetStart)
			started(s)
			s.Former.Pods = restoring(start, nil).Former.Pods[:1]
		}), want: "Delete *v1.Pod c-a"},
	})
}

func unschedulable(s *scene) {
	s.seed(idle, idle, func(pod *corev1.Pod) {
		pod.Spec.NodeName = ""
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	})
}

func TestARestoreCanBeTakenBackUntilItReplacesAnything(t *testing.T) {
	withdrawn := func(s *scene) { s.Cluster.Annotations = nil }
	p := plan.Next(restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); withdrawn(s) }).Snapshot)
	want := &plan.Facts{
		Bootstrap: &v1beta2.BootstrapStatus{Seed: "c-a", Token: "t", PodUID: "pod-c-a", LastRequest: "r1"},
		Again:     &v1beta2.PreviousCluster{Seed: "c-a", Token: "t", PodUID: "pod-c-a", ClusterID: "c1"},
	}
	if p.Step == nil || cmp.Diff(want, p.Step.Facts) != "" {
		t.Fatalf("plan: %s; facts (-want +got):\n%s", shortly(p), cmp.Diff(want, p.Step.Facts))
	}
	back := func(s *scene) {
		s.Former.Pods = restoring(v1beta2.RestoreStageFilling, filling).Pods
		claim := manifests.Claim(three().withVolumes().Cluster, "c-s")
		s.Former.Claims = []corev1.PersistentVolumeClaim{*claim}
	}
	check(t, map[string]planCase{
		"not any more when it replaces":     {scene: restoring(v1beta2.RestoreStageReplacing, func(s *scene) { whole(s); withdrawn(s) }), want: "Delete *v1.Pod c-a"},
		"not where there was nothing":       {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); withdrawn(s); s.Cluster.Status.Bootstrap.Restore.Previous = nil }), want: "wait: Restoring"},
		"then its pod goes":                 {change: back, want: "Delete *v1.Pod c-s"},
		"then its volume":                   {change: func(s *scene) { back(s); s.Former.Pods = nil }, want: "Delete *v1.PersistentVolumeClaim c-s"},
		"another request replaces it":       {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); s.Cluster.Status.Bootstrap.LastRequest = "r0" }), want: "Record c-new"},
		"and the pod of the first one goes": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) { s.Former.Pods[1].Labels[manifests.LabelIncarnation] = "r0" }), want: "Delete *v1.Pod c-b"},
	})
	again := plan.Next(restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); s.Cluster.Status.Bootstrap.LastRequest = "r0" }).Snapshot)
	if from := again.Step.Facts.Bootstrap.Restore; from.Previous == nil || from.Previous.ClusterID != "c1" {
		t.Errorf("the second restore would go back to %+v", from.Previous)
	}
}

func TestVolumesOfTheClusterBeforeStayUntilTheNewOneIsWhole(t *testing.T) {
	volumes := func(keep bool) *scene {
		s := three().withVolumes()
		s.Cluster.Status.Bootstrap.Restore = &v1beta2.BootstrapRestore{UID: "r1", Name: "again", Stage: v1beta2.RestoreStageStarting, KeepVolumes: keep}
		s.Former.Claims = []corev1.PersistentVolumeClaim{*manifests.Claim(s.made, "c-old")}
		for i := range s.Pods {
			s.Pods[i].Labels[manifests.LabelIncarnation] = "r1"
		}
		return s
	}
	check(t, map[string]planCase{
		"they are deleted": {scene: volumes(false), want: "Delete *v1.PersistentVolumeClaim c-old"},
		"or kept":          {scene: volumes(true), want: "Change *v1.PersistentVolumeClaim c-old"},
		"before another restore that does not ask for it can come": {scene: volumes(true), change: func(s *scene) { s.silence("c-c") }, want: "Change *v1.PersistentVolumeClaim c-old"},
		"not while it can be taken back": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.Cluster.Status.Bootstrap.Restore.KeepVolumes = true
			s.Former.Claims = volumes(true).Former.Claims
		}), want: "Create *v1.Pod c-s"},
		"not while a member is missing": {scene: volumes(false), change: func(s *scene) { s.silence("c-c") }, want: "wait: MemberUnhealthy"},
		"not while one is joining":      {scene: volumes(false), change: func(s *scene) { s.learner("c-c", 1) }, want: "wait: MemberJoining"},
		"no consent to start over while they are there": {scene: volumes(false), change: func(s *scene) {
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"}
			s.Pods, s.Claims, s.Etcd = nil, nil, snapshot.Etcd{}
		}, want: "wait: AllDataLost"},
	})
}

// lost is three members with volumes of which only c-a answers, since ten minutes.
func lost(policy *v1beta2.RecoveryPolicy, change func(*scene)) *scene {
	s := three().withVolumes()
	s.Cluster.Spec.Recovery = policy
	s.losePod("c-b")
	s.losePod("c-c")
	s.Claims = s.Claims[:1]
	s.Cluster.Status.QuorumLostSince = &metav1.Time{Time: noon.Add(-10 * time.Minute)}
	if change != nil {
		change(s)
	}
	return s
}

func TestAMajorityThatIsLostIsRecoveredAsTheSpecAsksFor(t *testing.T) {
	survivor := func() *v1beta2.RecoveryPolicy { return &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoverySurvivor} }
	backup := func() *v1beta2.RecoveryPolicy {
		return &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}
	}
	made := func(s *scene) {
		s.Recovery.Backup = &v1beta2.EtcdBackup{Spec: v1beta2.BackupSpec{
			StorageType: v1beta2.BackupStorageTypeS3, BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/key", AWSSecret: "aws"}},
		}, Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(noon.Add(-time.Hour))}}
	}
	unproven := func(s *scene) { // its volume is there, its node is not heard of
		s.Claims = three().withVolumes().Claims[:2]
		s.addPodOf("c-b")
		s.Nodes["node-c-b"] = snapshot.Node{Exists: true, Since: noon.Add(-time.Hour)}
	}
	ending := func(node snapshot.Node, change func(*corev1.Pod)) func(*scene) { // it has no volume, and its pod is being deleted
		return func(s *scene) {
			s.addPodOf("c-b")
			s.pod("c-b").DeletionTimestamp = now()
			s.Nodes["node-c-b"] = node
			if change != nil {
				change(s.pod("c-b"))
			}
		}
	}
	away := snapshot.Node{Exists: true, Since: noon.Add(-time.Hour)}
	check(t, map[string]planCase{
		"not while a pod is being deleted on a node that does not answer": {scene: lost(survivor(), ending(away, nil)), want: "wait: QuorumLost"},
		"nor while it is being deleted where it does":                     {scene: lost(survivor(), ending(snapshot.Node{Exists: true, Ready: true}, nil)), want: "wait: QuorumLost"},
		"nor where nodes are not known":                                   {scene: lost(survivor(), func(s *scene) { ending(away, nil)(s); s.Nodes = nil }), want: "wait: QuorumLost"},
		"its node is deleted":                                             {scene: lost(survivor(), ending(snapshot.Node{}, nil)), want: "Record c-new"},
		"it has ended":                                                    {scene: lost(survivor(), ending(away, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })), want: "Record c-new"},
		"it never had a node":                                             {scene: lost(survivor(), ending(away, func(pod *corev1.Pod) { pod.Spec.NodeName = "" })), want: "Record c-new"},
		"by default not at all":                                           {scene: lost(nil, nil), want: "wait: QuorumLost"},
		"manually neither":                                                {scene: lost(&v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryManual}, nil), want: "wait: QuorumLost"},
		"from the survivor":                                               {scene: lost(survivor(), nil), want: "Record c-new"},
		"not before the patience is over":                                 {scene: lost(survivor(), func(s *scene) { s.Cluster.Spec.Recovery.PatienceSeconds = ptr.To(int64(601)) }), want: "wait: QuorumLost"},
		"not before the loss is written down": {scene: lost(survivor(), func(s *scene) {
			s.Cluster.Status.QuorumLostSince = nil
			s.Cluster.Spec.Recovery.PatienceSeconds = ptr.To(int64(0))
		}), want: "wait: QuorumLost"},
		"not while another may come back":             {scene: lost(survivor(), unproven), want: "wait: QuorumLost"},
		"unless the user gives that up":               {scene: lost(survivor(), func(s *scene) { unproven(s); s.Cluster.Spec.Recovery.AllowDataLoss = true }), want: "Record c-new"},
		"a volume that is lost is proof":              {scene: lost(survivor(), func(s *scene) { unproven(s); s.Claims[1].Status.Phase = corev1.ClaimLost }), want: "Record c-new"},
		"not from one that is corrupt":                {scene: lost(survivor(), func(s *scene) { s.status("c-a", func(m *etcd.Status) { m.Errors = []string{"CORRUPT"} }) }), want: "wait: QuorumLost"},
		"not from one of another cluster":             {scene: lost(survivor(), func(s *scene) { s.status("c-a", func(m *etcd.Status) { m.ClusterID = 0xbad }) }), want: "wait: QuorumLost"},
		"not from a backup when etcd asks for a user": {scene: lost(backup(), func(s *scene) { made(s); s.Cluster.Spec.Recovery.AllowDataLoss = true; askForUser(s) }), want: "wait: AccessRefused"},
		"not when all answer again":                   {scene: three().withVolumes(), change: func(s *scene) { s.Cluster.Spec.Recovery = survivor() }, want: "at rest"},
		"from the newest backup":                      {scene: lost(backup(), made), want: "Create *v1beta2.EtcdRestore c-recovery-" + plan3("c1")},
		"once":                                        {scene: lost(backup(), func(s *scene) { made(s); s.Recovery.Restore = &v1beta2.EtcdRestore{} }), want: "wait: QuorumLost"},
		"not without a backup":                        {scene: lost(backup(), nil), want: "wait: RecoveryImpossible"},
		"not from one that never succeeded":           {scene: lost(backup(), func(s *scene) { made(s); s.Recovery.Backup.Status = v1beta2.BackupStatus{} }), want: "wait: RecoveryImpossible"},
		"from a backup with nothing left":             {scene: lost(backup(), func(s *scene) { made(s); s.Pods, s.Claims, s.Etcd = nil, nil, snapshot.Etcd{} }), want: "Create *v1beta2.EtcdRestore c-recovery-" + plan3("c1")},
		"from a survivor with nothing left":           {scene: lost(survivor(), func(s *scene) { s.Pods, s.Claims, s.Etcd = nil, nil, snapshot.Etcd{} }), want: "wait: AllDataLost"},
		"the survivor goes: it is taken back":         {scene: fromSurvivor(func(s *scene) { s.Former.Pods = s.Former.Pods[1:] }), want: "Record"},
		"so it is when the spec changes":              {scene: fromSurvivor(func(s *scene) { s.Cluster.Spec.Recovery = nil }), want: "Record"},
		"the survivor is not asked for a room": {scene: fromSurvivor(func(s *scene) {
			s.Pods = nil
			unschedulable(s)
			s.Former.Pods = s.Former.Pods[:1]
			s.Cluster.Spec.Size = 1
		}), want: "wait: PodUnschedulable"},
	})
}

func plan3(clusterID string) string {
	c := &v1beta2.EtcdCluster{Status: v1beta2.ClusterStatus{ClusterID: clusterID}}
	return strings.TrimPrefix(manifests.RecoveryRestoreName(c), "-recovery-")
}

// What a survivor gave is in the pod of the new first member alone once the survivor is gone.
func TestAChangeOfTheSpecDoesNotCostTheDataOfASurvivor(t *testing.T) {
	const replace, start = v1beta2.RestoreStageReplacing, v1beta2.RestoreStageStarting
	at := func(stage v1beta2.RestoreStage, member string, change func(*corev1.Pod)) *scene {
		return fromSurvivor(func(s *scene) {
			s.Pods, s.Former.Pods = nil, nil
			s.Cluster.Status.Bootstrap.Restore.Stage, s.Cluster.Status.Bootstrap.Restore.Member = stage, member
			if stage == start {
				s.Cluster.Status.Bootstrap.PodUID = "pod-c-s"
			}
			s.seed(ended, ended, change)
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "A", Value: "b"}}, Resources: cpu("1")}
			s.Secrets = map[string]snapshot.Secret{"ticket": {Exists: true, Keys: []string{"ca.crt", "token"}}}
		})
	}
	crashing := func(pod *corev1.Pod) {
		manifests.LetStart(pod)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", State: fails}}
	}
	held := func(pod *corev1.Pod) { crashing(pod); pod.Finalizers = []string{manifests.FinalizerSeed} }
	check(t, map[string]planCase{
		"before it starts":                {scene: at(replace, "c-a", nil), want: "Record c-s"},
		"a backup can be fetched again":   {scene: at(replace, "", nil), want: "Delete *v1.Pod c-s"},
		"while it starts":                 {scene: at(start, "c-a", crashing), want: "wait: MemberCrashing"},
		"one of a backup is held":         {scene: at(start, "", crashing), want: "Change *v1.Pod c-s"},
		"one that was held is let go":     {scene: at(start, "c-a", held), want: "Change *v1.Pod c-s"},
		"and one of a backup is replaced": {scene: at(start, "", held), want: "Delete *v1.Pod c-s"},
	})
}

// fromSurvivor is a restore under way whose source is the member c-a.
func fromSurvivor(change func(*scene)) *scene {
	return restoring(v1beta2.RestoreStageFilling, func(s *scene) {
		s.Cluster.Annotations = nil
		s.Cluster.Spec.Recovery = &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoverySurvivor}
		s.Cluster.Status.Bootstrap.Restore.Member = "c-a"
		filling(s)
		change(s)
	})
}

// status changes what a member says of itself.
func (s *scene) status(name string, change func(*etcd.Status)) {
	status := s.Etcd.Status[name]
	change(&status)
	s.Etcd.Status[name] = status
}

// addPodOf gives a member that is not on any list its pod back.
func (s *scene) addPodOf(name string) {
	s.Etcd.Membership = &etcd.Membership{}
	s.addPod(name)
	s.Etcd.Membership = nil
}

// The furthest member is taken by what it has applied: a term is raised by anyone without a leader.
func TestTheSurvivorIsTheOneThatHasAppliedMost(t *testing.T) {
	s := newScene("c-a", "c-b", "c-c", "c-d", "c-e").withVolumes()
	s.Cluster.Spec.Recovery = &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoverySurvivor}
	for _, name := range []string{"c-c", "c-d", "c-e"} {
		s.losePod(name)
	}
	s.Claims = s.Claims[:2]
	s.Cluster.Status.QuorumLostSince = &metav1.Time{Time: noon.Add(-10 * time.Minute)}
	s.status("c-a", func(m *etcd.Status) { m.AppliedIndex, m.Term = 99, 7 })
	s.status("c-b", func(m *etcd.Status) { m.AppliedIndex, m.Term = 100, 2 })
	p := plan.Next(s.Snapshot)
	if p.Step == nil || p.Step.Facts == nil || p.Step.Facts.Bootstrap.Restore.Member != "c-b" {
		t.Fatalf("plan: %s, %+v", shortly(p), p)
	}
	for _, said := range []string{p.Step.Why, p.Step.Facts.Bootstrap.Restore.Loss} {
		if !strings.Contains(said, "c-c and c-d and c-e") || !strings.Contains(said, "lost") {
			t.Errorf("what is lost is told as %q", said)
		}
	}
}

func TestARecoveryKnowsWhereItsBackupWasWritten(t *testing.T) {
	kept := []v1beta2.KeptBackup{{Name: "key_v9_a", Time: metav1.NewTime(noon.Add(-time.Hour)), EtcdRevision: 9}}
	for name, c := range map[string]struct {
		path, url string
		kept      []v1beta2.KeptBackup
		want      string
	}{
		"one of a series":                          {"bucket/key", "s3://bucket/key_v9_a", kept, "Create *v1beta2.EtcdRestore bucket/key_v9_a"},
		"a path with a slash in front":             {"/bucket/key", "s3://bucket/key_v9_a", kept, "Create *v1beta2.EtcdRestore bucket/key_v9_a"},
		"one of a series, before the path changed": {"other/key", "s3://bucket/key_v9_a", kept, "RecoveryImpossible"},
		"before the store changed":                 {"bucket/key", "gs://bucket/key_v9_a", kept, "RecoveryImpossible"},
		"a single one":                             {"bucket/key", "s3://bucket/key", nil, "Create *v1beta2.EtcdRestore bucket/key"},
		"a single one, before the path changed":    {"bucket/new", "s3://bucket/key", nil, "RecoveryImpossible"},
		"an address that is not known":             {"bucket/key", "", nil, "Create *v1beta2.EtcdRestore bucket/key"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lost(&v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}, nil)
			s.Recovery.Backup = &v1beta2.EtcdBackup{
				Spec:   v1beta2.BackupSpec{StorageType: v1beta2.BackupStorageTypeS3, BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: c.path}}},
				Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(noon.Add(-time.Hour)), BackupReport: v1beta2.BackupReport{URL: c.url, Backups: c.kept}},
			}
			p := plan.Next(s.Snapshot)
			got := ""
			if p.Step != nil {
				got = "Create *v1beta2.EtcdRestore " + p.Step.Object.(*v1beta2.EtcdRestore).Spec.S3.Path
			} else if i := slices.IndexFunc(p.Waits, func(w plan.Wait) bool { return w.Reason == plan.RecoveryImpossible }); i >= 0 {
				got = string(p.Waits[i].Reason)
				if !strings.Contains(p.Waits[i].Message, c.url) {
					t.Errorf("the message does not say where the backup is: %s", p.Waits[i].Message)
				}
			}
			if got != c.want {
				t.Errorf("plan: %s, want %s; waits: %+v", got, c.want, p.Waits)
			}
		})
	}
}

func TestARecoveryFromABackupTellsItsAgeAndTakesTheNewest(t *testing.T) {
	s := lost(&v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}, nil)
	s.Cluster.Annotations = map[string]string{v1beta2.AnnotationScope: "clusterwide"}
	s.Recovery.Backup = &v1beta2.EtcdBackup{
		Spec: v1beta2.BackupSpec{
			StorageType: v1beta2.BackupStorageTypeS3, EncryptionSecret: "age",
			BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/deep/key", AWSSecret: "aws", Endpoint: "http://e", ForcePathStyle: true, Profile: "p"}},
		},
		Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(noon.Add(-time.Minute)), BackupReport: v1beta2.BackupReport{Backups: []v1beta2.KeptBackup{
			{Name: "deep/key_v8_b", Time: metav1.NewTime(noon.Add(-2 * time.Hour)), EtcdRevision: 8},
			{Name: "deep/key_v9_a", Time: metav1.NewTime(noon.Add(-90 * time.Minute)), EtcdRevision: 9},
		}}},
	}
	p := plan.Next(s.Snapshot)
	if p.Step == nil || p.Step.Object == nil {
		t.Fatalf("plan: %s, %+v", shortly(p), p.Waits)
	}
	want := v1beta2.RestoreSpec{
		BackupStorageType: v1beta2.BackupStorageTypeS3, EncryptionSecret: "age", EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
		RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "bucket/deep/key_v9_a", AWSSecret: "aws", Endpoint: "http://e", ForcePathStyle: true, Profile: "p"}},
	}
	if diff := cmp.Diff(want, p.Step.Object.(*v1beta2.EtcdRestore).Spec); diff != "" {
		t.Errorf("the restore (-want +got):\n%s", diff)
	}
	if scope := p.Step.Object.GetAnnotations()[v1beta2.AnnotationScope]; scope != "clusterwide" {
		t.Errorf("the restore is for operators of scope %q: those of the cluster do not see it", scope)
	}
	if !p.Step.Warning || !strings.Contains(p.Step.Why, "1h30m0s ago") || !strings.Contains(p.Step.Why, "revision 9") {
		t.Errorf("the event says %q", p.Step.Why)
	}
}
