// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
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
	// not known, or too large for the metadata of an object.
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
	labelClusterID    = "etcdclusterid"
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
	if !f.Time.IsZero() {
		labels[labelTime] = f.Time.UTC().Format(time.RFC3339)
	}
	if f.ClusterID != "" {
		labels[labelClusterID] = f.ClusterID
	}
	if packed := pack(f.ClusterSpec); packed != "" {
		labels[labelClusterSpec] = packed
	}
	return labels
}

// labelRoom is how long one label may be. S3 keeps 2 KiB of metadata in all, and the others are short.
const labelRoom = 1200

// pack makes a label of a text, or nothing where it would be too long.
func pack(text string) string {
	if text == "" {
		return ""
	}
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return ""
	}
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		return ""
	}
	label := base64.RawURLEncoding.EncodeToString(packed.Bytes())
	if len(label) > labelRoom {
		return ""
	}
	return label
}

// unpack is the text of a label, or nothing where it is none of ours.
func unpack(label string) string {
	packed, err := base64.RawURLEncoding.DecodeString(label)
	if err != nil {
		return ""
	}
	const most = 1 << 20 // a small label can say a lot of the same
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), most))
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

// FactsOf reads the metadata of an object. One that another tool wrote has none, and is a plain snapshot.
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
		ClusterSpec:  unpack(o.Labels[labelClusterSpec]),
		ClusterID:    o.Labels[labelClusterID],
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
func Open(ctx context.Context, s store.Store, key string, identities []age.Identity, wantSHA256 string) (*Opened, Facts, error) {
	stored, plain, object, err := get(ctx, s, key, identities, true)
	if err != nil {
		return nil, Facts{}, err
	}
	facts := FactsOf(object)
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
	return struct {
		io.Reader
		io.Closer
	}{&wholly{plain: plain, stored: stored}, closer(func() error { return errors.Join(plain.Close(), stored.body.Close()) })}, nil
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
	facts := FactsOf(object)
	stored := &storedBytes{body: body}
	if sum && (facts.Compression != NotCompressed || facts.Encryption != NotEncrypted) {
		stored.sum = sha256.New()
	}
	plain, err := unseal(stored, facts.Compression, facts.Encryption, identities)
	if err != nil {
		return nil, nil, store.Object{}, errors.Join(stored.blame(err), body.Close())
	}
	return stored, plain, object, nil
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
	sum  hash.Hash // nil where that is checked elsewhere
	want string
	// failed is what the store said instead of the end.
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
