// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// rounds is how many times all members are asked and tried before a backup counts as failed; between
// two rounds there is time for an election.
const (
	rounds     = 3
	roundPause = 2 * time.Second
)

// discardPatience is how long deleting a useless object may take after the time for the backup is up.
const discardPatience = 20 * time.Second

// Outcome is what became of a job.
type Outcome struct {
	// Problem is nil where it succeeded.
	Problem *Problem
	Ended   time.Time

	// Unverified are objects in the store that were to be verified and never were: those that this run leaves behind
	// where it failed, and otherwise all that the status has named and that are still there.
	Unverified []string

	// The rest is about a backup that was made.
	Key, URL     string
	Version      string
	Revision     int64
	ClusterID    string
	Sums         snapshot.Sums
	Took         time.Duration
	Verification *v1beta2.BackupEvidence
	// Kept are the backups of this object that are in the store now, where that was looked up.
	Kept []v1beta2.KeptBackup
	// Former is the last backup before this one, where that is of another cluster. Otherwise it is empty.
	Former string
	// Pruned is how many were deleted, and PruneProblem why that ended early.
	Pruned       int
	PruneProblem *Problem
}

// maker makes backups.
type maker struct {
	fileRoot string
	verify   Verifier
	origins  *originCache
}

// request is one backup to be made.
type request struct {
	backup  *v1beta2.EtcdBackup
	run     v1beta2.BackupRun
	secrets secrets
	// resumed says that a process which died may have got anywhere with this run.
	resumed bool
	report  func(get func() int64, of int64)
}

// make makes the backup of a request and applies the retention.
func (m *maker) make(ctx context.Context, r request) (Outcome, error) {
	began := time.Now()
	st, key, err := openStore(ctx, r.secrets, r.backup, r.run.Path, m.fileRoot)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = st.Close() }()

	w := &writing{maker: m, request: r, store: st, key: key}
	if err := w.prepare(ctx); err != nil {
		return Outcome{}, err
	}
	series := mustTable(r.backup) != nil
	out, err := w.bring(ctx)
	if err != nil {
		failed := Outcome{}
		if series {
			failed.Unverified = w.unverified
		}
		return failed, err
	}
	out.Took = time.Since(began)
	out.URL = st.URL(out.Key)
	if series {
		if err := m.retain(ctx, st, key, r.backup, r.run, out); err != nil {
			out.PruneProblem = problemOf(err)
		}
	}
	return *out, nil
}

// writing is one backup on its way.
type writing struct {
	*maker
	request
	store      store.Store
	key        string
	format     snapshot.Format
	identities []age.Identity
	// unverified are objects that this run wrote, that nobody has verified and that are still there.
	unverified []string
}

// prepare reads what the backup is to look like.
func (w *writing) prepare(ctx context.Context) error {
	if w.backup.Spec.Compression == v1beta2.BackupCompressionZstd {
		w.format.Compression = snapshot.Zstd
	}
	name := w.backup.Spec.EncryptionSecret
	if name == "" {
		return nil
	}
	data, err := w.secrets.read(ctx, "encryptionSecret", name)
	if err != nil {
		return err
	}
	if w.format.Recipients, w.identities, err = snapshot.Keys(name, data); err != nil {
		return fail(ReasonSecret, err)
	}
	if w.verifies() && len(w.identities) == 0 {
		return fail(ReasonSecret, fmt.Errorf("verify: Restore needs the private keys of encryptionSecret; add identities to secret %q", name))
	}
	return nil
}

func (w *writing) verifies() bool {
	return w.backup.Spec.Verify == v1beta2.BackupVerificationRestore
}

// objectKey is the name of the object for a snapshot of the revision.
func (w *writing) objectKey(revision int64) string {
	if mustTable(w.backup) == nil {
		return w.key
	}
	return objectName(w.key, revision, w.run.StartTime.Time)
}

