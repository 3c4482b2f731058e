// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kstatus_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

func read(c metav1.Condition) kstatus.Condition {
	return kstatus.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason}
}

func TestWhatSetWritesKeepsTheRules(t *testing.T) {
	for name, v := range map[string]kstatus.Verdict{
		"done":    {Ready: metav1.ConditionTrue, Reason: "Done"},
		"working": {Reason: "Working", Working: true},
		"stalled": {Reason: "Wrong", Stalled: true},
		"paused":  {Reason: "Paused"},
	} {
		conditions := []metav1.Condition{{Type: kstatus.Stalled, Status: metav1.ConditionTrue, Reason: "Old"}, {Type: kstatus.Reconciling, Status: metav1.ConditionTrue, Reason: "Old"}}
		v.Set(&conditions, 1)
		if err := kstatus.Check(conditions, read); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEachBrokenRuleIsNamed(t *testing.T) {
	ready := kstatus.Condition{Type: kstatus.Ready, Status: "False", Reason: "R"}
	done := kstatus.Condition{Type: kstatus.Ready, Status: "True", Reason: "R"}
	reconciling := kstatus.Condition{Type: kstatus.Reconciling, Status: "True", Reason: "R"}
	stalled := kstatus.Condition{Type: kstatus.Stalled, Status: "True", Reason: "R"}
	for want, conditions := range map[string][]kstatus.Condition{
		"no condition Ready":        {reconciling},
		"Ready is there twice":      {ready, ready},
		"Ready has no reason":       {{Type: kstatus.Ready, Status: "True"}},
		"must be True or absent":    {ready, {Type: kstatus.Stalled, Status: "False", Reason: "R"}},
		"both reconciling and":      {ready, reconciling, stalled},
		"is ready, and reconciling": {done, reconciling},
		"or stalled as well":        {done, stalled},
	} {
		err := kstatus.Check(conditions, func(c kstatus.Condition) kstatus.Condition { return c })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", conditions, err, want)
		}
	}
}
