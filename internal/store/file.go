// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"sync"
)

// fileStore keeps objects as files of a mounted volume:
//
//	<root>/<namespace>/<bucket>/<key>             the object
//	<root>/<namespace>/<bucket>/.<key>.labels     its labels
//	<root>/<namespace>/<bucket>/.<key>.<x>.part   an object on its way
//
// A namespace sees its own folder only. Everything goes through an os.Root, so that no path and no
// symbolic link leads out of it.
type fileStore struct {
	root   *os.Root
	bucket string
	path   string // for URL
	explainer
}

const (
	partSuffix   = ".part"
	labelsSuffix = ".labels"
)

func init() { openers["File"] = openFile }

func openFile(_ context.Context, c Config, bucket string) (Store, error) {
	if c.FileRoot == "" {
		return nil, &Error{Problem: BadConfig, Text: "a store of type File needs a volume: mount one into the operator's pod and name its folder with -file-store-dir"}
	}
	for _, name := range strings.Split(c.Path, "/") {
		if name == "" || strings.HasPrefix(name, ".") {
			return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("path %q must not have empty names or names that begin with a dot", c.Path)}
		}
	}
	x := newExplainer(c, "folder", bucket, c.FileRoot, map[verb]string{
		writing: "write access", reading: "read access", listing: "read access", deleting: "write access",
	})
	x.identity = "the user of the operator's pod"
	// The volume itself is not created: where it is not mounted, the backup would end up in the
	// container's own layer and be lost with it.
	volume, err := os.OpenRoot(c.FileRoot)
	if err != nil {
		return nil, &Error{Problem: Unreachable, Text: fmt.Sprintf("the folder %s of -file-store-dir cannot be opened; mount the volume there", c.FileRoot), Err: err}
	}
	defer func() { _ = volume.Close() }()
	dir := path.Join(c.Namespace, bucket)
	s := &fileStore{bucket: bucket, path: path.Join(c.FileRoot, dir), explainer: x}
	if err := volume.MkdirAll(dir, 0o750); err != nil {
		return nil, s.translate(writing, err)
	}
	if s.root, err = volume.OpenRoot(dir); err != nil {
		return nil, s.translate(writing, err)
	}
	return s, nil
}

// beside is the name of a file that belongs to the object key.
func beside(key, suffix string) string {
	dir, name := path.Split(key)
	return dir + "." + name + suffix
}

func (s *fileStore) Put(ctx context.Context, key string, body io.Reader, first Labels, last func() Labels) (err error) {
	if err := s.root.MkdirAll(path.Dir(key), 0o750); err != nil {
		return s.translate(writing, err)
	}
	part := beside(key, "."+rand.Text()+partSuffix)
	defer func() {
		if err != nil {
			_ = s.root.Remove(part)
		}
	}()
	if err := s.write(part, func(w io.Writer) error {
		_, err := io.Copy(w, contextReader{ctx, body})
		return err
	}); err != nil {
		return err
	}
	return s.appear(key, part, merge(first, last()))
}

// changing is held while an object and its labels change: of two backups with one name, both are of one or both
// are of the other.
var changing sync.Mutex

// appear gives the file part the name of the object key.
func (s *fileStore) appear(key, part string, labels Labels) error {
	changing.Lock()
	defer changing.Unlock()
	// The labels go first: an object without them would look like somebody else's. Labels without an
	// object mean nothing, and those beside the object that was to be replaced know its own.
	text, err := s.labelsText(key, part, labels)
	if err != nil {
		return err
	}
	labelsPart := beside(key, "."+rand.Text()+partSuffix)
	if err := s.write(labelsPart, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		_ = s.root.Remove(labelsPart)
		return err
	}
	if err := s.root.Rename(labelsPart, beside(key, labelsSuffix)); err != nil {
		return s.translate(writing, err)
	}
	if err := s.root.Rename(part, key); err != nil {
		return s.translate(writing, err)
	}
	return s.syncDir(path.Dir(key))
}

// Labels say which file they are of, and those of an object that replaces another one hold those of the other as
// well, until it is replaced in turn: whoever is killed between the two renames leaves the old object beside the
// new labels. Names of labels have no dots.
const (
	// printLabel holds the fingerprint of the file whose labels they are.
	printLabel = ".print"
	// beforeLabel holds the labels of the object that is replaced.
	beforeLabel = ".before"
)

// labelsText is what is stored as the labels of the file part, which is about to become the object key.
func (s *fileStore) labelsText(key, part string, labels Labels) ([]byte, error) {
	is, err := s.fingerprintOf(part)
	if err != nil {
		return nil, s.translate(writing, err)
	}
	labels = merge(labels, Labels{printLabel: is})
	if was, err := s.fingerprintOf(key); err == nil && was != is {
		old, err := s.labels(key, was)
		if err != nil {
			old = nil // they cannot be read, and will be missed by nobody
		}
		before, err := json.Marshal(merge(old, Labels{printLabel: was}))
		if err != nil {
			return nil, fmt.Errorf("encoding the labels of %s: %w", key, err)
		}
		labels[beforeLabel] = string(before)
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return nil, fmt.Errorf("encoding the labels of %s: %w", key, err)
	}
	return text, nil
}

