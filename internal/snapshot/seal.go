// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync/atomic"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// Compression is how an object is compressed.
type Compression string

// The compressions that there are.
const (
	NotCompressed Compression = ""
	Zstd          Compression = "zstd"
)

// Encryption is how an object is encrypted.
type Encryption string

// The encryptions that there are.
const (
	NotEncrypted Encryption = ""
	Age          Encryption = "age"
)

// ErrKeys is the error of a backup that the keys at hand cannot decrypt.
var ErrKeys = errors.New("the keys do not fit the backup")

// ErrPlain is the error of a backup that anybody can have written, although the keys that it should be encrypted for are named.
var ErrPlain = fmt.Errorf("%w: it is not encrypted, although encryptionSecret names keys; pin the object with sha256 if you know it, or remove encryptionSecret", ErrBroken)

// keyError is an ErrKeys with words of its own.
type keyError string

func (e keyError) Error() string { return string(e) }

// Is implements what errors.Is asks for.
func (e keyError) Is(target error) bool { return target == ErrKeys }

// zstdWindow bounds the memory of both sides: the encoder needs a few times as much, and a decoder as
// much as the encoder declared.
const zstdWindow = 4 << 20

// Format is what is done to a snapshot on its way into a store: compressed first, encrypted then.
type Format struct {
	Compression Compression
	// Recipients may read the object. None means that it is not encrypted.
	Recipients []age.Recipient
}

// Encryption is how an object of this format is encrypted.
func (f Format) Encryption() Encryption {
	if len(f.Recipients) > 0 {
		return Age
	}
	return NotEncrypted
}

// Sealed is a snapshot as it is stored. It is read once, to its end.
type Sealed struct {
	r       io.Reader
	stop    func()
	snap    *Checked
	sum     hash.Hash // over the stored bytes; nil where they are the snapshot's own
	size    atomic.Int64
	reading atomic.Int64
}

// Seal returns the bytes to be stored for the snapshot in r. Close has to be called in any case; it
// does not close r.
func Seal(r io.Reader, f Format) (*Sealed, error) {
	s := &Sealed{stop: func() {}}
	s.snap = NewChecked(r)
	counted := countingReader{s.snap, &s.reading}
	if f.Compression == NotCompressed && len(f.Recipients) == 0 {
		s.r = counted
		return s, nil
	}
	if f.Compression != NotCompressed && f.Compression != Zstd {
		return nil, fmt.Errorf("compression %q is not known", f.Compression)
	}
	s.sum = sha256.New()
	pr, pw := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Only after all of it was written does the reader see an end.
		pw.CloseWithError(encode(pw, counted, f))
	}()
	s.r = pr
	s.stop = func() {
		_ = pr.CloseWithError(errors.New("closed"))
		<-done
	}
	return s, nil
}

// encode writes what is stored for the snapshot in r, to its end.
func encode(w io.Writer, r io.Reader, f Format) error {
	if len(f.Recipients) > 0 {
		encrypted, err := age.Encrypt(w, f.Recipients...)
		if err != nil {
			return fmt.Errorf("preparing the encryption: %w", err)
		}
		if err := compress(encrypted, r, f.Compression); err != nil {
			return err // without closing: the end of the stream must be missing
		}
		return encrypted.Close()
	}
	return compress(w, r, f.Compression)
}

func compress(w io.Writer, r io.Reader, c Compression) error {
	if c == NotCompressed {
		_, err := io.Copy(w, r)
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(zstdWindow))
	if err != nil {
		return fmt.Errorf("preparing the compression: %w", err)
	}
	if _, err := io.Copy(z, r); err != nil {
		// Frees what the encoder holds, without an end that would make the stream look whole.
		z.Reset(io.Discard)
		_ = z.Close()
		return err
	}
	return z.Close()
}

// Read implements io.Reader.
func (s *Sealed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.size.Add(int64(n))
	if s.sum != nil {
		s.sum.Write(p[:n])
	}
	return n, err
}

// Progress is how many bytes of the snapshot have been read. It may be called at any time.
func (s *Sealed) Progress() int64 { return s.reading.Load() }

// Close releases what reading needed.
func (s *Sealed) Close() { s.stop() }

