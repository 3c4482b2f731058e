// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

// The entries of a GCS secret. Without either, the pod's own identity is used.
const (
	gcsToken       = "access-token"
	gcsCredentials = "credentials.json"
)

const gcsScope = "https://www.googleapis.com/auth/devstorage.read_write"

// gcsStore is a bucket of Google Cloud Storage.
type gcsStore struct {
	client *storage.Client
	link   *link
	bucket string
	explainer
}

func init() { openers["GCS"] = openGCS }

func openGCS(ctx context.Context, c Config, bucket string) (Store, error) {
	link, err := newLink(c)
	if err != nil {
		return nil, err
	}
	tokens, err := gcsTokens(c, link)
	if err != nil {
		return nil, err
	}
	options := []option.ClientOption{
		option.WithHTTPClient(&http.Client{Transport: bearer{tokens, link}}),
	}
	service := "storage.googleapis.com"
	if c.Endpoint != "" {
		u, err := endpointOf(ctx, c, c.Endpoint)
		if err != nil {
			return nil, err
		}
		service = u.Host
		options = append(options, option.WithEndpoint(u.JoinPath("storage/v1/").String()))
	}
	client, err := storage.NewClient(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("preparing the client of Google Cloud Storage: %w", err)
	}
	client.SetRetry(storage.WithPolicy(storage.RetryAlways), storage.WithMaxAttempts(4), storage.WithErrorFunc(func(err error) bool {
		// The library would go on trying to reach a service that is not there until the time for the
		// backup is up, and then not say why.
		_, _, unreachable := network(err)
		return !unreachable && storage.ShouldRetry(err)
	}))
	return &gcsStore{
		client: client, link: link, bucket: bucket,
		explainer: newExplainer(c, "bucket", bucket, service, map[verb]string{
			writing:  "storage.objects.create, and storage.objects.delete to replace an object",
			reading:  "storage.objects.get",
			listing:  "storage.objects.list",
			deleting: "storage.objects.delete",
		}),
	}, nil
}

