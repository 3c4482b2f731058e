// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestRegionOfAnS3Endpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://s3.amazonaws.com":                                            "",
		"https://s3.eu-west-1.amazonaws.com":                                  "",
		"https://s3.dualstack.eu-west-1.amazonaws.com":                        "",
		"https://s3-fips.us-gov-west-1.amazonaws.com":                         "",
		"https://s3.cn-north-1.amazonaws.com.cn":                              "",
		"https://bucket.vpce-1a2b3c4d-5e6f.s3.us-east-2.vpce.amazonaws.com":   "",
		"https://ap-123456789012.op-0123.s3-outposts.us-west-2.amazonaws.com": "",
		"https://s3-accelerate.amazonaws.com":                                 "us-east-1",
		"https://s3.example.com":                                              "us-east-1",
		"http://minio.storage.svc:9000":                                       "us-east-1",
		"http://127.0.0.1:9000":                                               "us-east-1",
		"https://s3.eu-west-1.amazonaws.com.example.com":                      "us-east-1",
		"https://s3.eu-central-003.backblazeb2.com":                           "us-east-1",
	} {
		u, err := parseEndpoint(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		if got := s3Region(u, ""); got != want {
			t.Errorf("%s: region %q, want %q", endpoint, got, want)
		}
		if got := s3Region(u, "eu-test-1"); got != "eu-test-1" {
			t.Errorf("%s: region %q, want the configured one", endpoint, got)
		}
	}
}

// What requests are signed for, and where they go.
func TestRequestsAreSignedForTheRegionOfTheEndpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://s3.eu-west-1.amazonaws.com": "/eu-west-1/s3/",
		"http://s3.example.com":             "/us-east-1/s3/",
	} {
		_, authorization := asked(t, Config{Endpoint: endpoint}, nil)
		if !strings.Contains(authorization, want) {
			t.Errorf("%s: signed as %s, want %s", endpoint, authorization, want)
		}
	}
}

func TestRegionOfAnOSSEndpoint(t *testing.T) {
	for host, want := range map[string]string{
		"oss-cn-hangzhou.aliyuncs.com":             "cn-hangzhou",
		"oss-cn-hangzhou-internal.aliyuncs.com":    "cn-hangzhou",
		"s3.oss-eu-central-1.aliyuncs.com":         "eu-central-1",
		"oss-accelerate.aliyuncs.com":              "",
		"oss-accelerate-overseas.aliyuncs.com":     "",
		"oss.example.com":                          "",
		"oss-cn-hangzhou.aliyuncs.com.example.com": "",
	} {
		if got := ossRegionOf(host); got != want {
			t.Errorf("%s: region %q, want %q", host, got, want)
		}
	}
}

// knows is a resolver that knows these names. One that begins with *. stands for all below it.
func knows(names ...string) resolver {
	return func(_ context.Context, host string) ([]string, error) {
		name, absolute := strings.CutSuffix(host, ".")
		if !absolute {
			return nil, errors.New("the domains of the pod must not be tried")
		}
		for _, known := range names {
			all, wild := strings.CutPrefix(known, "*")
			if name == known || wild && strings.HasSuffix(name, all) {
				return []string{"192.0.2.1"}, nil
			}
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
}

func TestWhereABucketBelongs(t *testing.T) {
	for name, test := range map[string]struct {
		endpoint, bucket string
		known            []string
		want             bool
	}{
		"Amazon's":                        {endpoint: "https://s3.eu-west-1.amazonaws.com", want: true},
		"Amazon's, a bucket with dots":    {endpoint: "https://s3.eu-west-1.amazonaws.com", bucket: "a.b", want: false},
		"Google's":                        {endpoint: "https://storage.googleapis.com", want: true},
		"a name for every bucket":         {endpoint: "https://s3.example.com", known: []string{"*.s3.example.com"}, want: true},
		"a name for this bucket":          {endpoint: "http://s3.example.com:9000", known: []string{"bucket.s3.example.com"}, want: true},
		"a service without such names":    {endpoint: "https://s3.example.com", known: []string{"s3.example.com"}},
		"an ingress with every name":      {endpoint: "https://s3.apps.example.com", known: []string{"*.apps.example.com"}},
		"every name of a domain above":    {endpoint: "https://s3.apps.example.com", known: []string{"*.example.com"}},
		"a Service":                       {endpoint: "http://minio.storage.svc:9000", known: []string{"*.minio.storage.svc"}},
		"a Service by its whole name":     {endpoint: "http://minio.storage.svc.cluster.local", known: []string{"*.storage.svc.cluster.local"}},
		"a Service by its short name":     {endpoint: "http://minio.storage:9000", known: []string{"*.minio.storage"}},
		"a name without a domain":         {endpoint: "http://minio:9000", known: []string{"*minio"}},
		"an address":                      {endpoint: "http://192.0.2.7:9000", known: []string{"*192.0.2.7"}},
		"an address of IPv6":              {endpoint: "http://[2001:db8::1]:9000", known: []string{"*"}},
		"this machine":                    {endpoint: "http://localhost:9000", known: []string{"*localhost"}},
		"a name of this machine":          {endpoint: "http://my.s3.localhost:9000", known: []string{"*.my.s3.localhost"}},
		"a bucket that is no part of one": {endpoint: "https://s3.example.com", bucket: "My_Bucket", known: []string{"*.s3.example.com"}},
		"a bucket with dots":              {endpoint: "https://s3.example.com", bucket: "a.b", known: []string{"*.s3.example.com"}},
	} {
		u, err := parseEndpoint(test.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		bucket := test.bucket
		if bucket == "" {
			bucket = "bucket"
		}
		if got := bucketInHost(t.Context(), u, bucket, knows(test.known...)); got != test.want {
			t.Errorf("%s: in the host's name: %t, want %t", name, got, test.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	u, err := parseEndpoint("https://s3.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if bucketInHost(ended, u, "bucket", knows("*.s3.example.com")) {
		t.Error("a name is believed that nobody had the time to look up")
	}
}

func TestBucketGoesWhereItBelongs(t *testing.T) {
	names := []string{"*.s3.example.com"}
	for name, test := range map[string]struct {
		config Config
		known  []string
		want   string
	}{
		"in the host's name":         {Config{Endpoint: "http://s3.example.com:9000"}, names, "bucket.s3.example.com:9000/key"},
		"in the path":                {Config{Endpoint: "http://s3.example.com:9000"}, nil, "s3.example.com:9000/bucket/key"},
		"in the path, as configured": {Config{Endpoint: "http://s3.example.com:9000", ForcePathStyle: true}, names, "s3.example.com:9000/bucket/key"},
	} {
		if got, _ := asked(t, test.config, test.known); got != test.want {
			t.Errorf("%s: asked for %s, want %s", name, got, test.want)
		}
	}
}

// asked is where the requests of a store go, and how they are signed, whatever server they name.
func asked(t *testing.T, c Config, known []string) (target, authorization string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, authorization = r.Host+r.URL.Path, r.Header.Get("Authorization")
		w.Header().Set("ETag", `"x"`)
	}))
	defer server.Close()
	c.Secret = map[string][]byte{"credentials": []byte("[default]\naws_access_key_id = A\naws_secret_access_key = B\n")}
	s, err := openS3With(t.Context(), c, "bucket", knows(slices.Concat(known, []string{"s3.example.com"})...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	transport := s.(*s3Store).link.direct
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	if err := s.Put(t.Context(), "key", strings.NewReader("x"), nil, func() Labels { return nil }); err != nil {
		t.Fatal(err)
	}
	return target, authorization
}