// Sums are what is known of an object after it was written.
type Sums struct {
	// Size and SHA256 are those of the stored bytes.
	Size   int64
	SHA256 string
	// SnapshotSize is the size before compression and encryption.
	SnapshotSize int64
}

// Sums may be called once everything has been read.
func (s *Sealed) Sums() Sums {
	sums := Sums{Size: s.size.Load(), SnapshotSize: s.snap.Size()}
	if s.sum == nil {
		sums.SHA256 = s.snap.SHA256()
	} else {
		sums.SHA256 = hex.EncodeToString(s.sum.Sum(nil))
	}
	return sums
}

// countingReader adds up what is read.
type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// unseal turns stored bytes back into the snapshot. Close of the result does not close r.
func unseal(r io.Reader, c Compression, e Encryption, identities []age.Identity) (io.ReadCloser, error) {
	switch e {
	case NotEncrypted:
	case Age:
		if len(identities) == 0 {
			return nil, keyError("the backup is encrypted; name the secret with the key that it was encrypted for")
		}
		ar, err := age.Decrypt(r, identities...)
		var noMatch *age.NoIdentityMatchError
		if errors.As(err, &noMatch) {
			return nil, keyError("the backup is encrypted for another key than those in the secret")
		}
		if err != nil {
			return nil, fmt.Errorf("decrypting the backup: %w", err)
		}
		r = ar
	default:
		return nil, fmt.Errorf("the backup is encrypted with %q, which this version does not know", e)
	}
	switch c {
	case NotCompressed:
		return io.NopCloser(r), nil
	case Zstd:
		zr, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(4*zstdWindow))
		if err != nil {
			return nil, fmt.Errorf("decompressing the backup: %w", err)
		}
		return zr.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("the backup is compressed with %q, which this version does not know", c)
}

// What the files of each format begin with. A database begins with neither.
const (
	ageMagic  = "age-encryption.org/v1"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// formatOf tells the format of what r begins with. The compression of what is encrypted cannot be seen.
func formatOf(r *bufio.Reader) (Compression, Encryption, error) {
	start, err := r.Peek(len(ageMagic))
	switch {
	case err != nil && !isEnd(err):
		return NotCompressed, NotEncrypted, err
	case bytes.HasPrefix(start, []byte(ageMagic)):
		return NotCompressed, Age, nil
	case bytes.HasPrefix(start, []byte(zstdMagic)):
		return Zstd, NotEncrypted, nil
	}
	return NotCompressed, NotEncrypted, nil
}

// The entries of an encryption secret.
const (
	// recipientsKey holds public keys; it is all that a backup needs.
	recipientsKey = "recipients"
	// identitiesKey holds private keys; restore and verify need them.
	identitiesKey = "identities"
)

// Keys reads the secret of an encrypted backup: age keys, one a line. Recipients may be absent where
// there are identities: the keys that can read it are those that it is encrypted for then.
func Keys(secretName string, secret map[string][]byte) ([]age.Recipient, []age.Identity, error) {
	var identities []age.Identity
	if text := secret[identitiesKey]; len(bytes.TrimSpace(text)) > 0 {
		var err error
		if identities, err = age.ParseIdentities(bytes.NewReader(text)); err != nil {
			// The library's error quotes the line, which is a private key.
			return nil, nil, fmt.Errorf("%s in secret %q has a line that is no age identity; they begin with AGE-SECRET-KEY-", identitiesKey, secretName)
		}
	}
	if text := strings.TrimSpace(string(secret[recipientsKey])); text != "" {
		recipients, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil {
			return nil, nil, fmt.Errorf("%s in secret %q has a line that is no age recipient; they begin with age1", recipientsKey, secretName)
		}
		return recipients, identities, nil
	}
	var recipients []age.Recipient
	for _, identity := range identities {
		switch i := identity.(type) {
		case *age.X25519Identity:
			recipients = append(recipients, i.Recipient())
		case *age.HybridIdentity:
			recipients = append(recipients, i.Recipient())
		}
	}
	if len(recipients) == 0 {
		return nil, nil, fmt.Errorf("secret %q needs age keys: public ones in %q, or private ones in %q", secretName, recipientsKey, identitiesKey)
	}
	return recipients, identities, nil
}
