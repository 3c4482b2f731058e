// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// expand gives a bound claim the size it asks for, first in the volume and then in the claim's status, as a resizer does.
func (c *controller) expand(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	has := claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Status.Phase != corev1.ClaimBound || claim.DeletionTimestamp != nil || wanted.Cmp(has) <= 0 {
		return nil
	}
	volume, err := c.volumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return fmt.Errorf("expand volume %s: %w", claim.Spec.VolumeName, err)
	}
	if volume.Annotations[provisionedBy] != Provisioner || volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID != claim.UID {
		return nil
	}
	if size := volume.Spec.Capacity[corev1.ResourceStorage]; wanted.Cmp(size) > 0 {
		_, err = c.client.CoreV1().PersistentVolumes().
			Patch(ctx, volume.Name, types.MergePatchType, capacityPatch("spec", wanted), metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("expand volume %s: %w", volume.Name, err)
		}
	}
	_, err = c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).
		Patch(ctx, claim.Name, types.MergePatchType, capacityPatch("status", wanted), metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("expand claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	c.log.Info("volume expanded", "volume", volume.Name, "capacity", wanted.String())
	return nil
}

// capacityPatch sets the capacity in the spec of a volume or in the status of a claim.
func capacityPatch(field string, size resource.Quantity) []byte {
	return fmt.Appendf(nil, `{%q: {"capacity": {"storage": %q}}}`, field, size.String())
}
