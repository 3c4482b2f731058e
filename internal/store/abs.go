// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // it is what the service checks a block with; nothing secret depends on it
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// The entries of an ABS secret.
const (
	absAccount = "storage-account"
	absKey     = "storage-key"
	absCloud   = "cloud"
)

// absClouds are the names of Azure's clouds, and where each has its blobs.
var absClouds = map[string]string{
	"AzurePublicCloud":       "blob.core.windows.net",
	"AzureChinaCloud":        "blob.core.chinacloudapi.cn",
	"AzureUSGovernmentCloud": "blob.core.usgovcloudapi.net",
	"AzureGermanCloud":       "blob.core.cloudapi.de",
}

// absAliases are the names that Azure's command line has for two of them.
var absAliases = map[string]string{"AzureCloud": "AzurePublicCloud", "AzureUSGovernment": "AzureUSGovernmentCloud"}

// absHost is where a cloud has its blobs, whatever the case of its name. No name is the public one.
func absHost(cloud string) (host string, known bool) {
	if cloud == "" {
		cloud = "AzurePublicCloud"
	}
	for alias, name := range absAliases {
		if strings.EqualFold(cloud, alias) {
			cloud = name
		}
	}
	for name, host := range absClouds {
		if strings.EqualFold(cloud, name) {
			return host, true
		}
	}
	return "", false
}

// absStore is a container of Azure Blob Storage.
type absStore struct {
	container *container.Client
	link      *link
	name      string
	explainer
}

func init() { openers["ABS"] = openABS }

func openABS(ctx context.Context, c Config, bucket string) (Store, error) {
	link, err := newLink(c)
	if err != nil {
		return nil, err
	}
	account, err := required(c, absAccount)
	if err != nil {
		return nil, err
	}
	key, err := required(c, absKey)
	if err != nil {
		return nil, err
	}
	endpoint := c.Endpoint
	if endpoint == "" {
		host, known := absHost(strings.TrimSpace(string(c.Secret[absCloud])))
		if !known {
			return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q has to be one of %s",
				absCloud, c.SecretName, strings.Join(slices.Sorted(maps.Keys(absClouds)), ", "))}
		}
		endpoint = "https://" + account + "." + host
	}
	u, err := endpointOf(ctx, c, endpoint)
	if err != nil {
		return nil, err
	}
	cred, err := container.NewSharedKeyCredential(account, key)
	if err != nil {
		return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q is not base64, as Azure's keys are", absKey, c.SecretName)}
	}
	client, err := container.NewClientWithSharedKeyCredential(u.JoinPath(bucket).String(), cred, &container.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Transport: link.client(),
			Retry:     policy.RetryOptions{MaxRetries: 3},
		},
	})
	if err != nil {
		return nil, &Error{Problem: BadConfig, Text: "endpoint is not usable for ABS; it has to be a URL such as https://account.blob.core.windows.net", Err: err}
	}
	return &absStore{
		container: client, link: link, name: bucket,
		explainer: newExplainer(c, "container", bucket, u.Host, map[verb]string{
			writing:  "the permissions to create and write blobs",
			reading:  "the permission to read blobs",
			listing:  "the permission to list blobs",
			deleting: "the permission to delete blobs",
		}),
	}, nil
}

func (s *absStore) Put(ctx context.Context, key string, body io.Reader, first Labels, last func() Labels) error {
	return putParts(ctx, &absUpload{absStore: s, blob: s.container.NewBlockBlobClient(key), id: rand.Text()}, body, first, last)
}

func (s *absStore) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	r, err := s.container.NewBlobClient(key).DownloadStream(streamed(ctx), nil)
	if err != nil {
		return nil, Object{}, s.translate(reading, err)
	}
	o := Object{Key: key, Labels: lower(values(r.Metadata))}
	if r.ContentLength != nil {
		o.Size = *r.ContentLength
	}
	if r.LastModified != nil {
		o.Modified = *r.LastModified
	}
	return r.NewRetryReader(streamed(ctx), &blob.RetryReaderOptions{MaxRetries: 3}), o, nil
}

func (s *absStore) Stat(ctx context.Context, key string) (Object, error) {
	r, err := s.container.NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	o := Object{Key: key, Labels: lower(values(r.Metadata))}
	if r.ContentLength != nil {
		o.Size = *r.ContentLength
	}
	if r.LastModified != nil {
		o.Modified = *r.LastModified
	}
	return o, nil
}

