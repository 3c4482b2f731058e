// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// A tool that applies a tree of Git every few minutes must not cause a write each time: a rule, a default or a conversion that
// gives back something else than what was sent would.
func TestApplyingASampleAgainChangesNothing(t *testing.T) {
	t.Parallel()
	fill := strings.NewReplacer("<full-s3-path>", "mybucket/etcd.backup", "<aws-secret>", "aws",
		"<etcd-cluster-endpoints>", `"http://example-etcd-cluster-client:2379"`)
	samples := examplesOfOtherKinds(t)
	for file, manifests := range manifestsUnder(t, "../../example", fill.Replace) {
		samples[file] = append(samples[file], manifests...)
	}
	applied := 0
	for file, objects := range samples {
		for _, u := range objects {
			applied++
			t.Run(file+"/"+u.GetKind()+"/"+u.GetName(), func(t *testing.T) {
				t.Parallel()
				where := ""
				u.SetName(u.GetName() + "-applied") // others create the same samples at the same time
				if kind, _, _ := unstructured.NestedString(u.Object, "spec", "type"); kind == "NodePort" {
					ports, _, _ := unstructured.NestedSlice(u.Object, "spec", "ports")
					ports[0].(map[string]any)["nodePort"] = int64(32380)
					_ = unstructured.SetNestedSlice(u.Object, ports, "spec", "ports")
				}
				if !strings.HasPrefix(u.GetKind(), "Cluster") {
					namespace, err := kube(t).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-"}}, metav1.CreateOptions{})
					if err != nil {
						t.Fatal(err)
					}
					where = namespace.Name
					u.SetNamespace(where)
				}
				plural, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
				api := resource(t, plural, where)
				first := applySample(t, api, u)
				for range 9 {
					if again := applySample(t, api, u); again.GetResourceVersion() != first.GetResourceVersion() {
						t.Fatal("applied again, it is another one")
					}
				}
			})
		}
	}
	if applied == 0 {
		t.Error("there are no samples")
	}
}

// applySample does what `kubectl apply --server-side` does.
func applySample(t *testing.T, api dynamic.ResourceInterface, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	manifest, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := api.Patch(t.Context(), u.GetName(), types.ApplyPatchType, manifest, metav1.PatchOptions{FieldManager: "kubectl", FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}
