// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import (
	"crypto/md5" //nolint:gosec // what OSS makes its ETags of
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash/crc64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The credentials that the OSS server accepts.
const (
	ossID     = "LTAITESTTESTTEST"
	ossSecret = "sekret0123456789sekret01234567"
)

// OSS is a server of the behaviour of Alibaba Cloud OSS, as far as its documentation tells it: buckets,
// objects, uploads in parts, tags, listings in pages, and both signatures. It keeps objects in memory.
type OSS struct {
	mu      sync.Mutex
	buckets map[string]map[string]*ossObject
	uploads map[string]*ossUpload
	next    int
	// Signatures counts the requests by the version of their signature.
	signatures map[string]int
}

type ossObject struct {
	data     []byte
	etag     string
	modified time.Time
	meta     map[string]string
	tags     ossTagSet
}

type ossUpload struct {
	bucket, key string
	meta        map[string]string
	parts       map[int][]byte
}

type ossTagSet struct {
	Tags []ossTag `xml:"Tag"`
}

type ossTag struct{ Key, Value string }

// NewOSS returns a server with one bucket.
func NewOSS() *OSS {
	return &OSS{
		buckets:    map[string]map[string]*ossObject{Bucket: {}},
		uploads:    map[string]*ossUpload{},
		signatures: map[string]int{},
	}
}

// StartOSS runs the server on a free port.
func StartOSS(tb testing.TB) *Server {
	tb.Helper()
	server := httptest.NewServer(NewOSS())
	tb.Cleanup(server.Close)
	return &Server{
		URL: server.URL,
		Config: store.Config{
			Permissions: permissions,
			Kind:        "OSS", Path: Bucket + "/key", Endpoint: server.URL, SecretName: "oss",
			Secret: OSSSecret(),
		},
		Wrong: map[string][]byte{"accessKeyID": []byte(ossID), "accessKeySecret": []byte("wrongwrongwrongwrongwrong")},
	}
}

// OSSSecret is the secret that the server accepts.
func OSSSecret() map[string][]byte {
	return map[string][]byte{"accessKeyID": []byte(ossID), "accessKeySecret": []byte(ossSecret)}
}

// Signatures says how many requests came with the signature of a version, "V1" or "V4".
func (s *OSS) Signatures(version string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signatures[version]
}

