// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

func TestEachRestoreHasATokenOfItsOwn(t *testing.T) {
	key := []byte("0123456789abcdef")
	if token(key, "a") == token(key, "b") || token(key, "a") == token([]byte("fedcba9876543210"), "a") {
		t.Error("a token is good for more than one restore, or of more than one operator")
	}
	who := identityOf(t)
	r := scene.Restore(func(r *v1beta2.EtcdRestore) { r.Name = strings.Repeat("a", 253) })
	ticket := ticketFor(r, who)
	if len(ticket.Name) > 253 || !metav1.IsControlledBy(ticket, r) || len(ticket.Data) != 2 || string(ticket.Data["token"]) != token(who.tokenKey, r.UID) {
		t.Errorf("the ticket is %+v", ticket.ObjectMeta)
	}
}

// ticketsOf are the tickets of an operator that is ready to serve.
func ticketsOf(t *testing.T) *Tickets {
	t.Helper()
	kube := fake.NewClientBuilder().Build()
	who := NewIdentityKeeper(kube, kube, "op")
	if err := who.refresh(t.Context(), scene.Noon); err != nil {
		t.Fatal(err)
	}
	return &Tickets{Client: kube, Live: kube, Identity: who, Front: &Front{Client: kube, Live: kube, Namespace: "op", Pod: "none"}}
}

func TestATicketIsKeptUpToDateAndDeleted(t *testing.T) {
	tickets, r, ticket := ticketsOf(t), scene.Restore(scene.Accepted), &corev1.Secret{}
	key := types.NamespacedName{Namespace: "ns", Name: r.Status.TicketSecret}
	for range 2 { // the second time, somebody has changed it
		if err := tickets.Ensure(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := tickets.Live.Get(t.Context(), key, ticket); err != nil || len(ticket.Data["token"]) != 64 {
			t.Fatalf("the ticket is %v: %v", ticket.Data, err)
		}
		ticket.Data["token"] = []byte("x")
		if err := tickets.Client.Update(t.Context(), ticket); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time, it has been deleted already
		if err := tickets.Delete(t.Context(), r, key.Name); err != nil {
			t.Fatal(err)
		}
		if err := tickets.Live.Get(t.Context(), key, ticket); !apierrors.IsNotFound(err) {
			t.Errorf("the ticket is still there: %v", err)
		}
	}
}

func TestASecretOfSomebodyElseIsLeftAlone(t *testing.T) {
	tickets, r := ticketsOf(t), scene.Restore(scene.Accepted)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: r.Status.TicketSecret}, Data: map[string][]byte{"a": []byte("b")}}
	if err := tickets.Client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	if err := tickets.Ensure(t.Context(), r); !problem.IsFinal(err) {
		t.Errorf("it is taken for ours: %v", err)
	}
	if err := tickets.Delete(t.Context(), r, foreign.Name); err != nil {
		t.Error(err)
	}
	if err := tickets.Live.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: foreign.Name}, foreign); err != nil || string(foreign.Data["a"]) != "b" {
		t.Errorf("it is now %v: %v", foreign.Data, err)
	}
}

func TestNobodyGetsATicketBeforeTheServerIsReady(t *testing.T) {
	tickets := ticketsOf(t)
	tickets.Identity = NewIdentityKeeper(tickets.Client, tickets.Live, "op")
	if err := tickets.Ensure(t.Context(), scene.Restore(scene.Accepted)); err == nil {
		t.Error("a ticket was made")
	}
}
