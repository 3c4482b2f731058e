// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/storemodel"
)

// StoreSecret is the secret that leads to the store.
const StoreSecret = "aws"

func (b *Beside) createStoreSecret() {
	Must(b.w.Kube.Create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: StoreSecret, Namespace: kubemodel.Namespace},
		Data: map[string][]byte{
			"credentials": fmt.Appendf(nil, "[default]\naws_access_key_id = %s\naws_secret_access_key = %s0123456789\n", AccessKey, SecretMark),
			"config":      []byte("[default]\nregion = eu-sim-1\n"),
		},
	}))
}

// transport carries the requests of a process to the store.
type transport struct{ p *process }

// answerTimeout is how long a client waits for an answer, as the operators' own transport does.
const answerTimeout = 2 * time.Minute

// timeout is the error of a client that has waited too long.
type timeout struct{}

func (timeout) Error() string   { return "net/http: timeout awaiting response headers" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

var (
	errRefusedConnection = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errResetConnection   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	var response *http.Response
	var failed error
	err := t.p.ask(r.Context(), "store "+r.Method+" "+r.URL.RequestURI(), func(answer func()) {
		t.p.storeRequest(r, body, func(found *http.Response, err error) {
			response, failed = found, err
			answer()
		})
	})
	if err != nil {
		return nil, err
	}
	return response, failed
}

// storeRequest is a request on its way to the store, and its answer on its way back.
func (p *process) storeRequest(r *http.Request, body []byte, answer func(*http.Response, error)) {
	b, loop := p.b, p.b.w.Loop
	fail := func(after time.Duration, err error) { loop.After(after, func() { answer(nil, err) }) }
	switch {
	case b.StoreDown:
		fail(time.Millisecond, errRefusedConnection)
		return
	case b.StoreSilent:
		fail(answerTimeout, timeout{})
		return
	}
	loop.After(b.between(time.Millisecond, 20*time.Millisecond), p.guarded(func() {
		response, err := p.atStore(r, body)
		switch {
		case err != nil:
			fail(b.between(time.Millisecond, 20*time.Millisecond), errResetConnection)
		case storemodel.Changes(r) && b.SlowAnswers > 0:
			b.SlowAnswers--
			fail(answerTimeout, timeout{})
		default:
			loop.After(b.StoreDelay+b.between(time.Millisecond, 20*time.Millisecond), func() { answer(response, nil) })
		}
	}))
}

// atStore is what the store does with a request that has arrived. What changes something is an effect.
func (p *process) atStore(r *http.Request, body []byte) (response *http.Response, err error) {
	b := p.b
	serve := func() error {
		b.Store.Changed = func(c storemodel.Change) { b.checker.StoreChanged(p.name, c) }
		response = b.Store.Serve(r, body) //nolint:bodyclose // whoever asked closes it
		b.Store.Changed = nil
		return nil
	}
	if !storemodel.Changes(r) || p.dead.Load() {
		return response, serve()
	}
	err = b.w.through(fmt.Sprintf("%s: store %s %s", p.name, r.Method, r.URL.RequestURI()), func() {}, serve)
	return response, err
}
