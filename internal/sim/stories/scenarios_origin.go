// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// createFrom creates the cluster from a backup, as its manifest in Git says.
func createFrom(key string, until func(*BackupSimulation) bool) BackupAct {
	return act("create cluster from "+key, func(sim *BackupSimulation) {
		spec := sim.Spec()
		source := restoreOf(restored, key).Spec
		spec.Bootstrap = &v1beta2.BootstrapPolicy{Restore: &v1beta2.BootstrapSource{BackupStorageType: source.BackupStorageType, RestoreSource: source.RestoreSource}}
		world.Must(sim.Kube.Create(&v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: world.Name, Namespace: kubemodel.Namespace}, Spec: spec}))
	}, until)
}

// applyTree does what a tool does every few minutes that keeps a tree of Git: it creates what is missing, and sets the specs that
// the tree has.
func applyTree(until func(*BackupSimulation) bool) BackupAct {
	nightly := backupOf(series, byReference, eachMinute(2))
	return act("apply the tree", func(sim *BackupSimulation) {
		if sim.Cluster() == nil {
			createFrom(once, isCreated).Do(sim)
		}
		if sim.backup(series) == nil {
			world.Must(sim.Kube.Create(nightly.DeepCopy()))
		}
		if sim.restoreNamed(restored) == nil {
			world.Must(sim.Kube.Create(restoreOf(restored, once, expiresSoon)))
		}
	}, until)
}

// tenTimes applies the tree again and again.
func tenTimes(until func(*BackupSimulation) bool) []BackupAct {
	const times, pause = 10, 2 * time.Minute
	acts := []BackupAct{applyTree(until)}
	for range times - 1 {
		acts = append(acts, applyTree(waited(pause)))
	}
	return acts
}

// ownRestore is the EtcdRestore that creates the cluster; nil where there is none.
func (sim *BackupSimulation) ownRestore() *v1beta2.EtcdRestore {
	cluster := sim.Cluster()
	if cluster == nil {
		return nil
	}
	return sim.restoreNamed(manifests.BootstrapRestoreName(cluster))
}

// isCreated waits until the cluster was created from its backup, once, and is as its spec asks for.
func isCreated(sim *BackupSimulation) bool {
	cluster := sim.Cluster()
	return cluster != nil && len(cluster.Status.Restores) == 1 && sim.IsSettled() && sim.Checked.CheckRestores() == nil
}

// isCreatedAndDone waits until the EtcdRestore says so as well.
func isCreatedAndDone(sim *BackupSimulation) bool {
	r := sim.ownRestore()
	return isCreated(sim) && r != nil && r.Status.Succeeded
}

// reportsOfCluster waits until the status of the cluster names a reason.
func reportsOfCluster(reason plan.Reason) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool { return reports(reason)(sim.Simulation) }
}

// isOwnAsked waits until the etcd-operator has been asked for the restore that creates the cluster.
func isOwnAsked(sim *BackupSimulation) bool {
	r := sim.ownRestore()
	return r != nil && r.Status.RequestTime != nil
}

// isOwnBegun waits until the restore that creates the cluster exists.
func isOwnBegun(sim *BackupSimulation) bool { return sim.ownRestore() != nil }

// deleteOwn deletes the EtcdRestore that creates the cluster, as somebody does who tidies up.
func deleteOwn(until func(*BackupSimulation) bool) BackupAct {
	return act("delete the cluster's EtcdRestore", func(sim *BackupSimulation) {
		if r := sim.ownRestore(); r != nil {
			_ = sim.Kube.Delete(kubemodel.Restores, r.Name, nil)
		}
	}, until)
}

// moveReplacement lets somebody move another backup to the place of the one that was checked.
func (sim *BackupSimulation) moveReplacement() {
	sim.replaceBackup()
	sim.Store.Remove(world.Bucket, "later")
	sim.Checked.Removed["later"] = true
}

// origins are clusters that are created from a backup.
func origins() []BackupScenario {
	const second, minute = time.Second, time.Minute
	backup, gone := apply(backupOf(once), isMade(once)), deleteCluster(clusterIsGone)
	look := func(until func(*BackupSimulation) bool) BackupAct {
		return act("look", func(*BackupSimulation) {}, until)
	}
	away := act("store away", func(sim *BackupSimulation) { sim.StoreDown = true }, waited(0))
	back := func(until func(*BackupSimulation) bool) BackupAct {
		return act("store back", func(sim *BackupSimulation) { sim.StoreDown = false }, until)
	}
	stop := act("stop the etcd-operator", func(sim *BackupSimulation) { sim.StopOperator() }, waited(0))
	start := func(until func(*BackupSimulation) bool) BackupAct {
		return act("start the etcd-operator", func(sim *BackupSimulation) { sim.RestartOperator() }, until)
	}
	return []BackupScenario{
		tale("cluster from a backup", backup, gone, createFrom(once, isCreatedAndDone)),
		tale("tree that is applied ten times", slices.Concat([]BackupAct{backup, gone}, tenTimes(isCreated), []BackupAct{look(isCreated)})...),
		tale("cluster from a backup, whose EtcdRestore is deleted afterwards", backup, gone, createFrom(once, isCreatedAndDone), deleteOwn(waited(minute)), look(isCreated)),
		tale("cluster from a backup, deleted and created again", backup, gone, createFrom(once, isCreatedAndDone), gone, createFrom(once, isCreatedAndDone)),
		tale("cluster from a backup that comes later", backup, gone, createFrom(moved, reportsOfCluster(plan.BootstrapRestoreFailed)),
			act("move backup", (*BackupSimulation).moveBackup, isCreatedAndDone)),
		tale("cluster from a backup while the store is away for long", backup, gone, away,
			createFrom(once, reportsOfCluster(plan.BootstrapRestoreFailed)), back(isCreatedAndDone)),
		tale("cluster from a backup, whose EtcdRestore is deleted before it is carried out", backup, gone, createFrom(once, isOwnAsked), deleteOwn(isCreated)),
		tale("cluster from a backup, whose EtcdRestore is deleted while a member fetches", backup, gone,
			createFrom(once, isOwnAsked), away, wait(30*second), deleteOwn(waited(5*second)), back(isCreated)),
		tale("cluster from a backup that is replaced after its check", backup, apply(backupOf("later"), isMade("later")), gone,
			createFrom(once, isOwnBegun), look(either(isOwnAsked, waited(minute))), stop, act("replace backup", (*BackupSimulation).moveReplacement, waited(0)), start(isCreated)),
		tale("cluster from a backup, paused meanwhile", backup, gone, createFrom(once, isOwnBegun), pauseCluster(waited(20*minute)), resumeCluster(isCreated)),
		tale("cluster from a backup, with the restore operator away", backup, gone, act("stop", func(sim *BackupSimulation) { sim.StopRestoreOperator() }, waited(0)),
			createFrom(once, waited(20*minute)), act("start", func(sim *BackupSimulation) { sim.StartRestoreOperator() }, isCreatedAndDone)),
	}
}
