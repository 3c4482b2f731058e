// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// A restored cluster comes into being as any other does, once, by a chain of writes, and
// takes the place of its previous incarnation, which is not touched before there is something to
// put there:
//
//	status: seed, token, source               pods and claims of the previous incarnation are no members any more
//	claim and pod <seed>, held by its gate    fetches and restores; the previous members run on
//	status: Replacing                         the data is complete; from here there is no way back
//	previous claims kept                      where the restore asks for it
//	previous pods deleted, until none is left
//	status: Starting, the pod's UID           this pod, and no other, may start the cluster
//	pod <seed>: its gate is opened            etcd runs on the restored data
//	status: cluster id                        the cluster exists; it grows as usual
//	previous claims deleted                   once the cluster is complete, but for those that are kept
//
// So there are never two clusters that serve, and at every moment one that is complete:
// the previous incarnation, or the restored data.

// beginRestore begins the restore that the object is asked for. Where that cannot begin, a cluster that exists is
// cared for meanwhile; where there is none yet, no empty one is started in place of the one that is asked for.
func beginRestore(p *planning) verdict {
	request, err := v1beta2.RestoreRequestOf(p.Cluster)
	switch {
	case errors.Is(err, v1beta2.ErrNoRestoreRequest):
		return verdict{}
	case err != nil:
		return p.restoreCannotBegin(waitFor(RestoreRequestInvalid, "%s", err.Error()))
	case p.record != nil && p.record.LastRequest == string(request.UID), p.isWithdrawn(request), p.isCarriedOut(request):
		return verdict{}
	case isStarted(p.record) && request.IsExpired(p.Now):
		return verdict{} // the restore operator gives it up, and says so
	}
	if missing := p.ticketMissing(request.Secret); missing != nil {
		return p.restoreCannotBegin(verdict{Waits: []Wait{*missing}})
	}
	if notYet := p.newSeedHasToWait(); notYet != nil {
		return p.restoreCannotBegin(*notYet)
	}
	record := p.restoreRecord(&v1beta2.BootstrapRestore{
		UID: string(request.UID), Name: request.Name, Secret: request.Secret, URL: request.URL, Source: request.Source, Size: request.Size, SHA256: request.SHA256,
		RevisionBump: request.RevisionBump, KeepVolumes: request.KeepVolumes,
	})
	record.LastRequest = string(request.UID)
	return do(RecordStatus{
		About:  About{Member: record.Seed, Why: fmt.Sprintf("restore the cluster as EtcdRestore %s asks for", request.Name), Event: EventRestoring},
		Status: p.statusWith(record),
	})
}

func (p *planning) restoreCannotBegin(v verdict) verdict {
	v.Stop = !isStarted(p.record)
	return v
}

// newSeedHasToWait says why no new first member can be chosen now; nil where one can.
func (p *planning) newSeedHasToWait() *verdict {
	if w := p.secretForNewPods(); w != nil {
		return &verdict{Waits: []Wait{*w}}
	}
	if p.isNameTaken() {
		v := lookAgain(soon) // which brings another name
		return &v
	}
	return nil
}

// isNameTaken reports whether the name that a new first member would get is that of a pod
// or a claim which is there.
func (p *planning) isNameTaken() bool {
	name := manifests.MemberName(p.Cluster.Name, p.NewName)
	return p.HasPod(name) || p.HasClaim(name)
}

// restoreRecord is what the first write of the chain records.
func (p *planning) restoreRecord(from *v1beta2.BootstrapRestore) *v1beta2.BootstrapStatus {
	from.Stage, from.Previous = v1beta2.RestoreStageFilling, p.previousIncarnation()
	next := &v1beta2.BootstrapStatus{Seed: manifests.MemberName(p.Cluster.Name, p.NewName), Token: p.NewToken, Restore: from}
	if p.record != nil {
		next.LastRequest = p.record.LastRequest
	}
	return next
}

// previousIncarnation is what a restore that is canceled goes back to. One that replaces another,
// which had not replaced anything yet, goes back to what that one would have.
func (p *planning) previousIncarnation() *v1beta2.PreviousCluster {
	switch {
	case !isStarted(p.record):
		return nil
	case p.isFilling():
		return p.record.Restore.Previous
	}
	return &v1beta2.PreviousCluster{
		UID: p.Cluster.Status.Incarnation(), Seed: p.record.Seed, Token: p.record.Token, PodUID: p.record.PodUID, ClusterID: p.Cluster.Status.ClusterID,
		CurrentVersion: p.Cluster.Status.CurrentVersion, MemberStatuses: p.Cluster.Status.MemberStatuses,
	}
}

// isFilling reports whether a restore is under way that has not replaced anything yet.
func (p *planning) isFilling() bool {
	return p.record != nil && p.record.Restore != nil && p.record.Restore.Stage == v1beta2.RestoreStageFilling
}

// cancelRestore goes back to the previous incarnation, as long as that has not been touched.
func cancelRestore(p *planning) verdict {
	if !p.isFilling() || p.record.Restore.Previous == nil {
		return verdict{}
	}
	why := p.reasonToCancel(p.record.Restore)
	if why == "" {
		return verdict{}
	}
	return do(RecordStatus{
		About:  About{Why: why + ": the restore is canceled; the cluster continues as before", Event: EventRestoreCanceled, Warning: true},
		Status: p.statusOfPrevious(p.record.Restore.Previous),
	})
}

// statusOfPrevious is the status that is about the previous incarnation again.
func (p *planning) statusOfPrevious(previous *v1beta2.PreviousCluster) v1beta2.ClusterStatus {
	next := &v1beta2.BootstrapStatus{Seed: previous.Seed, Token: previous.Token, PodUID: previous.PodUID, LastRequest: p.record.LastRequest}
	if previous.UID != "" {
		next.Restore = &v1beta2.BootstrapRestore{UID: previous.UID, Stage: v1beta2.RestoreStageStarting}
	}
	status := p.statusWith(next)
	known := previous.DeepCopy()
	status.ClusterID, status.CurrentVersion, status.MemberStatuses = known.ClusterID, known.CurrentVersion, known.MemberStatuses
	return status
}

// reasonToCancel says why a restore that has not replaced anything yet is not wanted any more.
func (p *planning) reasonToCancel(from *v1beta2.BootstrapRestore) string {
	if p.isPreviousBack() {
		return "the majority is back"
	}
	if from.Member == "" {
		return p.reasonToCancelBackup()
	}
	switch source := p.previousPod(from.Member); {
	case p.recoveryMode() != v1beta2.RecoverySurvivor:
		return "spec.recovery.mode is no longer Survivor"
	case source == nil || source.DeletionTimestamp != nil || isFinished(source):
		return "the pod of the survivor " + from.Member + " is gone"
	}
	return ""
}
