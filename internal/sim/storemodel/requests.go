// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package storemodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// request is what is asked of the service.
type request struct {
	method, bucket, key string
	query               url.Values
	header              http.Header
	body                []byte
}

// Serve answers a request whose body has been read.
func (s *Store) Serve(r *http.Request, body []byte) *http.Response {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		body = unchunked(body)
	}
	return s.answer(request{r.Method, bucket, key, r.URL.Query(), r.Header, body}).response(r)
}

// unchunked is the content of a body that is sent in chunks, each of which has its length and a signature in front.
func unchunked(body []byte) []byte {
	var content []byte
	for {
		header, rest, found := bytes.Cut(body, []byte("\r\n"))
		length, _, _ := strings.Cut(string(header), ";")
		n, err := strconv.ParseInt(length, 16, 32)
		if !found || err != nil || n == 0 || int(n) > len(rest) {
			return content
		}
		content = append(content, rest[:n]...)
		body = bytes.TrimPrefix(rest[n:], []byte("\r\n"))
	}
}

// Changes reports whether a request changes something.
func Changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

func (s *Store) answer(r request) answer {
	if f := s.refusal(r); f != nil {
		return f.answer()
	}
	b := s.buckets[r.bucket]
	if b == nil {
		return noSuchBucket.answer()
	}
	switch {
	case r.key == "" && r.method == http.MethodGet && r.query.Has("uploads"):
		return s.listUploads(b, r)
	case r.key == "" && r.method == http.MethodGet && r.query.Get("list-type") == "2":
		return s.listObjects(b, r)
	case r.key == "":
		return notImplemented.answer()
	case r.query.Has("uploads") || r.query.Has("uploadId"):
		return s.uploadRequest(b, r)
	case r.query.Has("tagging"):
		return s.tagRequest(b, r)
	}
	return s.objectRequest(b, r)
}

var credential = regexp.MustCompile(`Credential=([^/]+)/`)

// maxSkew is how far the clock of a client may be from the service's.
const maxSkew = 15 * time.Minute

// refusal is why a request is not answered at all; nil where it is.
func (s *Store) refusal(r request) *fault {
	if found := credential.FindStringSubmatch(r.header.Get("Authorization")); s.Keys != nil && (found == nil || !s.Keys[found[1]]) {
		return &unknownKey
	}
	if at, err := time.Parse("20060102T150405Z", r.header.Get("X-Amz-Date")); err == nil && s.Now().Sub(at).Abs() > maxSkew {
		return &skewed
	}
	if want := r.header.Get("X-Amz-Content-Sha256"); len(want) == hex.EncodedLen(sha256.Size) && len(r.body) > 0 {
		if have := sha256.Sum256(r.body); hex.EncodeToString(have[:]) != want {
			return &badSum
		}
	}
	return nil
}

func (s *Store) objectRequest(b *bucket, r request) answer {
	o := b.objects[r.key]
	switch r.method {
	case http.MethodPut:
		if !s.fits(len(r.body)) {
			return full.answer()
		}
		etag := sum(r.body)
		s.put(r.bucket, &Object{Key: r.key, Data: r.body, ETag: etag, Modified: s.Now(), Metadata: metadataOf(r.header)}, Put)
		return answer{status: http.StatusOK, header: http.Header{"Etag": {quote(etag)}}}
	case http.MethodDelete:
		delete(b.objects, r.key)
		if o != nil {
			s.changed(Change{What: Delete, Bucket: r.bucket, Key: r.key, Before: o})
		}
		return answer{status: http.StatusNoContent}
	case http.MethodGet, http.MethodHead:
		if o == nil {
			return noSuchKey.answer()
		}
		h := http.Header{
			"Etag": {quote(o.ETag)}, "Last-Modified": {o.Modified.UTC().Format(http.TimeFormat)},
			"Content-Type": {"application/octet-stream"}, "Content-Length": {strconv.Itoa(len(o.Data))},
		}
		for name, value := range o.Metadata {
			h.Set("X-Amz-Meta-"+name, value)
		}
		return answer{status: http.StatusOK, header: h, body: o.Data}
	}
	return notImplemented.answer()
}

func quote(etag string) string { return `"` + etag + `"` }

