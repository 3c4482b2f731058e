// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	bolt "go.etcd.io/bbolt"
)

// database is a bbolt database as etcd sends it, without the sum.
func database(t *testing.T, pageSize int, change func(*bolt.Tx) error) []byte {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "db"), 0o600, &bolt.Options{PageSize: pageSize, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := db.View(func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(&content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// buckets puts keys into buckets, each with a value.
func buckets(all map[string]map[string]string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		for name, entries := range all {
			b, err := tx.CreateBucketIfNotExists([]byte(name))
			if err != nil {
				return err
			}
			for key, value := range entries {
				if err := b.Put([]byte(key), []byte(value)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func look(t *testing.T, content []byte) *Database {
	t.Helper()
	d := &Database{}
	if _, err := io.CopyBuffer(struct{ io.Writer }{d}, iotest.HalfReader(bytes.NewReader(content)), make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestADatabaseIsSeenWhileItPassesBy(t *testing.T) {
	many := map[string]map[string]string{"meta": {"term": "1"}, "key": {}}
	for i := range 2000 {
		many["key"][fmt.Sprintf("%08d_00000000", i)] = strings.Repeat("v", 100)
	}
	on := map[string]map[string]string{"auth": {"authEnabled": "\x01", "authRevision": "12345678"}}
	off := map[string]map[string]string{"auth": {"authEnabled": "\x00"}}
	for i := range 30 { // so many that the list of buckets is not one page
		on[fmt.Sprintf("bucket-%02d", i)] = map[string]string{"k": strings.Repeat("v", 200)}
	}
	for _, pageSize := range []int{4096, 16384, 65536} {
		for name, test := range map[string]struct {
			also map[string]map[string]string
			auth bool
		}{"without authentication": {}, "with authentication": {on, true}, "with authentication that is off": {off, false}} {
			content := database(t, pageSize, func(tx *bolt.Tx) error {
				return errors.Join(buckets(many)(tx), buckets(test.also)(tx))
			})
			d := look(t, content)
			if err := d.Verify(); err != nil {
				t.Errorf("%s, pages of %d bytes: %v", name, pageSize, err)
			}
			if d.HasAuthentication() != test.auth {
				t.Errorf("%s, pages of %d bytes: authentication is %t", name, pageSize, d.HasAuthentication())
			}
			other := bytes.Clone(content)
			other[pageHeader+8]++ // the first description is damaged, and the second is not
			if err := look(t, other).Verify(); err != nil {
				t.Errorf("%s, pages of %d bytes, the second description: %v", name, pageSize, err)
			}
			for _, length := range []int{0, 1, 20, 512, 1024, pageSize, 2 * pageSize, len(content) / 2 / 512 * 512, len(content) - pageSize} {
				if d := look(t, content[:length]); !errors.Is(d.Verify(), ErrBroken) {
					t.Errorf("%s, pages of %d bytes: %d of %d bytes pass for a database", name, pageSize, length, len(content))
				}
			}
		}
	}
	foreign := database(t, 4096, buckets(map[string]map[string]string{"notes": {"a": "b"}}))
	if err := look(t, foreign).Verify(); !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "not one of etcd") {
		t.Errorf("a database of something else: %v", err)
	}
	version := bytes.Clone(foreign)
	version[pageHeader+4]++
	version[4096+pageHeader+4]++
	if err := look(t, version).Verify(); !errors.Is(err, ErrBroken) {
		t.Errorf("another version of the format: %v", err)
	}
	if err := look(t, make([]byte, 1<<20)).Verify(); !errors.Is(err, ErrBroken) {
		t.Errorf("zeros: %v", err)
	}
}
