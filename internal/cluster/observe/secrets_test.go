// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
)

// reader has every secret, and counts how often the content of each is read.
type reader struct {
	client.Reader
	contents map[string]int
}

func (r *reader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if _, whole := into.(*corev1.Secret); whole {
		r.contents[key.Name]++
	}
	into.SetResourceVersion("1")
	return nil
}

func TestSecretsThatNobodyLooksAtAreForgotten(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	from := &reader{contents: map[string]int{}}
	secrets := &observe.Secrets{Metadata: from, Contents: from, Now: func() time.Time { return now }}
	look := func(names ...string) {
		t.Helper()
		secrets.LetGo()
		for _, name := range names {
			if _, err := secrets.Look(t.Context(), "ns", name); err != nil {
				t.Fatal(err)
			}
		}
	}
	look("used", "unused")
	for range 4 {
		now = now.Add(3 * time.Minute)
		look("used")
	}
	look("used", "unused")
	if from.contents["used"] != 1 || from.contents["unused"] != 2 {
		t.Errorf("the contents were read %v times, want one that is used once, and the other again", from.contents)
	}
}
