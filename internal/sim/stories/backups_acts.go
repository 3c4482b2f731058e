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

// The names of the EtcdBackups in these stories, which are those of their objects as well.
const (
	once   = "once"
	series = "series"
)

// backupOf is an EtcdBackup of the world's cluster.
func backupOf(name string, changes ...func(*v1beta2.BackupSpec)) *v1beta2.EtcdBackup {
	b := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: kubemodel.Namespace},
		Spec: v1beta2.BackupSpec{
			EtcdEndpoints: []string{"http://" + world.Name + "-client:2379"}, StorageType: v1beta2.BackupStorageTypeS3,
			BackupSource: v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{
				Path: world.Bucket + "/" + name, AWSSecret: world.StoreSecret, Endpoint: "http://store.example.com", ForcePathStyle: true,
			}},
		},
	}
	for _, change := range changes {
		change(&b.Spec)
	}
	return b
}

func byReference(s *v1beta2.BackupSpec) {
	s.EtcdEndpoints, s.EtcdClusterRef = nil, &v1beta2.EtcdClusterRef{Name: world.Name}
}

func verified(s *v1beta2.BackupSpec) { s.Verify = v1beta2.BackupVerificationRestore }

func deletedToo(s *v1beta2.BackupSpec) { s.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete }

func expires(s *v1beta2.BackupSpec) {
	ttl := int32(30)
	s.TTLSecondsAfterFinished = &ttl
}

// every makes it a series of backups, of which it keeps some.
func every(interval time.Duration, keep int) func(*v1beta2.BackupSpec) {
	return func(s *v1beta2.BackupSpec) {
		s.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: int64(interval / time.Second), MaxBackups: keep, TimeoutInSecond: 300}
	}
}

// eachMinute makes it a series at the beginning of each minute.
func eachMinute(keep int) func(*v1beta2.BackupSpec) {
	return func(s *v1beta2.BackupSpec) {
		s.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: "* * * * *"}, MaxBackups: keep, TimeoutInSecond: 300}
	}
}

// apply creates an EtcdBackup.
func apply(b *v1beta2.EtcdBackup, until func(*BackupSimulation) bool) BackupAct {
	return BackupAct{Name: "create backup " + b.Name, Do: func(sim *BackupSimulation) { world.Must(sim.Kube.Create(b.DeepCopy())) }, Until: until}
}

// act does something to the world.
func act(name string, do func(*BackupSimulation), until func(*BackupSimulation) bool) BackupAct {
	return BackupAct{Name: name, Do: do, Until: until}
}

// edit changes the spec of an EtcdBackup as a user does.
func edit(name string, change func(*v1beta2.BackupSpec), until func(*BackupSimulation) bool) BackupAct {
	return act("change backup "+name, func(sim *BackupSimulation) {
		sim.Kube.Edit(kubemodel.Backups, name, func(o client.Object) { change(&o.(*v1beta2.EtcdBackup).Spec) })
	}, until)
}

func remove(name string, until func(*BackupSimulation) bool) BackupAct {
	return act("delete backup "+name, func(sim *BackupSimulation) { _ = sim.Kube.Delete(kubemodel.Backups, name, nil) }, until)
}

// isMade waits until the status says that the backup was made.
func isMade(name string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool { return isReadyBackup(sim.backup(name)) }
}

// made waits until a number of backups has been made, and the last run is over.
func made(n int) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		b := sim.backup(series)
		return isReadyBackup(b) && sim.Checked.Made[b.UID] >= n
	}
}

// more waits until a number of further backups of the series has been made.
func more(n int) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		have := sim.Checked.Made[sim.backup(series).UID]
		return func() bool { return made(have + n)(sim) }
	})
}

// fromNow is a condition that remembers how the world was when the act began. An act has at most one.
func fromNow(begin func(*BackupSimulation) func() bool) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		if sim.sinceAct == nil {
			sim.sinceAct = begin(sim)
		}
		return sim.sinceAct()
	}
}

// waited lets some time pass.
func waited(d time.Duration) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		end := sim.Loop.Now() + d
		return func() bool { return sim.Loop.Now() >= end }
	})
}

// isGone waits until the object does not exist any more.
func isGone(name string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool { return sim.backup(name) == nil }
}

// runs waits until a backup is being made, and something of it is in the store.
func runs(name string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		b := sim.backup(name)
		if b == nil || b.Status.Run == nil {
			return false
		}
		for _, u := range sim.Store.Uploads(world.Bucket) {
			if len(u.Parts) > 0 {
				return true
			}
		}
		return false
	}
}

// fails waits until the status names a reason why the backup failed.
func fails(name, reason string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		b := sim.backup(name)
		if b == nil || b.Status.Failures == 0 {
			return false
		}
		for _, c := range b.Status.Conditions {
			if c.Reason == reason {
				return true
			}
		}
		return false
	}
}

// has waits until the store has this many objects of the series, and its run is over.
func has(n int, also func(*BackupSimulation) bool) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		b := sim.backup(series)
		return b != nil && b.Status.Run == nil && len(sim.own(string(b.UID))) == n && also(sim)
	}
}
