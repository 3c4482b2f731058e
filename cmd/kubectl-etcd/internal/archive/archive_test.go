// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/archive"
)

func TestWhatLooksLikeASecretIsTakenOut(t *testing.T) {
	for name, tc := range map[string]struct{ text, secret, kept string }{
		"a key":                {"x -----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY----- y", "MHcCAQEE", " y"},
		"half a key":           {"-----BEGIN PRIVATE KEY-----\nMHcCAQEE", "MHcCAQEE", ""},
		"an age key":           {"key AGE-SECRET-KEY-1QQQQQQQQ end", "1QQQQQQQQ", "end"},
		"an AWS key":           {"id AKIAABCDEFGHIJKLMNOP end", "ABCDEFGHIJKLMNOP", "end"},
		"a JSON web token":     {"t eyJhbGciOiJ.eyJzdWIiOiI.c2lnbmF0dXJl end", "c2lnbmF0dXJl", "end"},
		"a header":             {`"Authorization":"Bearer abc.def" end`, "abc.def", "end"},
		"a password":           {`{"password": "hunter22", "x": 1}`, "hunter22", `"x": 1`},
		"a flag":               {"--etcd-password=hunter22 --size=3", "hunter22", "--size=3"},
		"credentials of AWS":   {"aws_secret_access_key = wJalrXUtnFEMI end", "wJalrXUtnFEMI", "end"},
		"a URL with a user":    {"http://root:hunter22@host:2379/x", "hunter22", "@host:2379/x"},
		"a signed URL":         {"https://store/b?X-Amz-Signature=0badc0de&x=1", "0badc0de", "&x=1"},
		"a token of a restore": {"token: 0123456789abcdef\nother: 1", "0123456789abcdef", "other: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var r archive.Redactor
			got := r.Text(tc.text)
			if strings.Contains(got, tc.secret) || !strings.Contains(got, tc.kept) {
				t.Errorf("%q became %q", tc.text, got)
			}
		})
	}
}

func TestWhatIsInASecretIsTakenOutWhereverItAppears(t *testing.T) {
	var r archive.Redactor
	r.Learn(map[string][]byte{
		"credentials": []byte("[default]\naws_access_key_id = my-key-id\naws_secret_access_key = my-long-key\n"),
		"password":    []byte("correct horse\n"), "server.crt": []byte("public certificate"), "short": []byte("abc"),
	})
	got := r.Text("my-key-id, my-long-key, correct horse, public certificate, abc, 3 members")
	if got != "[redacted], [redacted], [redacted], public certificate, abc, 3 members" {
		t.Error(got)
	}
}

func TestObjectsKeepWhatIsNoSecret(t *testing.T) {
	var r archive.Redactor
	got := r.Object(map[string]any{
		"metadata": map[string]any{
			"managedFields": []any{"x"},
			"annotations":   map[string]any{"etcd.version": "3.6.16", "kubectl.kubernetes.io/last-applied-configuration": `{"x":"deep-secret"}`},
		},
		"spec": map[string]any{
			"awsSecret": "aws", "size": 3.0,
			"pod": map[string]any{"etcdEnv": []any{
				map[string]any{"name": "ETCD_QUOTA_BACKEND_BYTES", "value": "100"},
				map[string]any{"name": "MY_THING", "value": "deep-secret"},
				map[string]any{"name": "ETCD_AUTH_TOKEN", "value": "deep-secret"},
			}},
		},
	}).(map[string]any)
	text := strings.ReplaceAll(strings.ReplaceAll(toText(t, got), "\n", " "), "  ", " ")
	for _, want := range []string{"3.6.16", "awsSecret: aws", `value: "100"`, "size: 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	for _, secret := range []string{"deep-secret", "managedFields"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
}

func TestWhatIsMissingIsListedWithoutSecrets(t *testing.T) {
	a := archive.New("x", epoch)
	a.Missing("metrics", errors.New("dial http://root:hunter22@host"))
	if got := a.Contents(); strings.Contains(got, "hunter22") || !strings.Contains(got, "not in it: metrics") {
		t.Error(got)
	}
}
