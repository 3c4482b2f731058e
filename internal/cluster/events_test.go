// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
)

// sink notes what would be written to the API server.
type sink struct{ created chan string }

func (s sink) Create(e *corev1.Event) (*corev1.Event, error) {
	s.created <- e.Annotations[annotationDecision] + ": " + e.Message
	return e, nil
}

func (s sink) Update(e *corev1.Event) (*corev1.Event, error) { return e, nil }

func (s sink) Patch(e *corev1.Event, _ []byte) (*corev1.Event, error) { return e, nil }

// Scripts of the original's users wait for each of these events.
func TestEveryMemberThatGoesHasItsEvent(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	const events = 40
	to := sink{make(chan string, events)}
	broadcaster := newBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(record.EventSink(to))
	r := recorder{broadcaster.NewRecorder(scheme, corev1.EventSource{Component: "test"})}
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "uid"}}
	for i := range events {
		want := fmt.Sprintf("remove member c-%d", i)
		r.Event(cluster, report.Event{Reason: "Member Removed", Message: want, Decision: "shrink"})
		select {
		case got := <-to.created:
			if got != "shrink: "+want {
				t.Fatalf("event %d says %q", i, got)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("event %d did not arrive", i)
		}
	}
}
