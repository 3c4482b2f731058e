// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

type goodBackup struct {
	// path is <bucket>/<key>.
	path     string
	at       time.Time
	revision int64
	// sha256 is the sum of the stored object, or empty where nobody wrote it down.
	sha256 string
}

// newestBackup is the newest one that an EtcdBackup knows to be good: that with the highest revision of the cluster
// that was backed up last. A member that was left behind gives snapshots too, which are newer by the clock only.
func newestBackup(b *v1beta2.EtcdBackup) (goodBackup, bool) {
	where, err := kind.OfBackup(b)
	if err != nil {
		return goodBackup{}, false
	}
	bucket, key, err := kind.SplitPath(where.Path)
	switch {
	case err != nil:
		return goodBackup{}, false
	case len(b.Status.Backups) > 0:
		newest := slices.MaxFunc(b.Status.Backups, func(a, c v1beta2.KeptBackup) int { return a.Time.Compare(c.Time.Time) })
		for _, k := range b.Status.Backups {
			if k.ClusterID != "" && k.ClusterID == newest.ClusterID && k.EtcdRevision > newest.EtcdRevision {
				newest = k
			}
		}
		return goodBackup{bucket + "/" + newest.Name, newest.Time.Time, newest.EtcdRevision, newest.SHA256}, true
	case b.Status.LastSuccessDate.IsZero():
		return goodBackup{}, false
	}
	return goodBackup{bucket + "/" + key, b.Status.LastSuccessDate.Time, b.Status.EtcdRevision, b.Status.SHA256}, true
}

// recoveryRestore asks for a backup to be restored from where the EtcdBackup wrote it.
func recoveryRestore(c *v1beta2.EtcdCluster, b *v1beta2.EtcdBackup, from goodBackup) *v1beta2.EtcdRestore {
	r := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{
			Name: manifests.RecoveryRestoreName(c), Namespace: c.Namespace, Labels: manifests.ClusterLabels(c.Name), OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
		},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: b.Spec.StorageType, EtcdCluster: v1beta2.EtcdClusterRef{Name: c.Name}, EncryptionSecret: b.Spec.EncryptionSecret,
			SHA256: from.sha256, RestoreSource: kind.RestoreSource(b, from.path),
		},
	}
	return r
}
