// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// A member that was left behind gives snapshots without a leader. What it gives is newer by the clock only: it must not
// push out what is newer by the revision.
func TestAMemberThatWasLeftBehindPushesNothingNewerOut(t *testing.T) {
	type backup struct {
		revision int64
		cluster  string
	}
	for name, test := range map[string]struct {
		most int
		// backups are from the newest to the oldest, each a minute older than the one before.
		backups []backup
		// left are the ages of those that are left.
		left []int
		// newer is the age of the one that the event names.
		newer int
	}{
		"revisions go up":                                    {2, []backup{{5, "a"}, {4, "a"}, {3, "a"}, {2, "a"}}, []int{0, 1}, 0},
		"nothing was written":                                {1, []backup{{5, "a"}, {5, "a"}}, []int{0}, 0},
		"the first one that is behind":                       {2, []backup{{1, "a"}, {5, "a"}, {4, "a"}, {3, "a"}}, []int{0, 1, 2, 3}, 1},
		"after as many as are kept":                          {2, []backup{{1, "a"}, {1, "a"}, {1, "a"}, {5, "a"}, {4, "a"}}, []int{0, 1, 3, 4}, 3},
		"the others have caught up":                          {1, []backup{{6, "a"}, {1, "a"}, {5, "a"}}, []int{0}, 0},
		"the highest is not the newest":                      {1, []backup{{1, "a"}, {4, "a"}, {5, "a"}}, []int{0, 1, 2}, 2},
		"a new cluster begins at one again":                  {1, []backup{{1, "b"}, {5, "a"}, {4, "a"}}, []int{0, 1}, 0},
		"a new cluster, after a member that was left behind": {1, []backup{{1, "b"}, {2, "a"}, {5, "a"}, {4, "a"}}, []int{0, 2}, 0},
		"an older backup without an id is of this cluster":   {1, []backup{{1, "a"}, {5, ""}}, []int{0, 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
			w.backup.Spec.BackupPolicy.MaxBackups = test.most
			for age, b := range test.backups {
				w.run.StartTime = backuptest.At(-time.Duration(age) * time.Minute)
				w.writeOf(t, b.revision, b.cluster)
			}
			w.run.StartTime = backuptest.At(0)
			last := test.backups[0]
			out, _ := w.finish(t, view.Outcome{Made: &view.Made{Key: w.objectKey(last.revision), Revision: last.revision, ClusterID: last.cluster}})
			if p := out.Outcome.RetentionProblem; p != nil {
				t.Fatal(p)
			}
			if diff := cmp.Diff(test.left, keptAges(out.Kept)); diff != "" || len(w.stored(t)) != len(test.left) {
				t.Errorf("left (-want +got)\n%s\nin the store: %v", diff, w.stored(t))
			}
			newer := ""
			if test.newer > 0 {
				n := snapshot.Name{Series: "key", Revision: test.backups[test.newer].revision, Time: backuptest.T0.Add(-time.Duration(test.newer) * time.Minute)}
				newer = w.store.URL(n.String())
			}
			if out.Newer.URL != newer {
				t.Errorf("the event names %q, want %q", out.Newer.URL, newer)
			}
			for i, k := range out.Kept {
				if want := test.backups[test.left[i]].cluster; k.ClusterID != want {
					t.Errorf("status.backups[%d].clusterID = %q, want %q", i, k.ClusterID, want)
				}
			}
		})
	}
}
