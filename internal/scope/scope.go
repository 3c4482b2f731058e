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

// Scope is which objects an operator serves. Its caches hold no other namespaces than those that it serves.
type Scope struct {
	annotation annotation
	elsewhere  bool
}

// annotation is what objects that are served have as theirs.
type annotation int

const (
	without annotation = iota
	clusterWide
	withoutOrClusterWide
)

// The scopes.
var (
	// Namespaced are the objects in the operator's own namespace without the annotation.
	Namespaced = Scope{}
	// Listed are the objects without the annotation in the namespaces of a list. The operator's own need not be one of them.
	Listed = Scope{elsewhere: true}
	// Annotated are the objects in all namespaces with the annotation.
	Annotated = Scope{annotation: clusterWide, elsewhere: true}
	// All are also those without the annotation, in all namespaces, as in the fork. No operator of the scopes Namespaced
	// and Listed can be beside it.
	All = Scope{annotation: withoutOrClusterWide, elsewhere: true}
)

// ServesOtherNamespaces reports whether the operator serves other namespaces than its own.
func (s Scope) ServesOtherNamespaces() bool { return s.elsewhere }

// Serves reports whether an operator of this scope serves the object.
func (s Scope) Serves(obj client.Object) bool {
	value, annotated := obj.GetAnnotations()[v1beta2.AnnotationScope]
	isClusterWide := value == v1beta2.AnnotationClusterWide
	switch s.annotation {
	case clusterWide:
		return isClusterWide
	case withoutOrClusterWide:
		return isClusterWide || !annotated
	default:
		return !annotated
	}
}

// Predicate passes the events of the objects that the operator serves.
func (s Scope) Predicate() predicate.Predicate { return predicate.NewPredicateFuncs(s.Serves) }
