// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
)

// known is the hash of a tar when it was last read, and by what it is seen that it has not changed since.
type known struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"`
	Hash     string `json:"hash"`
}

// Hash returns the tar at path with its hash.
func Hash(path string) (Tar, error) {
	found, err := hash(path, known{})
	return Tar{Path: path, Hash: found.Hash}, err
}

// HashAll returns the tars at these paths with their hashes. memory is a file that keeps those of tars that have not changed since
// they were last read: together they are half a gigabyte.
func HashAll(memory string, paths []string) ([]Tar, error) {
	remembered := map[string]known{}
	if content, err := os.ReadFile(memory); err == nil {
		if json.Unmarshal(content, &remembered) != nil {
			remembered = nil // they are read again
		}
	}
	tars, found, errs := make([]Tar, len(paths)), make([]known, len(paths)), make([]error, len(paths))
	var wait sync.WaitGroup
	for i, path := range paths {
		wait.Go(func() {
			found[i], errs[i] = hash(path, remembered[path])
			tars[i] = Tar{Path: path, Hash: found[i].Hash}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	now := map[string]known{}
	for i, path := range paths {
		now[path] = found[i]
	}
	if err := wholefile.WriteJSON(memory, now, 0o600); err != nil {
		return nil, fmt.Errorf("remember the hashes of images: %w", err)
	}
	return tars, nil
}

// hash reads the tar at path unless it looks as it did before.
func hash(path string, before known) (_ known, err error) {
	f, err := os.Open(path)
	if err != nil {
		return known{}, fmt.Errorf("read an image: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return known{}, fmt.Errorf("read an image: %w", err)
	}
	now := known{Size: info.Size(), Modified: info.ModTime().UnixNano(), Hash: before.Hash}
	if now == before {
		return now, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return known{}, fmt.Errorf("read the image %s: %w", path, err)
	}
	now.Hash = hex.EncodeToString(h.Sum(nil))
	return now, nil
}
