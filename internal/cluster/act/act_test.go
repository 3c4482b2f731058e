// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// A pod that somebody took the labels off is not seen by the next look: it would be created again and again.
func TestAnObjectThatExistsWithoutItsLabelsIsReported(t *testing.T) {
	s := &view.View{Cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}}}
	pod := func(labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-a", Namespace: "ns", Labels: labels}}
	}
	for name, test := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"created a moment ago": {labels: manifests.ClusterLabels("c")},
		"quarantined":          {labels: map[string]string{manifests.LabelApp: "etcd"}, want: "c-a exists without the label etcd_cluster=c: add the label, or delete the object"},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientBuilder().WithObjects(pod(test.labels)).Build()
			outcome, err := (&act.Actor{Kube: kube}).Do(t.Context(), s, plan.CreateObject{About: plan.About{Why: "create pod c-a"}, Object: pod(manifests.ClusterLabels("c"))})
			switch {
			case test.want == "" && (err != nil || outcome != act.AlreadyDone):
				t.Errorf("Do() = %v, %v", outcome, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("Do() = %v, want %q", err, test.want)
			}
		})
	}
}

// A pod that is gone is nothing to worry about. A Kubernetes that cannot resize is: it answers the same number.
func TestAKubernetesWithoutResizeIsReported(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, test := range map[string]struct {
		answer error
		want   string
	}{
		"the pod is gone": {answer: apierrors.NewNotFound(pods, "c-a")},
		"there is no such subresource": {
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
			_, err := (&act.Actor{Kube: kube}).Do(t.Context(), &view.View{}, plan.ResizePod{About: plan.About{Why: "resize"}, From: pod, To: pod.DeepCopy()})
			if (err != nil) != (test.want != "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("Do() = %v, want %q", err, test.want)
			}
		})
	}
}

func TestAPodThatIsNotNeededAnyMoreHasLittleTimeToEnd(t *testing.T) {
	for grace, want := range map[time.Duration]*int64{0: nil, 2 * time.Second: ptr.To[int64](2)} {
		var got client.DeleteOptions
		kube := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
			Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
				got.ApplyOptions(options)
				return nil
			},
		})
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-a", Namespace: "ns", UID: "uid"}}
		if _, err := (&act.Actor{Kube: kube}).Do(t.Context(), &view.View{}, plan.DeleteObject{Object: pod, Grace: grace}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.GracePeriodSeconds); diff != "" || got.Preconditions == nil || *got.Preconditions.UID != pod.UID {
			t.Errorf("grace %s: %s, preconditions %+v", grace, diff, got.Preconditions)
		}
	}
}
