// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// pageSize is what the size of the database in a snapshot is a multiple of, with whatever page size
// bbolt runs.
const pageSize = 512

// ErrBroken is the error of a snapshot whose bytes are not what etcd sent.
var ErrBroken = errors.New("the snapshot is broken")

// Checked passes a snapshot through and checks it on the way:
//
//	┌──────────────────────── database ───────────────────────┬── SHA-256 of it ──┐
//	│ a multiple of 512 bytes                                  │ 32 bytes          │
//	└──────────────────────────────────────────────────────────┴───────────────────┘
//
// At the end of a stream that does not look like this it returns ErrBroken instead of io.EOF, so that
// nobody downstream takes it for complete.
type Checked struct {
	r io.Reader
	// sum runs over everything but the held back last bytes.
	sum  hash.Hash
	tail []byte
	size int64
	err  error
}

// NewChecked returns a reader of the snapshot in r.
func NewChecked(r io.Reader) *Checked {
	return &Checked{r: r, sum: sha256.New(), tail: make([]byte, 0, 2*sha256.Size)}
}

// Read implements io.Reader.
func (c *Checked) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.size += int64(n)
	c.digest(p[:n])
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		c.err = c.verdict()
	default:
		c.err = err
	}
	return n, c.err
}

// digest feeds the sum with everything but the last 32 bytes seen so far: they may be the trailer.
func (c *Checked) digest(p []byte) {
	if len(p) >= sha256.Size {
		c.sum.Write(c.tail)
		c.sum.Write(p[:len(p)-sha256.Size])
		c.tail = append(c.tail[:0], p[len(p)-sha256.Size:]...)
		return
	}
	c.tail = append(c.tail, p...)
	if extra := len(c.tail) - sha256.Size; extra > 0 {
		c.sum.Write(c.tail[:extra])
		c.tail = append(c.tail[:0], c.tail[extra:]...)
	}
}

func (c *Checked) verdict() error {
	database := c.size - sha256.Size
	switch {
	case c.size == 0:
		return fmt.Errorf("%w: it is empty", ErrBroken)
	case database <= 0 || database%pageSize != 0:
		return fmt.Errorf("%w: it was cut off after %d bytes", ErrBroken, c.size)
	case !bytes.Equal(c.sum.Sum(nil), c.tail):
		return fmt.Errorf("%w: the SHA-256 at its end does not match its %d bytes", ErrBroken, database)
	}
	return io.EOF
}

// Size is how many bytes have been read so far.
func (c *Checked) Size() int64 { return c.size }

// SHA256 is the sum over the whole snapshot, the trailer included, once it has been read to its end:
// what sha256sum prints for the file.
func (c *Checked) SHA256() string {
	sum := c.sum
	sum.Write(c.tail)
	c.tail = c.tail[:0]
	return hex.EncodeToString(sum.Sum(nil))
}
