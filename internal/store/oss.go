// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/aliyun/alibabacloud-oss-go-sdk-v2/oss"
	osscredentials "github.com/aliyun/alibabacloud-oss-go-sdk-v2/oss/credentials"
)

// The entries of an OSS secret.
const (
	ossKeyID     = "accessKeyID"
	ossKeySecret = "accessKeySecret"
)

// ossDefaultEndpoint is where the original operator went if the spec names no endpoint, but with TLS: a snapshot holds all
// secrets of its cluster.
const ossDefaultEndpoint = "https://oss-cn-hangzhou.aliyuncs.com"

// ossRegion finds the region in the names of the service's own endpoints.
var ossRegion = regexp.MustCompile(`^(?:s3\.)?oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com$`)

// ossRegionOf is the region that the name of an endpoint tells. A private one tells none, and neither do those that
// lead to the buckets of all regions.
func ossRegionOf(host string) string {
	m := ossRegion.FindStringSubmatch(host)
	if m == nil || strings.HasPrefix(m[1], "accelerate") {
		return ""
	}
	return m[1]
}

// ossStore is a bucket of Alibaba Cloud OSS.
type ossStore struct {
	client *oss.Client
	link   *link
	bucket string
	explainer
}

func init() { openers["OSS"] = openOSS }

func openOSS(ctx context.Context, c Config, bucket string) (Store, error) {
	link, err := newLink(c)
	if err != nil {
		return nil, err
	}
	id, err := required(c, ossKeyID)
	if err != nil {
		return nil, err
	}
	secret, err := required(c, ossKeySecret)
	if err != nil {
		return nil, err
	}
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = ossDefaultEndpoint
	}
	u, err := endpointOf(ctx, c, endpoint)
	if err != nil {
		return nil, err
	}
	cfg := oss.LoadDefaultConfig().
		WithEndpoint(u.Scheme + "://" + u.Host).
		WithCredentialsProvider(osscredentials.NewStaticCredentialsProvider(id, secret)).
		WithHttpClient(link.client()).
		WithRetryMaxAttempts(4)
	if region := ossRegionOf(u.Hostname()); region != "" {
		cfg = cfg.WithRegion(region)
	} else {
		// The newer signature names the region, which the name of this endpoint does not tell.
		cfg = cfg.WithSignatureVersion(oss.SignatureVersionV1)
	}
	if net.ParseIP(u.Hostname()) != nil {
		cfg = cfg.WithUsePathStyle(true)
	}
	return &ossStore{
		client: oss.NewClient(cfg), link: link, bucket: bucket,
		explainer: newExplainer(c, "bucket", bucket, u.Host, map[verb]string{
			writing:  "oss:PutObject and oss:AbortMultipartUpload",
			reading:  "oss:GetObject",
			listing:  "oss:ListObjects and oss:ListMultipartUploads",
			deleting: "oss:DeleteObject",
		}),
	}, nil
}

func (s *ossStore) Put(ctx context.Context, key string, body io.Reader, first Labels, last func() Labels) error {
	return putParts(ctx, &ossUpload{ossStore: s, key: key, mark: newMark(), etags: map[int]*string{}}, body, first, last)
}

func (s *ossStore) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	r, err := s.client.GetObject(streamed(ctx), &oss.GetObjectRequest{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, Object{}, s.translate(reading, err)
	}
	o := Object{Key: key, Size: r.ContentLength, Labels: lower(r.Metadata)}
	if r.LastModified != nil {
		o.Modified = *r.LastModified
	}
	s.addTags(ctx, &o, r.TaggingCount)
	return r.Body, o, nil
}

func (s *ossStore) Stat(ctx context.Context, key string) (Object, error) {
	return s.stat(ctx, key, true)
}

// head is Stat without the tags.
func (s *ossStore) head(ctx context.Context, key string) (Object, error) {
	return s.stat(ctx, key, false)
}

