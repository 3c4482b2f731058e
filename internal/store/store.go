// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps backups in object stores, and on mounted volumes, behind one small interface.
//
// A store is one file here and one row in kinds. What every store must hold to is checked by one
// table of tests over real servers, in test/stores.
package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
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

// Config says where a store is and how to get in.
type Config struct {
	// Kind is the name of the kind of store, such as S3.
	Kind string
	// Path is <bucket>/<key>.
	Path string
	// Endpoint is the URL of the service. Empty means the kind's own.
	Endpoint string
	// Profile is the section of the files in an S3 secret. Empty means default.
	Profile string
	// ForcePathStyle puts an S3 bucket into the path of the URL.
	ForcePathStyle bool
	// Checksums makes an S3 server check a CRC32C of each request.
	Checksums bool
	// SecretName is the name of the secret, for messages. Empty means that there is none.
	SecretName string
	// Secret is the content of the secret.
	Secret map[string][]byte
	// Namespace is whose backups a File store holds.
	Namespace string
	// FileRoot is the folder of the File stores of all namespaces.
	FileRoot string
}

// kinds are the stores that there are.
var kinds = map[string]func(context.Context, Config, string) (Store, error){
	"S3":   openS3,
	"ABS":  openABS,
	"GCS":  openGCS,
	"OSS":  openOSS,
	"File": openFile,
}

// Open returns the store of c and the key that c's path holds. It does not wait for the service.
func Open(ctx context.Context, c Config) (Store, string, error) {
	open, ok := kinds[c.Kind]
	if !ok {
		return nil, "", &Error{Problem: BadConfig, Text: fmt.Sprintf("storageType %q is not known; it is one of %s",
			c.Kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))}
	}
	bucket, key, err := SplitPath(c.Path)
	if err != nil {
		return nil, "", err
	}
	s, err := open(ctx, c, bucket)
	if err != nil {
		return nil, "", err
	}
	return s, key, nil
}

// SplitPath takes the bucket and the key out of a path.
func SplitPath(path string) (bucket, key string, err error) {
	bucket, key, found := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !found || bucket == "" || strings.Trim(key, "/") == "" || strings.HasSuffix(key, "/") {
		return "", "", &Error{Problem: BadConfig, Text: fmt.Sprintf("path %q has to name a bucket and a key, as <bucket>/<key>", path)}
	}
	return bucket, key, nil
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
