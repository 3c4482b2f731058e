// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(d)} }

// restoreOf is an EtcdRestore that nobody has looked at.
func restoreOf(changes ...func(*v1beta2.EtcdRestore)) *v1beta2.EtcdRestore {
	r := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r", UID: "uid-r", Generation: 1, CreationTimestamp: *at(0)},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: v1beta2.BackupStorageTypeS3, EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
			RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "b/k", AWSSecret: "aws"}},
		},
	}
	for _, change := range changes {
		change(r)
	}
	return r
}

// checking is one whose backup is being read.
func checking(r *v1beta2.EtcdRestore) {
	r.Status.Phase, r.Status.StartTime, r.Status.ObservedGeneration = v1beta2.RestorePhaseChecking, at(0), 1
}

// whole is one whose backup was read and is whole.
func whole(r *v1beta2.EtcdRestore) {
	checking(r)
	r.Status.Backup = &v1beta2.RestoredBackup{URL: "s3://b/k", Size: 4096, SHA256: strings.Repeat("ab", 32)}
	r.Status.RevisionBump, r.Status.TicketSecret = ptr.To[int64](1000000), "r-ticket-uid-r"
}

// sent is one that the etcd-operator was asked for.
func sent(r *v1beta2.EtcdRestore) {
	whole(r)
	r.Status.Phase, r.Status.RequestTime, r.Status.ClusterUID = v1beta2.RestorePhaseRequested, at(0), "uid-c"
}

// refused is one that failed before anything was touched.
func refused(r *v1beta2.EtcdRestore) {
	checking(r)
	r.Status.Phase, r.Status.CompletionTime, r.Status.Reason = v1beta2.RestorePhaseFailed, at(0), "it is cut off"
}

// over is one that succeeded.
func over(r *v1beta2.EtcdRestore) {
	sent(r)
	r.Status.Succeeded, r.Status.Phase, r.Status.CompletionTime, r.Status.TicketSecret = true, v1beta2.RestorePhaseDone, at(0), ""
}

func named(name string, uid types.UID, age time.Duration) func(*v1beta2.EtcdRestore) {
	return func(r *v1beta2.EtcdRestore) { r.Name, r.UID, r.CreationTimestamp = name, uid, *at(-age) }
}

// clusterOf is a healthy EtcdCluster of three members.
func clusterOf(changes ...func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	c := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "uid-c", Generation: 3},
		Spec:       v1beta2.ClusterSpec{Size: 3},
		Status: v1beta2.ClusterStatus{
			ClusterID: "old", ReadyReplicas: 3, ObservedGeneration: 3, Bootstrap: &v1beta2.BootstrapStatus{Seed: "c-1"},
			Conditions: []v1beta2.ClusterCondition{{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

// carrying is a cluster with the request of a restore.
func carrying(r *v1beta2.EtcdRestore) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Annotations = map[string]string{v1beta2.AnnotationRestore: requestOf("op", r).String()}
	}
}

// made is a cluster that is being made of the backup.
func made(stage v1beta2.RestoreStage, clusterID string, ready int32) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Status.Bootstrap = &v1beta2.BootstrapStatus{
			LastRequest: "uid-r",
			Restore:     &v1beta2.BootstrapRestore{UID: "uid-r", Stage: stage, Previous: &v1beta2.PreviousCluster{ClusterID: "old"}, RevisionBumped: 1000000},
		}
		c.Status.ClusterID, c.Status.ReadyReplicas = clusterID, ready
		if int(ready) < c.Spec.Size {
			c.Status.Conditions[0] = v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, Reason: "Growing", Message: "one at a time"}
		}
	}
}

