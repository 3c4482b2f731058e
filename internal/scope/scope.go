// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scope decides which of the operators in a Kubernetes cluster serves an
// object, so that one which works cluster-wide and one which works in a namespace
// never serve the same object.
package scope

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Serves reports whether an operator that runs with or without -cluster-wide
// serves the object. That an operator without it sees only its own namespace is
// the business of its caches.
func Serves(clusterWide bool, obj client.Object) bool {
	annotated := obj.GetAnnotations()[v1beta2.AnnotationScope] == v1beta2.AnnotationClusterWide
	return annotated == clusterWide
}

// Predicate lets through the events of the objects that the operator serves.
func Predicate(clusterWide bool) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool {
		return Serves(clusterWide, obj)
	})
}
