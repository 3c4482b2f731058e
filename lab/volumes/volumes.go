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
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

const (
	// Provisioner is the name that a StorageClass gives to be served by this controller.
	Provisioner = "lab.etcd-operator.io/local"
	// DefaultClass is the name of the lab's default StorageClass.
	DefaultClass = "lab-local"
)

// EnsureDefaultClass creates the lab's default StorageClass. One that is there already is left as it is.
func EnsureDefaultClass(ctx context.Context, cfg *rest.Config) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("create the storage class %s: %w", DefaultClass, err)
	}
	_, err = client.StorageV1().StorageClasses().Create(ctx, defaultClass(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the storage class %s: %w", DefaultClass, err)
	}
	return nil
}

func defaultClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        DefaultClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:          Provisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
}
