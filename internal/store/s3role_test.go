// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

func TestWhereRolesAreTakenOn(t *testing.T) {
	for region, want := range map[string]string{
		"":               "https://sts.amazonaws.com",
		"eu-central-1":   "https://sts.eu-central-1.amazonaws.com",
		"us-gov-west-1":  "https://sts.us-gov-west-1.amazonaws.com",
		"cn-north-1":     "https://sts.cn-north-1.amazonaws.com.cn",
		"cn-northwest-1": "https://sts.cn-northwest-1.amazonaws.com.cn",
	} {
		if got := stsEndpoint(region); got != want {
			t.Errorf("%q: %s, want %s", region, got, want)
		}
	}
}

// sts is Amazon's service for roles: every address leads to it. It notes what it was asked.
func sts(t *testing.T) (transport *http.Transport, asked *string) {
	t.Helper()
	asked = new(string)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		key, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
		token, action := r.Form.Get("WebIdentityToken"), r.Form.Get("Action")
		*asked = fmt.Sprintf("%s: %s of %s by %s%s", r.Host, action, r.Form.Get("RoleArn"), key, token)
		_, _ = fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>ROLE</AccessKeyId>`+
			`<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2036-01-01T00:00:00Z</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action)
	}))
	t.Cleanup(server.Close)
	return &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}, asked
}

func TestARoleIsTakenOnByWhoTheSecretSays(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("of-the-pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token)
	t.Setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	const keys = "aws_access_key_id = KEYS\naws_secret_access_key = s\n"
	for name, test := range map[string]struct{ config, pod, want, refused string }{
		"keys":           {config: keys, want: "sts.amazonaws.com: AssumeRole of r by KEYS"},
		"in China":       {config: keys + "region = cn-north-1\n", want: "sts.cn-north-1.amazonaws.com.cn: AssumeRole of r by KEYS"},
		"an environment": {config: "credential_source = Environment\n", want: "sts.amazonaws.com: AssumeRole of r by ENVIRONMENT"},
		"a region of the pod's": {
			config: "credential_source = Environment\n", pod: "eu-test-1", want: "sts.eu-test-1.amazonaws.com: AssumeRole of r by ENVIRONMENT",
		},
		"a token":                            {config: "web_identity_token_file = " + token + "\n", want: "sts.amazonaws.com: AssumeRoleWithWebIdentity of r by of-the-pod"},
		"a token, for another service":       {config: "web_identity_token_file = " + token + "\nendpoint_url = https://somebody.example.com\n", refused: "an endpoint"},
		"a token, beside keys":               {config: keys + "web_identity_token_file = " + token + "\nendpoint_url = https://somebody.example.com\n", refused: "an endpoint"},
		"a token, for another region":        {config: "web_identity_token_file = " + token + "\nregion = eu-test-1\n", refused: "a region"},
		"an environment, for another region": {config: "credential_source = Environment\nregion = eu-test-1\n", refused: "a region"},
		"a file of the operator's":           {config: "web_identity_token_file = " + eksTokens + "../kubernetes.io/serviceaccount/token\n", refused: eksTokens},
		"an unknown source":                  {config: "credential_source = Ec2\n", refused: "Ec2InstanceMetadata"},
		"nobody":                             {refused: "credential_source"},
	} {
		t.Run(name, func(t *testing.T) {
			transport, asked := sts(t)
			t.Setenv("AWS_REGION", test.pod)
			c := Config{Kind: "S3", Path: "b/ns/k", Namespace: "ns", Permissions: kind.Permissions{PodIdentity: podIdentity(t, "s3://b/{namespace}")}, SecretName: "aws", Secret: map[string][]byte{"config": []byte("[default]\nrole_arn = r\n" + test.config)}}
			settings, err := readAWSFiles(c)
			if err != nil {
				t.Fatal(err)
			}
			creds, err := settings.credentials(t.Context(), c, transport)
			if test.refused != "" {
				if !Is(err, BadConfig) || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("error %v, want %s in it", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := creds.GetWithContext(&credentials.CredContext{Client: &http.Client{Transport: transport}, Context: t.Context()})
			if err != nil {
				t.Fatal(err)
			}
			if got.AccessKeyID != "ROLE" || *asked != test.want {
				t.Errorf("key %s, asked %q, want %q", got.AccessKeyID, *asked, test.want)
			}
		})
	}
}
