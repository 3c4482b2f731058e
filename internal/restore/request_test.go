// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// A request is taken back where its very object is gone, and only there: a name may have a successor, and
// the cache may not know it yet.
func TestOnlyTheRequestOfARestoreThatIsGoneIsTakenBack(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	first, second := restoreOf(whole, named("r", "uid-1", 0)), restoreOf(whole, named("r", "uid-2", 0))
	for name, tc := range map[string]struct {
		request *v1beta2.EtcdRestore // on the cluster
		cached  types.UID            // of the object that the cache has
		live    *v1beta2.EtcdRestore // the one that the API server has
		stays   bool
	}{
		"its object is there":                    {request: first, cached: "uid-1", live: first, stays: true},
		"its object is gone":                     {request: first},
		"another one has its name":               {request: first, cached: "uid-2", live: second},
		"another one that nobody has seen yet":   {request: first, live: second},
		"it is of one that nobody has seen yet":  {request: second, live: second, stays: true},
		"which has the name of one that is gone": {request: second, cached: "uid-1", live: second, stays: true},
		"it has another name":                    {request: restoreOf(whole, named("other", "uid-3", 0)), cached: "uid-1", live: first, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := clusterOf(carrying(tc.request))
			cached := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).Build()
			server := fake.NewClientBuilder().WithScheme(scheme)
			if tc.live != nil {
				server.WithObjects(tc.live.DeepCopy())
			}
			c := &reconciler{client: cached, direct: server.Build()}
			if err := c.takeBack(t.Context(), types.NamespacedName{Namespace: "ns", Name: "r"}, tc.cached); err != nil {
				t.Fatal(err)
			}
			if err := cached.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
				t.Fatal(err)
			}
			if _, stays := cluster.Annotations[v1beta2.AnnotationRestore]; stays != tc.stays {
				t.Errorf("the request stays: %t, want %t", stays, tc.stays)
			}
		})
	}
}
