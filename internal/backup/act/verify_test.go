// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// A one-shot has replaced what was under its name: it must not go because the verification could not be done.
func TestOnlyAProvenFaultTakesABackupAway(t *testing.T) {
	reported := []etcd.Evidence{{Revision: 7, Keys: 3, Hash: 1}}
	tests := map[string]struct {
		found etcd.Evidence
		err   error
		// proven says that nobody could restore it.
		proven bool
	}{
		"the folder to restore into is full": {err: fmt.Errorf("writing the file to restore from: %w", syscall.ENOSPC)},
		"the time is up":                     {err: context.DeadlineExceeded},
		"the process was killed":             {err: fmt.Errorf("the process that restores ended: signal: killed")},
		"the store broke off":                {err: fmt.Errorf("reading the backup back: %w", io.ErrUnexpectedEOF)},
		"compacted more than once":           {found: etcd.Evidence{Revision: 7, CompactRevision: 5}},
		"the data differs":                   {found: etcd.Evidence{Revision: 7, Keys: 2, Hash: 1}, proven: true},
		"etcd cannot restore it":             {err: fmt.Errorf("%w: no", snapshot.ErrBroken), proven: true},
	}
	for name, test := range tests {
		for kind, b := range map[string]*v1beta2.EtcdBackup{"one-shot": backuptest.Object(), "series": backuptest.Object(backuptest.Interval(60))} {
			t.Run(name+", "+kind, func(t *testing.T) {
				w := inFolder(t, b)
				w.verify = func(context.Context, io.Reader, int64) (etcd.Evidence, error) { return test.found, test.err }
				key, sums := w.write(t, 7)
				_, err := w.readBack(t.Context(), key, sums, reported)
				if err == nil {
					t.Fatal("it counts as verified")
				}
				w.reject(key, 7, err)
				c, _ := w.finish(t, view.Outcome{Problem: rules.Of(err), Leftovers: w.leftovers})
				if c.Outcome.Problem == nil {
					t.Error("the failure is not reported")
				}
				_, err = w.store.Stat(t.Context(), key)
				if want := kind == "one-shot" && !test.proven; (err == nil) != want {
					t.Errorf("the object: %v; want it kept: %t", err, want)
				}
			})
		}
	}
}

func TestEvidenceIsComparedAtTheSameCompaction(t *testing.T) {
	found := etcd.Evidence{Revision: 10, Keys: 3, Hash: 7, CompactRevision: 5}
	older := etcd.Evidence{Revision: 10, Keys: 3, Hash: 99, CompactRevision: 2}
	other := found
	other.Hash = 8
	fewer := found
	fewer.Keys = 2
	for name, test := range map[string]struct {
		reported []etcd.Evidence
		ok       bool
	}{
		"equal":                             {[]etcd.Evidence{found}, true},
		"compacted while it was made":       {[]etcd.Evidence{older, found}, true},
		"another hash":                      {[]etcd.Evidence{other}, false},
		"another number of keys":            {[]etcd.Evidence{fewer}, false},
		"compacted more than once":          {[]etcd.Evidence{older}, false},
		"the first answer about it decides": {[]etcd.Evidence{other, found}, false},
	} {
		got, err := compare(found, test.reported)
		if (err == nil) != test.ok || (got != nil) != test.ok {
			t.Errorf("%s: compare = %v, %v", name, got, err)
		}
	}
}

// What is in the store by now may unpack to anything.
func TestNoMoreIsUnpackedThanWasWritten(t *testing.T) {
	w := inFolder(t, backuptest.Object())
	w.verify = func(_ context.Context, snap io.Reader, _ int64) (etcd.Evidence, error) {
		_, err := io.Copy(io.Discard, snap)
		return etcd.Evidence{}, err
	}
	key, sums := w.write(t, 7)
	if _, err := w.readBack(t.Context(), key, sums, []etcd.Evidence{{}}); err != nil {
		t.Fatal(err)
	}
	sums.SnapshotSize--
	if _, err := w.readBack(t.Context(), key, sums, []etcd.Evidence{{}}); !isUseless(err) || !strings.Contains(err.Error(), "larger than what was written") {
		t.Errorf("a larger one: %v", err)
	}
}

// trickling is a store that sends what is asked for a byte at a time.
type trickling struct{ store.Store }

func (s trickling) Get(ctx context.Context, key string) (io.ReadCloser, store.Object, error) {
	body, object, err := s.Store.Get(ctx, key)
	return trickle{body}, object, err
}

type trickle struct{ io.ReadCloser }

func (t trickle) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return t.ReadCloser.Read(p[:min(1, len(p))])
}

// A store of a tenant must not hold a slot for as long as it likes, and that it is slow says nothing against the backup.
func TestAStoreThatTricklesIsGivenUpWhenABackupIsReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inFolder(t, backuptest.Object())
		w.verify = func(_ context.Context, snap io.Reader, _ int64) (etcd.Evidence, error) {
			_, err := io.Copy(io.Discard, snap)
			return etcd.Evidence{}, err
		}
		key, sums := w.write(t, 7)
		w.store = trickling{w.store}
		began := time.Now()
		_, err := w.readBack(t.Context(), key, sums, []etcd.Evidence{{}})
		if err == nil || isUseless(err) || !strings.HasSuffix(err.Error(), "could not be verified: the store was slower than 4 KiB/s") {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
