// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package problem is the way of an error to the conditions of an object: errors that know their reason, the one place
// where an error becomes a reason and a message, and what that means for the conditions.
package problem

import (
	"context"
	"errors"
	"slices"

	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// The reasons that more than one operator has, beside those of package store.
const (
	// Invalid: the spec has to be changed.
	Invalid = "InvalidSpec"
	// Secret: a secret is missing, may not be read, or does not hold what it has to.
	Secret = "SecretNotUsable"
	// Broken: the bytes of a snapshot are not those that etcd sent.
	Broken = "SnapshotBroken"
	// TimedOut: it took too long.
	TimedOut = "TimedOut"
	// Failed: none of the others.
	Failed = "Failed"
)

// Problem is why something failed.
type Problem struct {
	Reason  string
	Message string
	// Stalled says that trying again cannot help.
	Stalled bool
}

// Verdict is what a problem means for the conditions: whoever can try again will.
func (p *Problem) Verdict() kstatus.Verdict {
	return kstatus.Verdict{Reason: p.Reason, Message: p.Message, Working: !p.Stalled, Stalled: p.Stalled}
}

// reasoned is an error that knows its reason.
type reasoned struct {
	reason string
	final  bool
	err    error
}

func (r *reasoned) Error() string { return r.err.Error() }
func (r *reasoned) Unwrap() error { return r.err }

// Because gives an error a reason. What failed is tried again.
func Because(reason string, err error) error { return &reasoned{reason: reason, err: err} }

// Final gives an error a reason, and says that trying again cannot help.
func Final(reason string, err error) error { return &reasoned{reason: reason, final: true, err: err} }

// IsFinal reports whether an error is one of Final.
func IsFinal(err error) bool {
	var known *reasoned
	return errors.As(err, &known) && known.final
}

// Answer is the error of a service that knows its reason. Its text is a whole sentence for the user, without
// anything secret: what was wrapped around it is left out of the message.
type Answer interface {
	error
	Reason() string
}

// Cause is an error that others wrap, and what it means.
type Cause struct {
	Err    error
	Reason string
	// Final says that trying again cannot help.
	Final bool
}

// Rules are what differs between those who ask for a reason.
type Rules struct {
	// Causes are asked in order, after everything that knows its own reason.
	Causes []Cause
	// FinalAnswers are the reasons of answers where trying again cannot help.
	FinalAnswers []string
}

// Of sorts an error: which reason it has, what the user is to read, and whether trying again can help. What an error
// says of itself for good counts most; then what lies deepest, because a time that is up and a store that refuses show
// themselves in many ways.
func (r Rules) Of(err error) *Problem {
	var known *reasoned
	var answer Answer
	p := &Problem{Reason: Failed, Message: err.Error()}
	switch {
	case IsFinal(err):
		errors.As(err, &known)
		p.Reason, p.Stalled = known.reason, true
	case errors.Is(err, context.DeadlineExceeded):
		p.Reason = TimedOut
	case errors.As(err, &answer):
		p.Reason, p.Message = answer.Reason(), answer.Error()
		p.Stalled = slices.Contains(r.FinalAnswers, p.Reason)
	case errors.As(err, &known):
		p.Reason = known.reason
	default:
		i := slices.IndexFunc(r.Causes, func(c Cause) bool { return errors.Is(err, c.Err) })
		if i >= 0 {
			p.Reason, p.Stalled = r.Causes[i].Reason, r.Causes[i].Final
		}
	}
	return p
}
