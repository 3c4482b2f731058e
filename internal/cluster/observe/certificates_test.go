// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"context"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/authority"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
)

var midnight = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

// secretsByName has secrets in one version each.
type secretsByName struct {
	client.Reader
	data map[string]map[string][]byte
}

func (r secretsByName) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	into.SetResourceVersion("1")
	if secret, whole := into.(*corev1.Secret); whole {
		secret.Data = r.data[key.Name]
	}
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// issued are the entries of a secret of type kubernetes.io/tls whose certificate one authority issued, beside another to trust.
func issued(by, trusted authority.Pair, usages ...x509.ExtKeyUsage) map[string][]byte {
	leaf := must(authority.Issue(by, authority.Request{CommonName: "c", Names: []string{"*.c.ns.svc", "127.0.0.1"}, Usages: usages, NotBefore: midnight, NotAfter: midnight.Add(time.Hour)}))
	return map[string][]byte{"tls.crt": leaf.Certificate, "tls.key": leaf.Key, "ca.crt": trusted.Certificate}
}

func TestWhatACertificateSaysIsKnownAndItsKeyIsNot(t *testing.T) {
	ca := must(authority.New("ca", midnight, midnight.AddDate(1, 0, 0)))
	good, other := issued(ca, ca), issued(ca, ca)
	broken := map[string][]byte{"peer.crt": good["tls.crt"], "peer.key": other["tls.key"], "peer-ca.crt": []byte("none")}
	from := secretsByName{data: map[string]map[string][]byte{"good": good, "broken": broken}}
	secrets := &observe.Secrets{Metadata: from, Contents: from, Now: time.Now}
	seen := must(secrets.Look(t.Context(), "ns", "good"))
	leaf := seen.Certificates["tls.crt"]
	if diff := cmp.Diff([]string{"*.c.ns.svc", "127.0.0.1"}, leaf.Names); diff != "" || leaf.Problem != "" || leaf.CommonName != "c" {
		t.Errorf("the certificate is %+v", leaf)
	}
	if !leaf.NotBefore.Equal(midnight) || !leaf.NotAfter.Equal(midnight.Add(time.Hour)) {
		t.Errorf("it is valid from %v to %v", leaf.NotBefore, leaf.NotAfter)
	}
	if leaf.IDs[0] == seen.Certificates["ca.crt"].IDs[0] || len(leaf.IDs) != 1 {
		t.Errorf("the certificate is called %v as is its authority", leaf.IDs)
	}
	wrong := must(secrets.Look(t.Context(), "ns", "broken")).Certificates
	if wrong["peer.crt"].Problem != "does not match peer.key" || wrong["peer-ca.crt"].Problem != "contains no certificate" {
		t.Errorf("of a secret that cannot be used is known %+v", wrong)
	}
}

func TestWhoDoesNotTrustWhomIsKnown(t *testing.T) {
	const asServer, asClient = x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	old, next := must(authority.New("old", midnight, midnight.AddDate(1, 0, 0))), must(authority.New("new", midnight.AddDate(0, 6, 0), midnight.AddDate(2, 0, 0)))
	both := authority.Pair{Certificate: authority.Bundle(old.Certificate, next.Certificate)}
	for name, tc := range map[string]struct {
		by, of map[string][]byte
		usages []x509.ExtKeyUsage
		want   string
	}{
		"the authority of the certificate":         {by: issued(old, old), of: issued(old, old, asServer), usages: []x509.ExtKeyUsage{asServer}},
		"another authority":                        {by: issued(old, next), of: issued(old, old, asServer), usages: []x509.ExtKeyUsage{asServer}, want: `was issued by "CN=old", and not by "CN=new"`},
		"a bundle of both":                         {by: issued(old, both), of: issued(next, next, asServer), usages: []x509.ExtKeyUsage{asServer}},
		"an authority whose time has not come":     {by: issued(old, next), of: issued(next, next), usages: []x509.ExtKeyUsage{asServer}},
		"a server's certificate that clients show": {by: issued(old, old), of: issued(old, old, asServer), usages: []x509.ExtKeyUsage{asServer, asClient}, want: "extended key usage lacks clientAuth"},
		"nothing to compare":                       {by: issued(old, old), of: map[string][]byte{}, usages: []x509.ExtKeyUsage{asServer}},
	} {
		t.Run(name, func(t *testing.T) {
			from := secretsByName{data: map[string]map[string][]byte{"by": tc.by, "of": tc.of}}
			secrets := &observe.Secrets{Metadata: from, Contents: from, Now: time.Now}
			trust := manifests.Trust{
				By: manifests.SecretNeed{Name: "by", Files: manifests.OperatorFiles}, Of: manifests.SecretNeed{Name: "of", Files: manifests.ServerFiles}, Usages: tc.usages,
			}
			for range 2 { // the second answer is one that was kept
				if got := must(secrets.Distrusts(t.Context(), "ns", trust)); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
					t.Errorf("the certificate %q, want %q", got, tc.want)
				}
			}
		})
	}
}
