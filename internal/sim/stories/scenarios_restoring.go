// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// restored is the name of the EtcdRestore in these stories.
const restored = "restored"

// restoreOf is an EtcdRestore of the world's cluster from an object.
func restoreOf(name, key string, changes ...func(*v1beta2.RestoreSpec)) *v1beta2.EtcdRestore {
	r := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: kubemodel.Namespace},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: v1beta2.BackupStorageTypeS3,
			EtcdCluster:       v1beta2.EtcdClusterRef{Name: world.Name},
			RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{
				Path: world.Bucket + "/" + key, AWSSecret: world.StoreSecret, Endpoint: "http://store.example.com", ForcePathStyle: true,
			}},
		},
	}
	for _, change := range changes {
		change(&r.Spec)
	}
	return r
}

func expiresSoon(s *v1beta2.RestoreSpec) {
	ttl := int32(30)
	s.TTLSecondsAfterFinished = &ttl
}

func request(r *v1beta2.EtcdRestore, until func(*BackupSimulation) bool) BackupAct {
	return act("create restore "+r.Name, func(sim *BackupSimulation) { world.Must(sim.Kube.Create(r.DeepCopy())) }, until)
}

func (sim *BackupSimulation) restoreNamed(name string) *v1beta2.EtcdRestore {
	r, _ := sim.Kube.Find(kubemodel.Restores, name).(*v1beta2.EtcdRestore)
	return r
}

// isRestored waits until a restore has succeeded and the cluster is as its spec asks for.
func isRestored(sim *BackupSimulation) bool { return isDone(restored)(sim) }

// isDone waits until a restore has succeeded and the cluster is as its spec asks for.
func isDone(name string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		r := sim.restoreNamed(name)
		return r != nil && r.Status.Succeeded && sim.IsSettled() && sim.Checked.CheckRestores() == nil
	}
}

// allowRepetition lets a restore repeat the last one of the cluster, as its status names it.
func allowRepetition(name string, until func(*BackupSimulation) bool) BackupAct {
	return act("consent to "+name, func(sim *BackupSimulation) {
		done := sim.Cluster().Status.Restores
		sim.Kube.Edit(kubemodel.Restores, name, func(o client.Object) { o.(*v1beta2.EtcdRestore).Spec.RepeatOf = done[len(done)-1].UID })
	}, until)
}

// isRefused waits until a restore has failed for a reason, and the cluster is as its spec asks for.
func isRefused(name, reason string) func(*BackupSimulation) bool {
	failed := hasFailed(name, reason)
	return func(sim *BackupSimulation) bool {
		return failed(sim) && (sim.Cluster().Spec.Paused || sim.IsSettled())
	}
}

// isAsked waits until the etcd-operator has been asked for a restore, or the restore has ended.
func isAsked(sim *BackupSimulation) bool {
	r := sim.restoreNamed(restored)
	return r != nil && (r.Status.RequestTime != nil || r.Status.CompletionTime != nil)
}

// restoreIsGone waits until an EtcdRestore does not exist any more, and the cluster is well.
func restoreIsGone(sim *BackupSimulation) bool {
	return sim.restoreNamed(restored) == nil && sim.IsSettled() && sim.Checked.CheckRestores() == nil
}

// either waits for one of two ends: which one it is depends on how far a restore was when it was deleted.
func either(a, b func(*BackupSimulation) bool) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool { return a(sim) || b(sim) }
}

func deleteRestore(until func(*BackupSimulation) bool) BackupAct {
	return act("delete restore", func(sim *BackupSimulation) { _ = sim.Kube.Delete(kubemodel.Restores, restored, nil) }, until)
}

func restoreScenarios() []BackupScenario {
	minute := time.Minute
	backup := apply(backupOf(once), isMade(once))
	pauseFor := act("wait", func(*BackupSimulation) {}, waited(5*time.Second))
	plain := restoreOf(restored, once)
	return []BackupScenario{
		tale("restore", backup, pauseFor, request(plain, isRestored)),
		tale("restore that expires", backup, request(restoreOf(restored, once, expiresSoon), restoreIsGone)),
		tale("restore of a cluster that is gone", backup,
			deleteCluster(clusterIsGone), request(plain, isRestored)),
		tale("restore of what is not there", request(restoreOf(restored, "nothing"), isRefused(restored, "ObjectNotFound")), pauseFor),
		tale("restore of what is no backup", request(restoreOf(restored, "series_vault"), isRefused(restored, "SnapshotBroken")), pauseFor),
		tale("restore of a paused cluster", backup, pauseCluster(waited(5*time.Second)),
			request(plain, isRefused(restored, "ClusterPaused")),
			resumeCluster(isRefused(restored, "ClusterPaused"))),
		tale("two restores", backup, request(plain, waited(0)), request(restoreOf("second", once), isRefused("second", "AnotherRestore")),
			act("wait", func(*BackupSimulation) {}, isRestored)),
		tale("restore that is deleted", backup, request(plain, isAsked), deleteRestore(restoreIsGone)),
		tale("restore that is deleted and created again", backup, request(plain, isAsked), deleteRestore(waited(0)),
			act("create again", func(sim *BackupSimulation) {
				if sim.restoreNamed(restored) == nil {
					world.Must(sim.Kube.Create(plain.DeepCopy()))
				}
			}, either(isRestored, isRefused(restored, "AlreadyRestored")))),
		tale("restore that expires and is created again", backup, request(restoreOf(restored, once, expiresSoon), restoreIsGone), pauseFor,
			request(restoreOf(restored, once), isRefused(restored, "AlreadyRestored"))),
		tale("restore of the same backup under another name, and its consent", backup, request(plain, isRestored), pauseFor,
			request(restoreOf("second", once), isRefused("second", "AlreadyRestored")), allowRepetition("second", isDone("second")),
			deleteRestore(restoreIsGone), request(plain, isRefused(restored, "AlreadyRestored"))),
		tale("restore while the store is away", backup, act("store away", func(sim *BackupSimulation) { sim.StoreDown = true }, waited(0)),
			request(plain, isRetried("StoreUnreachable")), wait(3*minute), act("store back", func(sim *BackupSimulation) { sim.StoreDown = false }, isRestored)),
		tale("restore while the store is away for long", backup, act("store away", func(sim *BackupSimulation) { sim.StoreDown = true }, waited(0)),
			request(plain, isRefused(restored, "StoreUnreachable")), act("store back", func(sim *BackupSimulation) { sim.StoreDown = false }, waited(5*minute)),
			act("look", func(*BackupSimulation) {}, isRefused(restored, "StoreUnreachable"))),
		tale("store away while a member fetches", backup, request(plain, isAsked),
			act("store away", func(sim *BackupSimulation) { sim.StoreDown = true }, waited(2*minute)),
			act("store back", func(sim *BackupSimulation) { sim.StoreDown = false }, isRestored)),
		tale("restore operator away", backup, request(plain, isAsked), act("stop", func(sim *BackupSimulation) { sim.StopRestoreOperator() }, waited(3*minute)),
			act("start", func(sim *BackupSimulation) { sim.StartRestoreOperator() }, isRestored)),
		tale("series before and after a restore", apply(backupOf(series, every(20*time.Second, 2)), made(2)), apply(backupOf(once), isMade(once)),
			request(plain, isRestored), act("wait", func(*BackupSimulation) {}, more(3))),
	}
}
