// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// errReplaced is the error of a backup that is not the one any more which was checked.
var errReplaced = errors.New("the object in the store is another one than the backup that was checked")

// sameBackup passes a backup on and finds out whether it is the one that was checked: somebody may have replaced the
// object since. The member finds out as well, but knows only that it did not get what was promised, and asks again.
type sameBackup struct {
	from io.Reader
	want *v1beta2.RestoredBackup
	size int64
	sum  hash.Hash
}

func newSameBackup(from io.Reader, want *v1beta2.RestoredBackup) *sameBackup {
	return &sameBackup{from: from, want: want, sum: sha256.New()}
}

// Read implements io.Reader. It does not pass on more than was promised, nor an end that is another one.
func (s *sameBackup) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.size += int64(n)
	s.sum.Write(p[:n])
	switch {
	case s.size > s.want.Size, errors.Is(err, snapshot.ErrBroken):
		return 0, errReplaced
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && (s.size != s.want.Size || hex.EncodeToString(s.sum.Sum(nil)) != s.want.SHA256):
		return 0, errReplaced
	}
	return n, err
}
