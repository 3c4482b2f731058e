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
	link      *link
	bucket    string
	checksums bool
	explainer
}

func init() { openers["S3"] = openS3 }

func openS3(ctx context.Context, c Config, bucket string) (Store, error) {
	return openS3With(ctx, c, bucket, net.DefaultResolver.LookupHost)
}

func openS3With(ctx context.Context, c Config, bucket string, resolve resolver) (Store, error) {
	link, err := newLink(c)
	if err != nil {
		return nil, err
	}
	settings, err := readAWSFiles(c)
	if err != nil {
		return nil, err
	}
	u, err := endpointOf(ctx, c, settings.service(c))
	if err != nil {
		return nil, err
	}
	if u.Path != "" && u.Path != "/" {
		return nil, &Error{Problem: BadConfig, Text: "endpoint must not have a path; the bucket belongs into path"}
	}
	creds, err := settings.credentials(ctx, c, link)
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
		Transport:    carrier(c, link),
		Region:       s3Region(u, settings.region),
		BucketLookup: lookup,
		MaxRetries:   4,
	})
	if err != nil {
		return nil, &Error{Problem: BadConfig, Text: "endpoint is not usable for S3; it has to be a URL such as https://s3.example.com", Err: err}
	}
	return &s3Store{
		core: core, link: link, bucket: bucket, checksums: c.Checksums,
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
	body, info, _, err := s.core.GetObject(streamed(ctx), s.bucket, key, minio.GetObjectOptions{})
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

// head is Stat without the tags.
func (s *s3Store) head(ctx context.Context, key string) (Object, error) {
	info, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	return Object{Key: key, Size: info.Size, Modified: info.LastModified, Labels: withTags(lower(info.UserMetadata), nil)}, nil
}

// object adds the tags to what the service answered. They hold what was not known when the upload began,
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

// listUploads lists the uploads that have not ended. end has to be called: what lists them waits until it is heard to its end.
func (s *s3Store) listUploads(ctx context.Context, prefix string) (uploads <-chan minio.ObjectMultipartInfo, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	uploads = s.core.ListIncompleteUploads(ctx, s.bucket, prefix, true)
	return uploads, func() {
		cancel()
		for range uploads { // nobody needs the rest
		}
	}
}

func (s *s3Store) Sweep(ctx context.Context, prefix string, match func(key string) bool) error {
	uploads, end := s.listUploads(ctx, prefix)
	defer end()
	for up := range uploads {
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
	s.link.CloseIdleConnections()
	return nil
}

// s3Upload is one object on its way.
type s3Upload struct {
	*s3Store
	key  string
	id   string
	mark mark
	// begunTwice says that an answer was lost when the upload began: there may be another one, of which nobody knows.
	begunTwice bool

	mu    sync.Mutex
	parts map[int]minio.CompletePart
	size  int64
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
	var sent attempts
	u.id, err = u.core.NewMultipartUpload(sent.in(ctx), u.bucket, u.key, u.options(u.mark.on(first)))
	u.begunTwice = sent.repeated()
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
	u.size += int64(len(data))
	return nil
}

func (u *s3Upload) finish(ctx context.Context, parts int, _, last Labels) error {
	list := make([]minio.CompletePart, 0, parts)
	for n := 1; n <= parts; n++ {
		list = append(list, u.parts[n])
	}
	if _, err := u.core.CompleteMultipartUpload(ctx, u.bucket, u.key, u.id, list, minio.PutObjectOptions{}); err != nil {
		if !u.arrived(ctx, err) {
			return u.translate(writing, err)
		}
		ctx = context.WithoutCancel(ctx) // what is left takes a moment
	}
	// S3 takes metadata only before the first part. Copying the object onto itself would change it, but
	// would keep the data twice in a bucket with versions. Tags cost nothing; where the service has none
	// or the user's rights do not include them, the sums stand in the status and in the snapshot itself.
	if t, err := tags.MapToObjectTags(u.mark.on(last)); err == nil {
		_ = u.core.PutObjectTagging(ctx, u.bucket, u.key, t, minio.PutObjectTaggingOptions{})
	}
	u.abortTwin(ctx)
	return nil
}

// abortTwin removes the upload that nobody knows of because the answer to its beginning was lost. That it cannot is no
// reason to fail: the object is there.
func (u *s3Upload) abortTwin(ctx context.Context) {
	if !u.begunTwice {
		return
	}
	uploads, end := u.listUploads(ctx, u.key)
	defer end()
	for up := range uploads {
		if up.Err == nil && up.Key == u.key && up.UploadID != u.id {
			_ = u.core.AbortMultipartUpload(ctx, u.bucket, up.Key, up.UploadID)
		}
	}
}

// arrived reports whether the object is there although its completion failed.
func (u *s3Upload) arrived(ctx context.Context, err error) bool {
	var answer minio.ErrorResponse
	refused := errors.As(err, &answer) && answer.StatusCode < http.StatusInternalServerError
	return arrived(ctx, u.mark, u.size, refused, func(ctx context.Context) (int64, Labels, error) {
		info, err := u.core.StatObject(ctx, u.bucket, u.key, minio.StatObjectOptions{})
		return info.Size, lower(info.UserMetadata), err
	})
}

func (u *s3Upload) abort(ctx context.Context) error {
	u.abortTwin(ctx)
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

// translate makes an Error of what the service answered or the connection reported.
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
