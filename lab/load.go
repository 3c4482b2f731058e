// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/etcd-operator/etcd-operator/lab/internal/images"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
)

// Load imports an image tar into every node. Nodes that are off, or that are added later, get it when they are started.
func (l *Lab) Load(ctx context.Context, tar string) error {
	return l.changeExisting(ctx, func(s *session) error {
		kept, err := s.keepImage(tar)
		if err != nil {
			return err
		}
		hashed, err := images.Hash(kept)
		if err != nil {
			return err
		}
		t := newStopwatch(s.say)
		all := make([]int, s.state.Nodes)
		for i := range all {
			all[i] = i + 1
		}
		err = s.eachNode(all, func(n, pid int) error {
			store := s.imagesOf(n, pid)
			if err := store.Forget(kept); err != nil {
				return err
			}
			return store.Import(ctx, []images.Tar{hashed}, io.Discard)
		})
		if err != nil {
			// It cannot be imported, so it must not keep nodes from starting.
			return errors.Join(err, os.Remove(kept))
		}
		for _, n := range all {
			if _, on := s.running(node.Name(n)); !on {
				t.note("%s is off and gets it when it is started", node.Name(n))
			}
		}
		t.note("%s loaded", filepath.Base(tar))
		return nil
	})
}

// keepImage copies a tar into the lab's folder, in place of an earlier one of that name.
func (s *session) keepImage(tar string) (string, error) {
	path := s.path("images", strings.TrimSuffix(filepath.Base(tar), ".tar")+".tar")
	if err := wholefile.Copy(path, tar, 0o600); err != nil {
		return "", fmt.Errorf("keep a copy of the image: %w", err)
	}
	return path, nil
}
