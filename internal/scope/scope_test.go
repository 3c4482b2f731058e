// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scope_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

func TestEveryObjectIsServedByAtMostOneKindOfOperator(t *testing.T) {
	const nobody, namespaced, clusterWide = "nobody", "the operator of the namespace", "the cluster-wide operator"
	scoped := func(value string) map[string]string {
		return map[string]string{"etcd.database.coreos.com/scope": value}
	}
	for name, tc := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"without annotations":               {annotations: nil, want: namespaced},
		"an unrelated annotation":           {annotations: map[string]string{"scope": "clusterwide"}, want: namespaced},
		"annotated clusterwide":             {annotations: scoped("clusterwide"), want: clusterWide},
		"annotated with an unknown scope":   {annotations: scoped("namespaced"), want: nobody},
		"annotated clusterwide in capitals": {annotations: scoped("ClusterWide"), want: nobody},
		"annotated without a value":         {annotations: scoped(""), want: nobody},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			for operator, s := range map[string]scope.Scope{namespaced: scope.Namespaced, clusterWide: scope.Annotated} {
				want := operator == tc.want
				if got := s.Serves(obj); got != want {
					t.Errorf("%s serves it: %v, want %v", operator, got, want)
				}
				if got := s.Predicate().Create(event.CreateEvent{Object: obj}); got != want {
					t.Errorf("%s sees its creation: %v, want %v", operator, got, want)
				}
			}
			if got, want := scope.Listed.Serves(obj), tc.want == namespaced; got != want {
				t.Errorf("an operator of some namespaces serves it: %v, want %v", got, want)
			}
			if got, want := scope.All.Serves(obj), tc.want != nobody; got != want {
				t.Errorf("an operator that serves all, as in the fork, serves it: %v, want %v", got, want)
			}
		})
	}
}

func TestOnlyObjectsThatTheSelectorMatchesAreServed(t *testing.T) {
	for text, tc := range map[string]struct {
		serves []string
		labels map[string]string // of a cluster of team a
	}{
		"":                    {[]string{"a", "b", "none"}, nil},
		"team=a":              {[]string{"a"}, map[string]string{"team": "a"}},
		"team!=a":             {[]string{"b", "none"}, map[string]string{"team": "a"}},
		"!team":               {[]string{"none"}, map[string]string{"team": "a"}},
		"team in (a,b),!test": {[]string{"a", "b"}, map[string]string{"team": "a"}},
		"other":               {nil, nil},
	} {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := scope.Namespaced.Selecting(selector)
		var served []string
		for _, team := range []string{"a", "b", "none"} {
			obj := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": team, "x": "y"}}}
			if team == "none" {
				delete(obj.Labels, "team")
			}
			if s.Serves(obj) {
				served = append(served, team)
			}
			if team == "a" {
				if diff := cmp.Diff(tc.labels, s.Labels(obj)); diff != "" {
					t.Errorf("%q: labels of what is created for a cluster (-want +got):\n%s", text, diff)
				}
			}
			obj.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide}
			if s.Serves(obj) {
				t.Errorf("%q: the selector brings back what the annotation leaves to others", text)
			}
		}
		if diff := cmp.Diff(tc.serves, served); diff != "" {
			t.Errorf("%q serves (-want +got):\n%s", text, diff)
		}
	}
}

func TestAnObjectThatChangesItsScopeIsLeftToTheOtherOperator(t *testing.T) {
	before := &v1beta2.EtcdCluster{}
	after := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide},
	}}
	change := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
	if scope.Namespaced.Predicate().Update(change) {
		t.Error("the operator of the namespace still serves an object that became cluster-wide")
	}
	if !scope.Annotated.Predicate().Update(change) {
		t.Error("the cluster-wide operator does not see an object that became cluster-wide")
	}
}
