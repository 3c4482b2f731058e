// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/stall"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// rounds is how many times all members are asked and tried before a backup counts as failed; between
// two rounds there is time for an election.
const (
	rounds     = 3
	roundPause = 2 * time.Second
)

// etcdTimeout is how long a member may send nothing while it gives a snapshot.
const etcdTimeout = 2 * time.Minute

// maker makes backups.
type maker struct {
	fileRoot    string
	permissions kind.Permissions
	transport   http.RoundTripper
	dial        etcd.Dialer
	verify      Verifier
	origins     *originCache
}

// make brings the backup of a run into the store.
func (m *maker) make(ctx context.Context, r request) (view.Outcome, error) {
	began := time.Now()
	w, err := m.open(ctx, r)
	if err != nil {
		return r.prior, err
	}
	defer w.close()
	if err := w.prepare(ctx); err != nil {
		return r.prior, err
	}
	made, err := w.writeSnapshot(ctx)
	out := r.prior
	out.Leftovers = w.leftovers
	if err != nil {
		out.UploadLeft = w.uploadLeft || errors.Is(err, store.ErrUploadLeft)
		return out, err
	}
	made.Took = time.Since(began)
	out.Made = made
	return out, nil
}

// writing is a run with its store open.
type writing struct {
	*maker
	request
	store      store.Store
	key        string
	format     snapshot.Format
	identities []age.Identity
	// leftovers are objects that this run wrote, that nobody has verified and that are still there.
	leftovers []view.Leftover
	// uploadLeft says that a part of an upload may be left, whatever the run failed for in the end.
	uploadLeft bool
}

// open opens the store of a run.
func (m *maker) open(ctx context.Context, r request) (*writing, error) {
	st, key, err := m.openStore(ctx, r.secrets, r.backup, r.run.Path)
	if err != nil {
		return nil, err
	}
	return &writing{maker: m, request: r, store: st, key: key, leftovers: r.prior.Leftovers}, nil
}

func (w *writing) close() { _ = w.store.Close() }

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
		return problem.Because(problem.Secret, err)
	}
	if w.verifies() && len(w.identities) == 0 {
		return problem.Because(problem.Secret, fmt.Errorf("verify: Restore needs the private keys of encryptionSecret; add identities to secret %q", name))
	}
	return nil
}

func (w *writing) verifies() bool {
	return w.backup.Spec.Verify == v1beta2.BackupVerificationRestore
}

// objectKey is the name of the object for a snapshot of the revision.
func (w *writing) objectKey(revision int64) string {
	if !plan.IsSeries(w.backup) {
		return w.key
	}
	return snapshot.Name{Series: w.key, Revision: revision, Time: w.run.StartTime.Time}.String()
}

// ours reports whether a name is that of an object which this run may have written.
func (w *writing) ours(name string) bool {
	if !plan.IsSeries(w.backup) {
		return name == w.key
	}
	n, ok := snapshot.NameIn(w.key, name)
	return ok && n.Time.Equal(w.run.StartTime.UTC())
}

// prefix is what all names for which ours may be true begin with.
func (w *writing) prefix() string {
	if !plan.IsSeries(w.backup) {
		return w.key
	}
	return snapshot.SeriesPrefix(w.key)
}

// writeSnapshot brings a snapshot from the best member into the store. A member that fails is followed by the
// next one; a store that fails is not.
func (w *writing) writeSnapshot(ctx context.Context) (*view.Made, error) {
	target, err := targetOf(ctx, w.secrets, w.backup)
	if err != nil {
		return nil, err
	}
	target.Dial, target.Addresses = w.dial, w.permissions.Addresses
	var tried []string
	for round := range rounds {
		if round > 0 {
			if err := pause(ctx, roundPause); err != nil {
				return nil, gaveUp(w.backup, err, tried)
			}
		}
		survey, err := etcd.Ask(ctx, target)
		if err != nil {
			if !errors.Is(err, etcd.ErrNoMember) {
				return nil, problem.Because(plan.EtcdUnavailable, gaveUp(w.backup, err, tried))
			}
			if tried = append(tried, err.Error()); round == rounds-1 {
				return nil, gaveUp(w.backup, err, nil)
			}
			continue
		}
		made, err := w.takeFrom(ctx, survey.Sources, &tried)
		survey.Close()
		if err != nil || made != nil {
			return made, err
		}
	}
	return nil, problem.Because(plan.EtcdUnavailable, fmt.Errorf("no member of etcd gave a whole snapshot: %s", strings.Join(last(tried, 3), "; ")))
}

// takeFrom tries the members in order. Neither a backup nor an error means that all failed.
func (w *writing) takeFrom(ctx context.Context, members []*etcd.Source, tried *[]string) (*view.Made, error) {
	for _, member := range members {
		made, err := w.takeOne(ctx, member)
		if err == nil {
			return made, nil
		}
		w.uploadLeft = w.uploadLeft || errors.Is(err, store.ErrUploadLeft)
		if ctx.Err() != nil {
			return nil, gaveUp(w.backup, ctx.Err(), append(*tried, err.Error()))
		}
		var fromEtcd *sourceError
		if !errors.As(err, &fromEtcd) {
			return nil, err
		}
		*tried = append(*tried, fmt.Sprintf("%s: %v", member.Endpoint, fromEtcd.err))
	}
	return nil, nil
}

func (w *writing) takeOne(ctx context.Context, m *etcd.Source) (*view.Made, error) {
	var before etcd.Evidence
	var err error
	if w.verifies() {
		if before, err = m.Evidence(ctx, m.Revision); err != nil {
			return nil, &sourceError{err}
		}
	}
	guarded, guard := stall.Watch(ctx, "etcd", etcdTimeout)
	defer guard.Stop()
	stream, err := m.Snapshot(guarded)
	if err != nil {
		return nil, &sourceError{guard.Cause(err)}
	}
	defer func() { _ = stream.Close() }()

	key := w.objectKey(m.Revision)
	facts := snapshot.Facts{
		Owner: string(w.backup.UID), Run: w.run.ID, Revision: m.Revision, EtcdVersion: m.Version,
		Time: w.run.StartTime.Time, ClusterID: strconv.FormatUint(m.ClusterID, 16), ClusterSpec: keptSpec(ctx, w.secrets, w.backup),
	}
	sums, err := snapshot.Write(ctx, w.store, key, &sameMember{Reader: guard.SteadyReader(stream), guard: guard, ctx: ctx, member: m}, w.format, facts, func(get func() int64) {
		w.track(get, m.DBSize)
	})
	if err != nil {
		return nil, err
	}
	made := &view.Made{
		Key: key, URL: w.store.URL(key), Version: m.Version, Revision: m.Revision, ClusterID: facts.ClusterID, Size: sums.Size, SHA256: sums.SHA256,
	}
	if w.verifies() {
		if made.Verification, err = w.compareWith(ctx, m, key, sums, before); err != nil {
			w.reject(key, m.Revision, err)
			return nil, err
		}
	}
	return made, nil
}

// sameMember passes a snapshot through and, before its end is believed, makes sure that it came from
// the member whose revision it is named after: the address may be that of a Service.
type sameMember struct {
	io.Reader
	guard  *stall.Guard
	ctx    context.Context
	member *etcd.Source
}

func (s *sameMember) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		return n, &sourceError{s.guard.Cause(err)}
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
