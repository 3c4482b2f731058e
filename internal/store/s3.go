// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/tags"
)

// s3Store is Amazon S3 and everything that speaks its protocol.
type s3Store struct {
	core      *minio.Core
	transport *http.Transport
	bucket    string
	checksums bool
	explainer
}

func openS3(ctx context.Context, c Config, bucket string) (Store, error) {
	return openS3With(ctx, c, bucket, net.DefaultResolver.LookupHost)
}

func openS3With(ctx context.Context, c Config, bucket string, resolve resolver) (Store, error) {
	transport, err := httpTransport(c)
	if err != nil {
		return nil, err
	}
	settings, err := readAWSFiles(c)
	if err != nil {
		return nil, err
	}
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = settings.endpoint
	}
	if endpoint == "" {
		endpoint = "https://s3.amazonaws.com"
	}
	u, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	if u.Path != "" && u.Path != "/" {
		return nil, &Error{Problem: BadConfig, Text: "endpoint must not have a path; the bucket belongs into path"}
	}
	creds, err := settings.credentials(c, transport)
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupPath
	if !c.ForcePathStyle && bucketInHost(ctx, u, bucket, resolve) {
		lookup = minio.BucketLookupDNS
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds:        creds,
		Secure:       u.Scheme == "https",
		Transport:    transport,
		Region:       s3Region(u, settings.region),
		BucketLookup: lookup,
		MaxRetries:   4,
	})
	if err != nil {
		return nil, &Error{Problem: BadConfig, Text: "endpoint is not usable for S3; it has to be a URL such as https://s3.example.com", Err: err}
	}
	return &s3Store{
		core: core, transport: transport, bucket: bucket, checksums: c.Checksums,
		explainer: newExplainer(c, "bucket", bucket, u.Host, map[verb]string{
			writing:  "s3:PutObject and s3:AbortMultipartUpload",
			reading:  "s3:GetObject",
			listing:  "s3:ListBucket and s3:ListBucketMultipartUploads",
			deleting: "s3:DeleteObject",
		}),
	}, nil
}

func (s *s3Store) Put(ctx context.Context, key string, body io.Reader, first Labels, last func() Labels) error {
	return putParts(ctx, &s3Upload{s3Store: s, key: key, mark: newMark(), parts: map[int]minio.CompletePart{}}, body, first, last)
}

func (s *s3Store) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	body, info, _, err := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, Object{}, s.translate(reading, err)
	}
	return body, s.object(ctx, key, info), nil
}

func (s *s3Store) Stat(ctx context.Context, key string) (Object, error) {
	info, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	return s.object(ctx, key, info), nil
}

// object adds the tags to what the service said. They hold what was not known when the upload began,
// and are missing where the service or the user's rights do not have tags.
func (s *s3Store) object(ctx context.Context, key string, info minio.ObjectInfo) Object {
	var late Labels
	if strings.Contains(info.ETag, "-") { // an upload in parts
		if t, err := s.core.GetObjectTagging(ctx, s.bucket, key, minio.GetObjectTaggingOptions{}); err == nil {
			late = lower(t.ToMap())
		}
	}
	return Object{Key: key, Size: info.Size, Modified: info.LastModified, Labels: withTags(lower(info.UserMetadata), late)}
}

func (s *s3Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for info := range s.core.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if info.Err != nil {
				yield(Object{}, s.translate(listing, info.Err))
				return
			}
			if !yield(Object{Key: info.Key, Size: info.Size, Modified: info.LastModified}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Object{}, s.translate(listing, err))
		}
	}
}

func (s *s3Store) Delete(ctx context.Context, key string) error {
	err := s.translate(deleting, s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if Is(err, NoObject) {
		return nil
	}
	return err
}

func (s *s3Store) Sweep(ctx context.Context, prefix string, match func(key string) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	for up := range s.core.ListIncompleteUploads(ctx, s.bucket, prefix, true) {
		if up.Err != nil {
			return s.translate(listing, up.Err)
		}
		if !match(up.Key) {
			continue
		}
		if err := s.core.AbortMultipartUpload(ctx, s.bucket, up.Key, up.UploadID); err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchUpload {
			return s.translate(writing, err)
		}
	}
	return nil
}

func (s *s3Store) URL(key string) string { return "s3://" + s.bucket + "/" + key }

func (s *s3Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// s3Upload is one object on its way.
type s3Upload struct {
	*s3Store
	key  string
	id   string
	mark mark

	mu    sync.Mutex
	parts map[int]minio.CompletePart
}

func (u *s3Upload) options(labels Labels) minio.PutObjectOptions {
	o := minio.PutObjectOptions{UserMetadata: labels, ContentType: "application/octet-stream"}
	if u.checksums && u.id == "" {
		o.UserMetadata = merge(labels, Labels{"x-amz-checksum-algorithm": "CRC32C"})
	}
	return o
}

func (u *s3Upload) whole(ctx context.Context, data []byte, labels Labels) error {
	sum := sha256.Sum256(data)
	o := minio.PutObjectOptions{UserMetadata: labels, ContentType: "application/octet-stream"}
	if u.checksums {
		o.UserMetadata = merge(labels, Labels{"x-amz-checksum-crc32c": crc32c(data)})
	}
	_, err := u.core.PutObject(ctx, u.bucket, u.key, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]), o)
	return u.translate(writing, err)
}

