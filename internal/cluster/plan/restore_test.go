// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// asked is how the restore operator asks for a restore.
func asked(s *scene) { askedUntil(s, time.Time{}) }

// askedUntil is how it asks for one that has to begin by a time.
func askedUntil(s *scene, deadline time.Time) {
	s.Cluster.Annotations = map[string]string{v1beta2.AnnotationRestore: v1beta2.RestoreRequest{
		UID: "r1", Name: "again", Secret: "ticket", URL: "https://x/y", Size: 1, SHA256: strings.Repeat("a", 64), RevisionBump: 7, Deadline: deadline,
	}.String()}
	s.Secrets = map[string]view.Secret{"ticket": {Exists: true, Keys: []string{"ca.crt", "token"}}}
}

// restoring is the scene of three members that a restore is about to replace.
func restoring(stage v1beta2.RestoreStage, change func(*scene)) *scene {
	s := three()
	asked(s)
	s.Previous.Pods, s.Pods = s.Pods, nil
	s.Etcd = view.Etcd{}
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

func whole(s *scene) { s.seed(ended, ended, nil) }

func TestARestoreBeginsWhenItCan(t *testing.T) {
	check(t, map[string]planCase{
		"over a live cluster":                     {change: asked, want: "begin-restore: record (+bootstrap.lastRequest=r1 -bootstrap.podUID +bootstrap.restore=r1 bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion)"},
		"over one without quorum":                 {change: func(s *scene) { asked(s); s.silence("c-b", "c-c") }, want: "begin-restore: record (+bootstrap.lastRequest=r1 -bootstrap.podUID +bootstrap.restore=r1 bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses)"},
		"over one that is lost":                   {change: func(s *scene) { asked(s); s.Pods, s.Etcd = nil, view.Etcd{} }, want: "begin-restore: record (+bootstrap.lastRequest=r1 -bootstrap.podUID +bootstrap.restore=r1 bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion)"},
		"in a new object":                         {scene: fresh(), change: asked, want: "begin-restore: record (+bootstrap.lastRequest=r1 +bootstrap.restore=r1 +bootstrap.seed=c-new +bootstrap.token=token)"},
		"in one whose origin is unknown":          {scene: fresh(), change: func(s *scene) { asked(s); s.Cluster.Status.Phase = v1beta2.ClusterPhaseRunning }, want: "begin-restore: record (+bootstrap.lastRequest=r1 +bootstrap.restore=r1 +bootstrap.seed=c-new +bootstrap.token=token)"},
		"not after its time":                      {change: func(s *scene) { askedUntil(s, noon.Add(-time.Second)) }, want: "steady state"},
		"until then":                              {change: func(s *scene) { askedUntil(s, noon) }, want: "begin-restore: record (+bootstrap.lastRequest=r1 -bootstrap.podUID +bootstrap.restore=r1 bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion)"},
		"later where nothing is replaced":         {scene: fresh(), change: func(s *scene) { askedUntil(s, noon.Add(-time.Hour)) }, want: "begin-restore: record (+bootstrap.lastRequest=r1 +bootstrap.restore=r1 +bootstrap.seed=c-new +bootstrap.token=token)"},
		"not twice":                               {change: func(s *scene) { asked(s); s.Cluster.Status.Bootstrap.LastRequest = "r1" }, want: "steady state"},
		"not while paused":                        {change: func(s *scene) { asked(s); s.Cluster.Spec.Paused = true }, want: "wait: Paused"},
		"not while the object is being deleted":   {change: func(s *scene) { asked(s); s.Cluster.DeletionTimestamp = now() }, want: "wait: Deleting"},
		"not without a ticket":                    {change: func(s *scene) { asked(s); s.Secrets = nil }, want: "wait: WaitingForSecret"},
		"not with half a ticket":                  {change: func(s *scene) { asked(s); s.Secrets["ticket"] = view.Secret{Exists: true, Keys: []string{"token"}} }, want: "wait: WaitingForSecret"},
		"meanwhile the cluster is cared for":      {change: func(s *scene) { asked(s); s.Secrets = nil; s.losePod("c-c") }, want: "replace-lost-voter: remove member c-c"},
		"no empty one is started in its place":    {scene: fresh(), change: func(s *scene) { asked(s); s.Secrets = nil }, want: "wait: WaitingForSecret"},
		"nor where the request cannot be read":    {scene: fresh(), change: broken, want: "wait: RestoreRequestInvalid"},
		"which does not harm one that is there":   {change: func(s *scene) { broken(s); s.losePod("c-c") }, want: "replace-lost-voter: remove member c-c"},
		"a TLS secret for new members is missing": {change: func(s *scene) { asked(s); withPeerTLS(s); s.made.Spec.TLS = s.Cluster.Spec.TLS }, want: "wait: WaitingForSecret"},
	})
}

func broken(s *scene) { s.Cluster.Annotations = map[string]string{v1beta2.AnnotationRestore: "{"} }

// TestTheRestoredClusterTakesThePlaceOfTheOther follows the chain of steps, each of which may be
// the last before a crash.
func TestTheRestoredClusterTakesThePlaceOfTheOther(t *testing.T) {
	const fill, replace, start = v1beta2.RestoreStageFilling, v1beta2.RestoreStageReplacing, v1beta2.RestoreStageStarting
	started := func(s *scene) { s.Previous.Pods = nil; s.Cluster.Status.Bootstrap.PodUID = "pod-c-s" }
	none := func(s *scene) { s.Previous.Pods = nil }
	deleting := func(s *scene) {
		for i := range s.Previous.Pods {
			s.Previous.Pods[i].DeletionTimestamp = now()
		}
	}
	check(t, map[string]planCase{
		"first its pod":                           {scene: restoring(fill, nil), want: "create-restored-seed: create Pod c-s"},
		"with its volume before":                  {scene: restoring(fill, func(s *scene) { s.Cluster.Spec.Pod = three().withVolumes().Cluster.Spec.Pod }), want: "create-restored-seed: create PersistentVolumeClaim c-s"},
		"which is filled while the others run":    {scene: restoring(fill, filling), want: "wait: Restoring"},
		"or fails to, while the others run":       {scene: restoring(fill, func(s *scene) { s.seed(fails, idle, nil) }), want: "wait: RestoreFailing"},
		"when it is complete that is recorded":    {scene: restoring(fill, whole), want: "record-restored-data: record (+bootstrap.restore.revisionBumped=7 bootstrap.restore.stage=Replacing +restores)"},
		"only then the others are deleted":        {scene: restoring(replace, whole), want: "delete-previous-pods: delete Pod c-a"},
		"and waited for":                          {scene: restoring(replace, func(s *scene) { whole(s); deleting(s) }), want: "wait: Restoring"},
		"when none is left the pod is recorded":   {scene: restoring(replace, func(s *scene) { whole(s); none(s) }), want: "record-restored-seed-pod: record (+bootstrap.podUID=pod-c-s bootstrap.restore.stage=Starting)"},
		"only then it may start":                  {scene: restoring(start, func(s *scene) { whole(s); started(s) }), want: "start-seed: patch Pod c-s (+annotation start=true)"},
		"and is waited for":                       {scene: restoring(start, func(s *scene) { s.seed(ended, ended, manifests.LetStart); started(s) }), want: "wait: SeedStarting"},
		"one that somebody let start is not used": {scene: restoring(replace, func(s *scene) { s.seed(ended, ended, manifests.LetStart); none(s) }), want: "wait: NameTaken"},
		"one that vanishes before is recreated":   {scene: restoring(replace, none), want: "create-restored-seed: create Pod c-s"},
		"one that vanishes after is not":          {scene: restoring(start, started), want: "wait: SeedLost"},
		"one that lost its data is not filled again": {scene: restoring(start, func(s *scene) {
			s.seed(fails, idle, func(pod *corev1.Pod) {
				manifests.LetStart(pod)
				pod.Status.InitContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost}
			})
			started(s)
		}), want: "wait: SeedLost"},
		"a changed spec recreates it":                  {scene: restoring(fill, func(s *scene) { filling(s); s.Cluster.Spec.Version = "3.6.10" }), want: "recreate-restored-seed: delete Pod c-s if unchanged"},
		"the ticket is gone":                           {scene: restoring(fill, func(s *scene) { s.Secrets = nil }), want: "wait: WaitingForSecret"},
		"no node for it: one of the others makes room": {scene: restoring(fill, unschedulable), want: "make-room: delete Pod c-a"},
		"one that is not well goes first": {scene: restoring(fill, func(s *scene) {
			unschedulable(s)
			s.Previous.Pods[1].Status.Conditions = nil
		}), want: "make-room: delete Pod c-b"},
		"none where the others would be too few": {scene: restoring(fill, func(s *scene) {
			unschedulable(s)
			s.Previous.Pods[0].Status.Conditions, s.Previous.Pods[1].Status.Conditions = nil, nil
		}), want: "wait: PodUnschedulable"},
		"but only one": {scene: restoring(fill, func(s *scene) { unschedulable(s); s.Previous.Pods = s.Previous.Pods[1:] }), want: "wait: PodUnschedulable"},
		"old members that answer are no surprise": {scene: restoring(start, func(s *scene) { whole(s); started(s); s.Etcd = three().Etcd }), want: "wait: MembersDisagree"},
		"a pod that appears later is deleted": {scene: restoring(start, func(s *scene) {
			s.seed(ended, ended, manifests.LetStart)
			started(s)
			s.Previous.Pods = restoring(start, nil).Previous.Pods[:1]
		}), want: "delete-previous-pods: delete Pod c-a"},
	})
}

