// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// survey finds out which backups of the series there are. That it cannot is no failure of the run: the backup was made.
func (m *maker) survey(ctx context.Context, r request) (view.Outcome, error) {
	out := r.prior
	w, err := m.open(ctx, r)
	if err == nil {
		defer w.close()
		out.Series, err = w.listSeries(ctx, out.Made)
	}
	if err != nil {
		out.RetentionProblem = rules.Of(timedOut(ctx, r.backup, fmt.Errorf("listing the backups: %w", err)))
	}
	return out, nil
}

// prune deletes backups of the series in the order given. The first that cannot be deleted ends it; that is no failure
// of the run either.
func (m *maker) prune(ctx context.Context, r request, keys []string) (view.Outcome, error) {
	out := r.prior
	out.Pruned = slices.Clone(out.Pruned)
	w, err := m.open(ctx, r)
	if err == nil {
		defer w.close()
		for _, key := range keys {
			if err = m.remove(ctx, w.store, key, countedBy(r.backup)); err != nil {
				err = fmt.Errorf("deleting the old backup %s: %w", w.store.URL(key), err)
				break
			}
			out.Pruned = append(out.Pruned, key)
		}
	}
	if err != nil {
		out.RetentionProblem = rules.Of(timedOut(ctx, r.backup, err))
	}
	return out, nil
}

// ownership says which objects in a store an EtcdBackup may delete.
type ownership struct {
	uid string
	// adopts says that objects that nobody is known to have written are among them: the original wrote no metadata.
	adopts bool
}

// writtenBy are the objects that the EtcdBackup wrote itself.
func writtenBy(b *v1beta2.EtcdBackup) ownership { return ownership{uid: string(b.UID)} }

// countedBy are the objects that count for the retention of the EtcdBackup.
func countedBy(b *v1beta2.EtcdBackup) ownership {
	return ownership{uid: string(b.UID), adopts: b.Spec.BackupPolicy != nil && b.Spec.BackupPolicy.AdoptExisting}
}

func (o ownership) includes(owner string) bool { return owner == o.uid || (o.adopts && owner == "") }

// originOf is who wrote an object, and of which cluster.
func (m *maker) originOf(ctx context.Context, st store.Store, o store.Object) (origin, error) {
	url := st.URL(o.Key)
	if from, known := m.origins.get(url, o); known {
		return from, nil
	}
	full, err := store.Head(ctx, st, o.Key)
	if err != nil {
		return origin{}, err
	}
	facts := snapshot.FactsOf(full)
	from := origin{owner: facts.Owner, clusterID: facts.ClusterID}
	m.origins.put(url, o, from)
	return from, nil
}

// origin is who wrote an object, and of which cluster.
type origin struct{ owner, clusterID string }

// originCache remembers where objects come from, so that a prefix with thousands of them is not asked for one by one
// at each backup. An object that was replaced has another time or size.
type originCache struct {
	mu      sync.Mutex
	origins map[string]cachedOrigin
}

type cachedOrigin struct {
	size     int64
	modified int64
	origin
}

// maxCachedOrigins bounds the memory; what does not fit is asked for again.
const maxCachedOrigins = 50_000

func newOriginCache() *originCache { return &originCache{origins: map[string]cachedOrigin{}} }

func (c *originCache) get(url string, o store.Object) (from origin, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.origins[url]
	if !ok || e.size != o.Size || e.modified != o.Modified.UnixNano() {
		return origin{}, false
	}
	return e.origin, true
}

func (c *originCache) put(url string, o store.Object, from origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.origins) >= maxCachedOrigins {
		clear(c.origins)
	}
	c.origins[url] = cachedOrigin{size: o.Size, modified: o.Modified.UnixNano(), origin: from}
}
