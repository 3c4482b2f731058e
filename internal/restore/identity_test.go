// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"crypto/x509"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestTheServerIsWhoMembersAskForAndNobodyElse(t *testing.T) {
	data, err := newIdentity("ns", noon)
	if err != nil {
		t.Fatal(err)
	}
	who, err := parseIdentity(data, "ns", noon)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(who.ca)
	for name, want := range map[string]bool{
		"etcd-restore-operator.ns.svc": true, "etcd-restore-operator": true,
		"etcd-restore-operator.other.svc": false, "localhost": false, "kubernetes.default.svc": false,
	} {
		_, err := who.certificate.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: noon})
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACertificateThatCannotBeUsedIsReplaced(t *testing.T) {
	good, err := newIdentity("ns", noon)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newIdentity("ns", noon)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(key string, value []byte) map[string][]byte {
		data := maps.Clone(good)
		data[key] = value
		return data
	}
	for name, data := range map[string]map[string][]byte{
		"an empty secret":       {},
		"no key for tokens":     changed("token.key", nil),
		"a short one":           changed("token.key", []byte("short")),
		"another's key":         changed("tls.key", other["tls.key"]),
		"another's authority":   changed("ca.crt", other["ca.crt"]),
		"an authority's rubble": changed("ca.crt", []byte("x")),
	} {
		if _, err := parseIdentity(data, "ns", noon); err == nil {
			t.Errorf("%s is taken for good", name)
		}
	}
	if _, err := parseIdentity(good, "elsewhere", noon); err == nil {
		t.Error("the certificate of another namespace is taken for good")
	}
	if _, err := parseIdentity(good, "ns", noon.Add(validity-renewBefore/2)); err == nil {
		t.Error("a certificate that is about to expire is taken for good")
	}
}

func TestEachRestoreHasATokenOfItsOwn(t *testing.T) {
	key := []byte("0123456789abcdef")
	if token(key, "a") == token(key, "b") || token(key, "a") == token([]byte("fedcba9876543210"), "a") {
		t.Error("a token is good for more than one restore, or of more than one operator")
	}
	data, err := newIdentity("ns", noon)
	if err != nil {
		t.Fatal(err)
	}
	who, err := parseIdentity(data, "ns", noon)
	if err != nil {
		t.Fatal(err)
	}
	r := restoreOf(func(r *v1beta2.EtcdRestore) { r.Name = strings.Repeat("a", 253) })
	ticket := ticketOf(r, who)
	if len(ticket.Name) > 253 || !metav1.IsControlledBy(ticket, r) || len(ticket.Data) != 2 || string(ticket.Data["token"]) != token(who.tokenKey, r.UID) {
		t.Errorf("the ticket is %+v", ticket.ObjectMeta)
	}
}

func TestTheServiceLeadsToAllReplicas(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{"name": "etcd-restore-operator", "pod-template-hash": "abc"}}}
	service := serviceFor(pod, 20000)
	if diff := cmp.Diff(map[string]string{"name": "etcd-restore-operator"}, service.Spec.Selector); diff != "" {
		t.Error(diff)
	}
	if port := service.Spec.Ports[0]; service.Name != "etcd-restore-operator" || port.Port != 19999 || port.TargetPort.IntValue() != 20000 {
		t.Errorf("the service is %+v", service)
	}
	stored := append([]corev1.ServicePort{}, service.Spec.Ports...)
	stored[0].NodePort = 30000 // somebody made it one that is reached from outside
	if !samePorts(stored, service.Spec.Ports) {
		t.Error("what others set is taken for a difference")
	}
	stored[0].Port = 1
	if samePorts(stored, service.Spec.Ports) {
		t.Error("another port is not seen")
	}
}

func TestAServiceThatIsGoneOrLeadsElsewhereIsMended(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "operator", Labels: map[string]string{"name": "etcd-restore-operator"}}}
	kube := fake.NewClientBuilder().WithObjects(pod).Build()
	f := &front{client: kube, direct: kube, namespace: "ns", pod: "operator", port: 19999}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: ServiceName}}
	for what, spoil := range map[string]func() error{
		"nothing": func() error { return nil },
		"deleted": func() error { return kube.Delete(t.Context(), service) },
		"elsewhere": func() error {
			service.Spec.Selector = map[string]string{"a": "b"}
			return kube.Update(t.Context(), service)
		},
	} {
		if _, err := f.ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(kube.Get(t.Context(), client.ObjectKeyFromObject(service), service), spoil()); err != nil {
			t.Fatal(err)
		}
		made, err := f.ensure(t.Context())
		if getErr := kube.Get(t.Context(), client.ObjectKeyFromObject(service), service); !made || err != nil || getErr != nil || service.Spec.Selector["name"] == "" {
			t.Errorf("%s: %t, %v, %v, %v", what, made, err, getErr, service.Spec.Selector)
		}
	}
	f.pod = "none"
	if made, err := f.ensure(t.Context()); made || err != nil {
		t.Errorf("outside of a pod: %t, %v", made, err)
	}
}

func TestWhatKeepsTheCertificateAwayIsSaid(t *testing.T) {
	i := newIdentities(nil, nil, "ns")
	if err := i.missing(); !errors.Is(err, errNoIdentity) {
		t.Errorf("before the first look: %v", err)
	}
	forbidden := errors.New("creating Secret etcd-restore-operator-identity: secrets is forbidden")
	i.failed.Store(&forbidden)
	if err := i.missing(); !errors.Is(err, errNoIdentity) || !strings.Contains(err.Error(), forbidden.Error()) {
		t.Errorf("after a look that failed: %v", err)
	}
}
