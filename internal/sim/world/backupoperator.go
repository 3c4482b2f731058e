// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"io"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/backup"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// BackupOperator is the name of the operator of backups.
const BackupOperator = "backup operator"

// startBackupOperator begins a life of the operator of backups.
func (b *Beside) startBackupOperator() {
	p := newProcess(b, BackupOperator, kubemodel.Backups)
	p.restart = b.startBackupOperator
	reconciler, jobs := backup.NewReconciler(apiClient{p: p}, apiReader{p}, recorder{p}, backup.Options{
		MaxConcurrent: 2, Verify: p.verify, Clock: wallClock{b}, Transport: &transport{p}, Dial: p.dialEtcd,
	})
	p.reconciler, p.ended = reconciler, jobs.Ended()
	go func() { _ = jobs.Start(p.ctx) }()
	b.backup = p
}

// RestartBackupOperator ends the process of the operator of backups, and begins the next one.
func (b *Beside) RestartBackupOperator() { b.backup.crash() }

// StopBackupOperator ends the process of the operator of backups until StartBackupOperator.
func (b *Beside) StopBackupOperator() { b.backup.kill() }

// StartBackupOperator begins a life of the operator of backups, where there is none.
func (b *Beside) StartBackupOperator() {
	if b.backup.dead.Load() {
		b.startBackupOperator()
	}
}

// wallClock is the clock of the operators' machine.
type wallClock struct{ b *Beside }

// Now implements clock.PassiveClock.
func (c wallClock) Now() time.Time { return c.b.w.Loop.Date().Add(c.b.ClockAhead) }

// Since implements clock.PassiveClock.
func (c wallClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// verify restores a snapshot as the operator's helper program does, and says what is in it.
func (p *process) verify(ctx context.Context, from io.Reader, revision int64) (found etcd.Evidence, err error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return found, err
	}
	err = p.run(ctx, "verify", func() error {
		taken := p.b.SnapshotIn(data)
		if taken == nil || p.b.VerificationFails {
			return snapshot.ErrBroken
		}
		sum, keys, ok := taken.Disk.HashAt(revision)
		if !ok {
			return snapshot.ErrBroken
		}
		found = etcd.Evidence{Revision: revision, Keys: keys, Hash: sum}
		return nil
	})
	return found, err
}