func unschedulable(s *scene) {
	s.seed(idle, idle, func(pod *corev1.Pod) {
		pod.Spec.NodeName = ""
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	})
}

func TestARestoreCanBeCanceledUntilItReplacesAnything(t *testing.T) {
	withdrawn := func(s *scene) { s.Cluster.Annotations = nil }
	s := restoring(v1beta2.RestoreStageFilling, func(s *scene) {
		filling(s)
		withdrawn(s)
		s.Cluster.Status.Conditions = []v1beta2.ClusterCondition{{Type: v1beta2.ClusterConditionReady}}
		s.Cluster.Status.TargetVersion = "3.7.3"
	})
	record, ok := plan.Next(s.guarded().View).Step.(plan.RecordStatus)
	if !ok {
		t.Fatalf("plan: %s", planned(s))
	}
	want := v1beta2.ClusterStatus{
		Phase: v1beta2.ClusterPhaseRunning, ClusterID: "c1",
		Bootstrap: &v1beta2.BootstrapStatus{Seed: "c-a", Token: "t", PodUID: "pod-c-a", LastRequest: "r1"},
	}
	if diff := cmp.Diff(want, record.Status); diff != "" {
		t.Fatalf("the status (-want +got):\n%s", diff)
	}
	back := func(s *scene) {
		s.Previous.Pods = restoring(v1beta2.RestoreStageFilling, filling).Pods
		claim := manifests.Claim(three().withVolumes().Cluster, "c-s")
		s.Previous.Claims = []corev1.PersistentVolumeClaim{*claim}
	}
	check(t, map[string]planCase{
		"not any more when it replaces": {scene: restoring(v1beta2.RestoreStageReplacing, func(s *scene) { whole(s); withdrawn(s) }), want: "delete-previous-pods: delete Pod c-a"},
		"not where there was nothing":   {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); withdrawn(s); s.Cluster.Status.Bootstrap.Restore.Previous = nil }), want: "wait: Restoring"},
		"then its pod goes":             {change: back, want: "delete-previous-pods: delete Pod c-s"},
		"then its volume":               {change: func(s *scene) { back(s); s.Previous.Pods = nil }, want: "delete-previous-volumes: delete PersistentVolumeClaim c-s"},
		"another request replaces it":   {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); s.Cluster.Status.Bootstrap.LastRequest = "r0" }), want: "begin-restore: record (bootstrap.lastRequest=r1 +bootstrap.restore.revisionBump=7 +bootstrap.restore.sha256=… +bootstrap.restore.size=1 bootstrap.seed=c-new bootstrap.token=token -currentVersion)"},
		"and the pod of the first one goes": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.Previous.Pods[1].Labels[manifests.LabelIncarnation] = "r0"
			s.Previous.Pods[1].Spec.InitContainers = []corev1.Container{{Name: manifests.ContainerRestore}}
		}), want: "delete-previous-pods: delete Pod c-b"},
	})
	again := plan.Next(restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); s.Cluster.Status.Bootstrap.LastRequest = "r0" }).View)
	if from := again.Step.(plan.RecordStatus).Status.Bootstrap.Restore; from.Previous == nil || from.Previous.ClusterID != "c1" {
		t.Errorf("the second restore would go back to %+v", from.Previous)
	}
}