func TestPlan(t *testing.T) {
	good := &Outcome{Backup: *restoreOf(whole).Status.Backup}
	broken := &Outcome{Problem: &Problem{Reason: ReasonBroken, Message: "it is cut off", Stalled: true}}
	away := &Outcome{Problem: &Problem{Reason: "StoreUnreachable", Message: "it does not answer"}}
	kept := &v1beta2.ClusterSpec{Size: 5}
	paused := func(c *v1beta2.EtcdCluster) { c.Spec.Paused = true }
	deleting := func(c *v1beta2.EtcdCluster) { c.DeletionTimestamp = at(0) }
	gone := func(c *v1beta2.EtcdCluster) { c.UID = "another" }
	fetched := func(r *v1beta2.EtcdRestore) { r.Status.FetchedBytes = 4096 }
	ttl := func(r *v1beta2.EtcdRestore) { r.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) }
	edited := func(r *v1beta2.EtcdRestore) { r.Generation = 2 }
	failedOnce := func(r *v1beta2.EtcdRestore) { r.Status.Failures, r.Status.LastFailureTime = 1, at(0) }
	for name, tc := range map[string]struct {
		restore *v1beta2.EtcdRestore
		cluster *v1beta2.EtcdCluster
		others  []*v1beta2.EtcdRestore
		check   *Check
		after   time.Duration
		want    string // type of the step, and for Finish the reason, for Follow the phase
	}{
		"a new one is checked first":                        {restore: restoreOf(), cluster: clusterOf(), want: "Begin 1/0"},
		"without a cluster as well":                         {restore: restoreOf(), want: "Begin 1/0"},
		"a process that was restarted checks again":         {restore: restoreOf(checking), cluster: clusterOf(), want: "Begin 1/0"},
		"while it is read":                                  {restore: restoreOf(checking), cluster: clusterOf(), check: &Check{ID: "1/0"}, want: "Watch"},
		"a whole backup":                                    {restore: restoreOf(checking), cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: good}, want: "Accept"},
		"a broken backup":                                   {restore: restoreOf(checking), cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: broken}, want: "Finish SnapshotBroken"},
		"a store that does not answer":                      {restore: restoreOf(checking), cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: away}, want: "Retry"},
		"a store that has not answered for long":            {restore: restoreOf(checking), cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: away}, after: time.Hour, want: "Finish StoreUnreachable"},
		"the outcome of an earlier spec counts for nothing": {restore: restoreOf(checking, edited), cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: good}, want: "Begin 2/0"},
		"between two looks": {
			restore: restoreOf(checking, failedOnce),
			cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: away}, want: "Wait 2s",
		},
		"the next look": {
			restore: restoreOf(checking, failedOnce),
			cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: away}, after: 3 * time.Second, want: "Begin 1/1",
		},
		"between two looks for the kept spec, after a restart": {
			restore: restoreOf(whole, failedOnce),
			check:   &Check{ID: "1/0", Outcome: away}, want: "Wait 2s",
		},
		"the kept spec has not been found for long": {
			restore: restoreOf(whole), check: &Check{ID: "1/0", Outcome: away}, after: time.Hour, want: "Finish StoreUnreachable",
		},
		"a spec that the API server did not refuse": {
			restore: restoreOf(func(r *v1beta2.EtcdRestore) { r.Spec.S3 = nil }), cluster: clusterOf(), want: "Finish InvalidSpec",
		},

		"the etcd-operator is asked after the check only":    {restore: restoreOf(whole), cluster: clusterOf(), want: "Request"},
		"a cluster is made of the spec that the restore has": {restore: restoreOf(whole, func(r *v1beta2.EtcdRestore) { r.Spec.ClusterSpec = kept }), want: "Request size 5"},
		"or of the one that was kept":                        {restore: restoreOf(whole), check: &Check{ID: "1/0", Outcome: &Outcome{ClusterSpec: kept}}, want: "Request size 5"},
		"which a restarted process has to read again":        {restore: restoreOf(whole), want: "Begin 1/0"},
		"without any": {restore: restoreOf(whole), check: &Check{ID: "1/0", Outcome: good}, want: "Finish ClusterSpecMissing"},
		"after the spec was changed it is checked again":            {restore: restoreOf(whole, edited), cluster: clusterOf(), want: "Begin 2/0"},
		"a request that was written before a crash is not repeated": {restore: restoreOf(whole), cluster: clusterOf(carrying(restoreOf(whole))), want: "Follow Requested"},

		"between two requests, the first of which failed": {restore: restoreOf(whole, failedOnce), cluster: clusterOf(), want: "Wait 2s"},
		"the next request": {restore: restoreOf(whole, failedOnce), cluster: clusterOf(), after: 3 * time.Second, want: "Request"},
		"for which the kept spec is not read again": {
			restore: restoreOf(whole, failedOnce), check: &Check{ID: "1/0", Outcome: &Outcome{ClusterSpec: kept}}, after: 3 * time.Second, want: "Request size 5",
		},
		"a restore that could not be asked for in time": {restore: restoreOf(whole), cluster: clusterOf(), after: time.Hour, want: "Finish TimedOut"},
		"nor made":       {restore: restoreOf(whole, func(r *v1beta2.EtcdRestore) { r.Spec.ClusterSpec = kept }), after: time.Hour, want: "Finish TimedOut"},
		"nor read again": {restore: restoreOf(whole), after: time.Hour, want: "Finish TimedOut"},
		"but what is being read is read to its end":                {restore: restoreOf(whole), check: &Check{ID: "1/0"}, after: time.Hour, want: "Watch"},
		"and a look may take long, if the request follows at once": {restore: restoreOf(whole), cluster: clusterOf(), check: &Check{ID: "1/0", Outcome: &Outcome{Ended: noon.Add(time.Hour)}}, after: time.Hour, want: "Request"},

		"a cluster that is being deleted":                 {restore: restoreOf(), cluster: clusterOf(deleting), want: "Finish ClusterBeingDeleted"},
		"a cluster that is paused":                        {restore: restoreOf(), cluster: clusterOf(paused), want: "Finish ClusterPaused"},
		"a cluster that was paused meanwhile":             {restore: restoreOf(whole), cluster: clusterOf(paused), want: "Finish ClusterPaused"},
		"an older restore":                                {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(named("o", "uid-o", time.Hour))}, want: "Finish AnotherRestore"},
		"a younger restore":                               {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(named("o", "uid-o", -time.Hour))}, want: "Begin 1/0"},
		"a younger restore that was quicker":              {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(sent, named("o", "uid-o", -time.Hour))}, want: "Finish AnotherRestore"},
		"of the same second, one has to yield":            {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(named("o", "uid-a", 0))}, want: "Finish AnotherRestore"},
		"and only one":                                    {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(named("o", "uid-z", 0))}, want: "Begin 1/0"},
		"an older restore that has ended":                 {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(over, named("o", "uid-o", time.Hour))}, want: "Begin 1/0"},
		"an older restore that was refused":               {restore: restoreOf(), cluster: clusterOf(), others: []*v1beta2.EtcdRestore{restoreOf(refused, named("o", "uid-o", time.Hour))}, want: "Begin 1/0"},
		"what comes later does not stop what is going on": {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageFilling, "", 0)), others: []*v1beta2.EtcdRestore{restoreOf(named("o", "uid-o", time.Hour))}, want: "Follow Fetching"},

		"fetching":                            {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageFilling, "", 0)), want: "Follow Fetching"},
		"fetched":                             {restore: restoreOf(sent, fetched), cluster: clusterOf(made(v1beta2.RestoreStageFilling, "", 0)), want: "Follow BuildingSeed"},
		"replacing":                           {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageReplacing, "", 0)), want: "Follow BuildingSeed"},
		"starting":                            {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageStarting, "", 0)), want: "Follow BuildingSeed"},
		"growing":                             {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageStarting, "new", 1)), want: "Follow Growing"},
		"healthy":                             {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageStarting, "new", 3)), want: "Finish"},
		"paused while it is going on":         {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageFilling, "", 0), paused), want: "Follow Fetching"},
		"deleted while it is going on":        {restore: restoreOf(sent), cluster: clusterOf(made(v1beta2.RestoreStageFilling, "", 0), deleting), want: "Finish ClusterBeingDeleted"},
		"gone, or not there yet":              {restore: restoreOf(sent), want: "Wait 10s"},
		"gone":                                {restore: restoreOf(sent), after: time.Minute, want: "Finish ClusterGone"},
		"made anew by somebody":               {restore: restoreOf(sent), cluster: clusterOf(gone), after: time.Minute, want: "Finish ClusterGone"},
		"the request is not there yet":        {restore: restoreOf(sent), cluster: clusterOf(), want: "Wait 10s"},
		"the request was removed":             {restore: restoreOf(sent), cluster: clusterOf(), after: time.Minute, want: "Finish TakenBack"},
		"taken back by the etcd-operator":     {restore: restoreOf(sent), cluster: clusterOf(func(c *v1beta2.EtcdCluster) { c.Status.Bootstrap.LastRequest = "uid-r" }), want: "Finish TakenBack"},
		"nothing is undone by a changed spec": {restore: restoreOf(sent, edited), cluster: clusterOf(made(v1beta2.RestoreStageStarting, "new", 3)), want: "Finish"},

		"afterwards the ticket goes":                       {restore: restoreOf(over, func(r *v1beta2.EtcdRestore) { r.Status.TicketSecret = "t" }), cluster: clusterOf(), want: "Clean"},
		"and the request, even when it comes back":         {restore: restoreOf(over), cluster: clusterOf(carrying(restoreOf(whole))), want: "Clean"},
		"then nothing more":                                {restore: restoreOf(over), cluster: clusterOf(), want: "Wait"},
		"whatever the spec says by then":                   {restore: restoreOf(over, edited), cluster: clusterOf(), want: "Wait"},
		"until its time is up":                             {restore: restoreOf(over, ttl), cluster: clusterOf(), want: "Wait 1m0s"},
		"when its time is up":                              {restore: restoreOf(over, ttl), cluster: clusterOf(), after: time.Minute, want: "Expire"},
		"one that was refused goes as well":                {restore: restoreOf(refused, ttl), cluster: clusterOf(), after: time.Minute, want: "Expire"},
		"one that was refused stays so":                    {restore: restoreOf(refused), cluster: clusterOf(), want: "Wait"},
		"until its spec is corrected":                      {restore: restoreOf(refused, edited), cluster: clusterOf(), want: "Begin 2/0"},
		"the original operator succeeded":                  {restore: restoreOf(func(r *v1beta2.EtcdRestore) { r.Status.Succeeded = true }), cluster: clusterOf(), want: "Wait"},
		"the original operator failed":                     {restore: restoreOf(func(r *v1beta2.EtcdRestore) { r.Status.Reason = "no" }), cluster: clusterOf(), want: "Wait"},
		"an object that is being deleted is left in peace": {restore: restoreOf(func(r *v1beta2.EtcdRestore) { r.DeletionTimestamp = at(0) }), cluster: clusterOf(), want: "Wait"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Observation{Now: noon.Add(tc.after), Restore: tc.restore, Cluster: tc.cluster, Check: tc.check}
			for _, other := range tc.others {
				o.Others = append(o.Others, *other)
			}
			step := Plan(o)
			if got := describeStep(step, o.Now); got != tc.want {
				t.Fatalf("plan = %s, want %s: %+v", got, tc.want, step)
			}
			// The report of any plan is one that tools for conditions understand.
			checkConditions(t, report(o, step))
		})
	}
}

