// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// A store that sends a byte now and then is slow; one that sends nothing is stuck. How long the other
// side takes for what it got does not matter.
func TestAStoreThatSendsNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, dog := watch(t.Context())
		defer dog.stop()
		bytesLeft := 3
		body := readFunc(func(p []byte) (int, error) {
			if bytesLeft == 0 {
				<-ctx.Done()
				return 0, context.Canceled
			}
			bytesLeft--
			time.Sleep(50 * time.Second)
			p[0] = 'x'
			return 1, nil
		})
		began := time.Now()
		got, err := io.ReadAll(dog.guard(readFunc(func(p []byte) (int, error) { return body.Read(p[:1]) })))
		if err = blame(ctx, err); !errors.Is(err, errStuck) || string(got) != "xxx" {
			t.Errorf("%q was read, then: %v", got, err)
		}
		if took := time.Since(began); took != 3*50*time.Second+stuckAfter {
			t.Errorf("it was given up after %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, dog := watch(t.Context())
		defer dog.stop()
		_, _ = dog.guard(readFunc(func([]byte) (int, error) { return 1, nil })).Read(make([]byte, 1))
		time.Sleep(time.Hour) // whoever takes it is slow
		if ctx.Err() != nil {
			t.Errorf("the store was given up although nobody asked it: %v", context.Cause(ctx))
		}
	})
}
