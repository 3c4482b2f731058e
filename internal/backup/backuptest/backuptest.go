// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package backuptest has the EtcdBackups of the tests.
package backuptest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// T0 is when the object of the tests was created.
var T0 = time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)

// At is a time after T0.
func At(d time.Duration) metav1.Time { return metav1.NewTime(T0.Add(d)) }

// Object is a valid EtcdBackup, changed.
func Object(changes ...func(*v1beta2.EtcdBackup)) *v1beta2.EtcdBackup {
	b := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b", UID: "uid", Generation: 1, CreationTimestamp: At(0)},
		Spec: v1beta2.BackupSpec{
			EtcdEndpoints: []string{"http://etcd:2379"},
			StorageType:   v1beta2.BackupStorageTypeS3,
			BackupSource:  v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/key", AWSSecret: "aws"}},
		},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

// Interval makes it a series of equal intervals.
func Interval(seconds int64) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: seconds}
		b.Finalizers = []string{v1beta2.BackupFinalizer}
	}
}

// Cron makes it a series at times.
func Cron(line string) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: line}}
		b.Finalizers = []string{v1beta2.BackupFinalizer}
	}
}

// Status changes the status.
func Status(change func(*v1beta2.BackupStatus)) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) { change(&b.Status) }
}

// Failed has the last backups fail.
func Failed(times int32, last time.Duration, stalled bool) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) {
		b.Status.ObservedGeneration, b.Status.Failures, b.Status.LastExecutionDate = b.Generation, times, At(last)
		b.Status.LastScheduled = ptr.To(At(last))
		kstatus.Verdict{Reason: "StoreFailed", Message: "no", Working: !stalled, Stalled: stalled}.Set(&b.Status.Conditions, b.Generation)
	}
}

// Succeeded has the last backup succeed.
func Succeeded(last time.Duration) func(*v1beta2.EtcdBackup) {
	return Status(func(s *v1beta2.BackupStatus) {
		s.Succeeded, s.LastExecutionDate, s.LastScheduled, s.LastSuccessDate = true, At(last), ptr.To(At(last)), At(last+time.Second)
	})
}

// Year is how far a clock may be ahead.
const Year = 365 * 24 * time.Hour

// Running has a run under way.
func Running(b *v1beta2.EtcdBackup) { b.Status.Run = &v1beta2.BackupRun{ID: "run", StartTime: At(0)} }

// Deleted has somebody delete it.
func Deleted(b *v1beta2.EtcdBackup) { b.DeletionTimestamp = ptr.To(At(0)) }
