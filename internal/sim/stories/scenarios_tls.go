// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// keys are about the certificates of members and of the operator.
func keys() []Scenario {
	absent := func(s *v1beta2.ClusterSpec) {
		s.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{ServerSecret: "absent"}, OperatorSecret: "absent"}}
	}
	takenBack := Act{Name: "take TLS back", Do: func(sim *Simulation) {
		// The API server lets users do so only then.
		if tls := sim.Cluster().Status.TLS; tls == nil || tls.Clients != v1beta2.TLSPending {
			sim.Violate("TLS that no member has cannot be taken back: the status says %v", tls)
		}
		sim.Change(func(s *v1beta2.ClusterSpec) { s.TLS = nil })
	}}
	return []Scenario{
		scenario("TLS is asked for with secrets that do not exist, and taken back", volumes,
			until(both(after(time.Minute), reports(plan.WaitingForSecret)), change("TLS", absent)), takenBack),
	}
}
