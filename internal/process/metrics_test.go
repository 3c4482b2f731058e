// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// guarded is a server whose answers depend on what a fake API server says of tokens: "reader" may read, "stranger" may not, about
// "unclear" the API server says nothing, and other tokens are nobody's.
func guarded(t *testing.T) (url string, questions *atomic.Int32) {
	t.Helper()
	client, questions := fake.NewClientset(), &atomic.Int32{}
	client.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		questions.Add(1)
		review := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
		token := review.Spec.Token
		if token == "unclear" {
			return true, nil, errors.New("the API server is away")
		}
		review.Status.Authenticated = token == "reader" || token == "stranger"
		review.Status.User = authenticationv1.UserInfo{Username: token, Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
		return true, review, nil
	})
	client.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		s := review.Spec
		review.Status.Allowed = s.User == "reader" && s.Groups[0] == "g" && s.Extra["k"][0] == "v" &&
			s.NonResourceAttributes.Verb == "get" && s.NonResourceAttributes.Path == "/metrics"
		return true, review, nil
	})
	handler, err := newReviewer(client).filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "figures")
	}))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL, questions
}

func TestWhoMayReadMetrics(t *testing.T) {
	url, _ := guarded(t)
	for name, tc := range map[string]struct {
		method, path, header string
		want                 int
	}{
		"nobody":                  {http.MethodGet, "/metrics", "", 401},
		"a password":              {http.MethodGet, "/metrics", "Basic reader", 401},
		"no token":                {http.MethodGet, "/metrics", "Bearer ", 401},
		"a token of nobody":       {http.MethodGet, "/metrics", "Bearer x", 401},
		"somebody without right":  {http.MethodGet, "/metrics", "Bearer stranger", 403},
		"somebody with the right": {http.MethodGet, "/metrics", "Bearer reader", 200},
		"in lower case":           {http.MethodGet, "/metrics", "bearer reader", 200},
		"something else":          {http.MethodPost, "/metrics", "Bearer reader", 403},
		"somewhere else":          {http.MethodGet, "/debug", "Bearer reader", 403},
		"nobody knows":            {http.MethodGet, "/metrics", "Bearer unclear", 500},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, url+tc.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if tc.header != "" {
				req.Header.Set("Authorization", tc.header)
			}
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = answer.Body.Close() }()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != tc.want || (string(body) == "figures") != (tc.want == 200) {
				t.Errorf("status %d, body %q (%v), want %d", answer.StatusCode, body, err, tc.want)
			}
		})
	}
}

func TestTheAPIServerIsAskedOnceAboutEachToken(t *testing.T) {
	url, questions := guarded(t)
	for _, token := range []string{"reader", "stranger", "x"} {
		for range 5 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
		}
	}
	if got := questions.Load(); got != 3 {
		t.Errorf("%d questions about 3 tokens", got)
	}
}
