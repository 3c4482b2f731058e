// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

func TestNamesAreThoseOfTheOriginal(t *testing.T) {
	zone := time.FixedZone("x", 3600)
	got := objectName("dir/etcd.backup", 4711, time.Date(2026, 1, 2, 4, 5, 6, 0, zone))
	if want := "dir/etcd.backup_v4711_2026-01-02-03:05:06"; got != want {
		t.Errorf("name = %q, want %q", got, want)
	}
	n, ok := parseName("dir/etcd.backup", got)
	if !ok || n.revision != 4711 || !n.at.Equal(time.Date(2026, 1, 2, 3, 5, 6, 0, time.UTC)) {
		t.Errorf("parsed = %+v, %t", n, ok)
	}
}

func TestNamesThatAreNotOursAreNotRead(t *testing.T) {
	for _, name := range []string{
		"etcd.backup", "etcd.backup_v", "etcd.backup_v1", "etcd.backup_v1_", "etcd.backup_vx_2026-01-02-03:04:05",
		"etcd.backup_v-1_2026-01-02-03:04:05", "etcd.backup_v01_2026-01-02-03:04:05", "etcd.backup_v1_2026-01-02-03:04:05.tmp",
		"etcd.backup_v1_2026-13-02-03:04:05", "etcd.backup_v1_2026-1-2-3:4:5", "etcd.backup2_v1_2026-01-02-03:04:05",
		"etcd.backup_v99999999999999999999_2026-01-02-03:04:05", "etcd.backup_v1_2026-01-02-03:04:05/x",
	} {
		if n, ok := parseName("etcd.backup", name); ok {
			t.Errorf("%q was read as %+v", name, n)
		}
	}
}

func TestRetentionGoesByTimeNotByTheOrderOfStrings(t *testing.T) {
	list := func(names ...string) []owned {
		var all []owned
		for _, name := range names {
			n, ok := parseName("b", name)
			if !ok {
				t.Fatalf("%s is no name", name)
			}
			all = append(all, owned{named: n, made: n.at})
		}
		return all
	}
	names := func(all []owned) []string {
		list := []string{}
		for _, o := range all {
			list = append(list, o.name)
		}
		return list
	}
	const (
		first  = "b_v9_2026-01-01-00:00:00"
		second = "b_v10_2026-01-01-00:00:01"
		third  = "b_v100_2026-01-01-00:00:02"
		// A cluster that was restored from an old backup has smaller revisions again.
		fourth = "b_v5_2026-01-02-00:00:00"
	)
	for _, test := range []struct {
		all          []string
		most         int
		latest       string
		keep, remove []string
	}{
		{[]string{first, second, third, fourth}, 2, fourth, []string{fourth, third}, []string{second, first}},
		{[]string{third, first, second}, 1, third, []string{third}, []string{second, first}},
		{[]string{first, second}, 2, second, []string{second, first}, []string{}},
		{[]string{first, second}, 0, second, []string{second, first}, []string{}},
		{nil, 3, "", []string{}, []string{}},
		{[]string{first, second, third}, 2, first, []string{first, third}, []string{second}},
		{[]string{first, second, third}, 2, second, []string{third, second}, []string{first}},
		{[]string{first, second, third}, 2, "not listed yet", []string{third, second}, []string{first}},
	} {
		keep, remove := expired(list(test.all...), test.most, test.latest)
		if diff := cmp.Diff(test.keep, names(keep)); diff != "" {
			t.Errorf("%v, most %d: keep (-want +got)\n%s", test.all, test.most, diff)
		}
		if diff := cmp.Diff(test.remove, names(remove)); diff != "" {
			t.Errorf("%v, most %d: remove (-want +got)\n%s", test.all, test.most, diff)
		}
	}
}

// keptAges are the ages of backups in minutes.
func keptAges(kept []v1beta2.KeptBackup) []int {
	var ages []int
	for _, k := range kept {
		ages = append(ages, int(t0.Sub(k.Time.Time).Minutes()))
	}
	return ages
}