func describeStep(step Step, now time.Time) string {
	switch s := step.(type) {
	case Wait:
		if s.Until.IsZero() {
			return "Wait"
		}
		return "Wait " + s.Until.Sub(now).String()
	case Begin:
		return "Begin " + s.ID
	case Watch:
		return "Watch"
	case Retry:
		return "Retry"
	case Accept:
		return "Accept"
	case Request:
		if s.Spec != nil {
			return "Request size " + string(rune('0'+s.Spec.Size))
		}
		return "Request"
	case Follow:
		return "Follow " + string(s.Stage.Phase)
	case Finish:
		if s.Problem != nil {
			return "Finish " + s.Problem.Reason
		}
		return "Finish"
	case Clean:
		return "Clean"
	case Expire:
		return "Expire"
	}
	return "?"
}

// checkConditions holds a status to the rules of kstatus, and to our own: what is over is over, and a
// failure has a reason.
func checkConditions(t *testing.T, s v1beta2.RestoreStatus) {
	t.Helper()
	by := map[string]metav1.Condition{}
	for _, c := range s.Conditions {
		by[c.Type] = c
	}
	ready, reconciling, stalled := by[kstatus.Ready], by[kstatus.Reconciling], by[kstatus.Stalled]
	if reconciling.Status != "" && stalled.Status != "" {
		t.Errorf("both Reconciling and Stalled: %+v", s.Conditions)
	}
	if ready.Status == metav1.ConditionTrue && (!s.Succeeded || reconciling.Status != "" || stalled.Status != "") {
		t.Errorf("Ready with succeeded = %t: %+v", s.Succeeded, s.Conditions)
	}
	if stalled.Status == metav1.ConditionTrue && (s.Succeeded || s.Reason == "" || s.CompletionTime == nil) {
		t.Errorf("Stalled with succeeded = %t, reason %q, end %v", s.Succeeded, s.Reason, s.CompletionTime)
	}
	if s.Succeeded && s.Reason != "" {
		t.Errorf("succeeded, with a reason for failure: %q", s.Reason)
	}
}

