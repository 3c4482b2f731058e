// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

func TestRetentionGoesByTimeNotByTheOrderOfStrings(t *testing.T) {
	list := func(names ...string) []dated {
		var all []dated
		for _, name := range names {
			n, ok := snapshot.NameIn("b", name)
			if !ok {
				t.Fatalf("%s is no name", name)
			}
			all = append(all, dated{Stored: view.Stored{Key: name, Revision: n.Revision}, made: n.Time})
		}
		return all
	}
	names := func(all []dated) []string {
		list := []string{}
		for _, o := range all {
			list = append(list, o.Key)
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

func TestTheStoreKnowsBetterThanANameFromTheFuture(t *testing.T) {
	b := backuptest.Object()
	run := v1beta2.BackupRun{StartTime: backuptest.At(time.Hour)}
	stored := []view.Stored{
		{Key: "right", Named: backuptest.T0.Add(30 * time.Minute), Modified: backuptest.T0.Add(31 * time.Minute)},
		{Key: "this run", Named: backuptest.T0.Add(time.Hour), Modified: backuptest.T0.Add(61 * time.Minute)},
		{Key: "ahead", Named: backuptest.T0.Add(backuptest.Year), Modified: backuptest.T0.Add(40 * time.Minute)},
		{Key: "the store's clock as well", Named: backuptest.T0.Add(backuptest.Year), Modified: backuptest.T0.Add(backuptest.Year)},
	}
	all := date(stored, b, run)
	slices.SortFunc(all, newestFirst)
	got := map[string]time.Duration{}
	var order []string
	for _, o := range all {
		order = append(order, o.Key)
		got[o.Key] = o.made.Sub(backuptest.T0)
	}
	want := map[string]time.Duration{"right": 30 * time.Minute, "this run": time.Hour, "ahead": 40 * time.Minute, "the store's clock as well": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("when they were made (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"this run", "ahead", "right", "the store's clock as well"}, order); diff != "" {
		t.Errorf("the order (-want +got)\n%s", diff)
	}
}
