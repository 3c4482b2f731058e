// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Patience is how long anything small may take on a machine that is busy with other tests.
const Patience = 60 * time.Second

const poll = 20 * time.Millisecond

// Eventually waits until check returns no error. If that takes longer than within, the test fails with the
// last error.
func Eventually(tb testing.TB, within time.Duration, check func(context.Context) error) {
	tb.Helper()
	var last error
	err := wait.PollUntilContextTimeout(tb.Context(), poll, within, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		tb.Fatalf("after %v: %v", within, last)
	}
}