func TestVolumesOfThePreviousIncarnationStayUntilTheNewOneIsComplete(t *testing.T) {
	volumes := func(keep bool) *scene {
		s := three().withVolumes()
		s.Cluster.Status.Bootstrap.Restore = &v1beta2.BootstrapRestore{UID: "r1", Name: "again", Stage: v1beta2.RestoreStageStarting, KeepVolumes: keep}
		s.Previous.Claims = []corev1.PersistentVolumeClaim{*manifests.Claim(s.made, "c-old")}
		for i := range s.Pods {
			s.Pods[i].Labels[manifests.LabelIncarnation] = "r1"
			s.Claims[i].Labels[manifests.LabelIncarnation] = "r1"
		}
		return s
	}
	check(t, map[string]planCase{
		"they are deleted":                {scene: volumes(false), want: "delete-previous-volumes: delete PersistentVolumeClaim c-old"},
		"or kept":                         {scene: volumes(true), want: "keep-previous-volumes: patch PersistentVolumeClaim c-old (-label app -label etcd_cluster +annotation kept-by-restore=again -owner EtcdCluster c)"},
		"not one that never had a volume": {scene: volumes(true), change: func(s *scene) { s.Previous.Claims[0].Status.Phase = corev1.ClaimPending }, want: "delete-previous-volumes: delete PersistentVolumeClaim c-old"},
		"before another restore that does not ask for it can come": {scene: volumes(true), change: func(s *scene) { s.silence("c-c") }, want: "keep-previous-volumes: patch PersistentVolumeClaim c-old (-label app -label etcd_cluster +annotation kept-by-restore=again -owner EtcdCluster c)"},
		"not while it can be canceled": {scene: restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.Cluster.Status.Bootstrap.Restore.KeepVolumes = true
			s.Previous.Claims = volumes(true).Previous.Claims
		}), want: "create-restored-seed: create Pod c-s"},
		"not while a member is missing": {scene: volumes(false), change: func(s *scene) { s.silence("c-c") }, want: "wait: MemberUnhealthy"},
		"not while one is joining":      {scene: volumes(false), change: func(s *scene) { s.learner("c-c", 1) }, want: "wait: MemberJoining"},
		"no consent to start over while they are there": {scene: volumes(false), change: func(s *scene) {
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"}
			s.Pods, s.Claims, s.Etcd = nil, nil, view.Etcd{}
		}, want: "wait: AllDataLost"},
	})
}

