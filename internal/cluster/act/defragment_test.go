// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// defragmenter is a member that answers a request to defragment, and looks at the note on its pod before.
type defragmenter struct {
	etcd.Client
	answer func() error
}

func (d defragmenter) Connect(etcd.Endpoint) (etcd.Client, error) { return d, nil }
func (d defragmenter) Defragment(context.Context) error           { return d.answer() }

// The pod says what is going on before etcd is asked, and that it is over once etcd has answered. Without an answer it goes on.
func TestADefragmentationIsNotedBeforeAndAfter(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		answer  error
		outcome act.Outcome
		note    string
	}{
		"done":      {nil, act.Done, "done"},
		"no answer": {context.DeadlineExceeded, act.Outdated, "begun"},
		"lost":      {errors.New("connection reset"), act.Outdated, "begun"},
		"cut off":   {status.Error(codes.Unavailable, "connection reset"), act.Outdated, "begun"},
		"refused":   {status.Error(codes.Unknown, "no space left on device"), act.Outdated, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientBuilder().WithObjects(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-a", Namespace: "ns"}}).Build()
			note := func() string {
				var pod corev1.Pod
				if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-a"}, &pod); err != nil {
					t.Fatal(err)
				}
				return pod.Annotations[manifests.AnnotationDefragment]
			}
			var pod corev1.Pod
			if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-a"}, &pod); err != nil {
				t.Fatal(err)
			}
			member := defragmenter{answer: func() error {
				if got := note(); !strings.HasPrefix(got, "begun 2026-11-15T12:00:00Z 7") {
					t.Errorf("etcd is asked with the note %q", got)
				}
				return test.answer
			}}
			outcome, err := (&act.Actor{Kube: kube, Etcd: member}).Do(t.Context(), &view.View{}, plan.Defragment{
				About: plan.About{Why: "defragment"}, From: &pod,
				Begun: manifests.Defragmentation{IsBegun: true, Since: at, Size: 7}, Done: manifests.Defragmentation{Since: at},
			})
			if outcome != test.outcome || (err != nil) != (test.answer != nil && name != "no answer") {
				t.Errorf("Do() = %v, %v", outcome, err)
			}
			if got := note(); !strings.HasPrefix(got, test.note) {
				t.Errorf("the note is %q afterwards", got)
			}
		})
	}
}
