// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot knows what a stored backup is: the names of objects, their metadata, the trailer that shows whether
// a snapshot is whole, compression and encryption, and the spec of the cluster that is kept with it.
//
//	etcd ─▶ Checked ─▶ zstd ─▶ age ─▶ store       Write
//	etcd ◀─ Checked ◀─ zstd ◀─ age ◀─ store       Open
package snapshot

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"time"

	"filippo.io/age"

	"github.com/etcd-operator/etcd-operator/internal/outside"
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
	// Time is when the snapshot was taken. It is zero where that is not known.
	Time time.Time
	// ClusterSpec is the spec of the EtcdCluster that was backed up, as JSON. It is empty where that is
	// not known, or too large for the metadata of an object. In that of an encrypted object it is encrypted
	// as well: only Open knows it then.
	ClusterSpec string
	// ClusterID is what etcd itself calls the cluster. It is empty where that is not known.
	ClusterID string
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
	labelTime         = "etcdbackuptime"
	labelClusterSpec  = "etcdclusterspec"
	labelSealedSpec   = "etcdclusterspecage"
	labelClusterID    = "etcdclusterid"
)

// first are the labels that are known before the snapshot is read. Where there are recipients, only they can read
// the spec, which may hold more than the others are to know.
func (f Facts) first(recipients []age.Recipient) store.Labels {
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
	if !f.Time.IsZero() {
		labels[labelTime] = f.Time.UTC().Format(time.RFC3339)
	}
	if f.ClusterID != "" {
		labels[labelClusterID] = f.ClusterID
	}
	label := labelClusterSpec
	if len(recipients) > 0 {
		label = labelSealedSpec
	}
	if packed := pack(f.ClusterSpec, recipients); packed != "" {
		labels[label] = packed
	}
	return labels
}

// labelRoom is how long one label may be. S3 keeps 2 KiB of metadata in all, and the others are short.
const labelRoom = 1200

// pack makes a label of a text, or nothing where it would be too long. Where there are recipients it is for them
// only.
func pack(text string, recipients []age.Recipient) string {
	if text == "" {
		return ""
	}
	var small, packed bytes.Buffer
	z, err := flate.NewWriter(&small, flate.BestCompression)
	if err != nil {
		return ""
	}
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		return ""
	}
	if err := encode(&packed, &small, Format{Recipients: recipients}); err != nil {
		return ""
	}
	label := base64.RawURLEncoding.EncodeToString(packed.Bytes())
	if len(label) > labelRoom {
		return ""
	}
	return label
}

// unpack is the text of a label, or nothing where it is none of ours, or not for these identities.
func unpack(label string, e Encryption, identities []age.Identity) string {
	packed, err := base64.RawURLEncoding.DecodeString(label)
	if err != nil {
		return ""
	}
	small, err := unseal(bytes.NewReader(packed), NotCompressed, e, identities)
	if err != nil {
		return ""
	}
	const most = 1 << 20 // a small label can say a lot of the same
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(small), most))
	if err != nil {
		return ""
	}
	return string(text)
}

func (s Sums) labels() store.Labels {
	return store.Labels{
		labelSHA256:       s.SHA256,
		labelSize:         strconv.FormatInt(s.Size, 10),
		labelSnapshotSize: strconv.FormatInt(s.SnapshotSize, 10),
	}
}

