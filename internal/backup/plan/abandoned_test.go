// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// resumed is a run that so many processes have worked on, of which this one has looked what is there.
func resumed(attempts int32, out view.Outcome, changes ...func(*v1beta2.EtcdBackup)) view.Observation {
	b := backuptest.Object(append(changes, backuptest.Running)...)
	b.Status.Run.Attempts = attempts
	return view.Observation{Now: backuptest.T0, Backup: b, Job: &view.Job{Kind: view.LookJob, ID: b.Status.Run.ID, Outcome: &out}}
}

func TestARunThatKillsItsOperatorIsGivenUp(t *testing.T) {
	left := view.Outcome{Leftovers: []view.Leftover{{Key: "left", Revision: 1}}}
	for name, tc := range map[string]struct {
		o    view.Observation
		want string
	}{
		"of an older operator":   {resumed(0, view.Outcome{}), "make-backup: Make"},
		"twice":                  {resumed(3, view.Outcome{}), "make-backup: Make"},
		"three times":            {resumed(4, view.Outcome{}), "give-up-run: conclude, OperatorKilled"},
		"but it was made":        {resumed(4, view.Outcome{Made: &view.Made{Key: "key"}}), "conclude-run: conclude, made key"},
		"what is wrong is known": {resumed(4, view.Outcome{Problem: &problem.Problem{Reason: problem.Failed}}), "conclude-run: conclude, Failed"},
		"by its verification":    {resumed(4, left, backuptest.Interval(60)), "give-up-run: conclude, OperatorKilled"},
	} {
		if got := say(tc.o, Plan(tc.o)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	o := resumed(4, left, backuptest.Interval(60))
	c, _ := Plan(o).Step.(Conclude)
	if diff := cmp.Diff([]string{"left"}, c.Unverified); diff != "" || c.Outcome.Problem == nil || !c.Outcome.Problem.Stalled {
		t.Errorf("concluded with %+v", c)
	}
	if o.Job.Outcome.Problem != nil {
		t.Error("the plan has changed what was seen")
	}
}

func TestUploadsOfFailedRunsAreRemembered(t *testing.T) {
	const run = "run"
	earlier := func(b *v1beta2.EtcdBackup) { b.Status.Abandoned = []v1beta2.BackupRun{{ID: "a"}, {ID: "b"}} }
	failed := &problem.Problem{Reason: problem.Failed}
	for name, tc := range map[string]struct {
		out  view.Outcome
		want []string
	}{
		"it failed and left one":       {view.Outcome{Problem: failed, UploadLeft: true}, []string{run, "a", "b"}},
		"it failed and left none":      {view.Outcome{Problem: failed}, []string{"a", "b"}},
		"the store could not be asked": {view.Outcome{Made: &view.Made{}, SweepTried: true}, []string{"a", "b"}},
		"one was removed":              {view.Outcome{Made: &view.Made{}, SweepTried: true, Swept: []string{"a"}}, []string{"b"}},
		"all were":                     {view.Outcome{Made: &view.Made{}, SweepTried: true, Swept: []string{"a", "b"}}, nil},
	} {
		c, ok := Plan(resumed(1, tc.out, earlier)).Step.(Conclude)
		var ids []string
		for _, r := range c.Abandoned {
			ids = append(ids, r.ID)
		}
		if diff := cmp.Diff(tc.want, ids); diff != "" || !ok {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	o := resumed(1, view.Outcome{Made: &view.Made{}}, earlier)
	if got := say(o, Plan(o)); got != "sweep-uploads: Sweep" {
		t.Errorf("once a backup is made: %s", got)
	}
	many := func(b *v1beta2.EtcdBackup) {
		for i := range 3 * maxAbandoned {
			b.Status.Abandoned = append(b.Status.Abandoned, v1beta2.BackupRun{ID: fmt.Sprint(i)})
		}
	}
	if c, _ := Plan(resumed(1, view.Outcome{Problem: failed, UploadLeft: true}, many)).Step.(Conclude); len(c.Abandoned) != maxAbandoned || c.Abandoned[0].ID != run {
		t.Errorf("of many %v are remembered", c.Abandoned)
	}
	deleted := view.Observation{Now: backuptest.T0, Backup: backuptest.Object(earlier, backuptest.Deleted)}
	deleted.Backup.Finalizers = []string{v1beta2.BackupFinalizer}
	if got := say(deleted, Plan(deleted)); got != "clean-store: clean" {
		t.Errorf("of an object that is deleted: %s", got)
	}
}
