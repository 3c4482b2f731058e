// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// failures is what the metric of failed rounds has counted so far, whatever was being done.
func failures(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() == "etcd_operator_cluster_reconcile_failed" {
			for _, metric := range family.GetMetric() {
				sum += metric.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestAFailureIsCountedOnce(t *testing.T) {
	for name, answer := range map[string]error{
		"no answer": errors.New("connection refused"),
		"a refusal": apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "c", errors.New("exceeded quota")),
	} {
		t.Run(name, func(t *testing.T) {
			kube := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return answer },
			})
			r := &Reconciler{Live: kube, Actor: &act.Actor{Kube: kube}}
			v := &view.View{Gone: true, Cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}}}
			before := failures(t)
			step := plan.CreateObject{Object: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}}}
			_, done, err := r.executeStep(t.Context(), v, &plan.Plan{Decision: "sync-peer-service", Step: step})
			if done != (err != nil) {
				t.Errorf("done is %t, the error %v", done, err)
			}
			if counted := failures(t) - before; counted != 1 {
				t.Errorf("counted %v times", counted)
			}
		})
	}
}
