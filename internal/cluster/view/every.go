// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// EveryPod are the pods of this incarnation, and then those of previous ones.
func (v *View) EveryPod() iter.Seq[*corev1.Pod] { return pointers(v.Pods, v.Previous.Pods) }

// EveryClaim are the claims of this incarnation, and then those of previous ones.
func (v *View) EveryClaim() iter.Seq[*corev1.PersistentVolumeClaim] {
	return pointers(v.Claims, v.Previous.Claims)
}

// HasPod reports whether there is a pod of a name, whoever's it is.
func (v *View) HasPod(name string) bool {
	for pod := range pointers(v.Pods, v.Previous.Pods, v.Unclaimed) {
		if pod.Name == name {
			return true
		}
	}
	return false
}

// HasClaim reports whether there is a claim of a name, of any incarnation.
func (v *View) HasClaim(name string) bool {
	for claim := range v.EveryClaim() {
		if claim.Name == name {
			return true
		}
	}
	return false
}

// pointers goes through lists one after the other without copying what is in them: a pod is large, and every look at a cluster
// asks for several.
func pointers[T any](lists ...[]T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, list := range lists {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}
