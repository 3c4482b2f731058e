// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// fromBackup lets the spec name a backup.
func fromBackup(s *scene) {
	s.Cluster.Spec.Bootstrap = &v1beta2.BootstrapPolicy{Restore: &v1beta2.BootstrapSource{
		BackupStorageType: v1beta2.BackupStorageTypeS3, RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "b/k", AWSSecret: "aws"}},
		EncryptionSecret: "keys", SHA256: strings.Repeat("a", 64), RevisionBump: ptr.To(int64(7)),
	}}
}

// origin is the EtcdRestore that creates the cluster.
func origin(change func(*v1beta2.EtcdRestore)) func(*scene) {
	return func(s *scene) {
		fromBackup(s)
		s.Origin = &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Name: manifests.BootstrapRestoreName(s.Cluster), OwnerReferences: []metav1.OwnerReference{s.Cluster.AsOwner()}}}
		if change != nil {
			change(s.Origin)
		}
	}
}

func failedBefore(ago time.Duration) func(*v1beta2.EtcdRestore) {
	return func(r *v1beta2.EtcdRestore) {
		r.Status.CompletionTime, r.Status.Reason = &metav1.Time{Time: noon.Add(-ago)}, "the backup is cut off"
	}
}

func succeeded(r *v1beta2.EtcdRestore) {
	failedBefore(time.Hour)(r)
	r.Status.Succeeded = true
}

// beingCreated is a cluster whose first member fetches the backup that the spec names.
func beingCreated(change func(*v1beta2.EtcdRestore), more func(*scene)) *scene {
	return restoring(v1beta2.RestoreStageFilling, func(s *scene) {
		origin(change)(s)
		s.Previous.Pods = nil
		from := s.Cluster.Status.Bootstrap.Restore
		from.Previous, from.Name = nil, s.Origin.Name
		filling(s)
		if more != nil {
			more(s)
		}
	})
}

func TestAClusterIsCreatedFromTheBackupThatItsSpecNames(t *testing.T) {
	name := manifests.BootstrapRestoreName(fresh().Cluster)
	none := func(s *scene) { s.Origin = nil }
	const empty = "choose-seed: record (+bootstrap.seed=c-new +bootstrap.token=token)"
	check(t, map[string]planCase{
		"the restore operator is asked":             {scene: fresh(), change: fromBackup, want: "request-bootstrap-restore: create EtcdRestore " + name},
		"once":                                      {scene: fresh(), change: origin(nil), want: "wait: Restoring"},
		"without a backup it begins empty":          {scene: fresh(), change: func(s *scene) { s.Cluster.Spec.Bootstrap = &v1beta2.BootstrapPolicy{} }, want: empty},
		"not before the secrets are there":          {scene: fresh(), change: func(s *scene) { fromBackup(s); withPeerTLS(s) }, want: "wait: WaitingForSecret"},
		"an EtcdRestore of somebody else":           {scene: fresh(), change: origin(func(r *v1beta2.EtcdRestore) { r.OwnerReferences = nil }), want: "wait: NameTaken"},
		"one that failed is left to look at":        {scene: fresh(), change: origin(failedBefore(time.Minute)), want: "wait: BootstrapRestoreFailed"},
		"then it is repeated":                       {scene: fresh(), change: origin(failedBefore(5 * time.Minute)), want: "retry-bootstrap-restore: delete EtcdRestore " + name},
		"and waited for while it is deleted":        {scene: fresh(), change: origin(func(r *v1beta2.EtcdRestore) { failedBefore(time.Hour)(r); r.DeletionTimestamp = now() }), want: "wait: Restoring"},
		"its request is carried out":                {scene: fresh(), change: func(s *scene) { origin(nil)(s); asked(s) }, want: planned(withRequest())},
		"a cluster that exists does not ask for it": {change: fromBackup, want: "steady state"},
		"nor one that has lost its data":            {change: func(s *scene) { fromBackup(s); s.Pods, s.Etcd.Membership, s.Etcd.Status = nil, nil, nil }, want: "wait: AllDataLost"},
		"nor one whose first member is lost":        {scene: recorded("pod-c-a"), change: fromBackup, want: "wait: SeedLost"},
		"nor one that began otherwise":              {scene: recorded(""), change: fromBackup, want: "create-seed: create Pod c-a"},
		"nor one whose status is lost":              {scene: fresh(), change: func(s *scene) { fromBackup(s); hadCluster(s) }, want: "wait: OriginUnknown"},
		"which the EtcdRestore shows too":           {scene: fresh(), change: origin(succeeded), want: "wait: OriginUnknown"},
		"nor that of another operator":              {scene: fresh(), change: func(s *scene) { fromBackup(s); s.Cluster.Status.Phase = v1beta2.ClusterPhaseRunning }, want: "wait: OriginUnknown"},
		"consent to start over is to begin empty": {scene: fresh(), change: func(s *scene) {
			origin(succeeded)(s)
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "yes"}
		}, want: "start-over: record (+bootstrap.seed=c-new +bootstrap.token=token)"},
		"while the first member fetches it":         {scene: beingCreated(nil, nil), want: "wait: Restoring"},
		"it is asked for again if that was deleted": {scene: beingCreated(nil, none), want: "request-bootstrap-restore: create EtcdRestore " + name},
		"or failed":                  {scene: beingCreated(failedBefore(time.Hour), nil), want: "retry-bootstrap-restore: delete EtcdRestore " + name},
		"which is reported":          {scene: beingCreated(failedBefore(time.Second), nil), want: "wait: BootstrapRestoreFailed"},
		"not when the data is there": {scene: beingCreated(nil, func(s *scene) { none(s); s.Pods = nil; s.seed(ended, ended, nil) }), want: "record-restored-data: record (+bootstrap.restore.revisionBumped=7 bootstrap.restore.stage=Replacing +restores)"},
		"nor where another EtcdRestore is carried out": {scene: beingCreated(nil, func(s *scene) { none(s); s.Cluster.Status.Bootstrap.Restore.Name = "other" }), want: "wait: Restoring"},
	})
}

