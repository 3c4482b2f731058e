// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"
)

func TestThreeMembersComeUp(t *testing.T) {
	w := New(Options{Seed: 1, Trace: func(s string) { t.Log(s) }})
	w.Apply()
	if err := w.RunUntil(2*time.Minute, w.SaysReady); err != nil {
		t.Fatal(err)
	}
	if !w.SaysReady() {
		t.Fatal("not ready: ", w.Summary())
	}
}
