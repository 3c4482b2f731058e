// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Writer is a client on the client service: it writes one number after the other, and
// remembers which of them were acknowledged.
type Writer struct {
	w    *World
	last uint64
	// Acked are the writes that etcd acknowledged, in this order.
	Acked []uint64
	// Stopped writers write no more.
	Stopped bool
}

const writeEvery = 900 * time.Millisecond

func (c *Writer) start() { c.w.Loop.After(writeEvery, c.write) }

func (c *Writer) write() {
	c.w.Loop.After(writeEvery, c.write)
	service, ok := c.w.Kube.Find(kubemodel.Services, Name+"-client").(*corev1.Service)
	if !ok || c.Stopped {
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
			c.Acked = append(c.Acked, id)
		}
	}
}
