// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"math"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// hasFailed waits until a restore has failed for a reason, and has left nothing behind.
func hasFailed(name, reason string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		r := sim.restoreNamed(name)
		return r != nil && r.Status.CompletionTime != nil && !r.Status.Succeeded && reasonOf(r) == reason && sim.Checked.CheckRestores() == nil
	}
}

// isRetried waits until a restore names the reason why it has not got on, and is going to try again.
func isRetried(reason string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		r := sim.restoreNamed(restored)
		return r != nil && r.Status.CompletionTime == nil && r.Status.Failures > 0 && reasonOf(r) == reason
	}
}

// reasonOf is the reason of the condition Ready.
func reasonOf(r *v1beta2.EtcdRestore) string {
	if len(r.Status.Conditions) == 0 {
		return ""
	}
	return r.Status.Conditions[0].Reason
}

// tellsBytes waits until a restore says how much of its backup has been read.
func tellsBytes(sim *BackupSimulation) bool {
	r := sim.restoreNamed(restored)
	return r != nil && len(r.Status.Conditions) > 0 && strings.Contains(r.Status.Conditions[0].Message, "bytes so far")
}

// isChecked waits until a restore knows what its backup is.
func isChecked(name string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		r := sim.restoreNamed(name)
		return r != nil && r.Status.Backup != nil
	}
}

// clusterIsGone waits until nothing is left of the cluster that runs.
func clusterIsGone(sim *BackupSimulation) bool {
	return sim.Cluster() == nil && len(sim.Kube.All(kubemodel.Pods)) == 0
}

// atMost limits how long an act may take.
func atMost(limit time.Duration, a BackupAct) BackupAct {
	a.Limit = limit
	return a
}

func wait(d time.Duration) BackupAct { return act("wait", func(*BackupSimulation) {}, waited(d)) }

func deleteCluster(until func(*BackupSimulation) bool) BackupAct {
	return act("delete cluster", func(sim *BackupSimulation) { _ = sim.Kube.Delete(kubemodel.Clusters, world.Name, nil) }, until)
}

func pauseCluster(until func(*BackupSimulation) bool) BackupAct {
	return act("pause", func(sim *BackupSimulation) { sim.Change(func(s *v1beta2.ClusterSpec) { s.Paused = true }) }, until)
}

func resumeCluster(until func(*BackupSimulation) bool) BackupAct {
	return act("resume", func(sim *BackupSimulation) { sim.Change(func(s *v1beta2.ClusterSpec) { s.Paused = false }) }, until)
}

// correct changes the spec of the EtcdRestore as a user does.
func correct(change func(*BackupSimulation, *v1beta2.RestoreSpec), until func(*BackupSimulation) bool) BackupAct {
	return act("correct restore", func(sim *BackupSimulation) {
		sim.Kube.Edit(kubemodel.Restores, restored, func(o client.Object) { change(sim, &o.(*v1beta2.EtcdRestore).Spec) })
	}, until)
}

// moved is the name of a backup that somebody has copied without its metadata.
const moved = "moved"

// moveBackup lets somebody copy the backup to another name, without its metadata, and delete it.
func (sim *BackupSimulation) moveBackup() {
	sim.Store.Write(world.Bucket, moved, sim.Store.Find(world.Bucket, once).Data, nil)
	sim.Store.Remove(world.Bucket, once)
	sim.Checked.Removed[once] = true
}

// replaceBackup lets somebody put another backup in the place of the one that was checked.
func (sim *BackupSimulation) replaceBackup() {
	sim.Store.Write(world.Bucket, once, sim.Store.Find(world.Bucket, "later").Data, nil)
	sim.Checked.Removed[once] = true
}

// removeRequest lets somebody remove the request for a restore from the cluster.
func (sim *BackupSimulation) removeRequest() {
	sim.Kube.Edit(kubemodel.Clusters, world.Name, func(o client.Object) { delete(o.GetAnnotations(), v1beta2.AnnotationRestore) })
}

