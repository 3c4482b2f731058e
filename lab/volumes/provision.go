// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Annotations of Kubernetes' protocol between scheduler, volume controller and provisioner, and one of our own.
const (
	// selectedNode is set on a claim by the scheduler when it has found a node for the first pod that uses it.
	selectedNode = "volume.kubernetes.io/selected-node"
	// provisionedBy on a volume tells the volume controller that deleting it is our business.
	provisionedBy = "pv.kubernetes.io/provisioned-by"
	// onNode on a volume is the node whose folder it is in.
	onNode = "lab.etcd-operator.io/node"
)

// provision makes a volume for a claim that has none, if it is for us and the scheduler has selected a node.
func (c *controller) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp != nil {
		return nil
	}
	class, err := c.classes.Get(className(claim))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if class.Provisioner != Provisioner {
		return nil
	}
	if err := supported(claim, class); err != nil {
		// Trying again will not help; a change of the claim brings it back here.
		c.events.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", err.Error())
		return nil
	}
	nodeName := claim.Annotations[selectedNode]
	if nodeName == "" {
		return nil
	}
	if err := c.provisionOn(ctx, nodeName, claim, class); err != nil {
		c.events.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", err.Error())
		return fmt.Errorf("provision a volume: %w", err)
	}
	return nil
}

func (c *controller) provisionOn(ctx context.Context, nodeName string, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	node, err := c.client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	// The name follows from the claim, so that a repetition finds what was made before.
	name := "pvc-" + string(claim.UID)
	folder, err := c.folder(nodeName, name)
	if err != nil {
		return err
	}
	if err := makeFolder(folder); err != nil {
		return err
	}
	_, err = c.client.CoreV1().PersistentVolumes().Create(ctx, newVolume(name, folder, node, claim, class), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.log.Info("volume made", "volume", name, "node", nodeName, "namespace", claim.Namespace, "claim", claim.Name)
	c.events.Eventf(claim, corev1.EventTypeNormal, "ProvisioningSucceeded", "volume %s is on %s", name, nodeName)
	return nil
}

// folder is where a volume lies on this machine.
func (c *controller) folder(node, volume string) (string, error) {
	dir := c.nodeDir(node)
	if dir == "" {
		return "", fmt.Errorf("the lab has no node %q", node)
	}
	return filepath.Join(dir, "volumes", volume), nil
}

// makeFolder makes the folder of a volume as a freshly formatted disk is: root's, and writable by no one else. A pod that does not
// run as root gets at it by its fsGroup, as in the field; one that forgets to ask for that shall fail here too.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return err
	}
	// Whatever the umask is.
	return os.Chmod(path, 0o755) //nolint:gosec // as said above
}

// supported says what a claim asks for that a folder on a node cannot give.
func supported(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	if ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) != storagev1.VolumeBindingWaitForFirstConsumer {
		return fmt.Errorf("storage class %s must have the volumeBindingMode WaitForFirstConsumer, since a volume is on one node", class.Name)
	}
	if ptr.Deref(claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) != corev1.PersistentVolumeFilesystem {
		return errors.New("the lab has no block volumes: use the volumeMode Filesystem")
	}
	for _, mode := range claim.Spec.AccessModes {
		if !slices.Contains([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteOncePod}, mode) {
			return fmt.Errorf("a volume of the lab is on one node: use the access mode ReadWriteOnce, not %s", mode)
		}
	}
	if claim.Spec.Selector != nil || claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil {
		return errors.New("volumes of the lab are created empty: use a claim without selector and data source")
	}
	return nil
}

func newVolume(name, folder string, node *corev1.Node, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{provisionedBy: Provisioner, onNode: node.Name},
		},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			VolumeMode:                    ptr.To(corev1.PersistentVolumeFilesystem),
			// Bound to this claim and no other: the volume controller completes it.
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: folder}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node.Labels[corev1.LabelHostname]},
				}},
			}}}},
		},
	}
}
