// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cache is a view of the API server that is a number of events behind, for each kind
// on its own. It catches up when nothing has happened for a while.
type Cache struct {
	kube *Kube
	// lag is how many events each kind may be behind.
	lag  [kinds]int
	seen [kinds][]client.Object
	// behind are the states that each kind has been in since.
	behind [kinds][][]client.Object
	due    [kinds]bool
	// Selects tells what the cache holds of a kind; nil for everything.
	Selects func(kind Kind, object client.Object) bool
	// Delivered is notified when the view has changed.
	Delivered func(kind Kind)
}

// catchUpAfter is the longest that a cache is behind.
const catchUpAfter = 400 * time.Millisecond

// NewCache returns a view that has seen everything up to now, and from now on may lag.
func NewCache(k *Kube, lag func(Kind) int, delivered func(Kind)) *Cache {
	c := &Cache{kube: k, Delivered: delivered}
	for kind := range kinds {
		c.lag[kind] = lag(kind)
		c.seen[kind] = k.objects[kind]
	}
	return c
}

// Happened tells the cache that the objects of a kind have changed.
func (c *Cache) Happened(kind Kind) {
	c.behind[kind] = append(c.behind[kind], c.kube.objects[kind])
	for len(c.behind[kind]) > c.lag[kind] {
		c.deliver(kind)
	}
	if len(c.behind[kind]) > 0 && !c.due[kind] {
		c.due[kind] = true
		c.kube.Loop.After(catchUpAfter, func() {
			c.due[kind] = false
			for len(c.behind[kind]) > 0 {
				c.deliver(kind)
			}
		})
	}
}

func (c *Cache) deliver(kind Kind) {
	c.seen[kind] = c.behind[kind][0]
	c.behind[kind] = c.behind[kind][1:]
	c.Delivered(kind)
}

// Get implements client.Reader.
func (c *Cache) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := KindOf(into)
	if i, ok := search(c.seen[kind], key.Name); ok && c.Selects != nil && !c.Selects(kind, c.seen[kind][i]) {
		return apierrors.NewNotFound(resource(kind), key.Name)
	}
	return getFrom(c.seen[kind], key.Name, into)
}

// List implements client.Reader.
func (c *Cache) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	return listFrom(&c.seen, into, options)
}
