// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package images imports image tars into a node's containerd and remembers which contents it has.
package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
)

// Tar is an image tar.
type Tar struct {
	Path string `json:"path"`
	// Hash is that of its content.
	Hash string `json:"hash"`
}

// Store is the image store of one node.
type Store struct {
	// Ctr is the path of containerd's client, Address that of the node's containerd.
	Ctr, Address string
	// Record is the file that remembers what the store has. Only one Import may use it at a time.
	Record string
}

// Import imports the tars that the store does not have. It waits for containerd as long as ctx lasts. A line for each goes to
// progress.
func (s Store) Import(ctx context.Context, tars []Tar, progress io.Writer) error {
	have, err := s.have()
	if err != nil {
		return err
	}
	if err := s.waitForContainerd(ctx); err != nil {
		return err
	}
	for _, tar := range tars {
		if have[tar.Path] == tar.Hash {
			continue
		}
		began := time.Now()
		if err := s.ctr(ctx, "--namespace=k8s.io", "images", "import", tar.Path); err != nil {
			return fmt.Errorf("import the image %s: %w", tar.Path, err)
		}
		have[tar.Path] = tar.Hash
		if err := s.remember(have); err != nil {
			return err
		}
		fmt.Fprintf(progress, "imported %s in %.1fs\n", filepath.Base(tar.Path), time.Since(began).Seconds())
	}
	return nil
}

// Forget makes the next Import import the tar at path although its content was imported before: another tar may have taken the
// image's name since.
func (s Store) Forget(path string) error {
	have, err := s.have()
	if err != nil {
		return err
	}
	delete(have, path)
	return s.remember(have)
}

// have maps the path of each tar that was imported to the hash of what it held then. The path counts because it is the latest
// content of one file that an image's name has to stand for.
func (s Store) have() (map[string]string, error) {
	have := map[string]string{}
	content, err := os.ReadFile(s.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return have, nil
	} else if err != nil {
		return nil, fmt.Errorf("read which images a node has: %w", err)
	}
	if err := json.Unmarshal(content, &have); err != nil {
		return nil, fmt.Errorf("read which images a node has: %s: %w", s.Record, err)
	}
	return have, nil
}

func (s Store) remember(have map[string]string) error {
	if err := wholefile.WriteJSON(s.Record, have, 0o600); err != nil {
		return fmt.Errorf("remember which images a node has: %w", err)
	}
	return nil
}

func (s Store) waitForContainerd(ctx context.Context) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := s.ctr(ctx, "version")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for containerd: %w", err)
		case <-ticker.C:
		}
	}
}

func (s Store) ctr(ctx context.Context, args ...string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Ctr, append([]string{"--address=" + s.Address}, args...)...)
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
