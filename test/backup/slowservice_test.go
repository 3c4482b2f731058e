// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

const (
	// atOnce is how much of a connection passes a slow way at once: every request that is no object.
	atOnce = 64 << 10
	// tooSlow is how many bytes a second pass after that.
	tooSlow = 512
)

// slowWay leads to a server. One of the directions of each connection is slow.
func slowWay(tb testing.TB, address string, slowUp, slowDown bool) string {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", harness.OwnAddress+":0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	ctx := tb.Context()
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				_ = from.Close()
				continue
			}
			context.AfterFunc(ctx, func() { _, _ = from.Close(), to.Close() })
			go pass(ctx, to, from, slowUp)
			go pass(ctx, from, to, slowDown)
		}
	}()
	return "http://" + listener.Addr().String()
}

// pass copies what comes, and ends both when it ends.
func pass(ctx context.Context, to, from net.Conn, slowly bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	if slowly {
		_ = from.(*net.TCPConn).SetReadBuffer(atOnce)
		if _, err := io.CopyN(to, from, atOnce); err != nil {
			return
		}
		for ctx.Err() == nil {
			if _, err := io.CopyN(to, from, tooSlow); err != nil {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	_, _ = io.Copy(to, from)
}

// A store of a tenant that takes what is sent, or sends what is asked for, a little at a time holds no run open until its time is
// up, which may be in a day. The message says what is wrong.
func TestAStoreThatIsTooSlowEndsTheRun(t *testing.T) {
	t.Parallel()
	s3 := stores.StartS3(t)
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(20)
	address := strings.TrimPrefix(s3.URL, "http://")
	for _, test := range []struct {
		name     string
		up, down bool
		verify   v1beta2.BackupVerification
		says     string
	}{
		{name: "takes-too-little", up: true, says: "is too slow; check it and the network (the store was slower than 4 KiB/s)"},
		{name: "sends-too-little", down: true, verify: v1beta2.BackupVerificationRestore, says: "could not be verified: the store was slower than 4 KiB/s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, s3)
			p := startOperator(t, launch{namespace: e.namespace})
			b := e.backup("b", test.name, etcd.urls()...)
			b.Spec.Verify = test.verify
			b.Spec.S3.Endpoint = slowWay(t, address, test.up, test.down)
			b.Spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutInSecond: 86400}
			e.create(b)
			harness.Eventually(t, 10*time.Minute, func(context.Context) error {
				s := e.read("b").Status
				if s.Failures == 0 {
					return fmt.Errorf("no run has ended: %+v", s)
				}
				if !strings.Contains(s.Reason, test.says) {
					t.Errorf("the run ended because %s", s.Reason)
				}
				return nil
			})
			if status, _, err := p.Get(t.Context(), "/healthz"); err != nil || status != http.StatusOK {
				t.Errorf("the operator: %d, %v", status, err)
			}
		})
	}
}
