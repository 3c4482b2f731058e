// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The reasons of the conditions, beside the names of the phases and those of package store.
const (
	ReasonSucceeded       = "Succeeded"
	ReasonInvalid         = "InvalidSpec"
	ReasonSecret          = "SecretNotUsable"
	ReasonBroken          = "SnapshotBroken"
	ReasonTimeout         = "TimedOut"
	ReasonFailed          = "Failed"
	ReasonNoSpec          = "ClusterSpecMissing"
	ReasonRequestFailed   = "RequestFailed"
	ReasonClusterRefused  = "ClusterRefused"
	ReasonClusterDeleting = "ClusterBeingDeleted"
	ReasonClusterGone     = "ClusterGone"
	ReasonClusterPaused   = "ClusterPaused"
	ReasonAnotherRestore  = "AnotherRestore"
	ReasonTakenBack       = "TakenBack"
)

// Problem is why a restore failed.
type Problem struct {
	Reason  string
	Message string
	// Stalled says that it failed for good.
	Stalled bool
}

// failure is an error that knows its reason.
type failure struct {
	reason  string
	stalled bool
	err     error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// badSecret says that an error is about a secret, which somebody may correct any moment.
func badSecret(err error) error { return &failure{reason: ReasonSecret, err: err} }

// refuse gives an error a reason, and says that waiting cannot help.
func refuse(reason string, err error) error { return &failure{reason: reason, stalled: true, err: err} }

// problemOf sorts an error. This is the one place where errors become reasons and are divided into
// those where trying again can help and those where it cannot.
func problemOf(err error) *Problem {
	var known *failure
	var stored *store.Error
	p := &Problem{Reason: ReasonFailed, Message: err.Error()}
	switch {
	case errors.As(err, &known):
		p.Reason, p.Stalled = known.reason, known.stalled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errStuck):
		p.Reason = ReasonTimeout
	case errors.As(err, &stored):
		p.Reason, p.Message = string(stored.Problem), stored.Text
		switch stored.Problem {
		case store.NoObject, store.NoBucket, store.BadConfig:
			p.Stalled = true
		}
	case errors.Is(err, snapshot.ErrKeys):
		p.Reason = ReasonSecret
	case errors.Is(err, snapshot.ErrBroken):
		p.Reason, p.Stalled = ReasonBroken, true
	}
	return p
}

func (p *Problem) verdict() kstatus.Verdict {
	return kstatus.Verdict{Reason: p.Reason, Message: p.Message, Working: !p.Stalled, Stalled: p.Stalled}
}

func working(phase v1beta2.RestorePhase, message string) kstatus.Verdict {
	return kstatus.Verdict{Reason: string(phase), Message: message, Working: true}
}

// setConditions writes a verdict into the status.
func setConditions(r *v1beta2.EtcdRestore, v kstatus.Verdict) {
	v.Set(&r.Status.Conditions, r.Generation)
}