// FactsOf reads the metadata of an object. One that another tool wrote or copied has none.
func FactsOf(o store.Object) Facts {
	number := func(label string) int64 {
		n, err := strconv.ParseInt(o.Labels[label], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	taken, _ := time.Parse(time.RFC3339, o.Labels[labelTime]) // zero where there is none
	return Facts{
		Time:         taken,
		ClusterSpec:  unpack(o.Labels[labelClusterSpec], NotEncrypted, nil),
		ClusterID:    outside.Word(o.Labels[labelClusterID]),
		Owner:        o.Labels[labelOwner],
		Run:          o.Labels[labelRun],
		Revision:     number(labelRevision),
		EtcdVersion:  outside.Word(o.Labels[labelVersion]),
		Compression:  Compression(o.Labels[labelCompression]),
		Encryption:   Encryption(o.Labels[labelEncryption]),
		SnapshotSize: number(labelSnapshotSize),
		SHA256:       o.Labels[labelSHA256],
		Size:         number(labelSize),
	}
}

// Write streams a snapshot into a store under key. The object appears whole and checked, or not at
// all. progress, where given, gets a function that returns how many bytes of the snapshot have been sent.
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
	err = s.Put(ctx, key, sealed, facts.first(f.Recipients), func() store.Labels {
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
// as a status has it; empty means the one in the object's metadata, where that has one. Where identities are given, an
// object that is not encrypted is refused, unless its sum is given too.
func Open(ctx context.Context, s store.Store, key string, identities []age.Identity, wantSHA256 string) (*Opened, Facts, error) {
	stored, plain, object, err := get(ctx, s, key, identities, true)
	if err != nil {
		return nil, Facts{}, err
	}
	facts := stored.facts
	if len(identities) > 0 && facts.Encryption == NotEncrypted && wantSHA256 == "" {
		return nil, Facts{}, errors.Join(ErrPlain, plain.Close(), stored.body.Close())
	}
	if sealed := object.Labels[labelSealedSpec]; sealed != "" {
		facts.ClusterSpec = unpack(sealed, Age, identities)
	}
	if wantSHA256 == "" {
		wantSHA256 = facts.SHA256
	}
	opened := &Opened{Modified: object.Modified, close: func() error { return errors.Join(plain.Close(), stored.body.Close()) }}
	if stored.sum == nil {
		// The stored bytes are the snapshot's own, and their sum falls off while that is checked.
		opened.Checked = NewChecked(plain)
		opened.want = wantSHA256
	} else {
		stored.want = wantSHA256
		opened.Checked = NewChecked(&wholly{plain: plain, stored: stored})
	}
	return opened, facts, nil
}

// OpenUnchecked reads a snapshot back out of a store for somebody who knows its sum and checks it:
// decrypted and decompressed, no more.
func OpenUnchecked(ctx context.Context, s store.Store, key string, identities []age.Identity) (io.ReadCloser, error) {
	stored, plain, _, err := get(ctx, s, key, identities, false)
	if err != nil {
		return nil, err
	}
	return readCloser{&wholly{plain: plain, stored: stored}, closer(func() error { return errors.Join(plain.Close(), stored.body.Close()) })}, nil
}

// readCloser reads from one and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// closer is a function that closes.
type closer func() error

// Close implements io.Closer.
func (c closer) Close() error { return c() }

// get opens an object: as it is stored, and the plain snapshot in it. sum asks for a sum over the stored
// bytes where they are not the snapshot's own.
func get(ctx context.Context, s store.Store, key string, identities []age.Identity, sum bool) (*storedBytes, io.ReadCloser, store.Object, error) {
	body, object, err := s.Get(ctx, key)
	if err != nil {
		return nil, nil, store.Object{}, err
	}
	stored := &storedBytes{body: body, facts: FactsOf(object)}
	plain, err := stored.unseal(identities, sum)
	if err != nil {
		return nil, nil, store.Object{}, errors.Join(stored.blame(err), body.Close())
	}
	return stored, plain, object, nil
}

// unseal returns the plain snapshot. Where the metadata says nothing of the format it looks at the bytes: a tool
// may have copied the object without its metadata.
func (s *storedBytes) unseal(identities []age.Identity, sum bool) (io.ReadCloser, error) {
	f := &s.facts
	silent := f.Compression == NotCompressed && f.Encryption == NotEncrypted
	if silent {
		start := bufio.NewReader(s.body)
		s.body = readCloser{start, s.body}
		var err error
		if f.Compression, f.Encryption, err = formatOf(start); err != nil {
			s.failed = err
			return nil, err
		}
	}
	if sum && (f.Compression != NotCompressed || f.Encryption != NotEncrypted) {
		s.sum = sha256.New()
	}
	if !silent || f.Encryption == NotEncrypted {
		return unseal(s, f.Compression, f.Encryption, identities)
	}
	inner, err := unseal(s, NotCompressed, f.Encryption, identities)
	if err != nil {
		return nil, err
	}
	start := bufio.NewReader(inner)
	if f.Compression, _, err = formatOf(start); err != nil {
		return nil, err
	}
	return unseal(start, f.Compression, NotEncrypted, nil)
}

// Opened is a snapshot in a store that is open for reading.
type Opened struct {
	*Checked
	// Modified is when the object came into the store.
	Modified time.Time
	// want is what the sum of the snapshot has to be. Empty means that it is checked elsewhere.
	want  string
	close func() error
}

// Read implements io.Reader.
func (o *Opened) Read(p []byte) (int, error) {
	n, err := o.Checked.Read(p)
	if isEnd(err) && o.want != "" && o.SHA256() != o.want {
		return n, errOtherSum
	}
	return n, err
}

// Close implements io.Closer.
func (o *Opened) Close() error { return o.close() }

var errOtherSum = fmt.Errorf("%w: its SHA-256 is not the one that was recorded when it was written", ErrBroken)

// storedBytes are an object as it is stored. At their end it is checked that their sum is the one that
// is wanted.
type storedBytes struct {
	body io.ReadCloser
	// facts are what the metadata says, with the format that the bytes have where that says none.
	facts Facts
	sum   hash.Hash // nil where that is checked elsewhere
	want  string
	// failed is what the store answered instead of the end.
	failed error
}

// blame tells what is wrong with the stored bytes from what is wrong with the store: where the store
// gave all it has, an error while they are decrypted or decompressed is about the bytes.
func (s *storedBytes) blame(err error) error {
	if err == nil || s.failed != nil || errors.Is(err, ErrBroken) || errors.Is(err, ErrKeys) {
		return err
	}
	return fmt.Errorf("%w: %v", ErrBroken, err) //nolint:errorlint // the library's error may be io.ErrUnexpectedEOF, which means a broken connection elsewhere
}

func (s *storedBytes) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if s.sum != nil {
		s.sum.Write(p[:n])
	}
	switch {
	case err == nil:
	case !isEnd(err):
		s.failed = err
	case s.sum != nil && s.want != "" && hex.EncodeToString(s.sum.Sum(nil)) != s.want:
		return n, errOtherSum
	}
	return n, err
}

// wholly reads the stored bytes to their end after the plain ones have ended: a decompressor stops
// where its data does, and the sum is checked at the very end.
type wholly struct {
	plain  io.Reader
	stored *storedBytes
}

func (w *wholly) Read(p []byte) (int, error) {
	n, err := w.plain.Read(p)
	if !isEnd(err) {
		return n, w.stored.blame(err)
	}
	if _, drainErr := io.Copy(io.Discard, w.stored); drainErr != nil {
		return n, drainErr
	}
	return n, err
}

// isEnd reports whether an error is the end of a stream, and not a stream that broke off.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}
