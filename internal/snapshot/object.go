// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"

	"filippo.io/age"

	"github.com/etcd-operator/etcd-operator/internal/store"
)

// Facts are what is known of a snapshot when its upload begins. They stand in the object's metadata.
type Facts struct {
	// Owner is the UID of the EtcdBackup that wrote the object. Only its owner ever deletes it.
	Owner string
	// Run tells one backup of an owner from another.
	Run          string
	Revision     int64
	EtcdVersion  string
	Compression  Compression
	Encryption   Encryption
	SnapshotSize int64
	// SHA256 and Size are those of the stored bytes. They are empty where the store could not keep them.
	SHA256 string
	Size   int64
}

// The labels of an object. The prefix keeps them apart from those of other tools.
const (
	labelOwner        = "etcdbackupowner"
	labelRun          = "etcdbackuprun"
	labelRevision     = "etcdrevision"
	labelVersion      = "etcdversion"
	labelCompression  = "etcdbackupcompression"
	labelEncryption   = "etcdbackupencryption"
	labelSnapshotSize = "etcdsnapshotsize"
	labelSHA256       = "etcdbackupsha256"
	labelSize         = "etcdbackupsize"
)

// first are the labels that are known before the snapshot is read.
func (f Facts) first() store.Labels {
	labels := store.Labels{
		labelOwner:    f.Owner,
		labelRun:      f.Run,
		labelRevision: strconv.FormatInt(f.Revision, 10),
		labelVersion:  f.EtcdVersion,
	}
	if f.Compression != NotCompressed {
		labels[labelCompression] = string(f.Compression)
	}
	if f.Encryption != NotEncrypted {
		labels[labelEncryption] = string(f.Encryption)
	}
	return labels
}

func (s Sums) labels() store.Labels {
	return store.Labels{
		labelSHA256:       s.SHA256,
		labelSize:         strconv.FormatInt(s.Size, 10),
		labelSnapshotSize: strconv.FormatInt(s.SnapshotSize, 10),
	}
}

// FactsOf reads the metadata of an object. One that another tool wrote has none, and is a plain snapshot.
func FactsOf(o store.Object) Facts {
	number := func(label string) int64 {
		n, err := strconv.ParseInt(o.Labels[label], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return Facts{
		Owner:        o.Labels[labelOwner],
		Run:          o.Labels[labelRun],
		Revision:     number(labelRevision),
		EtcdVersion:  o.Labels[labelVersion],
		Compression:  Compression(o.Labels[labelCompression]),
		Encryption:   Encryption(o.Labels[labelEncryption]),
		SnapshotSize: number(labelSnapshotSize),
		SHA256:       o.Labels[labelSHA256],
		Size:         number(labelSize),
	}
}

// Write streams a snapshot into a store under key. The object appears whole and checked, or not at
// all. progress, where given, is told a function that says how many bytes of the snapshot have gone.
func Write(ctx context.Context, s store.Store, key string, from io.Reader, f Format, facts Facts, progress func(func() int64)) (Sums, error) {
	sealed, err := Seal(from, f)
	if err != nil {
		return Sums{}, err
	}
	defer sealed.Close()
	if progress != nil {
		progress(sealed.Progress)
	}
	facts.Compression, facts.Encryption = f.Compression, f.Encryption()
	var sums Sums
	ended := false
	err = s.Put(ctx, key, sealed, facts.first(), func() store.Labels {
		if !ended {
			sums, ended = sealed.Sums(), true
		}
		return sums.labels()
	})
	if err != nil {
		return Sums{}, err
	}
	return sums, nil
}

// Open reads a snapshot back out of a store: decrypted, decompressed and checked. The reader returns
// an error instead of io.EOF where the object is not what was written.
//
// identities may be nil for an object that is not encrypted. wantSHA256 is the sum of the stored bytes,
// as a status has it; empty means the one in the object's metadata, where that has one.
func Open(ctx context.Context, s store.Store, key string, identities []age.Identity, wantSHA256 string) (io.ReadCloser, Facts, error) {
	body, object, err := s.Get(ctx, key)
	if err != nil {
		return nil, Facts{}, err
	}
	facts := FactsOf(object)
	if wantSHA256 == "" {
		wantSHA256 = facts.SHA256
	}
	stored := &summed{r: body, sum: sha256.New(), want: wantSHA256}
	plain, err := unseal(stored, facts.Compression, facts.Encryption, identities)
	if err != nil {
		return nil, Facts{}, errors.Join(err, body.Close())
	}
	return &opened{Checked: NewChecked(&wholly{plain: plain, stored: stored}), close: func() error {
		return errors.Join(plain.Close(), body.Close())
	}}, facts, nil
}

type opened struct {
	*Checked
	close func() error
}

// Close implements io.Closer.
func (o *opened) Close() error { return o.close() }

// summed checks the sum of what is read, at its end.
type summed struct {
	r    io.Reader
	sum  hash.Hash
	want string
}

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && s.want != "" && hex.EncodeToString(s.sum.Sum(nil)) != s.want {
		return n, fmt.Errorf("%w: its SHA-256 is not the one that was recorded when it was written", ErrBroken)
	}
	return n, err
}

// wholly reads the stored bytes to their end after the plain ones have ended: a decompressor stops
// where its data does, and the sum is checked at the very end.
type wholly struct {
	plain  io.Reader
	stored io.Reader
}

func (w *wholly) Read(p []byte) (int, error) {
	n, err := w.plain.Read(p)
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		if _, drainErr := io.Copy(io.Discard, w.stored); drainErr != nil {
			return n, drainErr
		}
	}
	return n, err
}
