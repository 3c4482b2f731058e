// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// steps counts what the operator does, by the decision that asked for it.
var steps = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "etcd_operator_restore_steps_total", Help: "Steps executed for EtcdRestores, by the decision that asked for them.",
}, []string{"decision"})

func init() {
	metrics.Registry.MustRegister(steps)
}
