// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps backups in object stores, and on mounted volumes, behind one small interface.
//
// A store is one file here, which adds itself to openers, and one file and one row in package kind. What every store
// must hold to is checked by one table of tests over real servers, in test/stores.
package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// Labels are the user metadata of an object. Their names hold lower-case letters and digits only:
// that is what all stores keep as it is.
type Labels map[string]string

// Object is what a store says of an object.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
	// Labels are filled in by Stat and Get, not by List.
	Labels Labels
}

// Store is one bucket: a flat set of objects by key.
//
// Its errors are of type *Error where the store answered, and say in one sentence what to change.
type Store interface {
	// Put stores what body yields under key, replacing what is there. The object appears whole or not
	// at all: where body fails, ctx ends or the store refuses, what was under key before is still
	// there, and nothing is left beside it.
	//
	// first is known before the body is read. last is called once after the body's end, for what is
	// known only then; where a store cannot keep such labels without writing the object twice, and
	// the user did not permit what it takes, they may be missing from it later.
	Put(ctx context.Context, key string, body io.Reader, first Labels, last func() Labels) error
	// Get opens an object for reading. A missing one is an *Error with the problem NoObject.
	Get(ctx context.Context, key string) (io.ReadCloser, Object, error)
	// Stat describes an object. A missing one is an *Error with the problem NoObject.
	Stat(ctx context.Context, key string) (Object, error)
	// List yields every object whose key begins with prefix, in no particular order, however many
	// there are.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes an object. A missing one is no error.
	Delete(ctx context.Context, key string) error
	// Sweep removes what a Put that was killed left behind, for keys that begin with prefix and that
	// match accepts. It never removes an object.
	Sweep(ctx context.Context, prefix string, match func(key string) bool) error
	// URL is the address of an object, for people and their tools.
	URL(key string) string
	// Close releases connections.
	Close() error
}

// Head describes an object without what a store knows of it only after another request: labels that were given at the
// end of a Put may be missing. It is for who asks for many objects.
func Head(ctx context.Context, s Store, key string) (Object, error) {
	if h, ok := s.(interface {
		head(ctx context.Context, key string) (Object, error)
	}); ok {
		return h.head(ctx, key)
	}
	return s.Stat(ctx, key)
}

// Config says where a store is and how to get in.
type Config = kind.Config

// openers are the implementations, by the names of the kinds. Each adds itself.
var openers = map[string]func(ctx context.Context, c Config, bucket string) (Store, error){}

// Open returns the store of c and the key that c's path holds. It does not wait for the service.
func Open(ctx context.Context, c Config) (Store, string, error) {
	open, ok := openers[c.Kind]
	if !ok {
		return nil, "", &Error{Problem: BadConfig, Text: fmt.Sprintf("storageType %q is not known; it is one of %s", c.Kind, strings.Join(kind.Names(), ", "))}
	}
	bucket, key, err := kind.SplitPath(c.Path)
	if err != nil {
		return nil, "", &Error{Problem: BadConfig, Text: err.Error()}
	}
	s, err := open(ctx, c, bucket)
	if err != nil {
		return nil, "", err
	}
	return s, key, nil
}

// merge is a and b in one; b wins.
func merge(a, b Labels) Labels {
	m := maps.Clone(a)
	if m == nil {
		m = Labels{}
	}
	maps.Copy(m, b)
	return m
}

// lower is m with the names in lower case: some services change them.
func lower(m map[string]string) Labels {
	labels := Labels{}
	for name, value := range m {
		labels[strings.ToLower(name)] = value
	}
	return labels
}
