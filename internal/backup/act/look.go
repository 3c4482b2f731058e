// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// discardPatience is how long deleting one object may take.
const discardPatience = 20 * time.Second

// look finds what a process that died left of a run: the backup, or objects that it had not verified. It removes what
// is left of an upload that was not finished.
func (m *maker) look(ctx context.Context, r request) (view.Outcome, error) {
	began := time.Now()
	out := r.prior
	out.UploadLeft = true // until it has been looked for
	w, err := m.open(ctx, r)
	if err != nil {
		return out, err
	}
	defer w.close()
	if err := w.store.Sweep(ctx, w.prefix(), w.ours); err != nil {
		return out, err
	}
	out.UploadLeft = false
	for o, err := range w.store.List(ctx, w.prefix()) {
		if err != nil {
			return out, err
		}
		if !w.ours(o.Key) {
			continue
		}
		o, err := w.store.Stat(ctx, o.Key)
		if err != nil {
			return out, err
		}
		facts := snapshot.FactsOf(o)
		if facts.Run != w.run.ID {
			continue // somebody else's
		}
		if w.verifies() {
			// Nobody knows any more what etcd reported when it was taken: it is made again.
			out.Leftovers = append(out.Leftovers, view.Leftover{Key: o.Key, Revision: facts.Revision})
			continue
		}
		out.Made = &view.Made{
			Key: o.Key, URL: w.store.URL(o.Key), Version: facts.EtcdVersion, Revision: facts.Revision, ClusterID: facts.ClusterID,
			Size: o.Size, SHA256: facts.SHA256, Took: time.Since(began),
		}
		return out, nil
	}
	return out, nil
}

// discard deletes objects of the run. The first that cannot be deleted ends it, and the run fails.
func (m *maker) discard(ctx context.Context, r request, keys []string) (view.Outcome, error) {
	out := r.prior
	out.Leftovers = slices.Clone(out.Leftovers)
	err := func() error {
		w, err := m.open(ctx, r)
		if err != nil {
			return err
		}
		defer w.close()
		for _, key := range keys {
			ctx, cancel := context.WithTimeout(ctx, discardPatience)
			err := w.remove(ctx, w.store, key, writtenBy(r.backup))
			cancel()
			if err != nil {
				return err
			}
			out.Leftovers = without(out.Leftovers, key)
		}
		return nil
	}()
	if err == nil {
		return out, nil
	}
	for i := range out.Leftovers {
		if l := &out.Leftovers[i]; slices.Contains(keys, l.Key) {
			l.Stuck = true
		}
	}
	failed := rules.Of(err)
	if out.Problem != nil {
		failed.Reason, failed.Stalled = out.Problem.Reason, out.Problem.Stalled
		failed.Message = out.Problem.Message + "; it could not be deleted: " + failed.Message
	}
	out.Problem = failed
	return out, nil
}

// without are the leftovers but for the one with a key.
func without(all []view.Leftover, key string) []view.Leftover {
	return slices.DeleteFunc(slices.Clone(all), func(l view.Leftover) bool { return l.Key == key })
}