// gcsTokens is who the operator is for Google: a token or a service account's key in the secret, or
// else what the pod has from its environment, its service account or its node.
func gcsTokens(c Config, transport http.RoundTripper) (auth.TokenProvider, error) {
	if token := strings.TrimSpace(string(c.Secret[gcsToken])); token != "" {
		return staticToken(token), nil
	}
	detect := &credentials.DetectOptions{Scopes: []string{gcsScope}, Client: &http.Client{Transport: transport}}
	text := c.Secret[gcsCredentials]
	if len(bytes.TrimSpace(text)) == 0 {
		if err := mayUsePod(c, c.Endpoint != "", false); err != nil {
			return nil, err
		}
		detect.Client = nil // the cloud's metadata is asked directly
		creds, err := credentials.DetectDefault(detect)
		if err != nil {
			return nil, &Error{Problem: BadConfig, Err: err, Text: fmt.Sprintf(
				"gcs has no credentials: put %s or %s into the secret that gcpSecret names, or give the operator's pod an identity", gcsCredentials, gcsToken)}
		}
		return creds, nil
	}
	// Only keys of service accounts and users: the other kinds name files and programs to be read and
	// run where the operator runs, which the author of a secret has no business with.
	var kind struct {
		Type credentials.CredType `json:"type"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q is not JSON", gcsCredentials, c.SecretName)}
	}
	if kind.Type != credentials.ServiceAccount && kind.Type != credentials.AuthorizedUser {
		return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q has to be the key of a service account", gcsCredentials, c.SecretName)}
	}
	creds, err := credentials.NewCredentialsFromJSON(kind.Type, text, detect)
	if err != nil {
		return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q is not a usable key of a service account", gcsCredentials, c.SecretName)}
	}
	return creds, nil
}

type staticToken string

func (t staticToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t), Type: "Bearer"}, nil
}

// bearer signs requests. It does what the library's own would do, over our transport.
type bearer struct {
	tokens auth.TokenProvider
	base   http.RoundTripper
}

// errNoToken marks that Google refused to give a token.
var errNoToken = errors.New("no access token")

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := b.tokens.Token(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, fmt.Errorf("%w: %w", errNoToken, err)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token.Value)
	return b.base.RoundTrip(r)
}

func (s *gcsStore) object(key string) *storage.ObjectHandle {
	return s.client.Bucket(s.bucket).Object(key)
}

func (s *gcsStore) Put(ctx context.Context, key string, body io.Reader, first Labels, last func() Labels) error {
	start, ended, err := readPart(body, nil, firstPartSize)
	if err != nil {
		return err
	}
	// Ending the context before Close is how a writer learns that there shall be no object.
	writeCtx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	w := s.object(key).NewWriter(writeCtx)
	w.ContentType = "application/octet-stream"
	w.ChunkSize = firstPartSize
	w.Metadata = first
	if ended {
		w.Metadata = merge(first, last())
	}
	if err := s.send(w, start, body, ended); err != nil {
		giveUp()
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return s.translate(writing, err)
	}
	if !ended {
		// The sums also stand in the status and in the snapshot itself, so that a user who may only
		// create objects is no worse off. Where somebody else has replaced the object meanwhile, theirs is
		// left as it is.
		written := s.object(key).If(storage.Conditions{GenerationMatch: w.Attrs().Generation})
		_, _ = written.Update(ctx, storage.ObjectAttrsToUpdate{Metadata: merge(first, last())})
	}
	return nil
}

// send writes start and the rest of body. The errors of body are passed on as they are.
func (s *gcsStore) send(w io.Writer, start []byte, body io.Reader, ended bool) error {
	if _, err := w.Write(start); err != nil {
		return s.translate(writing, err)
	}
	buf := make([]byte, 256<<10)
	for !ended {
		var data []byte
		var err error
		data, ended, err = readPart(body, buf, len(buf))
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return s.translate(writing, err)
		}
	}
	return nil
}

func (s *gcsStore) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	const tries = 3
	for n := 1; ; n++ {
		a, err := s.object(key).Attrs(ctx)
		if err != nil {
			return nil, Object{}, s.translate(reading, err)
		}
		r, err := s.object(key).ReadCompressed(true).NewReader(streamed(ctx))
		if err != nil {
			return nil, Object{}, s.translate(reading, err)
		}
		if r.Attrs.Generation == a.Generation || r.Attrs.Generation == 0 { // 0: the service does not tell
			return r, gcsObject(a), nil
		}
		// It was replaced meanwhile: these labels are not those of this content.
		_ = r.Close()
		if n == tries {
			return nil, Object{}, s.explain(reading, Failed, "it is being replaced all the time", nil)
		}
	}
}

func (s *gcsStore) Stat(ctx context.Context, key string) (Object, error) {
	a, err := s.object(key).Attrs(ctx)
	if err != nil {
		return Object{}, s.translate(reading, err)
	}
	return gcsObject(a), nil
}

func gcsObject(a *storage.ObjectAttrs) Object {
	return Object{Key: a.Name, Size: a.Size, Modified: a.Updated, Labels: lower(a.Metadata)}
}

func (s *gcsStore) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		objects := s.client.Bucket(s.bucket).Objects(ctx, &storage.Query{Prefix: prefix})
		for {
			a, err := objects.Next()
			if errors.Is(err, iterator.Done) {
				return
			}
			if err != nil {
				yield(Object{}, s.translate(listing, err))
				return
			}
			if !yield(Object{Key: a.Name, Size: a.Size, Modified: a.Updated}, nil) {
				return
			}
		}
	}
}

func (s *gcsStore) Delete(ctx context.Context, key string) error {
	err := s.translate(deleting, s.object(key).Delete(ctx))
	if Is(err, NoObject) {
		return nil
	}
	return err
}

// Sweep does nothing: an upload that was not finished cannot be found, and the service discards it
// after a week.
func (s *gcsStore) Sweep(context.Context, string, func(string) bool) error { return nil }

func (s *gcsStore) URL(key string) string { return "gs://" + s.bucket + "/" + key }

func (s *gcsStore) Close() error {
	s.link.CloseIdleConnections()
	return s.client.Close()
}

// translate makes an Error of what the service answered or the connection reported.
func (s *gcsStore) translate(v verb, err error) error {
	if err == nil {
		return nil
	}
	var answer *googleapi.Error
	switch {
	case errors.Is(err, storage.ErrBucketNotExist):
		return s.explain(v, NoBucket, "", err)
	case errors.Is(err, storage.ErrObjectNotExist):
		return s.explain(v, NoObject, "", err)
	case errors.Is(err, errNoToken):
		return s.explain(v, BadCredentials, "", err)
	case errors.As(err, &answer):
		return s.explain(v, gcsProblem(answer), gcsReason(answer), err)
	}
	if p, code, ok := network(err); ok {
		return s.explain(v, p, code, err)
	}
	return s.unanswered(v, err)
}

func gcsReason(e *googleapi.Error) string {
	if len(e.Errors) > 0 {
		return e.Errors[0].Reason
	}
	return http.StatusText(e.Code)
}

func gcsProblem(e *googleapi.Error) Problem {
	switch e.Code {
	case http.StatusUnauthorized:
		return BadCredentials
	case http.StatusForbidden:
		if r := gcsReason(e); strings.Contains(strings.ToLower(r), "quota") {
			return Full
		}
		return Denied
	case http.StatusNotFound:
		return NoBucket
	case http.StatusInsufficientStorage:
		return Full
	}
	return Failed
}
