// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

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

// ServiceName is the name of the Service through which members reach the operator, as in the original.
const ServiceName = "etcd-restore-operator"

const (
	// serviceRetry is how soon a failed attempt to create the Service is repeated.
	serviceRetry = 2 * time.Second
	// serviceEvery is how often the Service is looked at: somebody may have deleted it.
	serviceEvery = 10 * time.Minute
)

// Front keeps the Service through which members reach the operator: from when the operator begins to lead,
// and for each restore, which would not come to its end without it.
type Front struct {
	Client client.Client
	// Live is the API server itself: caches have neither the pod nor the Service.
	Live client.Reader
	// Namespace and Pod are those of the operator itself; TargetPort is where it listens.
	Namespace, Pod string
	TargetPort     int
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: one replica is enough.
func (f *Front) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable.
func (f *Front) Start(ctx context.Context) error {
	repeat(ctx, func() time.Duration {
		ours, err := f.ensure(ctx)
		switch {
		case err != nil:
			log.FromContext(ctx).Error(err, "could not create the Service for restores")
			return serviceRetry
		case !ours:
			log.FromContext(ctx).Info("this operator does not run as a pod: create the Service for restores yourself",
				"service", ServiceName, "namespace", f.Namespace, "port", Port)
			return 0
		}
		return serviceEvery
	})
	return nil
}

// ensure creates the Service, or points it at this operator's pods. It reports whether that is its business.
func (f *Front) ensure(ctx context.Context) (bool, error) {
	pod := &corev1.Pod{}
	err := f.Live.Get(ctx, types.NamespacedName{Namespace: f.Namespace, Name: f.Pod}, pod)
	if apierrors.IsNotFound(err) {
		return false, nil // this operator does not run as a pod
	}
	if err != nil {
		return false, wrap(err, "reading the operator's own pod %s", f.Pod)
	}
	want := serviceFor(pod, f.TargetPort)
	have := &corev1.Service{}
	err = f.Live.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		return true, wrap(f.Client.Create(ctx, want), "creating Service %s", want.Name)
	}
	if err != nil {
		return true, wrap(err, "reading Service %s", want.Name)
	}
	if maps.Equal(have.Spec.Selector, want.Spec.Selector) && samePorts(have.Spec.Ports, want.Spec.Ports) {
		return true, nil
	}
	have.Spec.Selector, have.Spec.Ports = want.Spec.Selector, want.Spec.Ports
	return true, wrap(f.Client.Update(ctx, have), "updating Service %s", want.Name)
}

// samePorts compares what we set of ports.
func samePorts(have, want []corev1.ServicePort) bool {
	have = append([]corev1.ServicePort{}, have...)
	for i := range have {
		have[i].NodePort = 0
	}
	return reflect.DeepEqual(have, want)
}

// serviceFor is the Service of the pods that have the same template as the given one.
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
