// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// remove deletes an object after it has looked once more whose it is.
func (m *maker) remove(ctx context.Context, st store.Store, key string, mine ownership) error {
	o, err := store.Head(ctx, st, key)
	if store.Is(err, store.NoObject) {
		return nil
	}
	if err != nil {
		return err
	}
	if !mine.includes(snapshot.FactsOf(o).Owner) {
		return fmt.Errorf("it was replaced by somebody else")
	}
	return st.Delete(ctx, key)
}

// removeAll deletes everything that an object wrote, wherever that was, and what is left of its uploads. backups says
// whether those go as well.
func (m *maker) removeAll(ctx context.Context, s secrets, b *v1beta2.EtcdBackup, backups bool) error {
	runs := slices.Clone(b.Status.Abandoned)
	if b.Status.Run != nil {
		runs = append(runs, *b.Status.Run)
	}
	var problems []error
	for i := range runs {
		if err := m.sweepOne(ctx, s, b, &runs[i]); err != nil {
			problems = append(problems, err)
		}
	}
	if !backups || len(problems) > 0 {
		return errors.Join(problems...)
	}
	for _, l := range plan.Locations(b) {
		if err := m.removeAt(ctx, s, b, l); err != nil {
			problems = append(problems, fmt.Errorf("%s in %s: %w", l.Path, l.StorageType, err))
		}
	}
	return errors.Join(problems...)
}

// removeAt deletes what an object wrote at one location.
func (m *maker) removeAt(ctx context.Context, s secrets, b *v1beta2.EtcdBackup, l v1beta2.BackupLocation) error {
	st, key, err := m.openConfig(ctx, s, kind.OfLocation(l, b.Namespace))
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	if err := m.removeSeries(ctx, st, key, b); err != nil {
		return err
	}
	// The object of a one-shot has the name of the spec.
	o, err := store.Head(ctx, st, key)
	switch {
	case store.Is(err, store.NoObject):
		return nil
	case err != nil:
		return err
	case snapshot.FactsOf(o).Owner != string(b.UID):
		return nil
	}
	return st.Delete(ctx, key)
}

// removeSeries deletes the backups of the series that the object wrote. What is deleted stays deleted: where there are
// more than the time is enough for, the next attempt goes on.
func (m *maker) removeSeries(ctx context.Context, st store.Store, key string, b *v1beta2.EtcdBackup) error {
	c := &census{writing: &writing{maker: m, request: request{backup: b}, store: st, key: key}, mine: writtenBy(b)}
	if err := c.list(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(examinedAtOnce)
	for _, o := range c.candidates {
		group.Go(func() error {
			from, err := m.originOf(ctx, st, o.Object)
			if store.Is(err, store.NoObject) || (err == nil && !c.mine.includes(from.owner)) {
				return nil
			}
			if err == nil {
				err = m.remove(ctx, st, o.Key, c.mine)
			}
			if err != nil {
				return fmt.Errorf("deleting %s: %w", st.URL(o.Key), err)
			}
			return nil
		})
	}
	return group.Wait()
}
