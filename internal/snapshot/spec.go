// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// EncodeSpec is the spec of a cluster as it is kept with its backups. A restore can recreate the cluster from it
// where nothing of it is left.
func EncodeSpec(spec *v1beta2.ClusterSpec) string {
	text, err := json.Marshal(spec)
	if err != nil {
		return ""
	}
	return string(text)
}

// KeptSpec is what a cluster is recreated from: size, version and storage of the spec that was kept with a backup, or nil.
//
// Whoever can write to the store writes that spec as well. So nothing of it is used that runs code or reads Secrets: no
// images, no environment, no volumes of others. A cluster with TLS is not recreated without it. Fields that this
// version does not know make a spec useless: a cluster without them would not be the one that was backed up.
func (f Facts) KeptSpec() *v1beta2.ClusterSpec {
	if f.ClusterSpec == "" {
		return nil
	}
	spec := &v1beta2.ClusterSpec{}
	d := json.NewDecoder(strings.NewReader(f.ClusterSpec))
	d.DisallowUnknownFields()
	if err := d.Decode(spec); err != nil {
		return nil
	}
	if spec.TLS != nil {
		return nil
	}
	kept := &v1beta2.ClusterSpec{Size: spec.Size, Version: spec.Version}
	if spec.Pod != nil && spec.Pod.PersistentVolumeClaimSpec != nil {
		claim := spec.Pod.PersistentVolumeClaimSpec
		kept.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			AccessModes: claim.AccessModes, Resources: claim.Resources, StorageClassName: claim.StorageClassName, VolumeMode: claim.VolumeMode,
		}}
	}
	return kept
}
