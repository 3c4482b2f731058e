// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

func TestTheEtcdOperatorIsAskedForAnIntactBackup(t *testing.T) {
	decides(t, map[string]seen{
		"the etcd-operator is asked after the check only": {
			restore: restore(scene.Accepted), cluster: cluster(),
			want: "request-restore: annotate EtcdCluster c (restore r, 4096 bytes, revision raised by 1000000)",
		},
		"a cluster is created from the spec that the restore has": {
			restore: restore(scene.Accepted, scene.WithSpec),
			want:    "request-restore: create EtcdCluster c of size 5 (restore r, 4096 bytes, revision raised by 1000000)",
		},
		"or from the one that was kept": {
			restore: restore(scene.Accepted), check: checked("1/0", kept),
			want: "request-restore: create EtcdCluster c of size 5 (restore r, 4096 bytes, revision raised by 1000000)",
		},
		"which a restarted process has to read again": {restore: restore(scene.Accepted), want: "check-backup: start check 1/0"},
		"without any": {
			restore: restore(scene.Accepted), check: checked("1/0", intact),
			want: `require-cluster-spec: fail with ClusterSpecMissing: EtcdCluster "c" does not exist, and the backup holds no spec that it could be created from (one with TLS is not used); set clusterSpec, or create the EtcdCluster first`,
		},
		"a request that was written before a crash is not repeated": {
			restore: restore(scene.Accepted), cluster: cluster(scene.WithRequest(restore(scene.Accepted))),
			want: "follow: report phase Requested, keep the ticket",
		},
		"between two requests, the first of which failed": {restore: restore(scene.Accepted, scene.FailedOnce), cluster: cluster(), want: "back-off: wait 2s (the last attempt failed)"},
		"the next request": {
			restore: restore(scene.Accepted, scene.FailedOnce), cluster: cluster(), after: 3 * time.Second,
			want: "request-restore: annotate EtcdCluster c (restore r, 4096 bytes, revision raised by 1000000)",
		},
		"for which the kept spec is not read again": {
			restore: restore(scene.Accepted, scene.FailedOnce), check: checked("1/0", kept), after: 3 * time.Second,
			want: "request-restore: create EtcdCluster c of size 5 (restore r, 4096 bytes, revision raised by 1000000)",
		},
		"a restore that could not be asked for in time": {
			restore: restore(scene.Accepted), cluster: cluster(), after: time.Hour,
			want: "give-up-request: fail with TimedOut: the etcd-operator could not be asked for the restore; given up after 10m0s, create another EtcdRestore: the operator was not running in that time",
		},
		"nor created": {
			restore: restore(scene.Accepted, scene.WithSpec), after: time.Hour,
			want: "give-up-request: fail with TimedOut: the etcd-operator could not be asked for the restore; given up after 10m0s, create another EtcdRestore: the operator was not running in that time",
		},
		"nor read again": {
			restore: restore(scene.Accepted), after: time.Hour,
			want: "give-up-request: fail with TimedOut: the etcd-operator could not be asked for the restore; given up after 10m0s, create another EtcdRestore: the operator was not running in that time",
		},
		"but what is being read is read to its end": {restore: restore(scene.Accepted), check: &view.Check{ID: "1/0"}, after: time.Hour, want: "report-check: report 0 bytes read"},
		"and a check may take long, if the request follows at once": {
			restore: restore(scene.Accepted), cluster: cluster(), check: checked("1/0", view.Outcome{Ended: scene.Noon.Add(time.Hour)}), after: time.Hour,
			want: "request-restore: annotate EtcdCluster c (restore r, 4096 bytes, revision raised by 1000000)",
		},
		"volumes are kept where the spec says so": {
			restore: restore(scene.Accepted, func(r *v1beta2.EtcdRestore) { r.Spec.KeepOldVolumes = true }), cluster: cluster(),
			want: "request-restore: annotate EtcdCluster c (restore r, 4096 bytes, revision raised by 1000000, volumes kept)",
		},
		"a request that the API server does not take for now": {
			restore: restore(scene.Accepted), cluster: cluster(), refused: &problem.Problem{Reason: "Failed", Message: "secrets is forbidden"},
			want: "retry-request: retry after RequestFailed: the backup is intact, but the etcd-operator cannot be asked for the restore: secrets is forbidden",
		},
		"one that it never takes": {
			restore: restore(scene.Accepted), cluster: cluster(), refused: &problem.Problem{Reason: "ClusterRefused", Message: "the name is too long", Stalled: true},
			want: "give-up-request: fail with ClusterRefused: the name is too long",
		},
		"what stood in its way is named in the end": {
			restore: restore(scene.Accepted, scene.FailedOnce, func(r *v1beta2.EtcdRestore) { r.Status.Reason = "secrets is forbidden" }), cluster: cluster(), after: time.Hour,
			want: "give-up-request: fail with TimedOut: the etcd-operator could not be asked for the restore; given up after 10m0s, create another EtcdRestore: secrets is forbidden",
		},
	})
}

