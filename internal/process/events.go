// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// warner records Warning events by the API that the rights of the operator cover.
func (o Operator) warner(mgr ctrl.Manager, s Settings) (scope.Warner, error) {
	if !o.CoreEvents {
		recorder := mgr.GetEventRecorder(o.Name)
		return func(obj client.Object, reason, message string) {
			recorder.Eventf(obj, nil, corev1.EventTypeWarning, reason, "Ignore", "%s", message)
		}, nil
	}
	set, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing the recording of events: %w", err)
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: set.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(mgr.GetScheme(), corev1.EventSource{Component: s.PodName})
	return func(obj client.Object, reason, message string) {
		recorder.Event(obj, corev1.EventTypeWarning, reason, message)
	}, nil
}
