// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// writer is a client on the client service: it writes one number after the other, and
// remembers which of them were acknowledged.
type writer struct {
	w     *World
	last  uint64
	acked []uint64
	// stopped writers write no more, so that a world can come to rest.
	stopped bool
}

const writeEvery = 900 * time.Millisecond

func (c *writer) start() { c.w.Loop.After(writeEvery, c.write) }

func (c *writer) write() {
	c.w.Loop.After(writeEvery, c.write)
	service, ok := c.w.Kube.Find(kubemodel.Services, Name+"-client").(*corev1.Service)
	if !ok || c.stopped {
		return
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	var serving []string
	for _, o := range c.w.Kube.All(kubemodel.Pods) {
		pod := o.(*corev1.Pod)
		if selector.Matches(labels.Set(pod.Labels)) && kubemodel.Ready(pod) {
			serving = append(serving, pod.Name)
		}
	}
	if len(serving) == 0 {
		return
	}
	name := serving[c.w.Rand.IntN(len(serving))]
	p := c.w.Kube.ProcessOf(name)
	if p == nil || !p.IsServing() || c.w.Kube.IsCut(c.w.Kube.Pod(name).Spec.NodeName) {
		return
	}
	c.last++
	id := c.last
	call := p.Write(id)
	call.Then = func(err error) {
		if err == nil {
			c.acked = append(c.acked, id)
		}
	}
}
