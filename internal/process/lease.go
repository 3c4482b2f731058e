// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// The leader election's times. Those that others can see in the Lease are the
// original operator's: it lasts 15 s and is renewed every 2 s, and a leader that
// could not renew it for 10 s exits.
//
// retryPeriod is shorter: it is how often a standby looks, and so how long nobody
// leads after a clean handover. lease.Update keeps the writes at renewPeriod.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	renewPeriod   = 2 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// lease is a Lease lock that spares the API server renewals that are not due yet, and logs who else holds it.
type lease struct {
	resourcelock.Interface
	clock   clock.PassiveClock
	renewed time.Time
	logger  logr.Logger
	holder  string // when it was last looked at
}

// newLease is the lock for the leadership of the operator called name.
//
// The identity is the pod's name without a random part: a container that crashed
// and was restarted in its pod still holds the lease and continues at once, where
// a new identity would have to wait until the old one's 15 s are over. Two pods of
// a Deployment never have the same name.
func newLease(cfg *rest.Config, namespace, name, podName string, logger logr.Logger) (resourcelock.Interface, error) {
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), "leader-election")
	// One request that hangs must not cost the leadership.
	cfg.Timeout = renewDeadline / 2
	client, err := coordinationv1client.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("preparing the leader election: %w", err)
	}
	return &lease{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: podName},
		},
		clock:  clock.RealClock{},
		logger: logger,
	}, nil
}

// Get implements resourcelock.Interface. A standby logs once who leads, so that an operator that was meant to
// lead, and shares the Lease with another by mistake, is not silent.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err != nil {
		return record, raw, err
	}
	if holder := record.HolderIdentity; holder != l.holder {
		l.holder = holder
		if holder != "" && holder != l.Identity() {
			l.logger.Info("standing by: another pod leads; this one takes over when that one ends", "leader", holder, "lease", l.Describe())
		}
	}
	return record, raw, nil
}

// Create implements resourcelock.Interface.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.remember(l.Interface.Create(ctx, record))
}

// Update implements resourcelock.Interface. A renewal that comes too soon succeeds
// without a write. What the elector then believes of its lease is at most
// renewPeriod too optimistic; the 5 s between renewDeadline and leaseDuration
// cover that.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	renewal := record.HolderIdentity == l.Identity()
	if renewal && l.clock.Since(l.renewed) < renewPeriod {
		return nil
	}
	return l.remember(l.Interface.Update(ctx, record))
}

func (l *lease) remember(err error) error {
	if err == nil {
		l.renewed = l.clock.Now()
	}
	return err
}