// Keys are those of the objects of a bucket.
func (s *OSS) Keys(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.buckets[bucket] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Uploads is how many uploads are not finished.
func (s *OSS) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// ServeHTTP implements http.Handler.
func (s *OSS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	bucket, key := ossTarget(r)
	// Answers are written after the lock is released: a client that reads one slowly holds up no other.
	answer := httptest.NewRecorder()
	s.answer(answer, r, bucket, key, body)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (s *OSS) answer(w http.ResponseWriter, r *http.Request, bucket, key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, err := ossCheckSignature(r, bucket, key)
	if err != nil {
		ossRefuse(w, http.StatusForbidden, "SignatureDoesNotMatch", err.Error())
		return
	}
	s.signatures[version]++
	q := r.URL.Query()
	if r.Method == http.MethodPut && key == "" {
		if s.buckets[bucket] == nil {
			s.buckets[bucket] = map[string]*ossObject{}
		}
		return
	}
	objects := s.buckets[bucket]
	switch {
	case objects == nil:
		ossRefuse(w, http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist.")
	case key == "" && q.Has("uploads"):
		s.listUploads(w, bucket, q.Get("prefix"))
	case key == "":
		s.list(w, objects, q.Get("prefix"), q.Get("continuation-token"), q.Get("max-keys"))
	case q.Has("uploads") || q.Has("uploadId"):
		s.inParts(w, r, bucket, key, body)
	case q.Has("tagging"):
		s.tagging(w, r, objects[key], body)
	default:
		s.object(w, r, objects, key, body)
	}
}

// ossTarget finds bucket and key: in the path where the host is an address, else in the host's name.
func ossTarget(r *http.Request) (bucket, key string) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if host, found := strings.CutSuffix(r.Host, ".aliyuncs.com"); found {
		bucket, _, _ := strings.Cut(host, ".oss-")
		return bucket, path
	}
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

func (s *OSS) object(w http.ResponseWriter, r *http.Request, objects map[string]*ossObject, key string, body []byte) {
	o := objects[key]
	switch r.Method {
	case http.MethodPut:
		objects[key] = newOSSObject(body, ossMeta(r))
		w.Header().Set("ETag", objects[key].etag)
		w.Header().Set("x-oss-hash-crc64ecma", ossCRC(body))
	case http.MethodDelete:
		delete(objects, key)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet, http.MethodHead:
		if o == nil {
			ossRefuse(w, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
			return
		}
		for name, value := range o.meta {
			w.Header().Set("x-oss-meta-"+name, value)
		}
		if n := len(o.tags.Tags); n > 0 {
			w.Header().Set("x-oss-tagging-count", strconv.Itoa(n))
		}
		w.Header().Set("ETag", o.etag)
		w.Header().Set("Content-Length", strconv.Itoa(len(o.data)))
		w.Header().Set("Last-Modified", o.modified.UTC().Format(http.TimeFormat))
		if r.Method == http.MethodGet {
			_, _ = w.Write(o.data)
		}
	default:
		ossRefuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method)
	}
}

func (s *OSS) inParts(w http.ResponseWriter, r *http.Request, bucket, key string, body []byte) {
	q := r.URL.Query()
	if q.Has("uploads") {
		s.next++
		id := fmt.Sprintf("UPLOAD%08d", s.next)
		s.uploads[id] = &ossUpload{bucket: bucket, key: key, meta: ossMeta(r), parts: map[int][]byte{}}
		ossAnswer(w, struct {
			XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
			Bucket   string
			Key      string
			UploadID string `xml:"UploadId"`
		}{Bucket: bucket, Key: key, UploadID: id})
		return
	}
	up := s.uploads[q.Get("uploadId")]
	if up == nil || up.key != key {
		ossRefuse(w, http.StatusNotFound, "NoSuchUpload", "The specified upload does not exist.")
		return
	}
	switch r.Method {
	case http.MethodPut:
		n, err := strconv.Atoi(q.Get("partNumber"))
		if err != nil || n < 1 || n > 10000 {
			ossRefuse(w, http.StatusBadRequest, "InvalidArgument", "partNumber")
			return
		}
		up.parts[n] = body
		w.Header().Set("ETag", ossETag(body))
		w.Header().Set("x-oss-hash-crc64ecma", ossCRC(body))
	case http.MethodDelete:
		delete(s.uploads, q.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		s.finish(w, bucket, key, q.Get("uploadId"), up, body)
	}
}

// finish makes an object of the parts of an upload.
func (s *OSS) finish(w http.ResponseWriter, bucket, key, id string, up *ossUpload, body []byte) {
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &list); err != nil || len(list.Part) == 0 {
		ossRefuse(w, http.StatusBadRequest, "MalformedXML", "parts")
		return
	}
	var data []byte
	for i, p := range list.Part {
		part, ok := up.parts[p.PartNumber]
		switch {
		case !ok || ossETag(part) != p.ETag:
			ossRefuse(w, http.StatusBadRequest, "InvalidPart", strconv.Itoa(p.PartNumber))
			return
		case i < len(list.Part)-1 && len(part) < 100<<10:
			ossRefuse(w, http.StatusBadRequest, "EntityTooSmall", strconv.Itoa(p.PartNumber))
			return
		}
		data = append(data, part...)
	}
	s.buckets[bucket][key] = newOSSObject(data, up.meta)
	delete(s.uploads, id)
	ossAnswer(w, struct {
		XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket, Key, ETag string
	}{Bucket: bucket, Key: key, ETag: s.buckets[bucket][key].etag})
}

func (s *OSS) tagging(w http.ResponseWriter, r *http.Request, o *ossObject, body []byte) {
	if o == nil {
		ossRefuse(w, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
		return
	}
	if r.Method == http.MethodPut {
		var tagging struct{ TagSet ossTagSet }
		if err := xml.Unmarshal(body, &tagging); err != nil || len(tagging.TagSet.Tags) > 10 {
			ossRefuse(w, http.StatusBadRequest, "InvalidTag", "tags")
			return
		}
		o.tags = tagging.TagSet
		return
	}
	ossAnswer(w, struct {
		XMLName xml.Name `xml:"Tagging"`
		TagSet  ossTagSet
	}{TagSet: o.tags})
}

// ossPage is how many objects one answer to a listing holds at most where the request does not say.
const ossPage = 100

func (s *OSS) list(w http.ResponseWriter, objects map[string]*ossObject, prefix, after, limit string) {
	type content struct {
		Key          string
		Size         int
		LastModified string
		ETag         string
	}
	result := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Prefix                string
		KeyCount              int
		IsTruncated           bool
		NextContinuationToken string
		Contents              []content
	}{Prefix: prefix}
	page := ossPage
	if n, err := strconv.Atoi(limit); err == nil {
		page = min(n, 1000)
	}
	var keys []string
	for key := range objects {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > page {
		keys, result.IsTruncated, result.NextContinuationToken = keys[:page], true, keys[page-1]
	}
	for _, key := range keys {
		o := objects[key]
		result.Contents = append(result.Contents, content{key, len(o.data), o.modified.UTC().Format("2006-01-02T15:04:05.000Z"), o.etag})
	}
	result.KeyCount = len(keys)
	ossAnswer(w, result)
}

func (s *OSS) listUploads(w http.ResponseWriter, bucket, prefix string) {
	type upload struct {
		Key       string
		UploadID  string `xml:"UploadId"`
		Initiated string
	}
	result := struct {
		XMLName     xml.Name `xml:"ListMultipartUploadsResult"`
		Bucket      string
		IsTruncated bool
		Upload      []upload
	}{Bucket: bucket}
	for id, up := range s.uploads {
		if up.bucket == bucket && strings.HasPrefix(up.key, prefix) {
			result.Upload = append(result.Upload, upload{up.key, id, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")})
		}
	}
	ossAnswer(w, result)
}

func newOSSObject(data []byte, meta map[string]string) *ossObject {
	return &ossObject{data: data, etag: ossETag(data), modified: time.Now(), meta: meta}
}

func ossMeta(r *http.Request) map[string]string {
	meta := map[string]string{}
	for name, values := range r.Header {
		if rest, ok := strings.CutPrefix(strings.ToLower(name), "x-oss-meta-"); ok {
			meta[rest] = values[0]
		}
	}
	return meta
}

func ossETag(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // see the import
	return `"` + strings.ToUpper(hex.EncodeToString(sum[:])) + `"`
}

func ossCRC(data []byte) string {
	return strconv.FormatUint(crc64.Checksum(data, crc64.MakeTable(crc64.ECMA)), 10)
}

func ossAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(v)
}

func ossRefuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("x-oss-request-id", "TEST")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName   xml.Name `xml:"Error"`
		Code      string
		Message   string
		RequestID string `xml:"RequestId"`
	}{Code: code, Message: message, RequestID: "TEST"})
}