// A clock that was ahead leaves names from the future. They must neither push out what is made now, nor be taken
// for the newest by who looks for a backup to restore.
func TestABackupIsKeptAlthoughOthersHaveNamesFromTheFuture(t *testing.T) {
	w := inFolder(t, object(interval(60)))
	w.backup.Spec.BackupPolicy.MaxBackups = 1
	for i := range 3 {
		w.run.StartTime = at(year + time.Duration(i)*time.Minute)
		w.write(t, 1)
	}
	w.run.StartTime = at(0)
	key, _ := w.write(t, 2)
	out := Outcome{Key: key}
	err := w.retain(t.Context(), w.store, w.key, w.backup, w.run, &out)
	if err != nil || out.Pruned != 3 || len(out.Kept) != 1 || out.Kept[0].Name != key {
		t.Errorf("kept %+v, deleted %d, %v, want that the new one is kept", out.Kept, out.Pruned, err)
	}
	if diff := cmp.Diff([]string{key}, w.stored(t)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
}

func TestTheStoreKnowsBetterThanANameFromTheFuture(t *testing.T) {
	b := object()
	run := v1beta2.BackupRun{StartTime: at(time.Hour)}
	all := []owned{
		{named: named{name: "right", at: t0.Add(30 * time.Minute)}, modified: t0.Add(31 * time.Minute)},
		{named: named{name: "this run", at: t0.Add(time.Hour)}, modified: t0.Add(61 * time.Minute)},
		{named: named{name: "ahead", at: t0.Add(year)}, modified: t0.Add(40 * time.Minute)},
		{named: named{name: "the store's clock as well", at: t0.Add(year)}, modified: t0.Add(year)},
	}
	date(all, b, run)
	slices.SortFunc(all, newestFirst)
	got := map[string]time.Duration{}
	var order []string
	for _, o := range all {
		order = append(order, o.name)
		got[o.name] = o.made.Sub(t0)
	}
	want := map[string]time.Duration{"right": 30 * time.Minute, "this run": time.Hour, "ahead": 40 * time.Minute, "the store's clock as well": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("when they were made (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"this run", "ahead", "right", "the store's clock as well"}, order); diff != "" {
		t.Errorf("the order (-want +got)\n%s", diff)
	}
}

// A cluster that was lost and is there anew, empty, must not push out all that there is of its data.
func TestTheNewestBackupOfTheClusterBeforeIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		most int
		// ids are the clusters of the backups, from the newest to the oldest, each a minute older than the one before.
		ids []string
		// left are the ages of those that are left.
		left []int
		// former is the age of the one that the event names.
		former int
	}{
		"one cluster":                          {1, []string{"a", "a", "a"}, []int{0}, 0},
		"another cluster":                      {1, []string{"b", "a", "a"}, []int{0, 1}, 1},
		"another cluster for some time":        {1, []string{"b", "b", "b", "a", "a"}, []int{0, 3}, 0},
		"it counts while it is new enough":     {3, []string{"b", "b", "a", "a"}, []int{0, 1, 2}, 0},
		"of two clusters before the last":      {1, []string{"c", "b", "b", "a", "a"}, []int{0, 1}, 1},
		"the cluster before that is back":      {1, []string{"a", "b", "a"}, []int{0, 1}, 1},
		"those without an id are of no other":  {1, []string{"a", "", ""}, []int{0}, 0},
		"nobody knows what was just backed up": {1, []string{"", "a", "a"}, []int{0}, 0},
		"those without an id are between":      {1, []string{"b", "", "a"}, []int{0, 2}, 0},
		"all are kept":                         {0, []string{"b", "a", "a"}, []int{0, 1, 2}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolder(t, object(interval(60)))
			w.backup.Spec.BackupPolicy.MaxBackups = test.most
			for age, id := range test.ids {
				w.run.StartTime = at(-time.Duration(age) * time.Minute)
				w.writeOf(t, 1, id)
			}
			w.run.StartTime = at(0)
			out := Outcome{Key: w.objectKey(1), ClusterID: test.ids[0]}
			if err := w.retain(t.Context(), w.store, w.key, w.backup, w.run, &out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.left, keptAges(out.Kept)); diff != "" || len(w.stored(t)) != len(test.left) {
				t.Errorf("left (-want +got)\n%s\nin the store: %v", diff, w.stored(t))
			}
			former := ""
			if test.former > 0 {
				former = w.store.URL(objectName("key", 1, t0.Add(-time.Duration(test.former)*time.Minute)))
			}
			if out.Former != former {
				t.Errorf("the event names %q, want %q", out.Former, former)
			}
		})
	}
}

func TestEvidenceIsComparedAtTheSameCompaction(t *testing.T) {
	found := snapshot.Evidence{Revision: 10, Keys: 3, Hash: 7, CompactRevision: 5}
	older := snapshot.Evidence{Revision: 10, Keys: 3, Hash: 99, CompactRevision: 2}
	other := found
	other.Hash = 8
	fewer := found
	fewer.Keys = 2
	for name, test := range map[string]struct {
		said []snapshot.Evidence
		ok   bool
	}{
		"equal":                             {[]snapshot.Evidence{found}, true},
		"compacted while it was made":       {[]snapshot.Evidence{older, found}, true},
		"another hash":                      {[]snapshot.Evidence{other}, false},
		"another number of keys":            {[]snapshot.Evidence{fewer}, false},
		"compacted more than once":          {[]snapshot.Evidence{older}, false},
		"the first answer about it decides": {[]snapshot.Evidence{other, found}, false},
	} {
		got, err := compare(found, test.said)
		if (err == nil) != test.ok || (got != nil) != test.ok {
			t.Errorf("%s: compare = %v, %v", name, got, err)
		}
	}
}
