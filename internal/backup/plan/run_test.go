// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// stored are the backups of a series, each a minute older than the one before.
func stored(keys ...string) []view.Stored {
	all := []view.Stored{}
	for i, key := range keys {
		all = append(all, view.Stored{Key: key, Named: backuptest.T0.Add(-time.Duration(i) * time.Minute)})
	}
	return all
}

func TestARunIsAChainOfJobs(t *testing.T) {
	broken := &problem.Problem{Reason: VerificationFailed}
	rejected := view.Leftover{Key: "k", Rejected: true}
	useless := view.Leftover{Key: "k", Rejected: true, Useless: true}
	stuck := view.Leftover{Key: "k", Rejected: true, Useless: true, Stuck: true}
	k := &view.Made{Key: "k"}
	oneShot := func(*v1beta2.EtcdBackup) {}
	series := func(b *v1beta2.EtcdBackup) {
		backuptest.Interval(60)(b)
		b.Spec.BackupPolicy.MaxBackups = 2
	}
	for name, test := range map[string]struct {
		kind func(*v1beta2.EtcdBackup)
		out  view.Outcome
		want string
	}{
		"nothing was left: it is made":        {series, view.Outcome{}, "make-backup: Make"},
		"one leftover waits for a better one": {series, view.Outcome{Leftovers: []view.Leftover{{Key: "a"}}}, "make-backup: Make"},
		"of several the newest waits": {
			series, view.Outcome{Leftovers: []view.Leftover{{Key: "a", Revision: 9}, {Key: "b", Revision: 10}, {Key: "c", Revision: 8}}}, "discard-unverified: discard a c",
		},
		"a leftover goes when the backup was made": {
			series, view.Outcome{Made: k, Leftovers: []view.Leftover{{Key: "a"}, {Key: "k"}}}, "discard-unverified: discard a",
		},
		"a one-shot that was made is concluded":   {oneShot, view.Outcome{Made: k}, "conclude-run: conclude, made k"},
		"of a series all are listed":              {series, view.Outcome{Made: k}, "survey-series: Survey"},
		"the oldest go first":                     {series, view.Outcome{Made: k, Series: stored("k", "a", "b", "c")}, "prune-series: prune c b"},
		"none is too many":                        {series, view.Outcome{Made: k, Series: stored("k", "a")}, "conclude-run: conclude, made k"},
		"the rest was deleted":                    {series, view.Outcome{Made: k, Series: stored("k", "a", "b"), Pruned: []string{"b"}}, "conclude-run: conclude, made k"},
		"a series that cannot be listed was made": {series, view.Outcome{Made: k, RetentionProblem: broken}, "conclude-run: conclude, made k"},
		"old ones that cannot be deleted stay":    {series, view.Outcome{Made: k, Series: stored("k", "a", "b"), RetentionProblem: broken}, "conclude-run: conclude, made k"},

		"what a series cannot verify goes":             {series, view.Outcome{Problem: broken, Leftovers: []view.Leftover{rejected}}, "discard-unverified: discard k"},
		"a one-shot that nobody knows to be bad stays": {oneShot, view.Outcome{Problem: broken, Leftovers: []view.Leftover{rejected}}, "conclude-run: conclude, VerificationFailed"},
		"a one-shot that is useless goes":              {oneShot, view.Outcome{Problem: broken, Leftovers: []view.Leftover{useless}}, "discard-unverified: discard k"},
		"what cannot be deleted is tried once":         {series, view.Outcome{Problem: broken, Leftovers: []view.Leftover{stuck}}, "conclude-run: conclude, VerificationFailed"},
		"what a process that died left stays":          {series, view.Outcome{Problem: broken, Leftovers: []view.Leftover{{Key: "a"}}}, "conclude-run: conclude, VerificationFailed"},
	} {
		b := backuptest.Object(test.kind, backuptest.Running)
		o := view.Observation{Now: backuptest.T0, Backup: b, Job: &view.Job{ID: "run", Outcome: &test.out}}
		if got := say(o, Plan(o)); got != test.want {
			t.Errorf("%s: Plan = %q, want %q", name, got, test.want)
		}
	}
}

