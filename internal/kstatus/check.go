// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kstatus

import (
	"errors"
	"fmt"
)

// Condition is what the rules look at. The kinds have conditions of different Go types.
type Condition struct {
	Type, Status, Reason string
}

// Check holds the conditions of one status to the rules by which tools tell whether an object is done:
//
//   - Ready is always there. Reconciling and Stalled are there only while they are True.
//   - An object is not both reconciling and stalled, and one that is ready is neither.
//   - No condition is there twice, and each of the three has a reason.
//
// Every test that produces a status can call it; it returns all rules that are broken.
func Check[C any](conditions []C, read func(C) Condition) error {
	seen := map[string]Condition{}
	var broken []error
	for _, c := range conditions {
		condition := read(c)
		if _, twice := seen[condition.Type]; twice {
			broken = append(broken, fmt.Errorf("condition %s is there twice", condition.Type))
		}
		seen[condition.Type] = condition
	}
	if _, there := seen[Ready]; !there {
		broken = append(broken, errors.New("there is no condition Ready"))
	}
	for _, name := range []string{Ready, Reconciling, Stalled} {
		switch c, there := seen[name]; {
		case !there:
		case c.Reason == "":
			broken = append(broken, fmt.Errorf("condition %s has no reason", name))
		case name != Ready && c.Status != "True":
			broken = append(broken, fmt.Errorf("condition %s is %s: it must be True or absent", name, c.Status))
		}
	}
	_, reconciling := seen[Reconciling]
	_, stalled := seen[Stalled]
	switch ready := seen[Ready].Status == "True"; {
	case ready && reconciling, ready && stalled:
		broken = append(broken, errors.New("the object is ready, and reconciling or stalled as well"))
	case reconciling && stalled:
		broken = append(broken, errors.New("the object is both reconciling and stalled"))
	}
	return errors.Join(broken...)
}