func (s *absStore) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		pages := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
		for pages.More() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Object{}, s.translate(listing, err))
				return
			}
			for _, item := range page.Segment.BlobItems {
				o := Object{Key: *item.Name}
				if p := item.Properties; p != nil && p.ContentLength != nil && p.LastModified != nil {
					o.Size, o.Modified = *p.ContentLength, *p.LastModified
				}
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

func (s *absStore) Delete(ctx context.Context, key string) error {
	_, err := s.container.NewBlobClient(key).Delete(ctx, nil)
	if err = s.translate(deleting, err); Is(err, NoObject) {
		return nil
	}
	return err
}

// Sweep does nothing: blocks that were never committed are invisible, and the service discards them
// after a week. The only way to discard them sooner is to commit an empty blob, which would be just
// what must never appear.
func (s *absStore) Sweep(context.Context, string, func(string) bool) error { return nil }

func (s *absStore) URL(key string) string {
	// The container's own address has no signature in it: requests are signed with the key.
	u, err := url.Parse(s.container.URL())
	if err != nil {
		return s.name + "/" + key
	}
	return u.JoinPath(key).String()
}

func (s *absStore) Close() error {
	s.link.CloseIdleConnections()
	return nil
}

// absUpload is one blob on its way. Its blocks carry an id of their own, so that they never mix with
// those of another upload of the same blob.
type absUpload struct {
	*absStore
	blob *blockblob.Client
	id   string
}

func (u *absUpload) blockID(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", u.id, n))
}

func (u *absUpload) whole(ctx context.Context, data []byte, labels Labels) error {
	sum := md5.Sum(data) //nolint:gosec // see the import
	_, err := u.blob.Upload(ctx, streaming.NopCloser(bytes.NewReader(data)), &blockblob.UploadOptions{
		Metadata:                pointers(labels),
		TransactionalValidation: blob.TransferValidationTypeMD5(sum[:]),
	})
	return u.translate(writing, err)
}

func (u *absUpload) begin(context.Context, Labels) error { return nil }

func (u *absUpload) part(ctx context.Context, n int, data []byte) error {
	sum := md5.Sum(data) //nolint:gosec // see the import
	_, err := u.blob.StageBlock(ctx, u.blockID(n), streaming.NopCloser(bytes.NewReader(data)), &blockblob.StageBlockOptions{
		TransactionalValidation: blob.TransferValidationTypeMD5(sum[:]),
	})
	return u.translate(writing, err)
}

func (u *absUpload) finish(ctx context.Context, parts int, first, last Labels) error {
	ids := make([]string, 0, parts)
	for n := 1; n <= parts; n++ {
		ids = append(ids, u.blockID(n))
	}
	_, err := u.blob.CommitBlockList(ctx, ids, &blockblob.CommitBlockListOptions{Metadata: pointers(merge(first, last))})
	return u.translate(writing, err)
}

// abort leaves the blocks to the service, see Sweep.
func (u *absUpload) abort(context.Context) error { return nil }

func pointers(labels Labels) map[string]*string {
	m := map[string]*string{}
	for name, value := range labels {
		m[name] = &value
	}
	return m
}

func values(m map[string]*string) map[string]string {
	labels := map[string]string{}
	for name, value := range m {
		if value != nil {
			labels[name] = *value
		}
	}
	return labels
}

// translate makes an Error of what the service answered or the connection reported.
func (s *absStore) translate(v verb, err error) error {
	if err == nil {
		return nil
	}
	if p, code, ok := network(err); ok {
		return s.explain(v, p, code, err)
	}
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		return s.unanswered(v, err)
	}
	p := Failed
	switch bloberror.Code(answer.ErrorCode) {
	case bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted, bloberror.InvalidResourceName:
		p = NoBucket
	case bloberror.BlobNotFound:
		p = NoObject
	case bloberror.AuthenticationFailed, bloberror.InvalidAuthenticationInfo:
		p = BadCredentials
	case bloberror.AuthorizationFailure, bloberror.AuthorizationPermissionMismatch, bloberror.InsufficientAccountPermissions, bloberror.AccountIsDisabled:
		p = Denied
	default:
		switch answer.StatusCode {
		case http.StatusForbidden:
			p = Denied
		case http.StatusUnauthorized:
			p = BadCredentials
		case http.StatusNotFound:
			// An answer to HEAD has no body to tell the container from the blob.
			p = NoObject
		case http.StatusInsufficientStorage:
			p = Full
		}
	}
	return s.explain(v, p, answer.ErrorCode, err)
}
