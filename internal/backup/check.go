// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// Verifier restores a snapshot into a throw-away folder, lets an etcd open it, and says what is in it
// as of a revision. Its error is snapshot.ErrBroken where the snapshot is at fault, and anything else where
// that could not be found out.
type Verifier func(ctx context.Context, snap io.Reader, revision int64) (snapshot.Evidence, error)

// check reads the backup back and compares what is in it with what etcd said of its own data.
//
// A hash depends on the revision that the data was last compacted at. etcd was asked before and is
// asked again now: unless it was compacted twice meanwhile, one of the two answers is about the same
// state as the snapshot.
func (w *writing) check(ctx context.Context, m *snapshot.Member, key string, sums snapshot.Sums, before snapshot.Evidence) (*v1beta2.BackupEvidence, error) {
	said := []snapshot.Evidence{before}
	if after, err := m.Evidence(ctx, before.Revision); err == nil {
		said = append(said, after)
	}
	return w.readBack(ctx, key, sums, said)
}

// readBack restores what is in the store and compares it with what etcd said.
func (w *writing) readBack(ctx context.Context, key string, sums snapshot.Sums, said []snapshot.Evidence) (*v1beta2.BackupEvidence, error) {
	snap, _, err := snapshot.Open(ctx, w.store, key, w.identities, sums.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snap.Close() }()
	found, err := w.verify(ctx, snap, said[0].Revision)
	switch {
	case useless(err):
		return nil, fail(ReasonVerification, fmt.Errorf("the backup was written to %s, but could not be restored from there: %w", w.store.URL(key), err))
	case err != nil:
		return nil, fail(ReasonVerification, fmt.Errorf("the backup was written to %s, but could not be verified: %w", w.store.URL(key), err))
	}
	return compare(found, said)
}

// errDiffers is of a backup with other data in it than the cluster had.
var errDiffers = errors.New("the backup differs from the cluster")

// useless reports whether a verification found that the backup is good for nothing, and not that it could not
// find out.
func useless(err error) bool {
	return errors.Is(err, snapshot.ErrBroken) || errors.Is(err, errDiffers)
}

// takeBack deletes the object that was not verified because of err, where that takes nothing from anybody.
//
// What is of no use must not be found by somebody who needs a backup, and in a series nothing that nobody has
// verified may push a good one out of the retention. But a one-shot has replaced what was under its name: where
// nobody knows that it is bad, it is better than nothing.
func (w *writing) takeBack(ctx context.Context, key string, err error) error {
	if mustTable(w.backup) == nil && !useless(err) {
		return err
	}
	failed := w.discard(ctx, key)
	if failed != nil && !slices.Contains(w.unverified, key) {
		w.unverified = append(w.unverified, key)
	}
	return errors.Join(err, failed)
}

// compare says whether the evidence that was found is one of those that etcd gave.
func compare(found snapshot.Evidence, said []snapshot.Evidence) (*v1beta2.BackupEvidence, error) {
	for _, s := range said {
		if s.CompactRevision != found.CompactRevision {
			continue
		}
		if s != found {
			return nil, fail(ReasonVerification, fmt.Errorf(
				"%w at revision %d: it has %d keys and hash %d, the cluster had %d keys and hash %d",
				errDiffers, found.Revision, found.Keys, found.Hash, s.Keys, s.Hash))
		}
		return &v1beta2.BackupEvidence{EtcdRevision: found.Revision, Keys: found.Keys, Hash: int64(found.Hash)}, nil
	}
	return nil, &sourceError{fmt.Errorf("etcd was compacted more than once while the backup was made, so that it cannot be compared")}
}
