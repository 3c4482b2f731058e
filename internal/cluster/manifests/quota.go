// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// EnvQuota is where etcd reads how large its database may become.
const EnvQuota = "ETCD_QUOTA_BACKEND_BYTES"

const (
	// defaultQuota is etcd's own.
	defaultQuota = 2 << 30
	// largestQuota is the largest that etcd recommends.
	largestQuota = 8 << 30
)

// storageQuota tells etcd of the quota of the spec, or of the one that goes with the volume. What the user tells etcd itself
// comes after it, and has precedence.
func storageQuota(c *v1beta2.EtcdCluster) []corev1.EnvVar {
	quota := StorageQuota(c)
	if c.Spec.StorageQuota == nil && quota == defaultQuota {
		return nil
	}
	return []corev1.EnvVar{{Name: EnvQuota, Value: strconv.FormatInt(quota, 10)}}
}

// StorageQuota is how large the database of a member that is created now may become. By default it is four tenths of the
// volume, which has to hold the database twice, while it is defragmented or sent as a snapshot, and the log beside it. It is never
// less than etcd's own: a database that has grown with that would be over its quota as soon as its pod is recreated.
func StorageQuota(c *v1beta2.EtcdCluster) int64 {
	if q := c.Spec.StorageQuota; q != nil {
		return q.Value()
	}
	if !HasVolumes(c) {
		return defaultQuota
	}
	volume := PolicyOf(c).PersistentVolumeClaimSpec.Resources.Requests.Storage().Value()
	return min(max(volume/10*4, defaultQuota), largestQuota)
}

// QuotaOf is the quota that a pod's etcd was started with; zero where there is none, or it is not known.
func QuotaOf(pod *corev1.Pod) int64 {
	quota := int64(defaultQuota)
	for _, c := range pod.Spec.Containers {
		for _, e := range c.Env {
			if c.Name != ContainerEtcd || e.Name != EnvQuota || (e.Value == "" && e.ValueFrom == nil) {
				continue
			}
			n, err := strconv.ParseInt(e.Value, 10, 64)
			switch {
			case err != nil || n < 0:
				quota = 0
			case n == 0:
				quota = defaultQuota
			default:
				quota = n // of two, the last one counts
			}
		}
	}
	return quota
}
