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
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

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
		s.Nodes["node-c-b"] = view.Node{Exists: true, Since: noon.Add(-time.Hour)}
	}
	ending := func(node view.Node, change func(*corev1.Pod)) func(*scene) { // it has no volume, and its pod is being deleted
		return func(s *scene) {
			s.addPodOf("c-b")
			s.pod("c-b").DeletionTimestamp = now()
			s.Nodes["node-c-b"] = node
			if change != nil {
				change(s.pod("c-b"))
			}
		}
	}
	away := view.Node{Exists: true, Since: noon.Add(-time.Hour)}
	check(t, map[string]planCase{
		"not while a pod is being deleted on a node that does not answer": {scene: lost(survivor(), ending(away, nil)), want: "wait: QuorumLost"},
		"nor while it is being deleted where it does":                     {scene: lost(survivor(), ending(view.Node{Exists: true, Ready: true}, nil)), want: "wait: QuorumLost"},
		"nor where nodes are not known":                                   {scene: lost(survivor(), func(s *scene) { ending(away, nil)(s); s.Nodes = nil }), want: "wait: QuorumLost"},
		"its node is deleted":                                             {scene: lost(survivor(), ending(view.Node{}, nil)), want: "recover-from-survivor: record (-bootstrap.podUID +bootstrap.restore=survivor-new bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)"},
		"it has ended":                                                    {scene: lost(survivor(), ending(away, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })), want: "recover-from-survivor: record (-bootstrap.podUID +bootstrap.restore=survivor-new bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)"},
		"it never had a node":                                             {scene: lost(survivor(), ending(away, func(pod *corev1.Pod) { pod.Spec.NodeName = "" })), want: "recover-from-survivor: record (-bootstrap.podUID +bootstrap.restore=survivor-new bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)"},
		"by default not at all":                                           {scene: lost(nil, nil), want: "wait: QuorumLost"},
		"manually neither":                                                {scene: lost(&v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryManual}, nil), want: "wait: QuorumLost"},
		"from the survivor":                                               {scene: lost(survivor(), nil), want: "recover-from-survivor: record (-bootstrap.podUID +bootstrap.restore=survivor-new bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)"},
		"not before the patience is over":                                 {scene: lost(survivor(), func(s *scene) { s.Cluster.Spec.Recovery.PatienceSeconds = ptr.To(int64(601)) }), want: "wait: QuorumLost"},
		"not before the loss is recorded": {scene: lost(survivor(), func(s *scene) {
			s.Cluster.Status.QuorumLostSince = nil
			s.Cluster.Spec.Recovery.PatienceSeconds = ptr.To(int64(0))
		}), want: "wait: QuorumLost"},
		"not while another may come back":             {scene: lost(survivor(), unproven), want: "wait: QuorumLost"},
		"unless the user gives that up":               {scene: lost(survivor(), func(s *scene) { unproven(s); s.Cluster.Spec.Recovery.AllowDataLoss = true }), want: "recover-from-survivor: record (-bootstrap.podUID +bootstrap.restore=survivor-new bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)"},
		"a volume that is lost is proof":              {scene: lost(survivor(), func(s *scene) { unproven(s); s.Claims[1].Status.Phase = corev1.ClaimLost }), want: "recover-from-survivor: record (-bootstrap.podUID +bootstrap.restore=survivor-new bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)"},
		"not from one that is corrupt":                {scene: lost(survivor(), func(s *scene) { s.status("c-a", func(m *etcd.Status) { m.Errors = []string{"CORRUPT"} }) }), want: "wait: QuorumLost"},
		"not from one of another cluster":             {scene: lost(survivor(), func(s *scene) { s.status("c-a", func(m *etcd.Status) { m.ClusterID = 0xbad }) }), want: "wait: QuorumLost"},
		"not from a backup when etcd asks for a user": {scene: lost(backup(), func(s *scene) { made(s); s.Cluster.Spec.Recovery.AllowDataLoss = true; askForUser(s) }), want: "wait: AccessRefused"},
		"not when all answer again":                   {scene: three().withVolumes(), change: func(s *scene) { s.Cluster.Spec.Recovery = survivor() }, want: "steady state"},
		"from the newest backup":                      {scene: lost(backup(), made), want: "recover-from-backup: create EtcdRestore c-recovery-" + plan3("c1")},
		"once":                                        {scene: lost(backup(), func(s *scene) { made(s); s.Recovery.Restore = &v1beta2.EtcdRestore{} }), want: "wait: QuorumLost"},
		"not without a backup":                        {scene: lost(backup(), nil), want: "wait: RecoveryImpossible"},
		"not from one that never succeeded":           {scene: lost(backup(), func(s *scene) { made(s); s.Recovery.Backup.Status = v1beta2.BackupStatus{} }), want: "wait: RecoveryImpossible"},
		"from a backup with nothing left":             {scene: lost(backup(), func(s *scene) { made(s); s.Pods, s.Claims, s.Etcd = nil, nil, view.Etcd{} }), want: "recover-from-backup: create EtcdRestore c-recovery-" + plan3("c1")},
		"from a survivor with nothing left":           {scene: lost(survivor(), func(s *scene) { s.Pods, s.Claims, s.Etcd = nil, nil, view.Etcd{} }), want: "wait: AllDataLost"},
		"the survivor goes: it is canceled":           {scene: fromSurvivor(func(s *scene) { s.Previous.Pods = s.Previous.Pods[1:] }), want: "cancel-restore: record (+bootstrap.podUID=pod-c-a -bootstrap.restore bootstrap.seed=c-a bootstrap.token=t +clusterID=c1 -currentVersion)"},
		"so it is when the spec changes":              {scene: fromSurvivor(func(s *scene) { s.Cluster.Spec.Recovery = nil }), want: "cancel-restore: record (+bootstrap.podUID=pod-c-a -bootstrap.restore bootstrap.seed=c-a bootstrap.token=t +clusterID=c1 -currentVersion)"},
		"the survivor is not asked for a room": {scene: fromSurvivor(func(s *scene) {
			s.Pods = nil
			unschedulable(s)
			s.Previous.Pods = s.Previous.Pods[:1]
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
			s.Pods, s.Previous.Pods = nil, nil
			s.Cluster.Status.Bootstrap.Restore.Stage, s.Cluster.Status.Bootstrap.Restore.Member = stage, member
			if stage == start {
				s.Cluster.Status.Bootstrap.PodUID = "pod-c-s"
			}
			s.seed(ended, ended, change)
			s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "A", Value: "b"}}, Resources: cpu("1")}
			s.Secrets = map[string]view.Secret{"ticket": {Exists: true, Keys: []string{"ca.crt", "token"}}}
		})
	}
	crashing := func(pod *corev1.Pod) {
		manifests.LetStart(pod)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", State: fails}}
	}
	held := func(pod *corev1.Pod) { crashing(pod); pod.Finalizers = []string{manifests.FinalizerSeed} }
	check(t, map[string]planCase{
		"before it starts":                {scene: at(replace, "c-a", nil), want: "record-restored-seed-pod: record (+bootstrap.podUID=pod-c-s bootstrap.restore.stage=Starting)"},
		"a backup can be fetched again":   {scene: at(replace, "", nil), want: "recreate-restored-seed: delete Pod c-s if unchanged"},
		"while it starts":                 {scene: at(start, "c-a", crashing), want: "wait: MemberCrashing"},
		"one of a backup is held":         {scene: at(start, "", crashing), want: "hold-seed: patch Pod c-s (+finalizer seed-never-served)"},
		"one that was held is released":   {scene: at(start, "c-a", held), want: "replace-held-seed: patch Pod c-s (-finalizer seed-never-served)"},
		"and one of a backup is replaced": {scene: at(start, "", held), want: "replace-held-seed: delete Pod c-s if unchanged"},
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
	p := plan.Next(s.guarded().View)
	record, ok := p.Step.(plan.RecordStatus)
	if !ok || record.Status.Bootstrap.Restore.Member != "c-b" {
		t.Fatalf("plan: %s, %+v", printPlan(s.View, p), p)
	}
	for _, text := range []string{record.Why, record.Status.Bootstrap.Restore.Loss} {
		if !strings.Contains(text, "c-c and c-d and c-e") || !strings.Contains(text, "lost") {
			t.Errorf("what is lost is reported as %q", text)
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
		"one of a series":                          {"bucket/key", "s3://bucket/key_v9_a", kept, "recover-from-backup: bucket/key_v9_a"},
		"a path with a slash in front":             {"/bucket/key", "s3://bucket/key_v9_a", kept, "recover-from-backup: bucket/key_v9_a"},
		"one of a series, before the path changed": {"other/key", "s3://bucket/key_v9_a", kept, "RecoveryImpossible"},
		"before the store changed":                 {"bucket/key", "gs://bucket/key_v9_a", kept, "RecoveryImpossible"},
		"a single one":                             {"bucket/key", "s3://bucket/key", nil, "recover-from-backup: bucket/key"},
		"a single one, before the path changed":    {"bucket/new", "s3://bucket/key", nil, "RecoveryImpossible"},
		"an address that is not known":             {"bucket/key", "", nil, "recover-from-backup: bucket/key"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lost(&v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}, nil)
			s.Recovery.Backup = &v1beta2.EtcdBackup{
				Spec:   v1beta2.BackupSpec{StorageType: v1beta2.BackupStorageTypeS3, BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: c.path}}},
				Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(noon.Add(-time.Hour)), BackupReport: v1beta2.BackupReport{URL: c.url, Backups: c.kept}},
			}
			p := plan.Next(s.guarded().View)
			got := ""
			if p.Step != nil {
				got = p.Decision + ": " + p.Step.(plan.CreateObject).Object.(*v1beta2.EtcdRestore).Spec.S3.Path
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
	s.ScopeLabels = map[string]string{"team": "a"}
	s.Recovery.Backup = &v1beta2.EtcdBackup{
		Spec: v1beta2.BackupSpec{
			StorageType: v1beta2.BackupStorageTypeS3, EncryptionSecret: "age",
			BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/deep/key", AWSSecret: "aws", Endpoint: "http://e", ForcePathStyle: true, Profile: "p"}},
		},
		Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(noon.Add(-time.Minute)), BackupReport: v1beta2.BackupReport{Backups: []v1beta2.KeptBackup{
			{Name: "deep/key_v8_b", Time: metav1.NewTime(noon.Add(-2 * time.Hour)), EtcdRevision: 8},
			{Name: "deep/key_v9_a", Time: metav1.NewTime(noon.Add(-90 * time.Minute)), EtcdRevision: 9, SHA256: "sum"},
		}}},
	}
	p := plan.Next(s.guarded().View)
	create, ok := p.Step.(plan.CreateObject)
	if !ok {
		t.Fatalf("plan: %s, %+v", printPlan(s.View, p), p.Waits)
	}
	want := v1beta2.RestoreSpec{
		BackupStorageType: v1beta2.BackupStorageTypeS3, EncryptionSecret: "age", EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"}, SHA256: "sum",
		RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "bucket/deep/key_v9_a", AWSSecret: "aws", Endpoint: "http://e", ForcePathStyle: true, Profile: "p"}},
	}
	if diff := cmp.Diff(want, create.Object.(*v1beta2.EtcdRestore).Spec); diff != "" {
		t.Errorf("the restore (-want +got):\n%s", diff)
	}
	if scope := create.Object.GetAnnotations()[v1beta2.AnnotationScope]; scope != "clusterwide" {
		t.Errorf("the restore is for operators of scope %q: those of the cluster do not see it", scope)
	}
	if diff := cmp.Diff(map[string]string{"app": "etcd", "etcd_cluster": "c", "team": "a"}, create.Object.GetLabels()); diff != "" {
		t.Errorf("the labels of the restore (-want +got):\n%s", diff)
	}
	if !create.Warning || !strings.Contains(create.Why, "1h30m0s ago") || !strings.Contains(create.Why, "revision 9") {
		t.Errorf("the event says %q", create.Why)
	}
}

