// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// checkTimeout is how long a backup may take to be read, as a backup may take to be made.
const checkTimeout = 24 * time.Hour

// Checks reads backups apart from the controller's workers, a limited number at once.
type Checks struct {
	*job.Runner[found]
	backups *serve.Backups
}

// NewChecks returns Checks of as many backups at once as there are slots.
func NewChecks(slots *job.Slots, backups *serve.Backups) *Checks {
	return &Checks{
		Runner:  job.NewRunner[found](slots, func() client.Object { return &v1beta2.EtcdRestore{} }),
		backups: backups,
	}
}

// begin starts a check. It reports false where the process is not ready for it, or about to end.
func (c *Checks) begin(r *v1beta2.EtcdRestore, id string) bool {
	r = r.DeepCopy()
	return c.Begin(r, job.Work[found]{ID: id, Timeout: checkTimeout, Do: func(ctx context.Context, p *job.Progress) (found, error) {
		var bytes atomic.Int64
		p.Track(bytes.Load, 0)
		return check(ctx, c.backups, r, &bytes)
	}})
}

// View is what is known of the check of an object, or nil.
func (c *Checks) View(object client.Object) *view.Check {
	state := c.Observe(object)
	if state == nil {
		return nil
	}
	seen := &view.Check{ID: state.ID, Queued: state.Queued, Bytes: state.Done}
	if result := state.Result; result != nil {
		seen.Outcome = &view.Outcome{Backup: result.Outcome.backup, Authentication: result.Outcome.authentication, ClusterSpec: result.Outcome.clusterSpec, Ended: result.Ended}
		if result.Err != nil {
			seen.Outcome.Problem = serve.ProblemOf(result.Err)
		}
	}
	return seen
}
