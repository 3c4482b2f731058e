// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
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
		_, authorization := asked(t, Config{Endpoint: endpoint})
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

// asked is where the requests of a store go, and how they are signed, whatever server they name.
func asked(t *testing.T, c Config) (target, authorization string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, authorization = r.Host+r.URL.Path, r.Header.Get("Authorization")
		w.Header().Set("ETag", `"x"`)
	}))
	defer server.Close()
	c.Secret = map[string][]byte{"credentials": []byte("[default]\naws_access_key_id = A\naws_secret_access_key = B\n")}
	s, err := openS3(t.Context(), c, "bucket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	transport := s.(*s3Store).transport
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	if err := s.Put(t.Context(), "key", strings.NewReader("x"), nil, func() Labels { return nil }); err != nil {
		t.Fatal(err)
	}
	return target, authorization
}