func TestTheNewClusterIsServedByTheOperatorsOfTheRestore(t *testing.T) {
	s := seen{restore: restore(scene.Accepted, scene.WithSpec)}
	s.restore.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide, "other": "x"}
	v := s.view()
	v.ScopeLabels = map[string]string{"team": "a"}
	step, ok := plan.Next(v).Step.(plan.CreateCluster)
	if !ok {
		t.Fatalf("the step is %v", step)
	}
	if team := step.Cluster.Labels["team"]; team != "a" {
		t.Errorf("labels = %v", step.Cluster.Labels)
	}
	if a := step.Cluster.Annotations; a[v1beta2.AnnotationScope] != v1beta2.AnnotationClusterWide || a["other"] != "" {
		t.Errorf("annotations = %v", a)
	}
	request, err := v1beta2.RestoreRequestOf(step.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	want := v1beta2.RestoreRequest{
		UID: "uid-r", Name: "r", Secret: "r-ticket-uid-r", URL: "https://etcd-restore-operator.op.svc:19999/v1/backup/ns/r", Source: "s3://b/k",
		Size: 4096, SHA256: strings.Repeat("ab", 32), RevisionBump: 1000000,
		Deadline: scene.Noon.Add(10 * time.Minute),
	}
	if diff := cmp.Diff(want, request); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A recovery that the etcd-operator has asked for itself is withdrawn when it is not needed any more. It must not need
// somebody who creates it again because the operator was not running for a while.
func TestARecoveryMayBeginAtAnyTime(t *testing.T) {
	s := seen{restore: restore(scene.Accepted), cluster: cluster()}
	s.restore.OwnerReferences = []metav1.OwnerReference{s.cluster.AsOwner()}
	step, ok := plan.Next(s.view()).Step.(plan.AnnotateCluster)
	if !ok || !step.Request.Deadline.IsZero() {
		t.Errorf("the step is %v, the request %+v", step, step.Request)
	}
}

func TestARestoreThatIsNotBegunInTimeIsGivenUp(t *testing.T) {
	until := scene.WithRequestUntil(restore(scene.Accepted), scene.Noon.Add(10*time.Minute))
	empty := func(c *v1beta2.EtcdCluster) { c.Status = v1beta2.ClusterStatus{} }
	decides(t, map[string]seen{
		"while there is time":          {restore: restore(scene.Requested), cluster: cluster(until), after: 10 * time.Minute, want: "follow: report phase Requested, keep the ticket"},
		"and as clocks may differ":     {restore: restore(scene.Requested), cluster: cluster(until), after: 10*time.Minute + 59*time.Second, want: "follow: report phase Requested, keep the ticket"},
		"one that has begun continues": {restore: restore(scene.Requested), cluster: cluster(until, scene.Restoring(v1beta2.RestoreStageFilling, "", 0)), after: time.Hour, want: "follow: report phase Fetching, keep the ticket"},
		"where nothing is replaced":    {restore: restore(scene.Requested), cluster: cluster(until, empty), after: time.Hour, want: "follow: report phase Requested, keep the ticket"},
		"afterwards": {
			restore: restore(scene.Requested), cluster: cluster(until), after: time.Hour,
			want: "give-up-start: fail with TimedOut: the etcd-operator did not begin the restore within 10m0s, and will not begin it any more: the etcd-operator was not running, or could not begin; create another EtcdRestore",
		},
		"paused since": {
			restore: restore(scene.Requested), cluster: cluster(until, scene.PausedCluster), after: time.Hour,
			want: "give-up-start: fail with TimedOut: the etcd-operator did not begin the restore within 10m0s, and will not begin it any more: the cluster is paused; create another EtcdRestore",
		},
	})
	waiting := plan.Next(seen{restore: restore(scene.Requested), cluster: cluster(until)}.view())
	if waiting.LookAgain != 11*time.Minute {
		t.Errorf("it is looked at again after %s", waiting.LookAgain)
	}
}
