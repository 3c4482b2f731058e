// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
	"github.com/etcd-operator/etcd-operator/test/rights"
)

// Whoever may read metrics is decided by Kubernetes. All that an operator needs for that is what the option of
// create_role.sh grants.
func TestMetricsAreForWhomKubernetesAllowsThem(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.createRole(t, "--metrics-secure")
	s.kubectl(t, "apply", "-f", "example/rbac/metrics-reader.yaml")
	for _, account := range []string{"reader", "stranger"} {
		s.kubectl(t, "create", "serviceaccount", account)
	}
	s.kubectl(t, "create", "clusterrolebinding", "reader", "--clusterrole=etcd-operator-metrics-reader", "--serviceaccount=default:reader")
	token := func(account string) string { return strings.TrimSpace(s.kubectl(t, "create", "token", account)) }
	reader, stranger := token("reader"), token("stranger")
	since := time.Now()
	for _, operator := range operators {
		address := port.Free(t)
		o := harness.StartOperator(t, harness.Operator{
			Name: operator, Kubeconfig: s.kubeconfigOf(t, operator), Namespace: "default", Args: []string{"-metrics-secure", "-metrics-addr", address},
		})
		o.AwaitReady(t)
		if status, _, err := o.Get(t.Context(), "/metrics"); err != nil || status != http.StatusNotFound {
			t.Errorf("%s: -listen-addr answers a request for metrics by %d (%v), want 404", operator, status, err)
		}
		for name, tc := range map[string]struct {
			token string
			want  int
		}{
			"no token":           {"", http.StatusUnauthorized},
			"a token of nobody":  {"made-up", http.StatusUnauthorized},
			"without the right":  {stranger, http.StatusForbidden},
			"with the right":     {reader, http.StatusOK},
			"once more, with it": {reader, http.StatusOK},
		} {
			eventually(t, func(ctx context.Context) error {
				status, body, err := metrics(ctx, "https://"+address+"/metrics", tc.token)
				if err != nil {
					return err // the second server starts beside the first
				}
				if shown := strings.Contains(body, "go_goroutines"); status != tc.want || shown != (tc.want == http.StatusOK) {
					t.Errorf("%s, %s: status %d, want %d; metrics are shown: %t", operator, name, status, tc.want, shown)
				}
				return nil
			})
		}
		if status, _, err := metrics(t.Context(), "http://"+address+"/metrics", reader); err == nil && status == http.StatusOK {
			t.Errorf("%s answers without TLS", operator)
		}
	}

	grants, err := rights.CreateRole(t.Context(), "--metrics-secure", "--namespace="+rights.Home)
	if err != nil {
		t.Fatal(err)
	}
	usage := rights.NewUsage(rights.Installation{Namespace: "default", Grants: grants, Since: since})
	if _, err := rights.ReadLogs(s.AuditDir(), usage.Count); err != nil {
		t.Fatal(err)
	}
	for _, line := range append(usage.Forbidden(), usage.Foreign()...) {
		t.Errorf("forbidden, or allowed by rights from elsewhere: %s", line)
	}
	for _, right := range usage.Unused(nil) {
		if strings.Contains(right, "-metrics:") {
			t.Errorf("nobody used %s", right)
		}
	}
}

// metrics asks for metrics, with the token if there is one.
func metrics(ctx context.Context, url, token string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}
