// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package storemodel

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pageSize is how many entries a page has that a client asks for.
func (s *Store) pageSize(asked string) int {
	most := s.PageSize
	if most == 0 {
		most = 1000
	}
	if n, err := strconv.Atoi(asked); err == nil && n > 0 {
		return min(n, most)
	}
	return most
}

// listObjects is a page of the objects whose keys begin with a prefix. The token of the next page is the last key.
func (s *Store) listObjects(b *bucket, r request) answer {
	prefix, after := r.query.Get("prefix"), r.query.Get("continuation-token")
	if after == "" {
		after = r.query.Get("start-after")
	}
	most := s.pageSize(r.query.Get("max-keys"))
	list := objectList{Name: r.bucket, Prefix: prefix, MaxKeys: most, EncodingType: r.query.Get("encoding-type")}
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if !strings.HasPrefix(key, prefix) || (after != "" && key <= after) {
			continue
		}
		if len(list.Contents) == most {
			list.IsTruncated, list.NextContinuationToken = true, list.last
			break
		}
		o := b.objects[key]
		list.last = key
		list.Contents = append(list.Contents, listedObject{
			Key: encodeKey(key, list.EncodingType), LastModified: o.Modified.UTC().Format(listTime), ETag: quote(o.ETag), Size: len(o.Data),
		})
	}
	list.KeyCount = len(list.Contents)
	return xmlAnswer(list)
}

// listUploads is a page of the uploads whose keys begin with a prefix. The next page begins after a key and an upload.
func (s *Store) listUploads(b *bucket, r request) answer {
	prefix, key, id := r.query.Get("prefix"), r.query.Get("key-marker"), r.query.Get("upload-id-marker")
	most := s.pageSize(r.query.Get("max-uploads"))
	list := uploadList{Bucket: r.bucket, Prefix: prefix, KeyMarker: key, UploadIDMarker: id, MaxUploads: most, EncodingType: r.query.Get("encoding-type")}
	passed := id == "" // the upload that the last page ended with
	for _, u := range b.uploads {
		if !strings.HasPrefix(u.Key, prefix) || u.Key < key || (u.Key == key && id == "") {
			continue
		}
		if u.Key == key && !passed {
			passed = u.ID == id
			continue
		}
		if len(list.Uploads) == most {
			last := list.Uploads[most-1]
			list.IsTruncated, list.NextKeyMarker, list.NextUploadIDMarker = true, last.Key, last.UploadID
			break
		}
		list.Uploads = append(list.Uploads, listedUpload{Key: encodeKey(u.Key, list.EncodingType), UploadID: u.ID, Initiated: u.Began.UTC().Format(listTime)})
	}
	return xmlAnswer(list)
}

// listTime is how listings write times.
const listTime = "2006-01-02T15:04:05.000Z"

func encodeKey(key, encoding string) string {
	if encoding != "url" {
		return key
	}
	return strings.ReplaceAll(url.QueryEscape(key), "%2F", "/")
}
