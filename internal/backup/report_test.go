// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// Recovery takes the newest of the list: what was just made has to be there, also when the store gave no list.
func TestABackupThatWasMadeIsKnownAlthoughTheStoreCannotBeListed(t *testing.T) {
	b := object(interval(60))
	b.Status.Backups = []v1beta2.KeptBackup{{Name: "old"}}
	b.Status.Run = &v1beta2.BackupRun{StartTime: at(0), Scheduled: &metav1.Time{Time: t0}}
	conclude(b, Outcome{Key: "new", Revision: 7, Ended: t0.Add(time.Second)})
	if got := b.Status.Backups; len(got) != 2 || got[0].Name != "new" || got[0].EtcdRevision != 7 || !got[0].Time.Time.Equal(t0) {
		t.Errorf("status.backups = %+v, want the new one first", got)
	}
}

// Where listing is never permitted, each backup adds one: an object must not grow without bounds.
func TestTheStatusNamesNoMoreBackupsThanItsLimit(t *testing.T) {
	b := object(interval(60))
	for i := range 2 * listed {
		b.Status.Run = &v1beta2.BackupRun{StartTime: at(0), Scheduled: &metav1.Time{Time: t0}}
		conclude(b, Outcome{Key: "new", Revision: int64(i), Ended: t0})
	}
	if got := b.Status.Backups; len(got) != 100 || got[0].EtcdRevision != 2*listed-1 {
		t.Errorf("status.backups has %d, the first of revision %d; want the newest 100", len(got), got[0].EtcdRevision)
	}
}

// The status is looked at again as soon as it was written.
func TestWhatWasSaidOfABackupStandsUntilTheNext(t *testing.T) {
	problem := &Problem{Message: "the bucket does not permit it"}
	evidence := &v1beta2.BackupEvidence{Keys: 1}
	for name, test := range map[string]struct {
		backup *v1beta2.EtcdBackup
		out    Outcome
		want   string
	}{
		"retention that failed": {object(interval(60)), Outcome{PruneProblem: problem}, "The backup was made, but old ones could not be deleted: the bucket does not permit it"},
		"verification":          {object(interval(60)), Outcome{Verification: evidence}, "The backup was made and an etcd could restore it."},
		"one-shot":              {object(), Outcome{Verification: evidence}, "The backup was made and an etcd could restore it."},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.backup
			look := func(second int, wantStep string) {
				t.Helper()
				o := Observation{Now: t0.Add(time.Duration(second) * time.Second), Backup: b}
				step := Plan(o)
				if got := say(step); !strings.HasPrefix(got, wantStep) {
					t.Fatalf("Plan = %q, want %s", got, wantStep)
				}
				b.Status = report(o, step)
			}
			finish := func(second int, out Outcome) {
				t.Helper()
				out.Ended = t0.Add(time.Duration(second) * time.Second)
				o := Observation{Now: out.Ended, Backup: b, Job: &Job{ID: b.Status.Run.ID}}
				b.Status = report(o, Conclude{out})
			}
			look(60, "begin")
			finish(61, test.out)
			for second := 61; second < 64; second++ {
				look(second, "wait")
				if c := meta.FindStatusCondition(b.Status.Conditions, kstatus.Ready); c.Message != test.want || c.Status != metav1.ConditionTrue {
					t.Errorf("message = %q, want %q", c.Message, test.want)
				}
			}
			if b.Spec.BackupPolicy == nil {
				return
			}
			look(120, "begin")
			finish(121, Outcome{})
			look(121, "wait")
			if c := meta.FindStatusCondition(b.Status.Conditions, kstatus.Ready); c.Message != "The backup was made." {
				t.Errorf("after the next backup: message = %q", c.Message)
			}
		})
	}
}
