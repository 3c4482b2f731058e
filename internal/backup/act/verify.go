// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/stall"
)

// Verifier restores a snapshot into a throw-away folder, lets an etcd open it, and says what is in it
// as of a revision. Its error is snapshot.ErrBroken where the snapshot is at fault, and anything else where
// that could not be found out.
type Verifier func(ctx context.Context, snap io.Reader, revision int64) (etcd.Evidence, error)

// storeTimeout is how long a store may send nothing while a backup is read back.
const storeTimeout = 2 * time.Minute

// compareWith reads the backup back and compares what is in it with what etcd reported of its own data.
//
// A hash depends on the revision that the data was last compacted at. etcd was asked before and is
// asked again now: unless it was compacted twice meanwhile, one of the two answers is about the same
// state as the snapshot.
func (w *writing) compareWith(ctx context.Context, m *etcd.Source, key string, sums snapshot.Sums, before etcd.Evidence) (*v1beta2.BackupEvidence, error) {
	reported := []etcd.Evidence{before}
	if after, err := m.Evidence(ctx, before.Revision); err == nil {
		reported = append(reported, after)
	}
	verified, err := w.readBack(ctx, key, sums, reported)
	if !errors.Is(err, errOtherCompaction) {
		return verified, err
	}
	// etcd gives the hash that it made while it compacted, which is of the data before, for the revision that it was
	// compacted at. Of the revision that it is at it makes another one.
	if now, ok := m.CurrentEvidence(ctx, before.Revision); ok {
		return w.readBack(ctx, key, sums, []etcd.Evidence{now})
	}
	return nil, err
}

// readBack restores what is in the store and compares it with what etcd reported.
func (w *writing) readBack(ctx context.Context, key string, sums snapshot.Sums, reported []etcd.Evidence) (*v1beta2.BackupEvidence, error) {
	guarded, guard := stall.Watch(ctx, "the store", storeTimeout)
	defer guard.Stop()
	snap, _, err := snapshot.Open(guarded, w.store, key, w.identities, sums.SHA256)
	if err != nil {
		return nil, guard.Cause(err)
	}
	defer func() { _ = snap.Close() }()
	found, err := w.verify(ctx, &sized{Reader: guard.SteadyReader(snap), left: sums.SnapshotSize, known: sums.SnapshotSize > 0}, reported[0].Revision)
	switch err = guard.Cause(err); {
	case isUseless(err):
		return nil, problem.Because(plan.VerificationFailed, fmt.Errorf("the backup was written to %s, but could not be restored from there: %w", w.store.URL(key), err))
	case err != nil:
		return nil, problem.Because(plan.VerificationFailed, fmt.Errorf("the backup was written to %s, but could not be verified: %w", w.store.URL(key), err))
	}
	return compare(found, reported)
}

// sized reads a backup that is as large as what was written: what is in the store by now may unpack to anything.
type sized struct {
	io.Reader
	left  int64
	known bool
}

// Read implements io.Reader.
func (s *sized) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.left -= int64(n); s.known && s.left < 0 {
		return 0, fmt.Errorf("%w: it is larger than what was written", snapshot.ErrBroken)
	}
	return n, err
}

// errDiffers is of a backup with other data in it than the cluster had.
var errDiffers = errors.New("the backup differs from the cluster")

// errOtherCompaction is of a backup that cannot be compared with anything that etcd has said of its data.
var errOtherCompaction = errors.New("etcd was compacted more than once while the backup was made, so that it cannot be compared")

// isUseless reports whether a verification found that the backup is good for nothing, and not that it could not
// find out.
func isUseless(err error) bool {
	return errors.Is(err, snapshot.ErrBroken) || errors.Is(err, errDiffers)
}

// reject notes that an object was not verified because of err.
func (w *writing) reject(key string, revision int64, err error) {
	w.leftovers = without(w.leftovers, key)
	w.leftovers = append(w.leftovers, view.Leftover{Key: key, Revision: revision, Rejected: true, Useless: isUseless(err)})
}

// compare says whether the evidence that was found is one of those that etcd gave.
func compare(found etcd.Evidence, reported []etcd.Evidence) (*v1beta2.BackupEvidence, error) {
	for _, s := range reported {
		if s.CompactRevision != found.CompactRevision {
			continue
		}
		if s != found {
			return nil, problem.Because(plan.VerificationFailed, fmt.Errorf(
				"%w at revision %d: it has %d keys and hash %d, the cluster had %d keys and hash %d",
				errDiffers, found.Revision, found.Keys, found.Hash, s.Keys, s.Hash))
		}
		return &v1beta2.BackupEvidence{EtcdRevision: found.Revision, Keys: found.Keys, Hash: int64(found.Hash)}, nil
	}
	return nil, &sourceError{errOtherCompaction}
}
