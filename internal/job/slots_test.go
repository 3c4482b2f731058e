// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestANamespaceThatIsSlowHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(4, 2)
		ctx, cancel := context.WithCancel(t.Context())
		for range 4 {
			go func() { _ = s.Wait(ctx, "slow") }()
		}
		synctest.Wait()
		if s.Taken() != 2 {
			t.Errorf("%d slots are taken by one namespace", s.Taken())
		}
		if err := s.Wait(t.Context(), "other"); err != nil {
			t.Error(err)
		}
		if s.Try("slow") || !s.Try("third") || s.Try("fourth") {
			t.Error("four slots, and two for a namespace, are not what there is")
		}
		late := make(chan error)
		go func() { late <- s.Wait(t.Context(), "late") }()
		synctest.Wait()
		// Those of the slow namespace came first, and it has had its share.
		s.Free("other")
		if err := <-late; err != nil {
			t.Error(err)
		}
		cancel()
		synctest.Wait()
		for _, namespace := range []string{"slow", "slow", "third", "late"} {
			s.Free(namespace)
		}
		if s.Taken() != 0 || len(s.waiting) != 0 || len(s.of) != 0 {
			t.Errorf("left: %+v", s)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		for taken := true; taken; {
			taken = s.Try("a")
		}
		if err := s.Wait(ended, "a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
