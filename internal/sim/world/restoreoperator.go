// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// RestoreOperator is the name of the operator of restores.
const RestoreOperator = "restore operator"

// startRestoreOperator begins a life of the operator of restores.
func (b *Beside) startRestoreOperator() {
	p := newProcess(b, RestoreOperator, kubemodel.Restores)
	p.restart = b.startRestoreOperator
	parts, err := restore.NewParts(apiClient{p: p}, apiReader{p}, recorder{p}, restore.Options{
		Namespace: kubemodel.Namespace, PodName: "restore-operator", ServeAddr: ":19999", MaxConcurrent: 2, Clock: wallClock{b}, Transport: &transport{p},
	})
	Must(err)
	p.reconciler, p.ended = parts.Reconciler, parts.Ended
	last := p.seenCluster()
	for _, name := range p.restoresOf(parts, last) {
		p.wake(name, b.w.Loop.Now()) // a watch begins with what is there
	}
	p.mapped[kubemodel.Clusters] = func() []string {
		now := p.seenCluster()
		names := p.restoresOf(parts, last, now)
		last = now
		return names
	}
	for _, runnable := range parts.Runnables {
		go func() { _ = runnable.Start(p.ctx) }()
	}
	b.restore, b.server = p, parts.Server
}

// seenCluster is the cluster as the cache has it; nil where it has none.
func (p *process) seenCluster() *v1beta2.EtcdCluster {
	cluster := &v1beta2.EtcdCluster{}
	if err := p.cache.Get(p.ctx, client.ObjectKey{Namespace: kubemodel.Namespace, Name: Name}, cluster); err != nil {
		return nil
	}
	return cluster
}

// restoresOf are the objects that a change of the cluster matters to. The watch maps what was there, and what is.
func (p *process) restoresOf(parts *restore.Parts, clusters ...*v1beta2.EtcdCluster) []string {
	var names []string
	for _, cluster := range clusters {
		if cluster == nil {
			continue
		}
		for _, r := range parts.RestoresOf(context.WithValue(p.ctx, inWorld{}, true), cluster) {
			names = append(names, r.Name)
		}
	}
	return names
}

// RestartRestoreOperator ends the process of the operator of restores, and begins the next one.
func (b *Beside) RestartRestoreOperator() { b.restore.crash() }

// StopRestoreOperator ends the process of the operator of restores until StartRestoreOperator of Beside.
func (b *Beside) StopRestoreOperator() { b.restore.kill() }

// StartRestoreOperator begins a life of the operator of restores, where there is none.
func (b *Beside) StartRestoreOperator() {
	if b.restore.dead.Load() {
		b.startRestoreOperator()
	}
}

// served is what a member was given at an address. Where it was nothing, there is nothing in it.
func (b *Beside) served(url string) *etcdmodel.Disk {
	if disk := b.fetched[url]; disk != nil {
		return disk
	}
	return &etcdmodel.Disk{}
}

// connectionLost is when a member notices that the server is gone.
const connectionLost = time.Second

// fetch is what a member's container does that fetches its snapshot: it asks the operator, and checks what comes.
func (b *Beside) fetch(pod *corev1.Pod, command []string, answer func(*etcdmodel.Disk)) {
	p := b.restore
	var once sync.Once
	finish := func(disk *etcdmodel.Disk) { once.Do(func() { answer(disk) }) }
	lost := func() { b.w.Loop.After(connectionLost, func() { finish(nil) }) }
	if p.dead.Load() {
		lost()
		return
	}
	p.atEnd = append(p.atEnd, lost)
	url := argument(command, "-url=")
	request, err := http.NewRequestWithContext(context.WithoutCancel(p.ctx), http.MethodGet, url, http.NoBody)
	Must(err)
	request.Header.Set("Authorization", "Bearer "+b.token(pod))
	server := b.server
	go func() {
		w := &memberConnection{header: http.Header{}}
		w.serve(server, request)
		_ = p.ask(context.WithoutCancel(p.ctx), "fetched "+url, func(done func()) {
			disk := b.check(w, command)
			if disk != nil {
				b.fetched[url] = disk
			}
			finish(disk)
			done()
		})
	}()
}

// check is the snapshot that a member was given; nil where it is not the one that was asked for.
func (b *Beside) check(w *memberConnection, command []string) *etcdmodel.Disk {
	sum := sha256.Sum256(w.body.Bytes())
	if w.aborted || (w.status != 0 && w.status != http.StatusOK) || argument(command, "-size=") != strconv.Itoa(w.body.Len()) ||
		argument(command, "-sha256=") != hex.EncodeToString(sum[:]) {
		b.w.Tracef("a member cannot fetch its snapshot: status %d, %d bytes", w.status, w.body.Len())
		return nil
	}
	taken := b.SnapshotIn(w.body.Bytes())
	if taken == nil {
		return nil
	}
	return taken.Disk
}

// token is what a pod shows for its snapshot.
func (b *Beside) token(pod *corev1.Pod) string {
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].Secret
		if source == nil || !strings.Contains(source.SecretName, "-ticket-") {
			continue
		}
		if secret, ok := b.w.Kube.Find(kubemodel.Secrets, source.SecretName).(*corev1.Secret); ok {
			return string(secret.Data[v1beta2.RestoreTicketToken])
		}
	}
	return ""
}

func argument(command []string, name string) string {
	for _, arg := range command {
		if value, ok := strings.CutPrefix(arg, name); ok {
			return value
		}
	}
	return ""
}

// memberConnection is the connection over which a member gets its snapshot.
type memberConnection struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	aborted bool
}

func (w *memberConnection) serve(server http.Handler, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // it is what a handler panics with
				panic(p)
			}
			w.aborted = true
		}
	}()
	server.ServeHTTP(w, r)
}

// Header implements http.ResponseWriter.
func (w *memberConnection) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *memberConnection) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *memberConnection) Write(p []byte) (int, error) { return w.body.Write(p) }

// SetWriteDeadline is for http.ResponseController.
func (w *memberConnection) SetWriteDeadline(time.Time) error { return nil }
