// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scope_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

func TestEveryObjectIsServedByExactlyOneKindOfOperator(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		clusterWide bool
	}{
		"without annotations, the namespace's operator":    {annotations: nil, clusterWide: false},
		"annotated clusterwide, the cluster-wide operator": {annotations: map[string]string{"etcd.database.coreos.com/scope": "clusterwide"}, clusterWide: true},
		"an unknown scope, the namespace's operator":       {annotations: map[string]string{"etcd.database.coreos.com/scope": "namespaced"}, clusterWide: false},
		"an unrelated annotation":                          {annotations: map[string]string{"scope": "clusterwide"}, clusterWide: false},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			for _, clusterWide := range []bool{true, false} {
				want := clusterWide == tc.clusterWide
				if got := scope.Serves(clusterWide, obj); got != want {
					t.Errorf("Serves(clusterWide=%v) = %v, want %v", clusterWide, got, want)
				}
				if got := scope.Predicate(clusterWide).Create(event.CreateEvent{Object: obj}); got != want {
					t.Errorf("Predicate(clusterWide=%v) lets a creation through: %v, want %v", clusterWide, got, want)
				}
			}
		})
	}
}

func TestAnObjectThatChangesItsScopeIsLeftToTheOtherOperator(t *testing.T) {
	before := &v1beta2.EtcdCluster{}
	after := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide},
	}}
	change := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	if scope.Predicate(false).Update(change) {
		t.Error("the namespace's operator still serves an object that became cluster-wide")
	}
	if !scope.Predicate(true).Update(change) {
		t.Error("the cluster-wide operator does not see an object that became cluster-wide")
	}
}
