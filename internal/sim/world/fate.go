// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Fate is what becomes of an effect.
type Fate int

// The fates of an effect.
const (
	Normal Fate = iota
	// CrashBefore ends the operator before the effect.
	CrashBefore
	// CrashAfter ends it after the effect and before it hears of it.
	CrashAfter
	// AnswerLost lets the effect happen, and the operator get an error.
	AnswerLost
	// NeverArrives gives the operator an error for something that did not happen.
	NeverArrives
)

func (f Fate) String() string {
	return [...]string{"normal", "crash before", "crash after", "applied but the answer lost", "never arrives"}[f]
}

// crash is how an operator's process ends in the middle of something.
type crash struct{}

var errAnswerLost = errors.New("the connection was lost before the answer came")

// Inject decides the fate of the effect with this number, counted from 1.
func (w *World) Inject(number int, fate Fate) { w.injections[number] = fate }

// InjectNext decides the fate of an effect of the near future: 1 for the next one.
func (w *World) InjectNext(n int, fate Fate) { w.Inject(w.Effects()+n, fate) }

// ClearInjections lets all effects be normal from now on.
func (w *World) ClearInjections() { clear(w.injections) }

// Effects is how many effects the operator had or tried to have.
func (w *World) Effects() int { return len(w.steps) }

// Steps are the effects, as text.
func (w *World) Steps() []string { return w.steps }

// Faults is how many of the effects did not go as they should.
func (w *World) Faults() int { return w.faults }

// through decides the fate of an effect, and has it checked.
func (w *World) through(what string, check func(), apply func() error) error {
	w.steps = append(w.steps, what)
	number, fate := w.Effects(), w.injections[w.Effects()]
	if fate != Normal {
		w.faults++
	}
	switch fate {
	case CrashBefore:
		w.Tracef("effect %d %s: %s", number, what, fate)
		panic(crash{})
	case NeverArrives:
		w.Tracef("effect %d %s: %s", number, what, fate)
		return errAnswerLost
	}
	check()
	err := apply()
	w.Tracef("effect %d %s: %s, error %v", number, what, fate, err)
	w.checker.AfterEffect()
	switch fate {
	case CrashAfter:
		panic(crash{})
	case AnswerLost:
		return fmt.Errorf("%s: %w", what, errAnswerLost)
	}
	return err
}

func (w *World) throughKube(e kubemodel.Effect, apply func() error) error {
	return w.through(e.String(), func() { w.checker.BeforeWrite(e) }, apply)
}

// failRead lets reads of the API server fail while FailingReads is set.
func (w *World) failRead() error {
	if w.FailingReads > 0 {
		w.FailingReads--
		return apierrors.NewServiceUnavailable("the API server is not available")
	}
	return nil
}
