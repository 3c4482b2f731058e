// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// The files in a secret name no program, no file of the operator's and no host by way of a region.
func FuzzAWSFiles(f *testing.F) {
	f.Add("[default]\naws_access_key_id = A\naws_secret_access_key = B", "[profile x]\nregion = eu-1\nrole_arn = r\nsource_profile = default", "")
	f.Fuzz(func(t *testing.T, credentials, config, profile string) {
		c := Config{Kind: "S3", Path: "b/k", Namespace: "ns", Profile: profile, SecretName: "aws", Secret: map[string][]byte{credentialsFile: []byte(credentials), configFile: []byte(config)}}
		settings, err := readAWSFiles(c)
		if err != nil {
			return
		}
		if settings.region != "" && !kind.IsRegion(settings.region) {
			t.Errorf("region %q", settings.region)
		}
		if _, err := settings.credentials(context.Background(), c, http.DefaultTransport); err == nil && settings.keys.id == "" {
			t.Error("the identity of the pod is used for anybody")
		}
	})
}

func FuzzEndpoint(f *testing.F) {
	f.Add("https://s3.example.com:9000", "b/k")
	f.Fuzz(func(t *testing.T, endpoint, path string) {
		if u, err := parseEndpoint(endpoint); err == nil && (u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https") {
			t.Errorf("%q is taken for %q", endpoint, u)
		}
		if bucket, key, err := kind.SplitPath(path); err == nil && (bucket == "" || key == "" || strings.Contains("/"+path+"/", "/../")) {
			t.Errorf("%q is %q and %q", path, bucket, key)
		}
	})
}

// One allowed folder holds nothing of another namespace's.
func FuzzPodIdentity(f *testing.F) {
	f.Add("s3://b/{namespace}", "b/ns/k")
	f.Fuzz(func(t *testing.T, list, path string) {
		var p kind.PodIdentity
		if p.Allow(list) != nil {
			return
		}
		if p.Permits(Config{Kind: "S3", Path: path, Namespace: "a"}) && strings.HasPrefix(path, "b/ab/") && list == "s3://b/{namespace}" {
			t.Errorf("%q is allowed by %q", path, list)
		}
	})
}

// Whatever a service answers to a list or a look at an object is an error or a list.
func FuzzAnswersOfS3(f *testing.F) {
	f.Add([]byte("<ListBucketResult><Contents><Key>k</Key><Size>1</Size></Contents></ListBucketResult>"), 200, "x")
	f.Add([]byte("<Error><Code>\x1b[31m</Code></Error>"), 400, "")
	f.Fuzz(func(t *testing.T, body []byte, status int, label string) {
		if status < 200 || status >= 500 || status == http.StatusTooManyRequests { // those are tried again for seconds
			return
		}
		answer := roundTripper(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			w.Header()["X-Amz-Meta-Etcdversion"] = []string{label}
			w.WriteHeader(status)
			_, _ = w.Write(body)
			answer := w.Result()
			answer.Request = r
			return answer, nil
		})
		s, _, err := Open(t.Context(), Config{
			Kind: "S3", Path: "b/k", Endpoint: "https://s3.example.com", ForcePathStyle: true, SecretName: "aws", Transport: answer,
			Secret: map[string][]byte{credentialsFile: []byte("[default]\naws_access_key_id = A\naws_secret_access_key = B"), configFile: []byte("[default]\nregion = r")},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		listed := 0
		for _, err := range s.List(ctx, "k") {
			if err != nil {
				if len(err.Error()) > 1000 {
					t.Errorf("a message of %d bytes", len(err.Error()))
				}
				break
			}
			if listed++; listed > 1000 {
				break
			}
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
