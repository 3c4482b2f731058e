// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/stall"
)

// Fetch is the program of the first init container of a member that is created from a
// snapshot. It brings the snapshot onto the member's volume, and this very program to
// where the next container, which is of etcd's image, finds it. Init containers run
// again when their pod's node was restarted, so that it does nothing that is done.
type Fetch struct {
	// Identity is what the member is.
	Identity Identity
	// Snapshot is the file that the snapshot is written to.
	Snapshot string
	// Program is where a copy of this program is put; Self is where it is.
	Program, Self string

	// Copy writes the snapshot from its source, and returns its size.
	Copy func(ctx context.Context, w io.Writer) (int64, error)
	// Size and SHA256 are what the snapshot has to be; zero and empty where only the
	// sum at its own end can tell.
	Size   int64
	SHA256 string

	// Patience is how long a source that cannot be reached, or breaks off, is tried
	// again. After that the kubelet starts the container again, less and less often.
	Patience time.Duration
	// Log gets a line for each thing that happens.
	Log io.Writer
}

// finalError is one that trying again does not help.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// Run returns when the snapshot is there and is what it has to be.
func (f *Fetch) Run(ctx context.Context) error {
	if err := copyProgram(f.Self, f.Program); err != nil {
		return err
	}
	if done, err := f.Identity.isFilled(f.Log); done || err != nil {
		return err
	}
	if f.isComplete() {
		logf(f.Log, "the snapshot has been fetched already")
		return nil
	}
	end := time.Now().Add(f.Patience)
	for {
		err := f.attempt(ctx)
		var final finalError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final) || ctx.Err() != nil || time.Now().After(end):
			return err
		}
		logf(f.Log, "%v; trying again", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// isComplete reports whether an earlier run has fetched the snapshot.
func (f *Fetch) isComplete() bool {
	if f.SHA256 == "" {
		return false // a member's data goes on: what is fetched now is newer
	}
	file, err := os.Open(f.Snapshot)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	return err == nil && f.check(size, hex.EncodeToString(sum.Sum(nil))) == nil
}

// attempt fetches the snapshot into a file of another name, which becomes the right one
// when it is complete.
func (f *Fetch) attempt(ctx context.Context) error {
	part := f.Snapshot + ".part"
	file, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("writing the snapshot onto the volume: %w", err)
	}
	defer func() { _ = file.Close() }()
	started := time.Now()
	sum := sha256.New()
	p := &progress{log: f.Log, of: f.Size, logged: started}
	size, err := f.Copy(ctx, io.MultiWriter(file, sum, p))
	if err != nil {
		return fmt.Errorf("fetching the snapshot: %w", err)
	}
	if err := f.check(size, hex.EncodeToString(sum.Sum(nil))); err != nil {
		return err
	}
	// It need not be safe on the disk: the data directory is created from it at once, and what is found after a
	// power cut is trusted by its sum only.
	if err := errors.Join(file.Close(), os.Rename(part, f.Snapshot)); err != nil {
		return fmt.Errorf("writing the snapshot onto the volume: %w", err)
	}
	logf(f.Log, "fetched %d bytes in %s", size, time.Since(started).Round(time.Millisecond))
	return nil
}

func (f *Fetch) check(size int64, sum string) error {
	switch {
	case f.Size > 0 && size != f.Size:
		return fmt.Errorf("the snapshot has %d bytes, %d were promised", size, f.Size)
	case f.SHA256 != "" && sum != f.SHA256:
		return fmt.Errorf("the snapshot's SHA-256 sum is %s, %s was promised", sum, f.SHA256)
	}
	return nil
}

// progress logs how far it is, now and then.
type progress struct {
	log    io.Writer
	have   int64
	of     int64
	logged time.Time
}

func (p *progress) Write(b []byte) (int, error) {
	const interval = 5 * time.Second
	p.have += int64(len(b))
	if time.Since(p.logged) > interval {
		p.logged = time.Now()
		logf(p.log, "%d of %d bytes", p.have, p.of)
	}
	return len(b), nil
}

// copyProgram puts a copy of this program where the next container finds it.
func copyProgram(from, to string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copying this program for the next container: %w", err)
		}
	}()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	// A new file each time: one that is being run cannot be written to.
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755) //nolint:gosec // it has to be run by others
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// silence is how long the restore operator may send nothing.
const silence = 2 * time.Minute

// overHTTPS fetches from a server that gives the snapshot to whoever has the ticket. One that
// falls silent is given up.
func overHTTPS(client *http.Client, url, token string, silence time.Duration) copier {
	return func(ctx context.Context, w io.Writer) (int64, error) {
		ctx, guard := stall.Watch(ctx, "the restore operator", silence)
		defer guard.Stop()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return 0, finalError{err}
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(request)
		if err != nil {
			return 0, guard.Cause(err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			const limit = 300
			text, _ := io.ReadAll(io.LimitReader(response.Body, limit))
			err := fmt.Errorf("the restore operator answers %s: %s", response.Status, text)
			if response.StatusCode < http.StatusInternalServerError && response.StatusCode != http.StatusTooManyRequests {
				return 0, finalError{err}
			}
			return 0, err
		}
		size, err := io.Copy(w, guard.Reader(response.Body))
		return size, guard.Cause(err)
	}
}

// fromMember fetches the data of a member that is still there.
func fromMember(e etcd.Endpoint) copier {
	return func(ctx context.Context, w io.Writer) (int64, error) { return etcd.CopySnapshot(ctx, e, w) }
}

// Identity is what a member is, as far as its data directory and its pod tell.
type Identity struct {
	// DataDir is etcd's data directory.
	DataDir string
	// AnnotationsFile shows the pod's annotations (a downward API volume).
	AnnotationsFile string
	// JoinedAnnotation is set by the operator on the pod of a member that has started once.
	JoinedAnnotation string
}

// isFilled reports whether the member has its data. One that had, and has lost it, must
// not be given older data under the same identity.
func (i Identity) isFilled(log io.Writer) (bool, error) {
	switch found, err := hasData(i.DataDir); {
	case err != nil:
		return false, err
	case found:
		logf(log, "the member has its data in %s already", i.DataDir)
		return true, nil
	}
	joined, err := annotated(i.AnnotationsFile, i.JoinedAnnotation)
	if err != nil {
		return false, err
	}
	if joined {
		return false, ErrDataLost
	}
	return false, nil
}

// syncFolder makes sure that a file's name survives a power cut.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
