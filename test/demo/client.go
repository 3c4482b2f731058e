// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const (
	// pause is how long the client waits between two writes, and patience how long for the answer to one.
	pause    = 10 * time.Millisecond
	patience = 2 * time.Second
	// prefix is what all its keys begin with.
	prefix = "demo/"
)

// tally is what became of the writes since it was last asked for.
type tally struct {
	acked, failed int
	// gap is the longest time without an acknowledged write.
	gap time.Duration
}

// writer writes through the client Service, all the time, and remembers what was acknowledged.
type writer struct {
	etcd *clientv3.Client
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	acked []string
	since tally
	last  time.Time
}

func connect(address string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + address}, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second,
	})
}

func startWriter(ctx context.Context, etcd *clientv3.Client) *writer {
	ctx, stop := context.WithCancel(ctx)
	w := &writer{etcd: etcd, stop: stop, done: make(chan struct{}), last: time.Now()}
	go func() {
		defer close(w.done)
		for i := 0; ctx.Err() == nil; i++ {
			w.write(ctx, fmt.Sprintf("%s%07d", prefix, i))
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	return w
}

func (w *writer) write(ctx context.Context, key string) {
	attempt, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := w.etcd.Put(attempt, key, "written")
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acked = append(w.acked, key)
		w.since.acked++
		w.since.gap = max(w.since.gap, time.Since(w.last))
		w.last = time.Now()
	case ctx.Err() == nil:
		w.since.failed++
	}
}

// take is the tally since the last one. A gap that goes on counts as far as it has come.
func (w *writer) take() tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.since
	t.gap = max(t.gap, time.Since(w.last))
	w.since = tally{}
	return t
}

// finish ends the writing.
func (w *writer) finish() {
	w.stop()
	<-w.done
}

// lost is how many of the acknowledged writes an etcd does not have.
func (w *writer) lost(ctx context.Context, etcd *clientv3.Client) (int, error) {
	found, err := etcd.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return 0, err
	}
	there := map[string]bool{}
	for _, kv := range found.Kvs {
		there[string(kv.Key)] = true
	}
	lost := 0
	for _, key := range w.acked {
		if !there[key] {
			lost++
		}
	}
	return lost, nil
}