// ours reports whether a name is that of an object which this run may have written.
func (w *writing) ours(name string) bool {
	if mustTable(w.backup) == nil {
		return name == w.key
	}
	n, ok := parseName(w.key, name)
	return ok && n.at.Equal(w.run.StartTime.UTC())
}

// prefix is what all names for which ours may be true begin with.
func (w *writing) prefix() string {
	if mustTable(w.backup) == nil {
		return w.key
	}
	return seriesPrefix(w.key)
}

// bring brings the backup into the store, or finds it there.
func (w *writing) bring(ctx context.Context) (*Outcome, error) {
	if w.resumed {
		if out, err := w.resume(ctx); out != nil || err != nil {
			return out, err
		}
	}
	out, err := w.take(ctx)
	if err != nil {
		return nil, err
	}
	// What had the same name was replaced.
	w.unverified = slices.DeleteFunc(w.unverified, func(key string) bool { return key == out.Key })
	if err := w.discardAll(ctx, w.unverified); err != nil {
		return nil, err
	}
	return out, nil
}

// resume finds what a process that died left of this run. Neither an outcome nor an error means that it is to be
// made again.
//
// Where it is the verification that kills the process, each one leaves another object: all but the newest go
// before the next is made, so that they do not fill the store.
func (w *writing) resume(ctx context.Context) (*Outcome, error) {
	out, err := w.find(ctx)
	if out != nil || err != nil || len(w.unverified) < 2 {
		return out, err
	}
	newest := slices.MaxFunc(w.unverified, func(a, b string) int {
		// They are of one run, so that their names differ in the revision only.
		x, _ := parseName(w.key, a)
		y, _ := parseName(w.key, b)
		return cmp.Compare(x.revision, y.revision)
	})
	others := slices.DeleteFunc(slices.Clone(w.unverified), func(key string) bool { return key == newest })
	if err := w.discardAll(ctx, others); err != nil {
		return nil, err
	}
	w.unverified = []string{newest}
	return nil, nil
}

// find looks for the object that this run wrote before the process died. It removes what is left of an
// upload that was not finished.
func (w *writing) find(ctx context.Context) (*Outcome, error) {
	if err := w.store.Sweep(ctx, w.prefix(), w.ours); err != nil {
		return nil, err
	}
	for o, err := range w.store.List(ctx, w.prefix()) {
		if err != nil {
			return nil, err
		}
		if !w.ours(o.Key) {
			continue
		}
		o, err := w.store.Stat(ctx, o.Key)
		if err != nil {
			return nil, err
		}
		facts := snapshot.FactsOf(o)
		if facts.Run != w.run.ID {
			continue // somebody else's
		}
		if w.verifies() {
			// Nobody knows any more what etcd said when it was taken: it is made again, and this one goes
			// when that is complete.
			w.unverified = append(w.unverified, o.Key)
			continue
		}
		return &Outcome{
			Key: o.Key, Version: facts.EtcdVersion, Revision: facts.Revision, ClusterID: facts.ClusterID,
			Sums: snapshot.Sums{Size: o.Size, SHA256: facts.SHA256, SnapshotSize: facts.SnapshotSize},
		}, nil
	}
	return nil, nil
}

// take brings a snapshot from the best member into the store. A member that fails is followed by the
// next one; a store that fails is not.
func (w *writing) take(ctx context.Context) (*Outcome, error) {
	cluster, err := clusterOf(ctx, w.secrets, w.backup)
	if err != nil {
		return nil, err
	}
	var tried []string
	for round := range rounds {
		if round > 0 {
			if err := pause(ctx, roundPause); err != nil {
				return nil, w.gaveUp(err, tried)
			}
		}
		survey, err := snapshot.Ask(ctx, cluster)
		if err != nil {
			if !errors.Is(err, snapshot.ErrNoMember) {
				return nil, fail(ReasonEtcd, w.gaveUp(err, tried))
			}
			if tried = append(tried, err.Error()); round == rounds-1 {
				return nil, w.gaveUp(err, nil)
			}
			continue
		}
		out, err := w.takeFrom(ctx, survey.Members, &tried)
		survey.Close()
		if err != nil || out != nil {
			return out, err
		}
	}
	return nil, fail(ReasonEtcd, fmt.Errorf("no member of etcd gave a whole snapshot: %s", strings.Join(last(tried, 3), "; ")))
}

