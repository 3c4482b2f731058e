// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

const (
	// maxExamined is how many objects one run asks for who wrote them, beside those that are known from before. To list
	// the names of 100,000 takes 100 requests, and to ask for each of them 100,000.
	maxExamined = 1000
	// examinedAtOnce is how many of them are asked for at the same time, and examinedTogether how many before it is looked
	// whether there are enough.
	examinedAtOnce   = 8
	examinedTogether = 64
	// maxHigher is how many of those with a higher revision than the backup that was just made are asked for.
	maxHigher = 50
	// earlySlack is how much older than its EtcdBackup an object has to be, by its name and by the store, to be that of
	// somebody else for sure.
	earlySlack = time.Hour
)

// candidate is an object with a name of the series. Who wrote it is another question.
type candidate struct {
	store.Object
	name snapshot.Name
	// made is when it was made, as far as that can be known from here.
	made time.Time
}

// census is what a run finds out about the objects under the names of its series.
type census struct {
	*writing
	// mine are those that count.
	mine       ownership
	candidates []candidate
	// found are those of them that were found, and seen all that were looked at.
	found []view.Stored
	seen  map[string]bool
	// left is how many may still be asked for.
	left int
}

// listSeries are backups of the series that the EtcdBackup wrote, after one of them was made. Where there are thousands
// of objects, they are not all: the newest, as many as the policy keeps and the status names; the oldest, which are those
// to be deleted; what the status names as unverified; and those with a higher revision. However many that are, all but
// the newest of them are more than the policy keeps, and what was not looked at stays for the next run.
func (w *writing) listSeries(ctx context.Context, made *view.Made) ([]view.Stored, error) {
	c := &census{writing: w, mine: countedBy(w.backup), found: []view.Stored{}, seen: map[string]bool{}, left: maxExamined}
	if err := c.list(ctx); err != nil {
		return nil, err
	}
	most := w.backup.Spec.BackupPolicy.MaxBackups
	named := c.only(func(o candidate) bool { return o.Key == made.Key || slices.Contains(w.backup.Status.Unverified, o.Key) })
	if err := c.examine(ctx, named, len(named)); err != nil {
		return nil, err
	}
	higher := c.only(func(o candidate) bool { return o.name.Revision > made.Revision })
	slices.SortFunc(higher, func(a, b candidate) int { return cmp.Compare(b.name.Revision, a.name.Revision) })
	if err := c.examine(ctx, higher[:min(len(higher), maxHigher)], 1); err != nil {
		return nil, err
	}
	whole := c.left
	if most > 0 {
		c.left = whole / 2 // the other half is for those to be deleted
	}
	if err := c.examine(ctx, c.candidates, max(most, plan.MaxListed)); err != nil {
		return nil, err
	}
	if most > 0 {
		c.left += whole - whole/2
		slices.Reverse(c.candidates)
		if err := c.examine(ctx, c.candidates, len(c.candidates)); err != nil {
			return nil, err
		}
	}
	return c.found, nil
}

// maxCandidates bounds the memory: a list may have no end.
const maxCandidates = 250_000

// list reads the names, the newest first. Those from before the EtcdBackup are somebody else's, by their names, and count
// only where what was there is adopted.
func (c *census) list(ctx context.Context) error {
	created := c.backup.CreationTimestamp.Add(-earlySlack)
	for o, err := range c.store.List(ctx, snapshot.SeriesPrefix(c.key)) {
		if err != nil {
			return err
		}
		n, ok := snapshot.NameIn(c.key, o.Key)
		if !ok || (!c.mine.adopts && n.Time.Before(created) && o.Modified.Before(created)) {
			continue
		}
		made := n.Time
		if made.After(c.run.StartTime.Time) {
			made = o.Modified // its name is from a clock that was ahead
		}
		if len(c.candidates) >= maxCandidates {
			return fmt.Errorf("there are more than %d backups under the path; delete old ones, or use another path", maxCandidates)
		}
		c.candidates = append(c.candidates, candidate{Object: o, name: n, made: made})
	}
	slices.SortFunc(c.candidates, func(a, b candidate) int {
		return cmp.Or(b.made.Compare(a.made), cmp.Compare(b.name.Revision, a.name.Revision))
	})
	return nil
}

// only are the candidates that are wanted.
func (c *census) only(wanted func(candidate) bool) []candidate {
	var some []candidate
	for _, o := range c.candidates {
		if wanted(o) {
			some = append(some, o)
		}
	}
	return some
}

// examine finds out who wrote these, in their order, until so many of ours are among them or no more may be asked for.
func (c *census) examine(ctx context.Context, list []candidate, enough int) error {
	for len(list) > 0 && enough > 0 {
		batch := list[:min(len(list), examinedTogether)]
		list = list[len(batch):]
		origins, err := c.originsOf(ctx, batch)
		if err != nil {
			return err
		}
		for i, from := range origins {
			o := &batch[i]
			if from == nil || !c.mine.includes(from.owner) {
				continue
			}
			enough--
			if c.seen[o.Key] {
				continue
			}
			c.seen[o.Key] = true
			c.found = append(c.found, view.Stored{
				Key: o.Key, URL: c.store.URL(o.Key), Revision: o.name.Revision, Named: o.name.Time, Modified: o.Modified, Size: o.Size, ClusterID: from.clusterID,
			})
		}
	}
	return nil
}

// originsOf asks who wrote some objects. It is nil for those that may not be asked for any more, or that are gone.
func (c *census) originsOf(ctx context.Context, batch []candidate) ([]*origin, error) {
	origins := make([]*origin, len(batch))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(examinedAtOnce)
	for i := range batch {
		o := batch[i].Object
		from, known := c.origins.get(c.store.URL(o.Key), o)
		if known {
			origins[i] = &from
			continue
		}
		if c.left == 0 {
			continue
		}
		c.left--
		group.Go(func() error {
			from, err := c.originOf(ctx, c.store, o)
			if store.Is(err, store.NoObject) {
				return nil
			}
			if err != nil {
				return err
			}
			origins[i] = &from
			return nil
		})
	}
	return origins, group.Wait()
}