// Whoever restores waits for these pods, and nobody is served meanwhile. Pods of a cluster that goes on have their time.
func TestPodsThatWereReplacedHaveLittleTimeToEnd(t *testing.T) {
	whole := func(s *scene) { s.seed(ended, ended, nil) }
	for name, tc := range map[string]struct {
		scene *scene
		short bool
	}{
		"replaced by a restore": {restoring(v1beta2.RestoreStageReplacing, whole), true},
		"unknown to etcd":       {three(), false},
	} {
		if !tc.short {
			tc.scene.addPod("c-x")
		}
		p := plan.Next(tc.scene.View)
		step, ok := p.Step.(plan.DeleteObject)
		if !ok || (step.Grace > 0) != tc.short {
			t.Errorf("%s: %s with %+v", name, printPlan(tc.scene.View, p), step.Grace)
		}
	}
}

// Whoever reads that the previous incarnation is left as it is must not find its pods gone.
func TestTheMessageSaysWhatBecomesOfThePreviousIncarnation(t *testing.T) {
	const left, others, deleted = "until that is done the previous incarnation is left as it is",
		"until that is done the other pods of the previous incarnation are left as they are", "the pods of the previous incarnation are being deleted"
	leaving := func(s *scene) { s.Previous.Pods[0].DeletionTimestamp = now() }
	for name, tc := range map[string]struct {
		scene *scene
		want  string
	}{
		"while it is untouched":     {restoring(v1beta2.RestoreStageFilling, filling), left},
		"after one made room":       {restoring(v1beta2.RestoreStageFilling, func(s *scene) { filling(s); leaving(s) }), others},
		"while it is being deleted": {restoring(v1beta2.RestoreStageReplacing, func(s *scene) { filling(s); s.deletePrevious() }), deleted},
		"where nothing is left":     {restoring(v1beta2.RestoreStageReplacing, func(s *scene) { filling(s); s.Previous.Pods = nil }), ""},
	} {
		p := plan.Next(tc.scene.guarded().View)
		if len(p.Waits) == 0 {
			t.Errorf("%s: %s", name, planned(tc.scene))
			continue
		}
		_, got, _ := strings.Cut(p.Waits[0].Message, "; ")
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func (s *scene) deletePrevious() {
	for i := range s.Previous.Pods {
		s.Previous.Pods[i].DeletionTimestamp = now()
	}
}
