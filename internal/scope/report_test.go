// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// scoped is an EtcdBackup with the annotation, or without it where the value is "-".
func scoped(value string) *v1beta2.EtcdBackup {
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}}
	if value != "-" {
		b.Annotations = map[string]string{v1beta2.AnnotationScope: value}
	}
	return b
}

func TestAnUnknownScopeIsReported(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"-":           "",
		"clusterwide": "",
		"cluster":     `b UnknownScope: No operator serves this object, because its annotation etcd.database.coreos.com/scope is "cluster". Set it to clusterwide, or remove it for the operator of the namespace.`,
	} {
		got := ""
		obj := scoped(value)
		r := &reporter{
			client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).Build(),
			warn: func(about client.Object, reason, message string) {
				got += about.GetName() + " " + reason + ": " + message
			},
			kind: &v1beta2.EtcdBackup{},
		}
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("scope %q: event %q, want %q", value, got, want)
		}
	}
}

func TestAnUnknownScopeIsReportedByTheOperatorOfTheLabels(t *testing.T) {
	r := &reporter{scope: Namespaced.Selecting(labels.SelectorFromSet(labels.Set{"team": "a"}))}
	obj := scoped("cluster")
	if reason, _ := r.unserved(obj); reason != "" {
		t.Errorf("an object of another operator is reported: %s", reason)
	}
	obj.Labels = map[string]string{"team": "a"}
	if reason, _ := r.unserved(obj); reason != ReasonUnknown {
		t.Errorf("reason %q, want %s", reason, ReasonUnknown)
	}
}

func TestAnUnknownScopeIsReportedOnce(t *testing.T) {
	for _, tc := range []struct {
		before, now string
		want        bool
	}{
		{"-", "cluster", true},
		{"clusterwide", "cluster", true},
		{"cluster", "wide", true},
		{"cluster", "cluster", false},
		{"cluster", "clusterwide", false},
		{"cluster", "-", false},
	} {
		change := event.UpdateEvent{ObjectOld: scoped(tc.before), ObjectNew: scoped(tc.now)}
		if got := (&reporter{}).becameUnserved().Update(change); got != tc.want {
			t.Errorf("from %q to %q: passed %v, want %v", tc.before, tc.now, got, tc.want)
		}
	}
	if !(&reporter{}).becameUnserved().Create(event.CreateEvent{Object: scoped("cluster")}) || (&reporter{}).becameUnserved().Create(event.CreateEvent{Object: scoped("-")}) {
		t.Error("a creation must pass if, and only if, the scope is unknown")
	}
	if (&reporter{}).becameUnserved().Delete(event.DeleteEvent{Object: scoped("cluster")}) {
		t.Error("a deletion needs no report")
	}
}

// Whoever comes from the fork has backups in all namespaces that nobody continues, and would not hear of it.
func TestASeriesOfAnotherOperatorThatIsNotContinuedIsReported(t *testing.T) {
	series := func(change func(*v1beta2.EtcdBackup)) *v1beta2.EtcdBackup {
		b := scoped("-")
		b.Finalizers, b.Status.Succeeded = []string{v1beta2.BackupFinalizer}, true
		if change != nil {
			change(b)
		}
		return b
	}
	annotated := func(b *v1beta2.EtcdBackup) {
		b.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide}
	}
	for name, tc := range map[string]struct {
		scope Scope
		obj   client.Object
		want  string
	}{
		"a series of the fork":                  {Annotated, series(nil), "NotServed"},
		"with an operator in its own namespace": {Namespaced, series(nil), ""},
		"with an operator that serves all":      {All, series(nil), ""},
		"with the annotation":                   {Annotated, series(annotated), ""},
		"one that an operator of ours serves":   {Annotated, series(func(b *v1beta2.EtcdBackup) { b.Status.ObservedGeneration = 1 }), ""},
		"one that was just begun":               {Annotated, series(func(b *v1beta2.EtcdBackup) { b.Status.Succeeded = false }), ""},
		"one backup":                            {Annotated, scoped("-"), ""},
		"another kind":                          {Annotated, &v1beta2.EtcdRestore{}, ""},
	} {
		r := &reporter{scope: tc.scope}
		if reason, message := r.unserved(tc.obj); reason != tc.want || (reason != "") != strings.Contains(message, "-serve-unannotated") {
			t.Errorf("%s: %q, want %q: %s", name, reason, tc.want, message)
		}
	}
	r := &reporter{scope: Annotated}
	if !r.becameUnserved().Create(event.CreateEvent{Object: series(nil)}) || r.becameUnserved().Update(event.UpdateEvent{ObjectOld: series(nil), ObjectNew: series(nil)}) {
		t.Error("it must be reported once")
	}
}
