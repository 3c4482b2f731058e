// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// listed is how many backups the status names.
const listed = 100

// owned is a backup in the store that this object wrote.
type owned struct {
	named
	size     int64
	modified time.Time
	// clusterID is that of the cluster that it is of. It is empty where nobody wrote it down.
	clusterID string
	// made is when it was made, as far as that is known.
	made time.Time
}

// date finds out when the backups were made. It is the time in their names, but a name from after the beginning
// of the run that has just ended is from a clock that was ahead: the store's own time counts then, and where that
// is no better, nobody knows more than that the object is younger than its EtcdBackup.
func date(all []owned, b *v1beta2.EtcdBackup, run v1beta2.BackupRun) {
	for i := range all {
		o := &all[i]
		o.made = b.CreationTimestamp.Time
		for _, at := range []time.Time{o.at, o.modified} {
			if !at.After(run.StartTime.Time) {
				o.made = at
				break
			}
		}
	}
}

// newestFirst orders backups by when they were made. Revisions are numbers, and decide only where the times are
// equal.
func newestFirst(a, b owned) int {
	return cmp.Or(b.made.Compare(a.made), cmp.Compare(b.revision, a.revision))
}

// expired divides the backups of an object into those to keep and those to delete. most is how many to
// keep; 0 means all. latest is the name of the one that was just made, and is kept whatever the times say.
func expired(all []owned, most int, latest string) (keep, remove []owned) {
	all = slices.Clone(all)
	slices.SortFunc(all, newestFirst)
	if most <= 0 || len(all) <= most {
		return all, nil
	}
	if i := slices.IndexFunc(all, func(o owned) bool { return o.name == latest }); i >= most {
		made := all[i]
		all = slices.Insert(slices.Delete(all, i, i+1), 0, made)
	}
	return all[:most], all[most:]
}

// spareFormer takes the newest backup of the cluster before from those that are to be deleted. Where a cluster was
// lost and made anew, empty, under the same name, that is the newest with data in it, and each new backup would bring
// it nearer to its end. It is one more than the policy keeps, and no more than one: that of the cluster which was backed
// up last before the one with this id. An object without an id is of no other cluster.
func spareFormer(keep, remove []owned, clusterID string) (_, _ []owned) {
	former := func(o owned) bool { return clusterID != "" && o.clusterID != "" && o.clusterID != clusterID }
	if slices.ContainsFunc(keep, former) {
		return keep, remove
	}
	if i := slices.IndexFunc(remove, former); i >= 0 {
		return append(slices.Clone(keep), remove[i]), slices.Delete(slices.Clone(remove), i, i+1)
	}
	return keep, remove
}

// replaced is the last backup before the one that was just made, where it is of another cluster.
func replaced(sorted []owned, out *Outcome) (before owned, ok bool) {
	i := slices.IndexFunc(sorted, func(o owned) bool { return o.name != out.Key })
	if i < 0 {
		return owned{}, false
	}
	before = sorted[i]
	return before, out.ClusterID != "" && before.clusterID != "" && before.clusterID != out.ClusterID
}

// neverVerified divides the backups of an object into those that count and those that runs which failed left
// behind before they were verified. It is asked after a backup was made, latest: where that was verified, nothing is
// lost with them. They are named in the status, and nothing else will do: a status that went back in time, with the
// API server's own data, knows nothing of backups that were made and verified since.
func neverVerified(all []owned, b *v1beta2.EtcdBackup, latest string) (count, failed []owned) {
	if b.Spec.Verify != v1beta2.BackupVerificationRestore {
		return all, nil
	}
	for _, o := range all {
		if o.name != latest && slices.Contains(b.Status.Unverified, o.name) {
			failed = append(failed, o)
		} else {
			count = append(count, o)
		}
	}
	return count, failed
}

