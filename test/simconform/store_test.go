// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package simconform

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/tags"

	"github.com/etcd-operator/etcd-operator/internal/sim/storemodel"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

var storeSequences = flag.Int("store-sequences", 100, "how many random sequences to play on stores")

const (
	// sequenceLength is how many operations a sequence has.
	sequenceLength = 14
	// minPart is the least size of all parts but the last.
	minPart = 5 << 20
	region  = "eu-test-1"
)

// TestTheStoreModelAgreesWithVersitygw plays the same random sequences of requests on the model of a store and on a real
// server. Both have to give the same answers.
func TestTheStoreModelAgreesWithVersitygw(t *testing.T) {
	server := stores.StartS3(t)
	host := strings.TrimPrefix(server.URL, "http://")
	id, secret := keysOf(string(server.Config.Secret["credentials"]))
	operations, counts := 0, map[string]int{}
	for i := range *storeSequences {
		seed := *firstSeed + uint64(i)
		model := storemodel.New(time.Now, stores.Bucket)
		model.MinPart, model.Forgiving, model.Keys = minPart, true, map[string]bool{id: true}
		p := &storePair{
			t: t, random: rand.New(rand.NewPCG(seed, 2)), prefix: fmt.Sprintf("s%d/", seed), ended: map[int]bool{},
			real: newSide(t, host, id, secret, http.DefaultTransport), model: newSide(t, "store.example.com", id, secret, carrier{model}),
		}
		for n := range sequenceLength {
			what, actual, modelled := p.operate()
			counts[strings.Fields(what)[0]]++
			operations++
			if actual != modelled {
				t.Fatalf("sequence %d, operation %d, %s:\nthe server answers %s\n the model answers %s\nbefore: %s", seed, n, what, actual, modelled, strings.Join(p.log, "; "))
			}
			p.log = append(p.log, what+" -> "+actual)
		}
	}
	fmt.Printf("simconform: %d sequences, %d operations on versitygw: %v\n", *storeSequences, operations, counts)
}

// keysOf are the keys in a file of AWS.
func keysOf(file string) (id, secret string) {
	for line := range strings.Lines(file) {
		name, value, _ := strings.Cut(line, "=")
		switch strings.TrimSpace(name) {
		case "aws_access_key_id":
			id = strings.TrimSpace(value)
		case "aws_secret_access_key":
			secret = strings.TrimSpace(value)
		}
	}
	return id, secret
}

// carrier brings requests to the model.
type carrier struct{ store *storemodel.Store }

// RoundTrip implements http.RoundTripper.
func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	return c.store.Serve(r, body), nil
}

// side is a client of the server, or of the model.
type side struct {
	*minio.Core
	// uploads are the ids of the uploads in the order in which they were begun, and etags those of their parts.
	uploads []string
	etags   []map[int]string
}

