// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errRefused = errors.New("a webhook, a quota or a missing right refuses it")

// Refuse lets the API server refuse a verb for a kind of object to the operator, until AcceptAll.
func (k *Kube) Refuse(verb string, kind Kind) {
	if k.Refusing == nil {
		k.Refusing = map[string]bool{}
	}
	k.Refusing[verb+" "+kindNames[kind]] = true
}

// AcceptAll ends all refusals.
func (k *Kube) AcceptAll() { k.Refusing = nil }

// refusal is the answer to a write that is refused; nil for one that is not.
func (k *Kube) refusal(verb string, object client.Object) error {
	kind := KindOf(object)
	if !k.Refusing[verb+" "+kindNames[kind]] {
		return nil
	}
	return apierrors.NewForbidden(resource(kind), object.GetName(), errRefused)
}
