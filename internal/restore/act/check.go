// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

var bytesRead = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "etcd_operator_restore_checked_bytes_total", Help: "Bytes of snapshots that were read to check them.",
})

func init() {
	metrics.Registry.MustRegister(bytesRead)
}

// found is what a check finds in a backup that is intact.
type found struct {
	backup v1beta2.RestoredBackup
	// authentication says that etcd's authentication is on in it.
	authentication bool
	// clusterSpec is the spec that was kept with it, or nil.
	clusterSpec *v1beta2.ClusterSpec
}

// check reads the backup of an EtcdRestore to its end. count goes up with every byte.
func check(ctx context.Context, backups *serve.Backups, r *v1beta2.EtcdRestore, count *atomic.Int64) (found, error) {
	ctx, guard := serve.WatchStore(ctx)
	defer guard.Stop()

	from, err := backups.Open(ctx, r)
	if err != nil {
		return found{}, guard.Cause(err)
	}
	defer func() { _ = from.Close() }()
	database := &snapshot.Database{}
	_, err = io.Copy(io.MultiWriter(database, counter{count}), guard.SteadyReader(from))
	if err == nil {
		err = database.Verify()
	}
	if err != nil {
		return found{}, serve.BrokenAt(from.URL, guard.Cause(err))
	}
	return found{backup: describe(from), authentication: database.HasAuthentication(), clusterSpec: from.Facts.KeptSpec()}, nil
}

// counter counts what is written to it.
type counter struct{ bytes *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.bytes.Add(int64(len(b)))
	bytesRead.Add(float64(len(b)))
	return len(b), nil
}

// describe says what a backup is that was read to its end. What its metadata does not say, the name may:
// the original operator put the revision and the time there.
func describe(from *serve.Backup) v1beta2.RestoredBackup {
	b := v1beta2.RestoredBackup{
		URL: from.URL, Size: from.Size(), SHA256: from.SHA256(),
		EtcdVersion: from.Facts.EtcdVersion, EtcdRevision: from.Facts.Revision,
	}
	taken := from.Facts.Time
	if name, ok := snapshot.ParseName(from.Key); ok {
		if taken.IsZero() {
			taken = name.Time
		}
		if b.EtcdRevision == 0 {
			b.EtcdRevision = name.Revision
		}
	}
	if taken.IsZero() {
		// It cannot have been taken later, and for what the operators themselves store not much earlier.
		taken = from.Modified
	}
	if !taken.IsZero() {
		b.Time = &metav1.Time{Time: taken.UTC().Truncate(time.Second)}
	}
	return b
}
