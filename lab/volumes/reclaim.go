// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// reclaim deletes a volume of ours that nobody claims any more, with its folder.
func (c *controller) reclaim(ctx context.Context, volume *corev1.PersistentVolume) error {
	if volume.Annotations[provisionedBy] != Provisioner ||
		volume.Status.Phase != corev1.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete ||
		volume.DeletionTimestamp != nil {
		return nil
	}
	folder, err := c.folder(volume.Annotations[onNode], volume.Name)
	if err != nil {
		return fmt.Errorf("delete volume %s: %w", volume.Name, err)
	}
	// The path in the object could have been written by anyone; what is removed is only ever a folder that we named ourselves.
	if volume.Spec.Local == nil || volume.Spec.Local.Path != folder {
		return fmt.Errorf("delete volume %s: its path is not %s, which is where it was made; delete it by hand", volume.Name, folder)
	}
	// The folder first: as long as the object is there, an interrupted deletion is resumed.
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("delete volume %s: %w", volume.Name, err)
	}
	err = c.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: ptr.To(volume.UID)},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete volume %s: %w", volume.Name, err)
	}
	c.log.Info("volume deleted", "volume", volume.Name)
	return nil
}