// retain deletes the oldest backups of an object where there are more than the policy keeps, and those that were
// to be verified and never were. It is asked after out was made, and notes there which ones are left.
func (m *maker) retain(ctx context.Context, st store.Store, key string, b *v1beta2.EtcdBackup, run v1beta2.BackupRun, out *Outcome) error {
	out.Unverified = b.Status.Unverified
	all, err := m.owned(ctx, st, key, string(b.UID))
	if err != nil {
		return fmt.Errorf("listing the backups: %w", err)
	}
	date(all, b, run)
	count, failed := neverVerified(all, b, out.Key)
	keep, remove := expired(count, b.Spec.BackupPolicy.MaxBackups, out.Key)
	if before, ok := replaced(slices.Concat(keep, remove), out); ok {
		out.Former = st.URL(before.name)
	}
	keep, remove = spareFormer(keep, remove, out.ClusterID)
	remove = append(failed, remove...)
	// The oldest goes first: whatever ends this, what is left is the newest.
	slices.SortFunc(remove, newestFirst)
	for i := len(remove) - 1; i >= 0; i-- {
		if err = m.remove(ctx, st, remove[i].name, string(b.UID)); err != nil {
			err = fmt.Errorf("deleting the old backup %s: %w", st.URL(remove[i].name), err)
			keep = append(keep, remove[:i+1]...)
			slices.SortFunc(keep, newestFirst)
			break
		}
		out.Pruned++
	}
	for _, o := range keep[:min(len(keep), listed)] {
		out.Kept = append(out.Kept, v1beta2.KeptBackup{Name: o.name, Time: metav1.NewTime(o.made), EtcdRevision: o.revision, Size: o.size})
	}
	out.Unverified = slices.DeleteFunc(slices.Clone(out.Unverified), func(name string) bool {
		return !slices.ContainsFunc(keep, func(o owned) bool { return o.name == name })
	})
	return err
}

// owned are the backups of the series that the owner wrote. The metadata of the object decides: a name
// can be anybody's.
func (m *maker) owned(ctx context.Context, st store.Store, key, owner string) ([]owned, error) {
	var all []owned
	for o, err := range st.List(ctx, seriesPrefix(key)) {
		if err != nil {
			return nil, err
		}
		n, ok := parseName(key, o.Key)
		if !ok {
			continue
		}
		from, known := m.origins.get(st.URL(o.Key), o)
		if !known {
			full, err := st.Stat(ctx, o.Key)
			if store.Is(err, store.NoObject) {
				continue
			}
			if err != nil {
				return nil, err
			}
			facts := snapshot.FactsOf(full)
			from = origin{owner: facts.Owner, clusterID: facts.ClusterID}
			m.origins.put(st.URL(o.Key), o, from)
		}
		if from.owner == owner {
			all = append(all, owned{named: n, size: o.Size, modified: o.Modified, clusterID: from.clusterID})
		}
	}
	return all, nil
}

// remove deletes an object after it has looked once more whose it is.
func (m *maker) remove(ctx context.Context, st store.Store, key, owner string) error {
	o, err := st.Stat(ctx, key)
	if store.Is(err, store.NoObject) {
		return nil
	}
	if err != nil {
		return err
	}
	if who := snapshot.FactsOf(o).Owner; who != owner {
		return fmt.Errorf("it was replaced by somebody else")
	}
	return st.Delete(ctx, key)
}

// removeAll deletes everything that an object wrote, and what is left of its uploads. data says whether
// the backups go as well.
func (m *maker) removeAll(ctx context.Context, s secrets, b *v1beta2.EtcdBackup, data bool) error {
	path := ""
	if b.Status.Run != nil {
		path = b.Status.Run.Path
	}
	st, key, err := openStore(ctx, s, b, path, m.fileRoot)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	if run := b.Status.Run; run != nil {
		w := &writing{request: request{backup: b, run: *run}, key: key}
		if err := st.Sweep(ctx, w.prefix(), w.ours); err != nil {
			return err
		}
	}
	if !data {
		return nil
	}
	all, err := m.owned(ctx, st, key, string(b.UID))
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := m.remove(ctx, st, o.name, string(b.UID)); err != nil {
			return fmt.Errorf("deleting %s: %w", st.URL(o.name), err)
		}
	}
	// The object of a one-shot has the name of the spec.
	o, err := st.Stat(ctx, key)
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
