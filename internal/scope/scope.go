// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scope decides which operator in a Kubernetes cluster serves an object, so that a cluster-wide
// operator and the operator of a namespace never serve the same object.
package scope

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Scope is which objects an operator serves.
type Scope int

// The scopes.
const (
	// Namespaced are the objects in the operator's own namespace without the annotation. Its caches hold no other
	// namespace.
	Namespaced Scope = iota
	// Annotated are the objects in all namespaces with the annotation.
	Annotated
	// All are also those without the annotation, in all namespaces, as in the fork. No operator of the scope Namespaced
	// can be beside it.
	All
)

// IsClusterWide reports whether the operator serves other namespaces than its own.
func (s Scope) IsClusterWide() bool { return s != Namespaced }

// Serves reports whether an operator of this scope serves the object.
func (s Scope) Serves(obj client.Object) bool {
	value, annotated := obj.GetAnnotations()[v1beta2.AnnotationScope]
	isClusterWide := value == v1beta2.AnnotationClusterWide
	switch s {
	case Annotated:
		return isClusterWide
	case All:
		return isClusterWide || !annotated
	default:
		return !annotated
	}
}

// Predicate passes the events of the objects that the operator serves.
func (s Scope) Predicate() predicate.Predicate { return predicate.NewPredicateFuncs(s.Serves) }
