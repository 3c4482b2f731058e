// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// A pod that is gone is nothing to worry about. A Kubernetes that cannot resize is: it answers the same number.
func TestAKubernetesWithoutResizeIsSaid(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, test := range map[string]struct {
		answer error
		want   string
	}{
		"the pod is gone": {answer: apierrors.NewNotFound(pods, "c-a")},
		"there is no such way": {
			answer: apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", pods, "c-a", "404 page not found", 0, true), want: "1.33",
		},
	} {
		t.Run(name, func(t *testing.T) {
			kube := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
					return test.answer
				},
			})
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-a", Namespace: "ns"}}
			_, err := (&act.Actor{Kube: kube}).Do(t.Context(), &snapshot.Snapshot{}, &plan.Step{Kind: plan.Resize, From: pod, Object: pod.DeepCopy(), Why: "resize"})
			if (err != nil) != (test.want != "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("Do() = %v, want %q", err, test.want)
			}
		})
	}
}