func (s *ossStore) stat(ctx context.Context, key string, tags bool) (Object, error) {
	r, err := s.client.HeadObject(ctx, &oss.HeadObjectRequest{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	o := Object{Key: key, Size: r.ContentLength, Labels: lower(r.Metadata)}
	if r.LastModified != nil {
		o.Modified = *r.LastModified
	}
	if !tags {
		r.TaggingCount = 0
	}
	s.addTags(ctx, &o, r.TaggingCount)
	return o, nil
}

// addTags adds what was not known when the upload began; it stands in tags.
func (s *ossStore) addTags(ctx context.Context, o *Object, count int32) {
	late := Labels{}
	if count > 0 {
		if r, err := s.client.GetObjectTagging(ctx, &oss.GetObjectTaggingRequest{Bucket: &s.bucket, Key: &o.Key}); err == nil {
			for _, t := range r.Tags {
				late[strings.ToLower(oss.ToString(t.Key))] = oss.ToString(t.Value)
			}
		}
	}
	o.Labels = withTags(o.Labels, late)
}

func (s *ossStore) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		pages := s.client.NewListObjectsV2Paginator(&oss.ListObjectsV2Request{Bucket: &s.bucket, Prefix: &prefix})
		for pages.HasNext() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Object{}, s.translate(listing, err))
				return
			}
			for _, item := range page.Contents {
				o := Object{Key: oss.ToString(item.Key), Size: item.Size, Modified: oss.ToTime(item.LastModified)}
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

func (s *ossStore) Delete(ctx context.Context, key string) error {
	_, err := s.client.DeleteObject(ctx, &oss.DeleteObjectRequest{Bucket: &s.bucket, Key: &key})
	if err = s.translate(deleting, err); Is(err, NoObject) {
		return nil
	}
	return err
}

func (s *ossStore) Sweep(ctx context.Context, prefix string, match func(key string) bool) error {
	pages := s.client.NewListMultipartUploadsPaginator(&oss.ListMultipartUploadsRequest{Bucket: &s.bucket, Prefix: &prefix})
	for pages.HasNext() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return s.translate(listing, err)
		}
		for _, up := range page.Uploads {
			if !match(oss.ToString(up.Key)) {
				continue
			}
			if err := s.abort(ctx, oss.ToString(up.Key), oss.ToString(up.UploadId)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *ossStore) abort(ctx context.Context, key, id string) error {
	_, err := s.client.AbortMultipartUpload(ctx, &oss.AbortMultipartUploadRequest{Bucket: &s.bucket, Key: &key, UploadId: &id})
	var answer *oss.ServiceError
	if errors.As(err, &answer) && answer.Code == "NoSuchUpload" {
		return nil
	}
	return s.translate(writing, err)
}

func (s *ossStore) URL(key string) string { return "oss://" + s.bucket + "/" + key }

func (s *ossStore) Close() error {
	s.link.CloseIdleConnections()
	return nil
}

// makingBucket runs do, and once more after creating the bucket where that was missing: the original
// operator created it, and there are manifests that count on it.
func (s *ossStore) makingBucket(ctx context.Context, do func() error) error {
	err := s.translate(writing, do())
	if !Is(err, NoBucket) {
		return err
	}
	if _, makeErr := s.client.PutBucket(ctx, &oss.PutBucketRequest{Bucket: &s.bucket}); makeErr != nil {
		return fmt.Errorf("%w; creating it failed as well: %w", err, s.translate(writing, makeErr))
	}
	return s.translate(writing, do())
}

// ossUpload is one object on its way.
type ossUpload struct {
	*ossStore
	key  string
	id   *string
	mark mark

	mu    sync.Mutex
	etags map[int]*string
	size  int64
}

func (u *ossUpload) whole(ctx context.Context, data []byte, labels Labels) error {
	return u.makingBucket(ctx, func() error {
		_, err := u.client.PutObject(ctx, &oss.PutObjectRequest{
			Bucket: &u.bucket, Key: &u.key, Metadata: labels, Body: bytes.NewReader(data),
		})
		return err
	})
}

func (u *ossUpload) begin(ctx context.Context, first Labels) error {
	return u.makingBucket(ctx, func() error {
		r, err := u.client.InitiateMultipartUpload(ctx, &oss.InitiateMultipartUploadRequest{
			Bucket: &u.bucket, Key: &u.key, Metadata: u.mark.on(first),
		})
		if err == nil {
			u.id = r.UploadId
		}
		return err
	})
}

func (u *ossUpload) part(ctx context.Context, n int, data []byte) error {
	r, err := u.client.UploadPart(ctx, &oss.UploadPartRequest{
		Bucket: &u.bucket, Key: &u.key, UploadId: u.id, PartNumber: int32(n), Body: bytes.NewReader(data),
	})
	if err != nil {
		return u.translate(writing, err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.etags[n] = r.ETag
	u.size += int64(len(data))
	return nil
}

func (u *ossUpload) finish(ctx context.Context, parts int, _, last Labels) error {
	list := &oss.CompleteMultipartUpload{}
	for n := 1; n <= parts; n++ {
		list.Parts = append(list.Parts, oss.UploadPart{PartNumber: int32(n), ETag: u.etags[n]})
	}
	if _, err := u.client.CompleteMultipartUpload(ctx, &oss.CompleteMultipartUploadRequest{
		Bucket: &u.bucket, Key: &u.key, UploadId: u.id, CompleteMultipartUpload: list,
	}); err != nil {
		if !u.arrived(ctx, err) {
			return u.translate(writing, err)
		}
		ctx = context.WithoutCancel(ctx) // what is left takes a moment
	}
	// As with S3: metadata has to be known at the beginning, tags need not be.
	tags := &oss.Tagging{TagSet: &oss.TagSet{}}
	for name, value := range u.mark.on(last) {
		tags.TagSet.Tags = append(tags.TagSet.Tags, oss.Tag{Key: &name, Value: &value})
	}
	_, _ = u.client.PutObjectTagging(ctx, &oss.PutObjectTaggingRequest{Bucket: &u.bucket, Key: &u.key, Tagging: tags})
	return nil
}

// arrived reports whether the object is there although its completion failed.
func (u *ossUpload) arrived(ctx context.Context, err error) bool {
	var answer *oss.ServiceError
	refused := errors.As(err, &answer) && answer.StatusCode < http.StatusInternalServerError
	return arrived(ctx, u.mark, u.size, refused, func(ctx context.Context) (int64, Labels, error) {
		r, err := u.client.HeadObject(ctx, &oss.HeadObjectRequest{Bucket: &u.bucket, Key: &u.key})
		if err != nil {
			return 0, nil, err
		}
		return r.ContentLength, lower(r.Metadata), nil
	})
}

func (u *ossUpload) abort(ctx context.Context) error {
	return u.ossStore.abort(ctx, u.key, oss.ToString(u.id))
}

// translate makes an Error of what the service answered or the connection reported.
func (s *ossStore) translate(v verb, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	if p, code, ok := network(err); ok {
		return s.explain(v, p, code, err)
	}
	var answer *oss.ServiceError
	if !errors.As(err, &answer) {
		return s.unanswered(v, err)
	}
	return s.explain(v, s3Problem(answer.Code, answer.StatusCode), answer.Code, err)
}
