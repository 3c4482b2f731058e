// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
)

// recorder writes events as the original did: with the operator's pod as their source.
type recorder struct{ record.EventRecorder }

func newRecorder(mgr ctrl.Manager, podName string) (EventSink, error) {
	set, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing the recording of events: %w", err)
	}
	broadcaster := newBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: set.CoreV1().Events("")})
	return recorder{broadcaster.NewRecorder(mgr.GetScheme(), corev1.EventSource{Component: podName})}, nil
}

// newBroadcaster lets more pass than is usual: a cluster of seven that is changed member by member has that much
// to tell, and scripts wait for each of these events.
func newBroadcaster() record.EventBroadcaster {
	return record.NewBroadcasterWithCorrelatorOptions(record.CorrelatorOptions{BurstSize: 100, QPS: 1. / 10, MaxEvents: 50})
}

// annotationDecision is on events, and names the decision that asked for what they tell of.
const annotationDecision = "etcd.database.coreos.com/decision"

// Event implements EventSink.
func (r recorder) Event(cluster *v1beta2.EtcdCluster, e report.Event) {
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	r.AnnotatedEventf(cluster, map[string]string{annotationDecision: e.Decision}, kind, e.Reason, "%s", e.Message)
}

// lifecycleMetrics counts clusters as they come, change and go. It lets everything pass.
func lifecycleMetrics() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool {
			countCreation()
			return true
		},
		DeleteFunc: func(event.DeleteEvent) bool {
			countDeletion()
			return true
		},
		UpdateFunc: func(event.UpdateEvent) bool {
			countChange()
			return true
		},
	}
}

// nodeMatters lets a node's event pass when it can matter to a member.
func nodeMatters() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
			return readiness(before) != readiness(after) || before.Spec.Unschedulable != after.Spec.Unschedulable
		},
	}
}

func readiness(node *corev1.Node) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}
