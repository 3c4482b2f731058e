// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// DecisionNames lists all decisions: those of the table, then those of each table that is a decision of it.
func DecisionNames() []string {
	var names []string
	for _, t := range []table{decisions, bootstrapping, whileSeedStarts, newSeed, startedSeed, restoredSeed, lackingQuorum} {
		names = append(names, t.Names()...)
	}
	return names
}