func TestARestoreThatIsGivenUpSaysWhatStoodInItsWay(t *testing.T) {
	o := Observation{Now: noon, Restore: restoreOf(whole), Cluster: clusterOf()}
	o.Restore.Status = report(o, Retry{Outcome{Problem: &Problem{Reason: ReasonRequestFailed, Message: "secrets is forbidden"}}})
	if s := o.Restore.Status; s.Failures != 1 || s.Conditions[0].Reason != ReasonRequestFailed || s.Conditions[0].Message != "secrets is forbidden" {
		t.Errorf("status = %+v", s)
	}
	late := o
	late.Now = noon.Add(time.Hour)
	if s := report(late, Plan(late)); s.CompletionTime == nil || !strings.Contains(s.Reason, "secrets is forbidden") {
		t.Errorf("status = %+v", s)
	}
	// Nothing of it is left where the next try succeeds.
	if s := report(o, Follow{Stage: Stage{Phase: v1beta2.RestorePhaseRequested}}); s.Failures != 0 || s.LastFailureTime != nil || s.Reason != "" {
		t.Errorf("status = %+v", s)
	}
}

func TestTheRevisionIsRaisedByMoreThanCanHaveBeenWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		asked *int64
		made  *metav1.Time
		want  int64
	}{
		"as asked":                          {asked: ptr.To[int64](17), made: at(-time.Hour), want: 17},
		"not at all, as asked":              {asked: ptr.To[int64](0), made: at(-time.Hour), want: 0},
		"an age that is not known":          {want: 1_000_000_000_000},
		"made just now":                     {made: at(0), want: 1_000_000},
		"made by a clock that is ahead":     {made: at(time.Hour), want: 1_000_000},
		"an hour old":                       {made: at(-time.Hour), want: 181_000_000},
		"a year old":                        {made: at(-365 * 24 * time.Hour), want: 1_576_801_000_000},
		"older than etcd, by a wrong clock": {made: &metav1.Time{Time: time.Unix(0, 0)}, want: 89_737_201_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			r := restoreOf(func(r *v1beta2.EtcdRestore) { r.Spec.RevisionBump = tc.asked })
			if got := bumpOf(r, &v1beta2.RestoredBackup{Time: tc.made}, noon); got != tc.want {
				t.Errorf("raised by %d, want %d", got, tc.want)
			}
		})
	}
}

