// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// withdrawOrphanedRequest withdraws the request of an EtcdRestore that has been deleted. The one of its
// name that exists now need not be the one that wrote it: an object that was deleted while no operator ran
// may have been recreated before one did. And the cache of clusters may be newer than that of restores, so
// that the request is that of an object which only the API server knows yet.
func withdrawOrphanedRequest(v *view.View) Verdict {
	for i := range v.Requested {
		cluster := &v.Requested[i]
		request, err := v1beta2.RestoreRequestOf(cluster)
		if err != nil || request.Name != v.Key.Name || request.UID == v.LiveUID || v.Restore != nil && request.UID == v.Restore.UID {
			continue
		}
		return Verdict{Step: WithdrawRequest{Cluster: cluster}}
	}
	return Verdict{}
}

// leaveAlone does no more for an EtcdRestore that has been deleted, is about to be, or is the business of
// another operator.
func leaveAlone(v *view.View) Verdict {
	switch {
	case v.Restore == nil:
		return wait("the EtcdRestore has been deleted", 0)
	case !v.Served:
		return wait("another operator serves the EtcdRestore", 0)
	case !v.Restore.DeletionTimestamp.IsZero():
		return wait("the EtcdRestore is being deleted", 0)
	}
	return Verdict{}
}

// dropCheck stops the check of a restore that has ended, and forgets what it found.
func dropCheck(v *view.View) Verdict {
	if v.Check == nil || !view.Finished(v.Restore) {
		return Verdict{}
	}
	return Verdict{Step: DropCheck{}, LookAgain: atOnce}
}

// withdrawRequest withdraws the request of a restore that has ended, so that a copy of the cluster's
// manifest does not ask for it again.
func withdrawRequest(v *view.View) Verdict {
	if !view.Finished(v.Restore) || v.Cluster == nil || !view.HasRequestOf(v.Cluster, v.Restore) {
		return Verdict{}
	}
	return Verdict{Step: WithdrawRequest{Cluster: v.Cluster}}
}

// cleanUp deletes the ticket of a restore that has ended.
func cleanUp(v *view.View) Verdict {
	if secret := v.Restore.Status.TicketSecret; view.Finished(v.Restore) && secret != "" {
		return Verdict{Step: DeleteTicket{Secret: secret}}
	}
	return Verdict{}
}

// expire deletes a restore that ended as long ago as its spec says. Until then, nothing more is done for it.
func expire(v *view.View) Verdict {
	if !view.Finished(v.Restore) {
		return Verdict{}
	}
	ttl, ended := v.Restore.Spec.TTLSecondsAfterFinished, v.Restore.Status.CompletionTime
	if ttl == nil || ended == nil {
		return wait("the restore has ended", 0)
	}
	left := ended.Add(time.Duration(*ttl) * time.Second).Sub(v.Now)
	if left > 0 {
		return wait("the restore has ended and is kept until its time is up", left)
	}
	return Verdict{Step: DeleteRestore{Restore: v.Restore}}
}
