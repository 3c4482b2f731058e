// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scope decides which operator in a Kubernetes cluster serves an object, so that a cluster-wide
// operator and the operator of a namespace never serve the same object.
package scope

import (
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Scope is which objects an operator serves. Its caches hold no other namespaces than those that it serves.
type Scope struct {
	annotation annotation
	elsewhere  bool
	// selector is nil where labels do not matter.
	selector labels.Selector
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

// Selecting is the scope without the objects whose labels the selector does not match. Caches hold them all the same: if they
// held less, an object whose label is taken off would look like one that was deleted.
func (s Scope) Selecting(selector labels.Selector) Scope {
	s.selector = selector
	return s
}

// matches reports whether the object's labels are those of the scope.
func (s Scope) matches(obj client.Object) bool {
	return s.selector == nil || s.selector.Matches(labels.Set(obj.GetLabels()))
}

// Labels are the labels of an object that decide whether it is served. What is created for the object has them too, so that
// the other operators with the same selector serve it. It is nil where no label does.
func (s Scope) Labels(obj client.Object) map[string]string {
	if s.selector == nil {
		return nil
	}
	var found map[string]string
	requirements, _ := s.selector.Requirements()
	for _, r := range requirements {
		if value, ok := obj.GetLabels()[r.Key()]; ok {
			if found == nil {
				found = map[string]string{}
			}
			found[r.Key()] = value
		}
	}
	return found
}

// Serves reports whether an operator of this scope serves the object.
func (s Scope) Serves(obj client.Object) bool {
	if !s.matches(obj) {
		return false
	}
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
