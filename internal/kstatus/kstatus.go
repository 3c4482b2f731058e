// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package kstatus writes the conditions by which tools that know nothing of our kinds tell whether an
// object is done.
package kstatus

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions.
const (
	// Ready is True when what the object asks for is done.
	Ready = "Ready"
	// Reconciling is there while the operator is at it or will be by itself.
	Reconciling = "Reconciling"
	// Stalled is there while only the user can help.
	Stalled = "Stalled"
)

// Verdict is how things stand, for the conditions.
type Verdict struct {
	// Ready is empty for False.
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	// Working says that the operator is at it or will be by itself.
	Working bool
	// Stalled says that only the user can help.
	Stalled bool
}

// Set writes a verdict. Reconciling and Stalled are there only while they are true, which is what tools
// that wait for objects expect.
func (v Verdict) Set(conditions *[]metav1.Condition, generation int64) {
	set := func(name string, status metav1.ConditionStatus) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: name, Status: status, Reason: v.Reason, Message: Clip(v.Message), ObservedGeneration: generation,
		})
	}
	if v.Ready == "" {
		v.Ready = metav1.ConditionFalse
	}
	set(Ready, v.Ready)
	for _, c := range []struct {
		name string
		on   bool
	}{{Reconciling, v.Working}, {Stalled, v.Stalled}} {
		if c.on {
			set(c.name, metav1.ConditionTrue)
		} else {
			meta.RemoveStatusCondition(conditions, c.name)
		}
	}
}

// Clip keeps messages within what the API server takes.
func Clip(message string) string { return clip(message, 2000) }

// ClipEvent keeps the note of an event within what the API server takes.
func ClipEvent(note string) string { return clip(note, 1000) }

func clip(text string, most int) string {
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