// restoreTroubles are restores that something keeps from succeeding, for a while or for good.
func restoreTroubles() []BackupScenario {
	const second, minute = time.Second, time.Minute
	backup, plain := apply(backupOf(once), isMade(once)), restoreOf(restored, once)
	forbid := act("forbid the request", func(sim *BackupSimulation) { sim.Kube.Refuse("patch", kubemodel.Clusters) }, waited(0))
	allow := func(until func(*BackupSimulation) bool) BackupAct {
		return act("allow the request", func(sim *BackupSimulation) { sim.Kube.AcceptAll() }, until)
	}
	silent := act("store silent", func(sim *BackupSimulation) { sim.StoreSilent = true }, waited(0))
	answers := func(until func(*BackupSimulation) bool) BackupAct {
		return act("store answers", func(sim *BackupSimulation) { sim.StoreSilent = false }, until)
	}
	stop := act("stop the etcd-operator", func(sim *BackupSimulation) { sim.StopOperator() }, waited(0))
	start := func(until func(*BackupSimulation) bool) BackupAct {
		return act("start the etcd-operator", func(sim *BackupSimulation) { sim.RestartOperator() }, until)
	}
	return []BackupScenario{
		tale("restore with a revision that is too high", backup,
			request(restoreOf(restored, once, func(s *v1beta2.RestoreSpec) { bump := int64(math.MaxInt64); s.RevisionBump = &bump }), isRefused(restored, "InvalidSpec")),
			correct(func(_ *BackupSimulation, s *v1beta2.RestoreSpec) { s.RevisionBump = nil }, isRestored)),
		tale("restore of a cluster that is gone, and of its spec", backup, act("move backup", (*BackupSimulation).moveBackup, waited(0)), deleteCluster(clusterIsGone),
			request(restoreOf(restored, moved), hasFailed(restored, "ClusterSpecMissing")),
			correct(func(sim *BackupSimulation, s *v1beta2.RestoreSpec) { spec := sim.Spec(); s.ClusterSpec = &spec }, isRestored)),
		tale("restore that may not be requested", backup, forbid, request(plain, isRetried("RequestFailed")), wait(minute), allow(isRestored)),
		tale("restore that may not be requested for long", backup, forbid, request(plain, isRefused(restored, "TimedOut")), allow(waited(5*minute)),
			act("look", func(*BackupSimulation) {}, isRefused(restored, "TimedOut"))),
		tale("store silent while a backup is checked", backup, silent, request(plain, tellsBytes), answers(isRestored)),
		// Each check that is not dropped keeps one of the two slots until the store's time is up.
		tale("restores that are refused while their backups are checked", backup, silent,
			request(plain, waited(5*second)), pauseCluster(hasFailed(restored, "ClusterPaused")), resumeCluster(waited(second)),
			request(restoreOf("second", once), waited(5*second)), pauseCluster(hasFailed("second", "ClusterPaused")), resumeCluster(waited(second)),
			answers(waited(0)), atMost(30*second, request(restoreOf("third", once), isChecked("third"))),
			act("wait", func(*BackupSimulation) {}, isDone("third"))),
		tale("etcd-operator away", backup, stop, request(plain, isAsked), wait(3*minute), start(isRestored)),
		tale("etcd-operator away for long", backup, stop, request(plain, hasFailed(restored, "TimedOut")), start(isRefused(restored, "TimedOut")), wait(minute),
			act("look", func(*BackupSimulation) {}, isRefused(restored, "TimedOut"))),
		tale("backup that is replaced after its check", backup, apply(backupOf("later"), isMade("later")), stop, request(plain, isAsked),
			act("replace backup", (*BackupSimulation).replaceBackup, waited(0)), start(isRefused(restored, "BackupReplaced"))),
		tale("restore whose first member finds no image", backup, act("registry down", func(sim *BackupSimulation) { sim.RegistryDown = true }, waited(0)),
			atMost(time.Hour, request(plain, hasFailed(restored, "TimedOut"))),
			act("registry up", func(sim *BackupSimulation) { sim.RegistryDown = false }, isRefused(restored, "TimedOut"))),
		tale("restore whose first member is beyond a quota", backup, act("quota", func(sim *BackupSimulation) { sim.Kube.PodQuota = len(sim.Kube.All(kubemodel.Pods)) }, waited(0)),
			atMost(time.Hour, request(plain, hasFailed(restored, "TimedOut"))),
			act("no quota", func(sim *BackupSimulation) { sim.Kube.PodQuota = 0 }, isRefused(restored, "TimedOut"))),
		tale("restore whose request is removed", backup, stop, request(plain, isAsked),
			act("remove request", (*BackupSimulation).removeRequest, waited(minute)), start(isRefused(restored, "TakenBack"))),
		tale("cluster that is deleted while it is restored", backup, request(plain, isAsked),
			deleteCluster(clusterIsGone),
			act("look", func(*BackupSimulation) {}, either(hasFailed(restored, "ClusterGone"), hasFailed(restored, "ClusterBeingDeleted")))),
	}
}
