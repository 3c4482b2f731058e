// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// clusterSpec is the spec of the cluster that has to be created: that of the restore, or the one that was
// kept with the backup. It is nil where neither is known.
func clusterSpec(v *view.View) *v1beta2.ClusterSpec {
	if spec := v.Restore.Spec.ClusterSpec; spec != nil {
		return spec
	}
	if found := intact(v); found != nil {
		return found.ClusterSpec
	}
	return nil
}

// requireClusterSpec ends a restore for which a cluster would have to be created of a spec that nobody has.
func requireClusterSpec(v *view.View) Verdict {
	if v.Cluster != nil || needsCheck(v) || clusterSpec(v) != nil {
		return Verdict{}
	}
	return failed(ReasonNoSpec, "EtcdCluster %q does not exist, and the backup holds no spec that it could be created from (one with TLS is not used); set clusterSpec, or create the EtcdCluster first",
		v.Restore.Spec.EtcdCluster.Name)
}

// giveUpRequest ends a restore that the API server refuses for good, or that could not be asked for in time.
func giveUpRequest(v *view.View) Verdict {
	switch p := v.RequestProblem; {
	case p != nil && p.Stalled:
		return Verdict{Step: Fail{Problem: *p}}
	case p != nil || !accepted(v.Restore) || v.Now.Sub(intactSince(v)) <= patience:
		return Verdict{}
	}
	because := "the operator was not running in that time"
	if s := &v.Restore.Status; s.Failures > 0 {
		because = s.Reason
	}
	return failed(problem.TimedOut, "the etcd-operator could not be asked for the restore; given up after %s, create another EtcdRestore: %s", patience, because)
}

// intactSince is from when on the etcd-operator could have been asked: the end of the check, because to read
// a large backup may take longer than our patience, or its beginning where another process made that check.
func intactSince(v *view.View) time.Time {
	var since time.Time
	if s := &v.Restore.Status; s.StartTime != nil {
		since = s.StartTime.Time
	}
	if found := intact(v); found != nil && found.Ended.After(since) {
		since = found.Ended
	}
	return since
}

// retryRequest repeats a request that could not be written. It comes after a pause, as a failed check does,
// and not whenever the message happens to differ.
func retryRequest(v *view.View) Verdict {
	p := v.RequestProblem
	if p == nil {
		return Verdict{}
	}
	return Verdict{Step: RetryLater{Problem: problem.Problem{
		Reason: ReasonRequestFailed, Message: "the backup is intact, but the etcd-operator cannot be asked for the restore: " + p.Message,
	}}}
}

// requestRestore asks the etcd-operator for the restore, of the cluster that exists or of a new one.
func requestRestore(v *view.View) Verdict {
	request := requestOf(v)
	if v.Cluster != nil {
		return Verdict{Step: AnnotateCluster{Cluster: v.Cluster, Request: request}, LookAgain: watchLag}
	}
	return Verdict{Step: CreateCluster{Cluster: newCluster(v, request), Request: request}, LookAgain: watchLag}
}

// requestOf is what the etcd-operator is asked for. It has to begin soon, but for the recovery that it has asked for
// itself: there it looks, before it begins, whether that is still needed.
func requestOf(v *view.View) v1beta2.RestoreRequest {
	r := v.Restore
	request := v1beta2.RestoreRequest{
		UID: r.UID, Name: r.Name, Secret: r.Status.TicketSecret, URL: v.BackupURL, Source: r.Status.Backup.URL,
		Size: r.Status.Backup.Size, SHA256: r.Status.Backup.SHA256, KeepVolumes: r.Spec.KeepOldVolumes,
	}
	if bump := r.Status.RevisionBump; bump != nil {
		request.RevisionBump = *bump
	}
	if v.Cluster == nil || !metav1.IsControlledBy(r, v.Cluster) {
		request.Deadline = v.Now.Add(patience).UTC().Truncate(time.Second)
	}
	return request
}

// newCluster is the cluster that is created where there is none. It belongs to the same operators as the
// EtcdRestore.
func newCluster(v *view.View, request v1beta2.RestoreRequest) *v1beta2.EtcdCluster {
	r := v.Restore
	cluster := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: r.Spec.EtcdCluster.Name,
			Annotations: map[string]string{v1beta2.AnnotationRestore: request.String()},
			Labels:      maps.Clone(v.ScopeLabels),
		},
		Spec: *clusterSpec(v).DeepCopy(),
	}
	if scope, ok := r.Annotations[v1beta2.AnnotationScope]; ok {
		cluster.Annotations[v1beta2.AnnotationScope] = scope
	}
	return cluster
}