// A member that was left behind may have been backed up last. What was written since is in an earlier backup.
func TestARecoveryTakesTheHighestRevisionOfTheCluster(t *testing.T) {
	kept := func(name string, age time.Duration, revision int64, cluster string) v1beta2.KeptBackup {
		return v1beta2.KeptBackup{Name: name, Time: metav1.NewTime(noon.Add(-age)), EtcdRevision: revision, ClusterID: cluster}
	}
	for name, c := range map[string]struct {
		kept []v1beta2.KeptBackup
		want string
	}{
		"the newest is the highest":          {[]v1beta2.KeptBackup{kept("new", 1, 9, "a"), kept("old", 2, 8, "a")}, "new"},
		"the newest is behind":               {[]v1beta2.KeptBackup{kept("behind", 1, 3, "a"), kept("highest", 2, 9, "a"), kept("old", 3, 8, "a")}, "highest"},
		"of two with one revision the newer": {[]v1beta2.KeptBackup{kept("old", 2, 9, "a"), kept("new", 1, 9, "a")}, "new"},
		"another cluster has a higher one":   {[]v1beta2.KeptBackup{kept("new", 1, 3, "b"), kept("other", 2, 9, "a")}, "new"},
		"one of a cluster that is not known": {[]v1beta2.KeptBackup{kept("new", 1, 3, "b"), kept("unknown", 2, 9, "")}, "new"},
		"no cluster is known: the newest":    {[]v1beta2.KeptBackup{kept("new", 1, 3, ""), kept("unknown", 2, 9, "")}, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lost(&v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}, nil)
			s.Recovery.Backup = &v1beta2.EtcdBackup{
				Spec:   v1beta2.BackupSpec{StorageType: v1beta2.BackupStorageTypeS3, BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/key"}}},
				Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(noon), BackupReport: v1beta2.BackupReport{Backups: c.kept}},
			}
			p := plan.Next(s.guarded().View)
			create, ok := p.Step.(plan.CreateObject)
			if !ok {
				t.Fatalf("plan: %s, %+v", printPlan(s.View, p), p.Waits)
			}
			if got := create.Object.(*v1beta2.EtcdRestore).Spec.S3.Path; got != "bucket/"+c.want {
				t.Errorf("%s is restored, want %s", got, c.want)
			}
		})
	}
}
