// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// sweep removes what is left of the uploads of earlier runs. That it cannot is no failure of this one: they stay in the
// status.
func (m *maker) sweep(ctx context.Context, r request, runs []v1beta2.BackupRun) (view.Outcome, error) {
	out := r.prior
	out.SweepTried = true
	for i := range runs {
		if err := m.sweepOne(ctx, r.secrets, r.backup, &runs[i]); err != nil {
			log.FromContext(ctx).Info("what is left of an upload could not be removed", "run", runs[i].ID, "cause", err.Error())
			continue
		}
		out.Swept = append(out.Swept, runs[i].ID)
	}
	return out, nil
}

// sweepOne removes what is left of the upload of a run. The name of the object is that of this very run: it has the
// second in which it began. Only a one-shot, which runs at no scheduled time, has a name that lasts.
func (m *maker) sweepOne(ctx context.Context, s secrets, b *v1beta2.EtcdBackup, run *v1beta2.BackupRun) error {
	st, key, err := m.openStore(ctx, s, b, run.Path)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	if run.Scheduled == nil {
		return st.Sweep(ctx, key, func(name string) bool { return name == key })
	}
	return st.Sweep(ctx, snapshot.SeriesPrefix(key), func(name string) bool {
		n, ok := snapshot.NameIn(key, name)
		return ok && n.Time.Equal(run.StartTime.UTC())
	})
}