func TestAChangeOfTheSpecDoesNotMoveARun(t *testing.T) {
	begun := backuptest.Object(backuptest.Interval(60), backuptest.Running)
	now := backuptest.Object(backuptest.Running)
	o := view.Observation{Now: backuptest.T0, Backup: now, Job: &view.Job{ID: "run", Outcome: &view.Outcome{Made: &view.Made{Key: "k"}, Spec: &begun.Spec}}}
	if got, want := say(o, Plan(o)), "survey-series: Survey"; got != want {
		t.Errorf("Plan = %q, want %q: the run was that of a series", got, want)
	}
	o.Backup.Status.Run = nil
	if o.Begun() != now {
		t.Error("the next run is begun with the spec of the one before")
	}
	o.Backup.Status.Run = &v1beta2.BackupRun{ID: "another"}
	if o.Begun() != now {
		t.Error("another run has the spec of the one before")
	}
}

func TestWhatADeletedObjectCouldNotVerifyGoesWithIt(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60), backuptest.Running, backuptest.Deleted)
	out := &view.Outcome{Problem: &problem.Problem{Reason: problem.Failed}, Leftovers: []view.Leftover{{Key: "k", Rejected: true}}}
	o := view.Observation{Now: backuptest.T0, Backup: b, Job: &view.Job{Kind: view.MakeJob, ID: "run", Outcome: out}}
	if got, want := say(o, Plan(o)), "discard-unverified: discard k"; got != want {
		t.Errorf("Plan = %q, want %q", got, want)
	}
	out.Leftovers = nil
	if got, want := say(o, Plan(o)), "clean-store: clean"; got != want {
		t.Errorf("Plan = %q, want %q", got, want)
	}
}

// Every combination of what can be seen leads to a step, or to a reason to wait, by a decision that has a name.
func TestEveryPlanIsTotal(t *testing.T) {
	n := 0
	for _, b := range objects() {
		for _, j := range jobs() {
			for _, now := range []time.Duration{0, time.Second, time.Hour} {
				o := view.Observation{Now: backuptest.T0.Add(now), Backup: b, Job: j}
				v := Plan(o)
				n++
				if v.Decision == "" || (v.Step == nil && len(v.Waits) == 0 && v.LookAgain == 0) {
					t.Fatalf("nothing is decided for %+v, %+v after %s", b, j, now)
				}
			}
		}
	}
	if n < 5000 {
		t.Errorf("only %d combinations", n)
	}
}

// objects are EtcdBackups of every kind in every state.
func objects() []*v1beta2.EtcdBackup {
	type change = func(*v1beta2.EtcdBackup)
	none := func(*v1beta2.EtcdBackup) {}
	all := []*v1beta2.EtcdBackup{backuptest.Object()}
	for _, changes := range [][]change{
		{none, backuptest.Interval(60), backuptest.Cron("@hourly"), func(b *v1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = nil }},
		{none, backuptest.Succeeded(0), backuptest.Failed(1, 0, false), backuptest.Failed(3, backuptest.Year, true)},
		{none, backuptest.Running},
		{none, backuptest.Deleted},
		{none, func(b *v1beta2.EtcdBackup) { b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete }, func(b *v1beta2.EtcdBackup) { b.Finalizers = []string{v1beta2.BackupFinalizer} }},
		{none, func(b *v1beta2.EtcdBackup) { b.Spec.TTLSecondsAfterFinished = ptr.To[int32](10) }},
	} {
		var next []*v1beta2.EtcdBackup
		for _, b := range all {
			for _, c := range changes {
				changed := b.DeepCopy()
				c(changed)
				next = append(next, changed)
			}
		}
		all = next
	}
	return all
}

// jobs are jobs of every kind that have come to every point.
func jobs() []*view.Job {
	broken := &problem.Problem{Reason: problem.Failed, Message: "no"}
	all := []*view.Job{nil}
	for _, kind := range []string{view.MakeJob, view.CleanJob} {
		for _, id := range []string{"run", "other"} {
			for _, out := range []*view.Outcome{
				nil,
				{},
				{Problem: broken},
				{Made: &view.Made{Key: "k"}},
				{Made: &view.Made{Key: "k"}, RetentionProblem: broken},
				{Problem: broken, Leftovers: []view.Leftover{{Key: "k", Rejected: true, Useless: true}}},
			} {
				all = append(all, &view.Job{Kind: kind, ID: id, Outcome: out})
			}
		}
	}
	return append(all, &view.Job{Kind: view.MakeJob, ID: "run", Outcome: &view.Outcome{}, Reported: true})
}
