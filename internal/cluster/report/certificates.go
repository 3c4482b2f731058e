// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// certificateProblem is the worst thing that is wrong with the certificates of a cluster; empty where nothing is.
func certificateProblem(v *view.View) (reason, message string) {
	findings := plan.CertificateFindings(v)
	if len(findings) == 0 {
		return "", ""
	}
	reason, message = findings[0].Reason, findings[0].Message
	if more := len(findings) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return reason, message
}