// withRequest is a new object that carries the request of a restore.
func withRequest() *scene {
	s := fresh()
	asked(s)
	return s
}

func TestTheRestoreThatCreatesAClusterIsTheOneOfItsSpec(t *testing.T) {
	s := fresh()
	fromBackup(s)
	s.Cluster.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide}
	s.ScopeLabels = map[string]string{"team": "a"}
	step, ok := plan.Next(s.guarded().View).Step.(plan.CreateObject)
	if !ok {
		t.Fatalf("plan: %s", planned(s))
	}
	restore := step.Object.(*v1beta2.EtcdRestore)
	from := s.Cluster.Spec.Bootstrap.Restore
	want := v1beta2.RestoreSpec{
		BackupStorageType: v1beta2.BackupStorageTypeS3, RestoreSource: from.RestoreSource, EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
		EncryptionSecret: "keys", SHA256: strings.Repeat("a", 64), RevisionBump: ptr.To(int64(7)),
	}
	if diff := cmp.Diff(want, restore.Spec); diff != "" {
		t.Errorf("the spec (-want +got):\n%s", diff)
	}
	if restore.Annotations[v1beta2.AnnotationScope] != v1beta2.AnnotationClusterWide || restore.Labels["team"] != "a" || !metav1.IsControlledBy(restore, s.Cluster) {
		t.Errorf("the EtcdRestore is %+v", restore.ObjectMeta)
	}
	again := s.Cluster.DeepCopy()
	again.UID = "another"
	if manifests.BootstrapRestoreName(again) == restore.Name {
		t.Error("an EtcdCluster that was recreated finds the EtcdRestore of the one before")
	}
}

// Whoever waits for the cluster reads what the EtcdRestore says.
func TestTheMessageSaysHowFarTheBackupIs(t *testing.T) {
	checking := func(r *v1beta2.EtcdRestore) {
		r.Status.Conditions = []metav1.Condition{{Type: kstatus.Ready, Message: "Reading the backup."}}
	}
	for name, tc := range map[string]struct {
		change func(*v1beta2.EtcdRestore)
		want   string
	}{
		"nobody has begun": {nil, "is the etcd-restore-operator running?"},
		"it is read":       {checking, "Reading the backup."},
		"it failed":        {failedBefore(time.Minute), "the backup is cut off. It is repeated at 12:04:00 UTC"},
	} {
		s := fresh()
		origin(tc.change)(s)
		p := plan.Next(s.guarded().View)
		if len(p.Waits) == 0 || !strings.Contains(p.Waits[0].Message, tc.want) {
			t.Errorf("%s: %+v, want %q", name, p.Waits, tc.want)
		}
	}
}
