// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// check reads the backup of an object to its end. count is told every number of bytes read.
func (s *sources) check(ctx context.Context, r *v1beta2.EtcdRestore, count *atomic.Int64) (Outcome, error) {
	ctx, dog := watch(ctx)
	defer dog.stop()

	from, err := s.open(ctx, r)
	if err != nil {
		return Outcome{}, blame(ctx, err)
	}
	defer func() { _ = from.Close() }()
	head := &header{}
	_, err = io.Copy(io.MultiWriter(head, progress{count}), dog.guard(from))
	if err == nil {
		err = head.verdict()
	}
	if err != nil {
		return Outcome{}, brokenAt(from.url, blame(ctx, err))
	}
	return Outcome{Backup: describe(from), ClusterSpec: keptSpec(from.facts)}, nil
}

// progress counts what is written to it.
type progress struct{ count *atomic.Int64 }

func (p progress) Write(b []byte) (int, error) {
	p.count.Add(int64(len(b)))
	bytesRead.Add(float64(len(b)))
	return len(b), nil
}

// header keeps the beginning of a snapshot. A file that ends in its own SHA-256 need not be a database:
// its first page says whether it is.
type header struct{ first []byte }

// The first page of a bbolt database: 16 bytes about the page, then the magic number and the version
// of the format, in the byte order of the machine that wrote it.
const (
	magicAt   = 16
	headerEnd = magicAt + 8
	magic     = 0xED0CDAED
	format    = 2
)

func (h *header) Write(b []byte) (int, error) {
	if missing := headerEnd - len(h.first); missing > 0 {
		h.first = append(h.first, b[:min(missing, len(b))]...)
	}
	return len(b), nil
}

func (h *header) verdict() error {
	if len(h.first) == headerEnd {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if order.Uint32(h.first[magicAt:]) == magic && order.Uint32(h.first[magicAt+4:]) == format {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: it does not begin as a database of etcd does", snapshot.ErrBroken)
}

// describe says what a backup is that was read to its end. What its metadata does not say, the name may:
// the original operator put the revision and the time there.
func describe(from *opened) v1beta2.RestoredBackup {
	b := v1beta2.RestoredBackup{
		URL: from.url, Size: from.Size(), SHA256: from.SHA256(),
		EtcdVersion: from.facts.EtcdVersion, EtcdRevision: from.facts.Revision,
	}
	taken := from.facts.Time
	if revision, at, ok := parseName(from.key); ok {
		if taken.IsZero() {
			taken = at
		}
		if b.EtcdRevision == 0 {
			b.EtcdRevision = revision
		}
	}
	if taken.IsZero() {
		// It cannot have been taken later, and for what the operators themselves store not much earlier.
		taken = from.Modified
	}
	if !taken.IsZero() {
		b.Time = &metav1.Time{Time: taken.UTC().Truncate(time.Second)}
	}
	return b
}

// parseName reads the end of the name of one of a series: _v<revision>_<time>.
func parseName(key string) (revision int64, at time.Time, ok bool) {
	i := strings.LastIndex(key, "_v")
	if i < 0 {
		return 0, time.Time{}, false
	}
	digits, stamp, _ := strings.Cut(key[i+len("_v"):], "_")
	revision, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, time.Time{}, false
	}
	at, err = time.Parse("2006-01-02-15:04:05", stamp)
	return revision, at, err == nil
}

// keptSpec is the spec that was kept with a backup, or nil. Fields that this version does not know make
// it useless: a cluster without them would not be the one that was backed up.
func keptSpec(f snapshot.Facts) *v1beta2.ClusterSpec {
	if f.ClusterSpec == "" {
		return nil
	}
	spec := &v1beta2.ClusterSpec{}
	d := json.NewDecoder(bytes.NewReader([]byte(f.ClusterSpec)))
	d.DisallowUnknownFields()
	if err := d.Decode(spec); err != nil {
		return nil
	}
	// What was paused when it was backed up is to run now.
	spec.Paused = false
	return spec
}
