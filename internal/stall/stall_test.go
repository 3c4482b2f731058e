// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stall_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/stall"
)

const limit = time.Minute

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// A peer that sends a byte now and then is slow; one that sends nothing has stalled.
func TestAPeerThatSendsNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, guard := stall.Watch(t.Context(), "the store", limit)
		defer guard.Stop()
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
		got, err := io.ReadAll(guard.Reader(readFunc(func(p []byte) (int, error) { return body.Read(p[:1]) })))
		err = guard.Cause(err)
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "the store sent nothing for 1m0s" || string(got) != "xxx" {
			t.Errorf("%q was read, then: %v", got, err)
		}
		if took := time.Since(began); took != 3*50*time.Second+limit {
			t.Errorf("it was given up after %s", took)
		}
	})
}

func TestATransferThatDoesNotBeginIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, guard := stall.Watch(t.Context(), "the store", limit)
		defer guard.Stop()
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != limit {
			t.Errorf("it was given up after %s", took)
		}
	})
}

func TestTheTimeOfWhoeverTakesTheDataDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, guard := stall.Watch(t.Context(), "the store", limit)
		defer guard.Stop()
		_, _ = guard.Reader(readFunc(func([]byte) (int, error) { return 1, nil })).Read(make([]byte, 1))
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Errorf("the peer was given up although nobody asked it: %v", context.Cause(ctx))
		}
	})
}

func TestOtherErrorsStayWhatTheyAre(t *testing.T) {
	_, guard := stall.Watch(t.Context(), "the store", limit)
	guard.Stop()
	broken := errors.New("connection reset")
	if err := guard.Cause(broken); err != broken { //nolint:errorlint // the very same
		t.Errorf("the cause is %v", err)
	}
	if err := guard.Cause(nil); err != nil {
		t.Errorf("the cause is %v", err)
	}
}

// Who is not trusted has to send as much as a transfer that is of use to anybody.
func TestAPeerThatTricklesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, guard := stall.Watch(t.Context(), "the store", limit)
		defer guard.Stop()
		began := time.Now()
		got, err := io.ReadAll(guard.SteadyReader(readFunc(func(p []byte) (int, error) {
			if time.Sleep(time.Second); time.Since(began) > time.Hour {
				return 0, io.EOF
			}
			return min(100, len(p)), nil
		})))
		err = guard.Cause(err)
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "the store was slower than 4 KiB/s" || len(got) > 60*100 {
			t.Errorf("%d bytes were read, then: %v", len(got), err)
		}
	})
}

// The time of whoever takes what was read does not count, nor a pause after which enough comes.
func TestAPeerThatIsSteadyIsHeardToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, guard := stall.Watch(t.Context(), "the store", limit)
		defer guard.Stop()
		left := 100
		from := guard.SteadyReader(readFunc(func(p []byte) (int, error) {
			if left--; left < 0 {
				return 0, io.EOF
			}
			time.Sleep(20 * time.Second)
			return len(p), nil
		}))
		buf := make([]byte, 20*stall.LowestRate)
		for {
			if _, err := from.Read(buf); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				return
			}
			time.Sleep(time.Hour)
		}
	})
}
