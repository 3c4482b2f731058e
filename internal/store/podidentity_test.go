// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

func podIdentity(t *testing.T, list string) (p kind.PodIdentity) {
	t.Helper()
	if err := p.Allow(list); err != nil {
		t.Fatal(err)
	}
	return p
}

// testAuthority is a certificate in PEM form.
func testAuthority(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// The operator's own identity is used for what an administrator has named, and never where an object chose whom to
// show it to.
func TestThePodsIdentityIsForWhatAnAdministratorNamed(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	for name, test := range map[string]struct {
		kind, path, allowed, endpoint string
		secret                        map[string]string
		refused                       string
	}{
		"no flag":                   {kind: "S3", path: "b/a/k", refused: "-pod-identity"},
		"the bucket":                {kind: "S3", path: "b/a/k", allowed: "s3://b"},
		"the namespace's folder":    {kind: "S3", path: "b/a/k", allowed: "s3://other,s3://b/{namespace}"},
		"another namespace's":       {kind: "S3", path: "b/ab/k", allowed: "s3://b/{namespace}", refused: "-pod-identity"},
		"the folder's own name":     {kind: "S3", path: "b/a", allowed: "s3://b/{namespace}", refused: "-pod-identity"},
		"another bucket":            {kind: "S3", path: "b2/a/k", allowed: "s3://b", refused: "-pod-identity"},
		"another kind of store":     {kind: "GCS", path: "b/a/k", allowed: "s3://b", refused: "-pod-identity"},
		"an endpoint in the object": {kind: "S3", path: "b/a/k", allowed: "s3://b", endpoint: "https://evil.example.com", refused: "an endpoint"},
		"an endpoint in the secret": {kind: "S3", path: "b/a/k", allowed: "s3://b", secret: map[string]string{"config": "[default]\nendpoint_url = https://evil.example.com"}, refused: "an endpoint"},
		"a region in the secret":    {kind: "S3", path: "b/a/k", allowed: "s3://b", secret: map[string]string{"config": "[default]\nregion = eu-test-1"}, refused: "a region"},
		"no region at all":          {kind: "S3", path: "b/a/k", allowed: "s3://b", secret: map[string]string{"config": "[default]\nregion = x.evil.example.com/#"}, refused: "the name of a region"},
		"an authority":              {kind: "S3", path: "b/a/k", allowed: "s3://b", secret: map[string]string{"ca.crt": testAuthority(t)}, refused: "ca.crt"},
		"a role":                    {kind: "S3", path: "b/a/k", secret: map[string]string{"config": "[default]\nrole_arn = r\ncredential_source = Environment"}, refused: "-pod-identity"},
		"a role by a token":         {kind: "S3", path: "b/a/k", secret: map[string]string{"config": "[default]\nrole_arn = r\nweb_identity_token_file = " + eksTokens + "token"}, refused: "-pod-identity"},
		"keys need no flag":         {kind: "S3", path: "b/a/k", endpoint: "https://s3.example.com", secret: map[string]string{"credentials": "[default]\naws_access_key_id = K\naws_secret_access_key = s"}},
		"a token for keys":          {kind: "S3", path: "b/a/k", secret: map[string]string{"config": "[default]\nrole_arn = r\naws_access_key_id = K\naws_secret_access_key = s\nweb_identity_token_file = " + eksTokens + "token"}, refused: "-pod-identity"},
		"Google, no flag":           {kind: "GCS", path: "b/a/k", refused: "-pod-identity"},
		"Google, an endpoint":       {kind: "GCS", path: "b/a/k", allowed: "gs://b", endpoint: "https://evil.example.com", refused: "an endpoint"},
		"Google, an authority":      {kind: "GCS", path: "b/a/k", allowed: "gs://b", secret: map[string]string{"ca.crt": testAuthority(t)}, refused: "ca.crt"},
		"Google, a token":           {kind: "GCS", path: "b/a/k", secret: map[string]string{"access-token": "t"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{
				Kind: test.kind, Path: test.path, Namespace: "a", Endpoint: test.endpoint, SecretName: "s", Secret: map[string][]byte{},
				Permissions: kind.Permissions{PodIdentity: podIdentity(t, test.allowed)},
			}
			for key, value := range maps.All(test.secret) {
				c.Secret[key] = []byte(value)
			}
			s, _, err := Open(t.Context(), c)
			if err == nil {
				_ = s.Close()
			}
			if test.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !Is(err, BadConfig) || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("error %v, want %s in it", err, test.refused)
			}
		})
	}
}