// metadataOf are the labels that a request gives an object.
func metadataOf(h http.Header) map[string]string {
	m := map[string]string{}
	for name, values := range h {
		if label, ok := strings.CutPrefix(strings.ToLower(name), "x-amz-meta-"); ok {
			m[label] = values[0]
		}
	}
	return m
}

func (s *Store) tagRequest(b *bucket, r request) answer {
	o := b.objects[r.key]
	if o == nil {
		return noSuchKey.answer()
	}
	if r.method == http.MethodGet {
		return xmlAnswer(taggingOf(o.Tags))
	}
	tags, ok := readTagging(r.body)
	if !ok || r.method != http.MethodPut {
		return malformedXML.answer()
	}
	next := *o
	next.Tags = tags
	s.put(r.bucket, &next, Tag)
	return answer{status: http.StatusOK}
}

func (s *Store) uploadRequest(b *bucket, r request) answer {
	if r.query.Has("uploads") {
		if r.method != http.MethodPost {
			return notImplemented.answer()
		}
		u := s.begin(r.bucket, r.key, metadataOf(r.header))
		return xmlAnswer(begun{Bucket: r.bucket, Key: r.key, UploadID: u.ID})
	}
	id := r.query.Get("uploadId")
	i := slices.IndexFunc(b.uploads, func(u *Upload) bool { return u.ID == id && u.Key == r.key })
	if i < 0 && s.Forgiving && r.method == http.MethodPost {
		return completedBefore(b.objects[r.key], r)
	}
	if i < 0 {
		return noSuchUpload.answer()
	}
	u := b.uploads[i]
	switch r.method {
	case http.MethodPut:
		return s.addPart(u, r)
	case http.MethodPost:
		return s.complete(u, r)
	case http.MethodDelete:
		s.drop(r.bucket, u)
		s.changed(Change{What: Abort, Bucket: r.bucket, Key: r.key, Upload: u})
		return answer{status: http.StatusNoContent}
	}
	return notImplemented.answer()
}

func (s *Store) addPart(u *Upload, r request) answer {
	n, err := strconv.Atoi(r.query.Get("partNumber"))
	if err != nil || n < 1 {
		return fault{http.StatusBadRequest, "InvalidArgument"}.answer()
	}
	if !s.fits(len(r.body)) {
		return full.answer()
	}
	p := Part{Data: r.body, ETag: sum(r.body)}
	u.Parts[n] = p
	s.changed(Change{What: AddPart, Bucket: r.bucket, Key: r.key, Upload: u})
	return answer{status: http.StatusOK, header: http.Header{"Etag": {quote(p.ETag)}}}
}

// completedBefore is the answer to the completion of an upload that is not there, where an object is.
func completedBefore(o *Object, r request) answer {
	wanted, ok := readParts(r.body)
	if !ok || len(wanted) == 0 {
		return malformedXML.answer()
	}
	var etags []string
	for _, w := range wanted {
		etags = append(etags, strings.Trim(w.ETag, `"`))
	}
	if o == nil {
		return noSuchUpload.answer()
	}
	return xmlAnswer(completed{Bucket: r.bucket, Key: r.key, ETag: quote(sumOfParts(etags))})
}

// complete makes an object of the parts that the request names, whatever others there are.
func (s *Store) complete(u *Upload, r request) answer {
	wanted, ok := readParts(r.body)
	if !ok || len(wanted) == 0 {
		return malformedXML.answer()
	}
	o := &Object{Key: u.Key, Modified: s.Now(), Metadata: maps.Clone(u.Metadata)}
	var etags []string
	last := 0
	for i, w := range wanted {
		if w.Number <= last {
			return invalidPartOrder.answer()
		}
		last = w.Number
		p, found := u.Parts[w.Number]
		if !found || p.ETag != strings.Trim(w.ETag, `"`) {
			return invalidPart.answer()
		}
		if i < len(wanted)-1 && int64(len(p.Data)) < s.MinPart {
			return tooSmall.answer()
		}
		o.Data = append(o.Data, p.Data...)
		etags = append(etags, p.ETag)
	}
	o.ETag = sumOfParts(etags)
	s.drop(r.bucket, u)
	s.put(r.bucket, o, Complete)
	return xmlAnswer(completed{Bucket: r.bucket, Key: r.key, ETag: quote(o.ETag)})
}
