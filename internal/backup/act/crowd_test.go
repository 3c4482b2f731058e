// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// crowd is a store with many objects in it. It counts what it is asked.
type crowd struct {
	store.Store
	mu             sync.Mutex
	objects        map[string]store.Object
	asked, deleted int
}

func (c *crowd) add(owner string, revision int64, at time.Time) string {
	key := snapshot.Name{Series: "key", Revision: revision, Time: at}.String()
	c.objects[key] = store.Object{Key: key, Size: 1, Modified: at, Labels: store.Labels{
		"etcdbackupowner": owner, "etcdrevision": strconv.FormatInt(revision, 10), "etcdclusterid": "c1",
	}}
	return key
}

func (c *crowd) List(context.Context, string) iter.Seq2[store.Object, error] {
	c.mu.Lock()
	keys := slices.Collect(maps.Keys(c.objects))
	c.mu.Unlock()
	return func(yield func(store.Object, error) bool) {
		for _, key := range keys {
			c.mu.Lock()
			o := c.objects[key]
			c.mu.Unlock()
			o.Labels = nil
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (c *crowd) Stat(_ context.Context, key string) (store.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	o, ok := c.objects[key]
	if !ok {
		return o, &store.Error{Problem: store.NoObject, Text: "it is not there"}
	}
	return o, nil
}

func (c *crowd) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted++
	delete(c.objects, key)
	return nil
}

func (c *crowd) Sweep(context.Context, string, func(string) bool) error { return nil }

func (c *crowd) URL(key string) string { return "crowd://" + key }

func (c *crowd) Close() error { return nil }

// ours counts the objects that the EtcdBackup wrote.
func (c *crowd) ours() int {
	n := 0
	for _, o := range c.objects {
		n += len(o.Labels["etcdbackupowner"]) / len("uid")
	}
	return n
}

// round plays what a run does in the store after its backup was made: one object more, then retention.
func round(t *testing.T, m *maker, c *crowd, b *v1beta2.EtcdBackup, at time.Time, revision int64) plan.Conclude {
	t.Helper()
	run := v1beta2.BackupRun{ID: fmt.Sprintf("uid/%d", at.Unix()), StartTime: backuptest.At(at.Sub(backuptest.T0)), Path: "b/key"}
	b.Status.Run = &run
	key := c.add("uid", revision, at)
	w := &writing{maker: m, request: request{backup: b, run: run}, store: c, key: "key"}
	out := view.Outcome{Made: &view.Made{Key: key, Revision: revision, ClusterID: "c1"}, Spec: &b.Spec}
	for range 5 {
		var err error
		v := plan.Plan(view.Observation{Now: at, Backup: b, Job: &view.Job{Kind: view.MakeJob, ID: run.ID, Outcome: &out}})
		switch s := v.Step.(type) {
		case plan.Survey:
			out.Series, err = w.listSeries(t.Context(), out.Made)
		case plan.Prune:
			for _, key := range s.Keys {
				if err := m.remove(t.Context(), c, key, writtenBy(b)); err != nil {
					t.Fatal(err)
				}
				out.Pruned = append(out.Pruned, key)
			}
		case plan.Conclude:
			b.Status.Backups, b.Status.Unverified = s.Kept, s.Unverified
			return s
		default:
			t.Fatalf("%s asks for %T", v.Decision, v.Step)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the run does not end")
	return plan.Conclude{}
}

// What is asked for one by one is bounded, however many objects there are under the prefix and whoever wrote them.
func TestACrowdUnderThePrefixIsNotAskedOneByOne(t *testing.T) {
	const many = 20_000
	for name, tc := range map[string]struct {
		keep int
		fill func(c *crowd, i int)
		// most is how many objects may be asked for in one run, and steady how many once that is known.
		most, steady int
	}{
		"nothing is pruned":                   {0, func(c *crowd, i int) { c.add("uid", int64(i), backuptest.T0.Add(-time.Duration(many-i)*time.Minute)) }, maxExamined, 1},
		"they are of somebody else":           {10, func(c *crowd, i int) { c.add("xx", int64(i), backuptest.T0.Add(-time.Duration(many-i)*time.Minute)) }, maxExamined, maxExamined},
		"they are from before the EtcdBackup": {10, func(c *crowd, i int) { c.add("xx", int64(i), backuptest.T0.Add(-time.Duration(2*many+i)*time.Minute)) }, 1, 2},
		"they are more than the policy keeps": {10, func(c *crowd, i int) { c.add("uid", int64(i), backuptest.T0.Add(-time.Duration(many-i)*time.Minute)) }, 2 * maxExamined, 2 * maxExamined},
		"of a series with names in any order": {0, func(c *crowd, i int) {
			c.add("uid", int64(i), backuptest.T0.Add(-time.Duration((i*7919)%many)*time.Minute))
		}, maxExamined, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := backuptest.Object(backuptest.Interval(60))
			b.CreationTimestamp = backuptest.At(-(many + 10) * time.Minute)
			b.Spec.BackupPolicy.MaxBackups = tc.keep
			c := &crowd{objects: map[string]store.Object{}}
			for i := range many {
				tc.fill(c, i)
			}
			m := &maker{origins: newOriginCache()}
			for i := range 3 {
				c.asked = 0
				before := c.ours()
				done := round(t, m, c, b, backuptest.T0.Add(time.Duration(i)*time.Minute), int64(many+i))
				most := tc.most
				if i > 0 {
					most = tc.steady
				}
				if c.asked > most {
					t.Errorf("run %d asked for %d of %d objects, want at most %d", i, c.asked, len(c.objects), most)
				}
				if len(done.Kept) == 0 || done.Kept[0].EtcdRevision != int64(many+i) {
					t.Fatalf("run %d does not list its own backup first: %v", i, done.Kept)
				}
				if tc.keep > 0 && before > tc.keep && len(done.Outcome.Pruned) == 0 {
					t.Errorf("run %d pruned nothing of %d", i, before)
				}
				if tc.keep > 0 && c.ours() < min(tc.keep, i+1) {
					t.Errorf("run %d left %d of %d", i, c.ours(), tc.keep)
				}
			}
		})
	}
}

// Whatever of a series is looked at, what goes is what would have gone had all been looked at.
func TestPruningInPortionsComesToTheSameEnd(t *testing.T) {
	const many, keep = 5_000, 7
	b := backuptest.Object(backuptest.Interval(60))
	b.CreationTimestamp = backuptest.At(-2 * many * time.Minute)
	b.Spec.BackupPolicy.MaxBackups = keep
	c := &crowd{objects: map[string]store.Object{}}
	for i := range many {
		c.add("uid", int64(i), backuptest.T0.Add(-time.Duration(many-i)*time.Minute))
		c.add("", int64(i), backuptest.T0.Add(-time.Duration(many-i)*time.Minute-time.Second))
	}
	m := &maker{origins: newOriginCache()}
	var last plan.Conclude
	runs := 0
	for ; runs < 30 && (runs == 0 || len(last.Outcome.Pruned) != 1); runs++ {
		last = round(t, m, c, b, backuptest.T0.Add(time.Duration(runs)*time.Minute), int64(many+runs))
	}
	if got := c.ours(); got != keep || len(last.Kept) != keep {
		t.Errorf("after %d runs %d are left and %d listed, want %d", runs, got, len(last.Kept), keep)
	}
	for i := range keep {
		if want := int64(many + runs - 1 - i); last.Kept[i].EtcdRevision != want {
			t.Errorf("the %d. has revision %d, want %d", i, last.Kept[i].EtcdRevision, want)
		}
	}
	if got := len(c.objects) - keep; got != many {
		t.Errorf("%d of %d objects of others are left", got, many)
	}
}