// labels reads the labels of the object key with this fingerprint. Those of one that somebody else put there are
// empty.
func (s *fileStore) labels(key, fingerprint string) (Labels, error) {
	text, err := s.root.ReadFile(beside(key, labelsSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return Labels{}, nil
	}
	if err != nil {
		return nil, s.translate(reading, err)
	}
	labels, before := Labels{}, Labels{}
	err = json.Unmarshal(text, &labels)
	if replaced := labels[beforeLabel]; err == nil && replaced != "" {
		err = json.Unmarshal([]byte(replaced), &before)
	}
	if err != nil {
		return nil, &Error{Problem: Failed, Text: fmt.Sprintf("the labels of %s are damaged", s.URL(key)), Err: err}
	}
	of := labels[printLabel]
	delete(labels, beforeLabel)
	delete(labels, printLabel)
	switch {
	case before[printLabel] == fingerprint: // it was not replaced after all
		delete(before, printLabel)
		return before, nil
	case of == fingerprint, of == "": // an older operator did not say whose they are
		return labels, nil
	}
	return Labels{}, nil
}

// fingerprintBytes is how much of the end of a file its fingerprint is made of.
const fingerprintBytes = 4096

// fingerprint tells a backup from another one without reading it all: a snapshot ends with its own sum, and what
// is compressed or encrypted ends with what comes of that. Unlike a time it survives every way of copying a
// volume.
func fingerprint(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	end := make([]byte, min(info.Size(), fingerprintBytes))
	if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%x", info.Size(), sha256.Sum256(end)), nil
}

func (s *fileStore) fingerprintOf(name string) (string, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	return fingerprint(f)
}

// write makes a file that is safe on the disk before it gets its name.
func (s *fileStore) write(name string, content func(io.Writer) error) (err error) {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return s.translate(writing, err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = s.translate(writing, closeErr)
		}
	}()
	// Without a buffer: a snapshot comes in pieces that are large enough, and are still in the processor's
	// cache when they are written.
	if err := content(&eager{f: f}); err != nil {
		return s.translate(writing, err)
	}
	if err := f.Sync(); err != nil {
		return s.translate(writing, err)
	}
	return nil
}

// eager is a file that goes to the disk while it is still being written: at its end nothing is left to wait
// for, and not more of it than writebackEvery waits in memory.
type eager struct {
	f                *os.File
	written, started int64
}

const writebackEvery = 8 << 20

func (e *eager) Write(p []byte) (int, error) {
	n, err := e.f.Write(p)
	e.written += int64(n)
	if length := e.written - e.started; length >= writebackEvery {
		startWriteback(e.f, e.started, length)
		e.started = e.written
	}
	return n, err
}

// syncDir makes a rename survive a power cut.
func (s *fileStore) syncDir(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return s.translate(writing, err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return s.translate(writing, err)
	}
	return nil
}

func (s *fileStore) Get(_ context.Context, key string) (io.ReadCloser, Object, error) {
	f, err := s.root.Open(key)
	if err != nil {
		return nil, Object{}, s.translate(reading, err)
	}
	o, err := s.describe(key, f)
	if err != nil {
		_ = f.Close()
		return nil, Object{}, err
	}
	return f, o, nil
}

func (s *fileStore) Stat(ctx context.Context, key string) (Object, error) {
	f, o, err := s.Get(ctx, key)
	if err != nil {
		return Object{}, err
	}
	_ = f.Close()
	return o, nil
}

// describe says what f is, the file that was opened under key. Another one may have taken that name since.
func (s *fileStore) describe(key string, f *os.File) (Object, error) {
	info, err := f.Stat()
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	if info.IsDir() {
		return Object{}, s.explain(reading, NoObject, "it is a folder", nil)
	}
	is, err := fingerprint(f)
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	labels, err := s.labels(key, is)
	if err != nil {
		return Object{}, err
	}
	return Object{Key: key, Size: info.Size(), Modified: info.ModTime(), Labels: labels}, nil
}

func (s *fileStore) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		errStop := errors.New("stop")
		err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case d.IsDir(), strings.HasPrefix(d.Name(), "."), !strings.HasPrefix(name, prefix):
				return nil
			}
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // deleted meanwhile
			}
			if err != nil {
				return err
			}
			if !yield(Object{Key: name, Size: info.Size(), Modified: info.ModTime()}, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Object{}, s.translate(listing, err))
		}
	}
}

func (s *fileStore) Delete(_ context.Context, key string) error {
	changing.Lock()
	defer changing.Unlock()
	// The object goes first, for the reason that appear names.
	for _, name := range []string{key, beside(key, labelsSuffix)} {
		if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.translate(deleting, err)
		}
	}
	return nil
}

func (s *fileStore) Sweep(_ context.Context, prefix string, match func(key string) bool) error {
	return fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return s.translate(listing, err)
		}
		dir, file := path.Split(name)
		if d.IsDir() || !strings.HasPrefix(file, ".") || !strings.HasSuffix(file, partSuffix) {
			return nil
		}
		// .<key>.<random>.part
		file = strings.TrimSuffix(strings.TrimPrefix(file, "."), partSuffix)
		key := dir + strings.TrimSuffix(file, path.Ext(file))
		if !strings.HasPrefix(key, prefix) || !match(key) {
			return nil
		}
		if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.translate(deleting, err)
		}
		return nil
	})
}

func (s *fileStore) URL(key string) string { return "file://" + path.Join(s.path, key) }

func (s *fileStore) Close() error { return s.root.Close() }

// translate makes an Error of what the file system reported. Others, such as those of the body that is
// being stored, are passed on as they are.
func (s *fileStore) translate(v verb, err error) error {
	if err == nil {
		return nil
	}
	if p, code, ok := network(err); ok && p == Full {
		return s.explain(v, p, code, err)
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.explain(v, NoObject, "", err)
	case errors.Is(err, fs.ErrPermission):
		return s.explain(v, Denied, "", err)
	case errors.As(err, &pathErr):
		return s.explain(v, Failed, pathErr.Err.Error(), err)
	case errors.As(err, &linkErr):
		return s.explain(v, Failed, linkErr.Err.Error(), err)
	}
	return err
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
