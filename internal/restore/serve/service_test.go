// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestTheServiceLeadsToAllReplicas(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{"name": "etcd-restore-operator", "pod-template-hash": "abc"}}}
	service := serviceFor(pod, 20000)
	if diff := cmp.Diff(map[string]string{"name": "etcd-restore-operator"}, service.Spec.Selector); diff != "" {
		t.Error(diff)
	}
	if port := service.Spec.Ports[0]; service.Name != "etcd-restore-operator" || port.Port != 19999 || port.TargetPort.IntValue() != 20000 {
		t.Errorf("the service is %+v", service)
	}
	stored := append([]corev1.ServicePort{}, service.Spec.Ports...)
	stored[0].NodePort = 30000 // somebody made it one that is reached from outside
	if !samePorts(stored, service.Spec.Ports) {
		t.Error("what others set is taken for a difference")
	}
	stored[0].Port = 1
	if samePorts(stored, service.Spec.Ports) {
		t.Error("another port is not seen")
	}
}

func TestAServiceThatIsMissingOrLeadsElsewhereIsFixed(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "operator", Labels: map[string]string{"name": "etcd-restore-operator"}}}
	kube := fake.NewClientBuilder().WithObjects(pod).Build()
	f := &Front{Client: kube, Live: kube, Namespace: "ns", Pod: "operator", TargetPort: 19999}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: ServiceName}}
	for what, spoil := range map[string]func() error{
		"nothing": func() error { return nil },
		"deleted": func() error { return kube.Delete(t.Context(), service) },
		"elsewhere": func() error {
			service.Spec.Selector = map[string]string{"a": "b"}
			return kube.Update(t.Context(), service)
		},
	} {
		if _, err := f.ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(kube.Get(t.Context(), client.ObjectKeyFromObject(service), service), spoil()); err != nil {
			t.Fatal(err)
		}
		made, err := f.ensure(t.Context())
		if getErr := kube.Get(t.Context(), client.ObjectKeyFromObject(service), service); !made || err != nil || getErr != nil || service.Spec.Selector["name"] == "" {
			t.Errorf("%s: %t, %v, %v, %v", what, made, err, getErr, service.Spec.Selector)
		}
	}
	f.Pod = "none"
	if made, err := f.ensure(t.Context()); made || err != nil {
		t.Errorf("outside of a pod: %t, %v", made, err)
	}
}
