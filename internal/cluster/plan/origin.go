// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// A cluster whose spec names a backup comes into being by an EtcdRestore like any other that is restored. The operator
// creates that EtcdRestore itself, under a name that belongs to this very object, so that there is one at a time. Once the
// cluster exists, nothing of this is asked any more: whatever becomes of the cluster, its object does not restore it again.

// bootstrapRetry is how long an EtcdRestore that failed to create the cluster is left for people to look at.
const bootstrapRetry = 5 * time.Minute

// awaitedBackup is the backup that the cluster has still to be created from; nil where there is none, or where there is,
// or may have been, a cluster.
func (p *planning) awaitedBackup() *v1beta2.BootstrapSource {
	source := p.Cluster.Spec.BootstrapSource()
	switch {
	case source == nil:
		return nil
	case !isStarted(p.record):
		if p.hadCluster() != "" || p.isOfAnotherOperator() {
			return nil
		}
		return source
	case p.isFilling() && p.record.Restore.Name == manifests.BootstrapRestoreName(p.Cluster) && !p.isSeedRestored():
		return source
	}
	return nil
}

// isSeedRestored reports whether the first member has got its data.
func (p *planning) isSeedRestored() bool {
	return p.seed != nil && p.seed.Pod != nil && restored(p.seed.Pod) != nil
}

// refuseTakenRestoreName stops if somebody else has an EtcdRestore of the name that the cluster's own is to have.
func refuseTakenRestoreName(p *planning) verdict {
	if p.awaitedBackup() == nil || p.Origin == nil || view.IsOwned(p.Cluster, p.Origin) {
		return verdict{}
	}
	return stop(NameTaken, "EtcdRestore %s does not belong to this cluster, which needs one of that name to be created from a backup: delete it", p.Origin.Name)
}

// requestBootstrapRestore asks the restore operator for the backup.
func requestBootstrapRestore(p *planning) verdict {
	source := p.awaitedBackup()
	if source == nil || p.Origin != nil {
		return verdict{}
	}
	if v := awaitSecrets(p); v.Stop {
		return v
	}
	restore := p.forServing(bootstrapRestore(p.Cluster, source))
	return do(CreateObject{About: About{Event: EventRestoring, Why: fmt.Sprintf("create the cluster from a backup, as spec.bootstrap.restore asks for, by EtcdRestore %s", restore.Name)}, Object: restore})
}

// retryBootstrapRestore deletes an EtcdRestore that failed, so that another one is created in its place: until there is a
// cluster there is nothing that a late restore could replace.
func retryBootstrapRestore(p *planning) verdict {
	left, failed := p.untilBootstrapRetry()
	if !failed || left > 0 {
		return verdict{}
	}
	return do(DeleteObject{About: About{Why: "retry to create the cluster from a backup: delete EtcdRestore " + p.Origin.Name + ", which failed"}, Object: p.Origin})
}

// untilBootstrapRetry is how long the EtcdRestore that failed is still left alone.
func (p *planning) untilBootstrapRetry() (left time.Duration, failed bool) {
	if p.awaitedBackup() == nil || p.Origin == nil || p.Origin.DeletionTimestamp != nil {
		return 0, false
	}
	ended := p.Origin.Status.CompletionTime
	if ended == nil || p.Origin.Status.Succeeded {
		return 0, false
	}
	return ended.Add(bootstrapRetry).Sub(p.Now), true
}

// awaitBootstrapRestore says how far the EtcdRestore is. No empty cluster is started in place of the one that is asked for.
func awaitBootstrapRestore(p *planning) verdict {
	if p.awaitedBackup() == nil || p.Origin == nil {
		return verdict{}
	}
	if left, failed := p.untilBootstrapRetry(); failed {
		v := stop(BootstrapRestoreFailed, "EtcdRestore %s could not create the cluster from the backup of spec.bootstrap.restore: %s. "+
			"It is repeated at %s; to repeat it at once, delete it. If spec.bootstrap is wrong, delete this EtcdCluster, which has no data, and create it again",
			p.Origin.Name, strings.TrimSuffix(p.Origin.Status.Reason, "."), p.timeIn(left))
		v.LookAgain = left
		return v
	}
	if isStarted(p.record) {
		return verdict{} // the first member is being made
	}
	state := "It has not been begun: is the etcd-restore-operator running?"
	if ready := meta.FindStatusCondition(p.Origin.Status.Conditions, kstatus.Ready); ready != nil {
		state = ready.Message
	}
	return stop(Restoring, "EtcdRestore %s is to create the cluster from the backup of spec.bootstrap.restore. %s", p.Origin.Name, state)
}

// bootstrapRestore asks for the backup that the spec names.
func bootstrapRestore(c *v1beta2.EtcdCluster, from *v1beta2.BootstrapSource) *v1beta2.EtcdRestore {
	source := from.DeepCopy()
	r := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{
			Name: manifests.BootstrapRestoreName(c), Namespace: c.Namespace, Labels: manifests.ClusterLabels(c.Name), OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
		},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: source.BackupStorageType, RestoreSource: source.RestoreSource, EtcdCluster: v1beta2.EtcdClusterRef{Name: c.Name},
			EncryptionSecret: source.EncryptionSecret, SHA256: source.SHA256, RevisionBump: source.RevisionBump,
		},
	}
	return r
}

// forServing gives an EtcdRestore to the operators that serve the cluster.
func (p *planning) forServing(r *v1beta2.EtcdRestore) *v1beta2.EtcdRestore {
	if scope, ok := p.Cluster.Annotations[v1beta2.AnnotationScope]; ok {
		r.Annotations = map[string]string{v1beta2.AnnotationScope: scope}
	}
	maps.Copy(r.Labels, p.ScopeLabels)
	return r
}