func TestARestoreThatEtcdCannotRaiseTheRevisionForSaysSo(t *testing.T) {
	o := Observation{Now: noon, Restore: restoreOf(sent), Cluster: clusterOf(made(v1beta2.RestoreStageStarting, "new", 3))}
	o.Cluster.Status.Bootstrap.Restore.RevisionBumped = 0
	s := report(o, Plan(o))
	if !s.Succeeded || *s.RevisionBump != 0 || !strings.Contains(s.Conditions[0].Message, "cannot raise the revision") {
		t.Errorf("status = %+v", s)
	}
	if s.ClusterID != "new" || s.CompletionTime == nil || s.Phase != v1beta2.RestorePhaseDone {
		t.Errorf("status = %+v", s)
	}
}

func TestWhatTheClusterSaysOfItselfIsPassedOn(t *testing.T) {
	o := Observation{Now: noon, Restore: restoreOf(sent), Cluster: clusterOf(made(v1beta2.RestoreStageStarting, "new", 1))}
	s := report(o, Plan(o))
	if diff := cmp.Diff("1 of 3 members serve. The cluster says: Growing: one at a time", s.Conditions[0].Message); diff != "" {
		t.Error(diff)
	}
}

func TestTheNewClusterIsServedByTheOperatorsOfTheRestore(t *testing.T) {
	r := restoreOf(whole, func(r *v1beta2.EtcdRestore) {
		r.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide, "other": "x"}
	})
	c := newCluster(r, &v1beta2.ClusterSpec{Size: 3}, requestOf("op", r).String())
	if c.Annotations[v1beta2.AnnotationScope] != v1beta2.AnnotationClusterWide || c.Annotations["other"] != "" {
		t.Errorf("annotations = %v", c.Annotations)
	}
	request, err := v1beta2.RestoreRequestOf(c)
	if err != nil {
		t.Fatal(err)
	}
	want := v1beta2.RestoreRequest{
		UID: "uid-r", Name: "r", Secret: "r-ticket-uid-r", URL: "https://etcd-restore-operator.op.svc:19999/v1/backup/ns/r",
		Size: 4096, SHA256: strings.Repeat("ab", 32), RevisionBump: 1000000,
	}
	if diff := cmp.Diff(want, request); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