func (u *s3Upload) begin(ctx context.Context, first Labels) (err error) {
	u.id, err = u.core.NewMultipartUpload(ctx, u.bucket, u.key, u.options(u.mark.on(first)))
	return u.translate(writing, err)
}

func (u *s3Upload) part(ctx context.Context, n int, data []byte) error {
	sum := sha256.Sum256(data)
	o := minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum[:])}
	complete := minio.CompletePart{PartNumber: n}
	if u.checksums {
		complete.ChecksumCRC32C = crc32c(data)
		o.CustomHeader = http.Header{"X-Amz-Checksum-Crc32c": {complete.ChecksumCRC32C}}
	}
	p, err := u.core.PutObjectPart(ctx, u.bucket, u.key, u.id, n, bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		return u.translate(writing, err)
	}
	complete.ETag = p.ETag
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[n] = complete
	return nil
}

func (u *s3Upload) finish(ctx context.Context, parts int, _, last Labels) error {
	list := make([]minio.CompletePart, 0, parts)
	for n := 1; n <= parts; n++ {
		list = append(list, u.parts[n])
	}
	if _, err := u.core.CompleteMultipartUpload(ctx, u.bucket, u.key, u.id, list, minio.PutObjectOptions{}); err != nil {
		return u.translate(writing, err)
	}
	// S3 takes metadata only before the first part. Copying the object onto itself would change it, but
	// would keep the data twice in a bucket with versions. Tags cost nothing; where the service has none
	// or the user's rights do not include them, the sums stand in the status and in the snapshot itself.
	if t, err := tags.MapToObjectTags(u.mark.on(last)); err == nil {
		_ = u.core.PutObjectTagging(ctx, u.bucket, u.key, t, minio.PutObjectTaggingOptions{})
	}
	return nil
}

func (u *s3Upload) abort(ctx context.Context) error {
	err := u.core.AbortMultipartUpload(ctx, u.bucket, u.key, u.id)
	if err == nil || minio.ToErrorResponse(err).Code == minio.NoSuchUpload {
		return nil
	}
	return u.translate(writing, err)
}

// crc32c is the checksum in the form of S3's headers.
func crc32c(data []byte) string {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return base64.StdEncoding.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// translate makes an Error of what the service or the connection said.
func (s *s3Store) translate(v verb, err error) error {
	if err == nil {
		return nil
	}
	if p, code, ok := network(err); ok {
		return s.explain(v, p, code, err)
	}
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return s.unanswered(v, err)
	}
	return s.explain(v, s3Problem(answer.Code, answer.StatusCode), answer.Code, err)
}

// s3Problem sorts the error codes of S3, of its compatible servers, and of OSS, which took them over.
func s3Problem(code string, status int) Problem {
	switch code {
	case "NoSuchBucket", "InvalidBucketName":
		return NoBucket
	case "NoSuchKey", "NotFound", "NoSuchVersion":
		return NoObject
	case "AccessDenied", "AllAccessDisabled", "AccountProblem", "UserDisable":
		return Denied
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "InvalidSecurity",
		"AuthorizationHeaderMalformed", "SecurityTokenExpired", "InvalidSecurityToken":
		return BadCredentials
	case "RequestTimeTooSkewed", "RequestExpired":
		return ClockSkew
	case "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientCapacity", "StorageFull":
		return Full
	}
	switch status {
	case http.StatusForbidden:
		return Denied
	case http.StatusUnauthorized:
		return BadCredentials
	case http.StatusNotFound:
		return NoObject
	case http.StatusInsufficientStorage:
		return Full
	}
	return Failed
}