func newSide(t *testing.T, host, id, secret string, transport http.RoundTripper) *side {
	t.Helper()
	core, err := minio.NewCore(host, &minio.Options{
		Creds: credentials.NewStaticV4(id, secret, ""), Region: region, BucketLookup: minio.BucketLookupPath, Transport: transport, MaxRetries: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &side{Core: core}
}

// storePair is a server and a model to which the same happens.
type storePair struct {
	t           *testing.T
	random      *rand.Rand
	prefix      string
	real, model *side
	// keys are those of the uploads, and ended the uploads that were completed or aborted.
	keys  []string
	ended map[int]bool
	log   []string
}

// both asks both sides the same.
func (p *storePair) both(what string, ask func(ctx context.Context, s *side) string) (asked, actual, model string) {
	return what, ask(p.t.Context(), p.real), ask(p.t.Context(), p.model)
}

// failed is an error as both sides can be compared by it.
func failed(err error) string {
	e := minio.ToErrorResponse(err)
	return fmt.Sprintf("error %d %s", e.StatusCode, e.Code)
}

func (p *storePair) key() string {
	return p.prefix + []string{"a", "d/b", "b_v1", "b_v2", "c d+é"}[p.random.IntN(5)]
}

func (p *storePair) data() []byte {
	data := make([]byte, p.random.IntN(40))
	for i := range data {
		data[i] = byte(p.random.IntN(256))
	}
	return data
}

func describeObject(o minio.ObjectInfo) string {
	metadata := map[string]string{}
	for name, value := range o.UserMetadata {
		metadata[strings.ToLower(name)] = value
	}
	return fmt.Sprintf("%s %d %s %v", o.Key, o.Size, o.ETag, metadata)
}

// operate does one thing to both sides.
func (p *storePair) operate() (what, actual, model string) {
	key := p.key()
	switch n := p.random.IntN(20); {
	case n < 3:
		return p.put(key)
	case n < 5:
		return p.both("stat "+key, func(ctx context.Context, s *side) string {
			o, err := s.StatObject(ctx, stores.Bucket, key, minio.StatObjectOptions{})
			if err != nil {
				return failed(err)
			}
			return describeObject(o)
		})
	case n < 6:
		return p.get(key)
	case n < 7:
		return p.both("delete "+key, func(ctx context.Context, s *side) string {
			return fmt.Sprint(s.RemoveObject(ctx, stores.Bucket, key, minio.RemoveObjectOptions{}))
		})
	case n < 9:
		return p.list(1 + p.random.IntN(4))
	case n < 11:
		return p.begin(key)
	case n < 14:
		return p.part()
	case n < 16:
		return p.complete()
	case n < 17:
		return p.abort()
	case n < 18:
		return p.listUploads()
	case n < 19:
		return p.tag(key)
	}
	return p.refused(key)
}

func (p *storePair) put(key string) (what, actual, model string) {
	data, metadata := p.data(), map[string]string{"label": fmt.Sprint(p.random.IntN(9))}
	return p.both("put "+key, func(ctx context.Context, s *side) string {
		o, err := s.PutObject(ctx, stores.Bucket, key, bytes.NewReader(data), int64(len(data)), "", "", minio.PutObjectOptions{UserMetadata: metadata})
		if err != nil {
			return failed(err)
		}
		return o.ETag
	})
}

func (p *storePair) get(key string) (what, actual, model string) {
	return p.both("get "+key, func(ctx context.Context, s *side) string {
		body, o, _, err := s.GetObject(ctx, stores.Bucket, key, minio.GetObjectOptions{})
		if err != nil {
			return failed(err)
		}
		defer func() { _ = body.Close() }()
		data, err := io.ReadAll(body)
		return fmt.Sprintf("%s %d bytes %x %v", describeObject(o), len(data), data[:min(len(data), 50)], err)
	})
}

// list lists the objects of the sequence in pages.
func (p *storePair) list(size int) (what, actual, model string) {
	prefix := p.prefix + []string{"", "a", "b_v"}[p.random.IntN(3)]
	return p.both(fmt.Sprintf("list %s by %d", prefix, size), func(_ context.Context, s *side) string {
		var pages []string
		token := ""
		for {
			page, err := s.ListObjectsV2(stores.Bucket, prefix, "", token, "", size)
			if err != nil {
				return failed(err)
			}
			var entries []string
			for _, o := range page.Contents {
				entries = append(entries, describeObject(o))
			}
			if len(entries) > 0 { // versitygw says that more may follow where other keys do
				pages = append(pages, strings.Join(entries, ", "))
			}
			if token = page.NextContinuationToken; !page.IsTruncated {
				return strings.Join(pages, " | ")
			}
		}
	})
}

func (p *storePair) begin(key string) (what, actual, model string) {
	p.keys = append(p.keys, key)
	return p.both("begin "+key, func(ctx context.Context, s *side) string {
		id, err := s.NewMultipartUpload(ctx, stores.Bucket, key, minio.PutObjectOptions{UserMetadata: map[string]string{"label": "upload"}})
		s.uploads, s.etags = append(s.uploads, id), append(s.etags, map[int]string{})
		if err != nil {
			return failed(err)
		}
		return "begun"
	})
}

// upload is one of the uploads that were ever begun, and its key; -1 where there is none.
func (p *storePair) upload() (n int, key string) {
	if len(p.keys) == 0 {
		return -1, ""
	}
	n = p.random.IntN(len(p.keys))
	return n, p.keys[n]
}

func (p *storePair) part() (what, actual, model string) {
	n, key := p.upload()
	if n < 0 {
		return p.begin(p.key())
	}
	number, data := 1+p.random.IntN(3), p.data()
	if p.random.IntN(12) == 0 && !p.ended[n] {
		data = make([]byte, minPart) // large enough for more to follow; where nobody wants it, the server hangs up
	}
	return p.both(fmt.Sprintf("part %d of %d, %d bytes", number, n, len(data)), func(ctx context.Context, s *side) string {
		part, err := s.PutObjectPart(ctx, stores.Bucket, key, s.uploads[n], number, bytes.NewReader(data), int64(len(data)), minio.PutObjectPartOptions{})
		if err != nil {
			return failed(err)
		}
		s.etags[n][number] = part.ETag
		return part.ETag
	})
}

// complete completes an upload with the parts that it has, with one that it does not have, or with none.
func (p *storePair) complete() (what, actual, model string) {
	n, key := p.upload()
	if n < 0 {
		return p.begin(p.key())
	}
	missing := p.random.IntN(6) == 0
	return p.both(fmt.Sprintf("complete %d, missing=%t", n, missing), func(ctx context.Context, s *side) string {
		var parts []minio.CompletePart
		for _, number := range slices.Sorted(maps.Keys(s.etags[n])) {
			parts = append(parts, minio.CompletePart{PartNumber: number, ETag: s.etags[n][number]})
		}
		if missing {
			parts = append(parts, minio.CompletePart{PartNumber: 9, ETag: "d41d8cd98f00b204e9800998ecf8427e"})
		}
		if len(parts) == 0 {
			return "no parts"
		}
		o, err := s.CompleteMultipartUpload(ctx, stores.Bucket, key, s.uploads[n], parts, minio.PutObjectOptions{})
		if err != nil {
			return failed(err)
		}
		p.ended[n] = true
		return o.ETag
	})
}

func (p *storePair) abort() (what, actual, model string) {
	n, key := p.upload()
	if n < 0 {
		return p.begin(p.key())
	}
	return p.both(fmt.Sprintf("abort %d", n), func(ctx context.Context, s *side) string {
		if err := s.AbortMultipartUpload(ctx, stores.Bucket, key, s.uploads[n]); err != nil {
			return failed(err)
		}
		p.ended[n] = true
		return "aborted"
	})
}

// listUploads lists the uploads of the sequence, on one page: versitygw refuses the marker of the second one where a key has
// several uploads. Which of those comes first is a matter of chance.
func (p *storePair) listUploads() (what, actual, model string) {
	return p.both("uploads", func(ctx context.Context, s *side) string {
		page, err := s.ListMultipartUploads(ctx, stores.Bucket, p.prefix, "", "", "", 1000)
		if err != nil {
			return failed(err)
		}
		var entries []string
		for i := range page.Uploads {
			entries = append(entries, fmt.Sprintf("%s %d", page.Uploads[i].Key, slices.Index(s.uploads, page.Uploads[i].UploadID)))
		}
		slices.Sort(entries)
		return fmt.Sprintf("%t %s", page.IsTruncated, strings.Join(entries, ", "))
	})
}

func (p *storePair) tag(key string) (what, actual, model string) {
	value := fmt.Sprint(p.random.IntN(9))
	return p.both("tag "+key, func(ctx context.Context, s *side) string {
		t, err := tags.MapToObjectTags(map[string]string{"sum": value, "mark": "x"})
		if err != nil {
			return err.Error()
		}
		if err := s.PutObjectTagging(ctx, stores.Bucket, key, t, minio.PutObjectTaggingOptions{}); err != nil {
			return failed(err)
		}
		found, err := s.GetObjectTagging(ctx, stores.Bucket, key, minio.GetObjectTaggingOptions{})
		if err != nil {
			return failed(err)
		}
		return fmt.Sprint(found.ToMap())
	})
}

// refused asks a bucket that is not there. Access keys are not compared: without accounts versitygw has an answer to unknown
// ones that no other server has.
func (p *storePair) refused(key string) (what, actual, model string) {
	const bucket = "no-such-bucket"
	reads := p.random.IntN(2) == 0
	return p.both("nowhere "+key, func(ctx context.Context, s *side) string {
		if reads {
			_, err := s.ListObjectsV2(bucket, p.prefix, "", "", "", 1)
			return failed(err)
		}
		_, err := s.PutObject(ctx, bucket, key, strings.NewReader("x"), 1, "", "", minio.PutObjectOptions{})
		return failed(err)
	})
}
