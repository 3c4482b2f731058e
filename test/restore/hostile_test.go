// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// A tenant chooses the store of an EtcdRestore, and its Secret. None of them leads the operator, which has an identity in the cloud,
// to its own machine, to metadata or to the API server, or shows that identity to the tenant's server.
func TestRestoresOfAHostileTenantGetNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, stores.StartS3(t))
	s.put("honest", snap)
	s.cluster("c")
	var asked atomic.Int32
	// It stands for all that is refused.
	metadata := serve(t, "127.0.0.2", func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	})
	var mu sync.Mutex
	var shown strings.Builder
	evil := serve(t, harness.OwnAddress, func(w http.ResponseWriter, r *http.Request) {
		text, _ := httputil.DumpRequest(r, false)
		mu.Lock()
		shown.Write(text)
		mu.Unlock()
		w.Header().Set("Location", metadata+r.URL.Path)
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = fmt.Fprintf(w, "<Error><Code>\x1b[31mgo\naway %s</Code></Error>", strings.Repeat("x", 100_000))
	})
	const keys = "[default]\naws_access_key_id = AKIATENANTTENANTTENA\naws_secret_access_key = tenanttenanttenanttenant\n"
	for name, credentials := range map[string]string{"keys": keys, "nothing": ""} {
		api.NewSecret(t, s.namespace, name, map[string][]byte{"credentials": []byte(credentials), "config": []byte("[default]\n")})
	}
	operator := harness.StartOperator(t, harness.Operator{
		Name: "etcd-restore-operator", Kubeconfig: api.Kubeconfig(), Namespace: s.namespace, Args: []string{"-create-crd=false"},
		Env: []string{"AWS_ACCESS_KEY_ID=AKIAOPERATOROPERATOR", "AWS_SECRET_ACCESS_KEY=operatoroperatoroperator", "AWS_EC2_METADATA_DISABLED=true"},
	})
	for _, test := range []struct{ name, secret, endpoint, says string }{
		{"identity-for-a-server-of-the-tenant", "nothing", evil, "-pod-identity"},
		{"identity-for-another-bucket", "nothing", "", "-pod-identity"},
		{"store-at-the-metadata", "keys", metadata, "loopback address"},
		{"store-at-the-api-server", "keys", api.Config().Host, "the Kubernetes API server"},
		{"store-that-redirects", "keys", evil, strings.TrimPrefix(evil, "http://")},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.restore(test.name, "honest", func(r *v1beta2.EtcdRestore) { r.Spec.S3.AWSSecret, r.Spec.S3.Endpoint = test.secret, test.endpoint })
			var message string
			s.await(r, "refused", func() bool {
				c := meta.FindStatusCondition(r.Status.Conditions, "Ready")
				if c == nil || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, test.says) {
					return false
				}
				message = c.Message
				return true
			})
			if len(message) > 2000 || strings.ContainsAny(message, "\x1b\n\x00") {
				t.Errorf("the message is %q", message)
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	if text := shown.String(); text == "" || strings.Contains(text, "AKIAOPERATOR") || strings.Contains(text, "Bearer") {
		t.Errorf("the tenant's server was shown %q", text)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests were sent to an address that is refused", n)
	}
	if status, _, err := operator.Get(t.Context(), "/healthz"); err != nil || status != http.StatusOK {
		t.Errorf("the operator: %d, %v", status, err)
	}
}

// serve answers at an address of this machine.
func serve(tb testing.TB, host string, answer http.HandlerFunc) string {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", host+":0")
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	tb.Cleanup(server.Close)
	return server.URL
}
