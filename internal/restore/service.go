// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"maps"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// serviceRetry is how soon making the Service is tried again.
	serviceRetry = 2 * time.Second
	// serviceEvery is how often the Service is looked at: somebody may have deleted it.
	serviceEvery = 10 * time.Minute
)

// front makes the Service through which members reach the operator: when the operator begins to lead, and
// for each restore, which would not come to its end without it.
type front struct {
	client client.Client
	direct client.Reader
	// namespace and pod are those of the operator itself; port is where it listens.
	namespace, pod string
	port           int
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: one replica is enough.
func (f *front) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable.
func (f *front) Start(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		next := serviceEvery
		switch made, err := f.ensure(ctx); {
		case err != nil:
			log.FromContext(ctx).Error(err, "the Service for restores could not be made")
			next = serviceRetry
		case !made:
			log.FromContext(ctx).Info("this operator does not run as a pod: make the Service for restores yourself",
				"service", ServiceName, "namespace", f.namespace, "port", Port)
			return nil
		}
		timer.Reset(next)
	}
}

// ensure makes the Service, or points it at this operator's pods. It reports whether that is its business.
func (f *front) ensure(ctx context.Context) (bool, error) {
	pod := &corev1.Pod{}
	err := f.direct.Get(ctx, types.NamespacedName{Namespace: f.namespace, Name: f.pod}, pod)
	if apierrors.IsNotFound(err) {
		return false, nil // this operator does not run as a pod
	}
	if err != nil {
		return false, wrap(err, "reading the operator's own pod %s", f.pod)
	}
	want := serviceFor(pod, f.port)
	have := &corev1.Service{}
	err = f.direct.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		return true, wrap(f.client.Create(ctx, want), "creating Service %s", want.Name)
	}
	if err != nil {
		return true, wrap(err, "reading Service %s", want.Name)
	}
	if maps.Equal(have.Spec.Selector, want.Spec.Selector) && samePorts(have.Spec.Ports, want.Spec.Ports) {
		return true, nil
	}
	have.Spec.Selector, have.Spec.Ports = want.Spec.Selector, want.Spec.Ports
	return true, wrap(f.client.Update(ctx, have), "updating Service %s", want.Name)
}

// samePorts compares what we set of ports.
func samePorts(have, want []corev1.ServicePort) bool {
	have = append([]corev1.ServicePort{}, have...)
	for i := range have {
		have[i].NodePort = 0
	}
	return reflect.DeepEqual(have, want)
}

// serviceFor is the Service of the pods that are made from the same template as the given one.
func serviceFor(pod *corev1.Pod, port int) *corev1.Service {
	selector := maps.Clone(pod.Labels)
	// A rolling update has pods of two templates.
	delete(selector, "pod-template-hash")
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: ServiceName},
		Spec: corev1.ServiceSpec{
			Selector: selector,
			Ports:    []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: Port, TargetPort: intstr.FromInt(port)}},
		},
	}
}
