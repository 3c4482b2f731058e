// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The conditions of an EtcdRestore.
const (
	// ConditionReady is True when the cluster was restored.
	ConditionReady = "Ready"
	// ConditionReconciling is there while the restore is going on.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is there where it failed and only the user can help.
	ConditionStalled = "Stalled"
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

// verdict is how things stand, for the conditions.
type verdict struct {
	ready   metav1.ConditionStatus
	reason  string
	message string
	// working says that the operator is at it or will be by itself.
	working bool
	// stalled says that only the user can help.
	stalled bool
}

func (p *Problem) verdict() verdict {
	return verdict{ready: metav1.ConditionFalse, reason: p.Reason, message: p.Message, working: !p.Stalled, stalled: p.Stalled}
}

func working(phase v1beta2.RestorePhase, message string) verdict {
	return verdict{ready: metav1.ConditionFalse, reason: string(phase), message: message, working: true}
}

// setConditions writes a verdict into the status. Reconciling and Stalled are there only while they are
// true, which is what tools that wait for objects expect.
func setConditions(r *v1beta2.EtcdRestore, v verdict) {
	set := func(name string, status metav1.ConditionStatus) {
		meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{
			Type: name, Status: status, Reason: v.reason, Message: clip(v.message), ObservedGeneration: r.Generation,
		})
	}
	set(ConditionReady, v.ready)
	for _, c := range []struct {
		name string
		on   bool
	}{{ConditionReconciling, v.working}, {ConditionStalled, v.stalled}} {
		if c.on {
			set(c.name, metav1.ConditionTrue)
		} else {
			meta.RemoveStatusCondition(&r.Status.Conditions, c.name)
		}
	}
}

// clip keeps messages within what the API server takes.
func clip(message string) string {
	const most = 2000
	if len(message) > most {
		return message[:most] + "..."
	}
	return message
}
