// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// workers is how many objects are worked on at a time; deleting a full folder must not hold up the others.
const workers = 4

// controller watches claims and volumes, and brings one at a time to where it should be.
type controller struct {
	client  kubernetes.Interface
	nodeDir func(node string) string
	log     *slog.Logger
	events  record.EventRecorder

	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	queue   workqueue.TypedRateLimitingInterface[item]
}

// item is an object to look at: a claim, or without a namespace a volume.
type item types.NamespacedName

// Run serves claims until ctx ends; it then returns nil. nodeDir gives the folder of a node, in which volumes lie at
// volumes/<name of the PersistentVolume>, or nothing if there is no such node. Only one Run may serve a cluster at a time.
func Run(ctx context.Context, cfg *rest.Config, nodeDir func(node string) string) error {
	cfg = rest.CopyConfig(cfg)
	// The default limit of five requests a second would make volumes wait for each other.
	cfg.QPS = -1
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("connect the volume provisioner: %w", err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.CoreV1().Events("")})
	defer broadcaster.Shutdown()

	factory := informers.NewSharedInformerFactory(client, 0)
	c := &controller{
		client:  client,
		nodeDir: nodeDir,
		log:     slog.Default().With("controller", "volumes"),
		events:  broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: Provisioner}),
		claims:  factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumes: factory.Core().V1().PersistentVolumes().Lister(),
		classes: factory.Storage().V1().StorageClasses().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[item](50*time.Millisecond, 5*time.Second)),
	}
	if err := c.watch(factory); err != nil {
		return fmt.Errorf("watch claims and volumes: %w", err)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced && ctx.Err() == nil {
			return fmt.Errorf("list %s: the watch ended", kind)
		}
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	wait.Wait()
	return nil
}

// watch fills the queue with whatever changes.
func (c *controller) watch(factory informers.SharedInformerFactory) error {
	_, claimErr := factory.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(changed(func(claim *corev1.PersistentVolumeClaim) {
		c.queue.Add(item{Namespace: claim.Namespace, Name: claim.Name})
	}))
	_, volumeErr := factory.Core().V1().PersistentVolumes().Informer().AddEventHandler(changed(func(volume *corev1.PersistentVolume) {
		c.queue.Add(item{Name: volume.Name})
	}))
	// A claim may be older than its class.
	_, classErr := factory.Storage().V1().StorageClasses().Informer().AddEventHandler(changed(func(class *storagev1.StorageClass) {
		// Listing from memory does not fail.
		claims, _ := c.claims.List(labels.Everything())
		for _, claim := range claims {
			if className(claim) == class.Name {
				c.queue.Add(item{Namespace: claim.Namespace, Name: claim.Name})
			}
		}
	}))
	return errors.Join(claimErr, volumeErr, classErr)
}

// changed calls f for each object that appears or changes.
func changed[T any](f func(T)) cache.ResourceEventHandlerFuncs {
	call := func(object any) {
		if o, ok := object.(T); ok {
			f(o)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: call, UpdateFunc: func(_, after any) { call(after) }}
}

func (c *controller) work(ctx context.Context) {
	for {
		i, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.reconcile(ctx, i); err != nil && ctx.Err() == nil {
			c.log.Error("will try again", "namespace", i.Namespace, "name", i.Name, "err", err)
			c.queue.AddRateLimited(i)
		} else {
			c.queue.Forget(i)
		}
		c.queue.Done(i)
	}
}

func (c *controller) reconcile(ctx context.Context, i item) error {
	if i.Namespace == "" {
		volume, err := c.volumes.Get(i.Name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return c.reclaim(ctx, volume)
	}
	claim, err := c.claims.PersistentVolumeClaims(i.Namespace).Get(i.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if claim.Spec.VolumeName == "" {
		return c.provision(ctx, claim)
	}
	return c.expand(ctx, claim)
}

func className(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}
