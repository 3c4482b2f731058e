// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

// Refusal is a step that Kubernetes has refused: by a quota, a policy, a webhook, or for want of a right.
type Refusal struct {
	// Step identifies it; see plan.Identity.
	Step string
	// Message is Kubernetes' answer.
	Message string
}
