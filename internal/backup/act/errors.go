// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// rules sort what goes wrong. Secrets, buckets and permissions can be corrected without the object changing, so that
// nothing that a store answers is final.
var rules = problem.Rules{Causes: []problem.Cause{
	{Err: etcd.ErrNoMember, Reason: plan.EtcdUnavailable},
	{Err: snapshot.ErrBroken, Reason: problem.Broken},
}}

// sourceError is an error of etcd's side: the next member may do better.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// tookTooLong is the message for a backup whose time is up. tried is what was going on.
func tookTooLong(b *v1beta2.EtcdBackup, tried ...string) string {
	text := fmt.Sprintf("the backup took longer than %s; raise backupPolicy.timeoutInSecond", plan.Timeout(b))
	if len(tried) > 0 {
		text += " (" + strings.Join(last(tried, 3), "; ") + ")"
	}
	return text
}

// timedOut is the error of a job, or that its time is up: what the time ran out for shows itself in many ways, such as
// a stream that broke off.
func timedOut(ctx context.Context, b *v1beta2.EtcdBackup, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	p := rules.Of(err)
	if p.Reason == problem.TimedOut {
		return err
	}
	return problem.Because(problem.TimedOut, errors.New(tookTooLong(b, p.Message)))
}

// gaveUp says what was going on when the time was up.
func gaveUp(b *v1beta2.EtcdBackup, err error, tried []string) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s: %w", tookTooLong(b, tried...), err)
}

// last are the last n of a list.
func last(list []string, n int) []string { return list[max(0, len(list)-n):] }