// takeFrom tries the members in order. Neither an outcome nor an error means that all failed.
func (w *writing) takeFrom(ctx context.Context, members []*snapshot.Member, tried *[]string) (*Outcome, error) {
	for _, member := range members {
		out, err := w.takeOne(ctx, member)
		if err == nil {
			return out, nil
		}
		var fromEtcd *sourceError
		if ctx.Err() != nil {
			return nil, w.gaveUp(ctx.Err(), append(*tried, err.Error()))
		}
		if !errors.As(err, &fromEtcd) {
			return nil, err
		}
		*tried = append(*tried, fmt.Sprintf("%s: %v", member.Endpoint, fromEtcd.err))
	}
	return nil, nil
}

// sourceError is an error of etcd's side: the next member may do better.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

func (w *writing) takeOne(ctx context.Context, m *snapshot.Member) (*Outcome, error) {
	var before snapshot.Evidence
	var err error
	if w.verifies() {
		if before, err = m.Evidence(ctx, m.Revision); err != nil {
			return nil, &sourceError{err}
		}
	}
	stream, err := m.Snapshot(ctx)
	if err != nil {
		return nil, &sourceError{err}
	}
	defer func() { _ = stream.Close() }()

	key := w.objectKey(m.Revision)
	facts := snapshot.Facts{
		Owner: string(w.backup.UID), Run: w.run.ID, Revision: m.Revision, EtcdVersion: m.Version,
		Time: w.run.StartTime.Time, ClusterID: strconv.FormatUint(m.ClusterID, 16), ClusterSpec: keptSpec(ctx, w.secrets, w.backup.Spec.EtcdEndpoints),
	}
	sums, err := snapshot.Write(ctx, w.store, key, &sameMember{Reader: stream, ctx: ctx, member: m}, w.format, facts, func(get func() int64) {
		w.report(get, m.DBSize)
	})
	if err != nil {
		return nil, err
	}
	out := &Outcome{Key: key, Version: m.Version, Revision: m.Revision, ClusterID: facts.ClusterID, Sums: sums}
	if w.verifies() {
		if out.Verification, err = w.check(ctx, m, key, sums, before); err != nil {
			return nil, w.takeBack(ctx, key, err)
		}
	}
	return out, nil
}

// sameMember passes a snapshot through and, before its end is believed, makes sure that it came from
// the member whose revision it is named after: the address may be that of a Service.
type sameMember struct {
	io.Reader
	ctx    context.Context
	member *snapshot.Member
}

func (s *sameMember) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		return n, &sourceError{err}
	}
	same, askErr := s.member.Same(s.ctx)
	switch {
	case askErr != nil:
		return n, &sourceError{askErr}
	case !same:
		return n, &sourceError{fmt.Errorf("the address leads to different members by turns")}
	}
	return n, err
}

// discardAll deletes objects that this run wrote.
func (w *writing) discardAll(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := w.discard(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// discard deletes the object that this run wrote.
func (w *writing) discard(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardPatience)
	defer cancel()
	return w.remove(ctx, w.store, key, string(w.backup.UID))
}

// gaveUp says what was going on when the time was up.
func (w *writing) gaveUp(err error, tried []string) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := fmt.Sprintf("the backup took longer than %s; raise backupPolicy.timeoutInSecond", timeoutOf(w.backup))
	if len(tried) > 0 {
		text += " (" + strings.Join(last(tried, 3), "; ") + ")"
	}
	return fmt.Errorf("%s: %w", text, err)
}

// last are the last n of a list.
func last(list []string, n int) []string { return list[max(0, len(list)-n):] }

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
