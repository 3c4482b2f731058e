// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package storemodel is a model of an object store that speaks the protocol of S3, as far as a backup operator can see
// it: objects with metadata and tags, uploads in parts, listings in pages, access keys, clocks and a limit of room. It
// answers requests one at a time. Whether a request arrives, and whether its answer does, is not its business.
//
// test/simconform holds it to a real server.
package storemodel

import (
	"crypto/md5" //nolint:gosec // that is what the names of versions are made of
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Store is one service with its buckets.
type Store struct {
	// Now is the service's own clock.
	Now func() time.Time
	// Keys are the access keys that the service accepts; nil for all.
	Keys map[string]bool
	// PageSize is how many entries a page of a listing has at most; 1000 where it is zero.
	PageSize int
	// MinPart is the least size of all parts of an upload but the last.
	MinPart int64
	// Room is how many bytes there is room for; zero for any number.
	Room int64
	// Forgiving says that the completion of an upload which is not there succeeds where its key has an object: it may have been
	// completed before. versitygw does that; others know of no such upload.
	Forgiving bool
	// Changed is notified of every change; nil for nobody.
	Changed func(Change)

	buckets map[string]*bucket
	ids     int
}

// Change is what a request did.
type Change struct {
	// What is one of the constants below.
	What   string
	Bucket string
	Key    string
	// Before and After are the object before and after, where it is about one.
	Before, After *Object
	// Upload is what it is about, where it is about one.
	Upload *Upload
}

// What can be done.
const (
	Put      = "put"
	Delete   = "delete"
	Tag      = "tag"
	Begin    = "begin upload"
	AddPart  = "add part"
	Complete = "complete upload"
	Abort    = "abort upload"
)

type bucket struct {
	objects map[string]*Object
	uploads []*Upload
}

// Object is an object. It is never changed, only replaced.
type Object struct {
	Key      string
	Data     []byte
	ETag     string
	Modified time.Time
	Metadata map[string]string
	Tags     map[string]string
}

// Upload is an object on its way, in parts.
type Upload struct {
	ID       string
	Key      string
	Began    time.Time
	Metadata map[string]string
	Parts    map[int]Part
}

// Part is a part of an upload.
type Part struct {
	Data []byte
	ETag string
}

// New returns a service with empty buckets.
func New(now func() time.Time, buckets ...string) *Store {
	s := &Store{Now: now, buckets: map[string]*bucket{}}
	for _, name := range buckets {
		s.buckets[name] = &bucket{objects: map[string]*Object{}}
	}
	return s
}

// Find returns an object; nil where there is none.
func (s *Store) Find(bucket, key string) *Object {
	if b := s.buckets[bucket]; b != nil {
		return b.objects[key]
	}
	return nil
}

// Objects are those of a bucket, by key.
func (s *Store) Objects(bucket string) []*Object {
	var list []*Object
	if b := s.buckets[bucket]; b != nil {
		for _, key := range slices.Sorted(maps.Keys(b.objects)) {
			list = append(list, b.objects[key])
		}
	}
	return list
}

// Uploads are those of a bucket that were neither completed nor aborted, by key and then by age.
func (s *Store) Uploads(bucket string) []*Upload {
	if b := s.buckets[bucket]; b != nil {
		return b.uploads
	}
	return nil
}

// Write stores an object as somebody else does.
func (s *Store) Write(bucket, key string, data []byte, metadata map[string]string) {
	s.put(bucket, &Object{Key: key, Data: data, ETag: sum(data), Modified: s.Now(), Metadata: metadata}, Put)
}

// Remove deletes an object as somebody else does.
func (s *Store) Remove(bucket, key string) { delete(s.buckets[bucket].objects, key) }

// RemoveBucket deletes a bucket with all that is in it.
func (s *Store) RemoveBucket(name string) { delete(s.buckets, name) }

// CreateBucket creates an empty bucket, unless it exists.
func (s *Store) CreateBucket(name string) {
	if s.buckets[name] == nil {
		s.buckets[name] = &bucket{objects: map[string]*Object{}}
	}
}

// BeginUpload begins an upload as somebody else does.
func (s *Store) BeginUpload(bucket, key string) *Upload { return s.begin(bucket, key, nil) }

func (s *Store) put(name string, o *Object, what string) {
	b := s.buckets[name]
	before := b.objects[o.Key]
	b.objects[o.Key] = o
	s.changed(Change{What: what, Bucket: name, Key: o.Key, Before: before, After: o})
}

func (s *Store) begin(name, key string, metadata map[string]string) *Upload {
	s.ids++
	u := &Upload{ID: fmt.Sprintf("upload-%06d", s.ids), Key: key, Began: s.Now(), Metadata: metadata, Parts: map[int]Part{}}
	b := s.buckets[name]
	b.uploads = append(slices.Clone(b.uploads), u)
	slices.SortStableFunc(b.uploads, func(a, c *Upload) int { return strings.Compare(a.Key, c.Key) })
	s.changed(Change{What: Begin, Bucket: name, Key: key, Upload: u})
	return u
}

func (s *Store) drop(name string, u *Upload) {
	b := s.buckets[name]
	b.uploads = slices.DeleteFunc(slices.Clone(b.uploads), func(other *Upload) bool { return other == u })
}

func (s *Store) changed(c Change) {
	if s.Changed != nil {
		s.Changed(c)
	}
}

// used is how many bytes are stored.
func (s *Store) used() int64 {
	var n int64
	for _, b := range s.buckets {
		for _, o := range b.objects {
			n += int64(len(o.Data))
		}
		for _, u := range b.uploads {
			for _, p := range u.Parts {
				n += int64(len(p.Data))
			}
		}
	}
	return n
}

func (s *Store) fits(n int) bool { return s.Room == 0 || s.used()+int64(n) <= s.Room }

// sum is the name of a version of an object.
func sum(data []byte) string {
	h := md5.Sum(data) //nolint:gosec // it protects nothing
	return hex.EncodeToString(h[:])
}

// sumOfParts is the name of a version that was uploaded in parts.
func sumOfParts(etags []string) string {
	var all []byte
	for _, etag := range etags {
		raw, _ := hex.DecodeString(etag)
		all = append(all, raw...)
	}
	return fmt.Sprintf("%s-%d", sum(all), len(etags))
}
