// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrBackupUnsetRestoreSet is part of the original's API and, as there, returned by nothing.
//
// Deprecated: an EtcdCluster has neither a backup nor a restore policy.
var ErrBackupUnsetRestoreSet = errors.New("spec: backup policy must be set if restore policy is set")

// Validate checks what the original checked: that the secrets for client TLS are both named or both left
// out, and that no reserved label is set. The API server checks these and all other rules by itself when
// an object is written.
func (c *ClusterSpec) Validate() error {
	if err := c.TLS.Validate(); err != nil {
		return fmt.Errorf("spec.TLS: %w", err)
	}
	if c.Pod == nil {
		return nil
	}
	for _, label := range slices.Sorted(maps.Keys(c.Pod.Labels)) {
		if label == "app" || strings.HasPrefix(label, "etcd_") {
			return fmt.Errorf("spec.pod.labels: the label %s is reserved for the operator", label)
		}
	}
	return nil
}

// Validate checks that operatorSecret and member.serverSecret are both named or both left out.
func (p *TLSPolicy) Validate() error {
	if p == nil || p.Static == nil {
		return nil
	}
	server := p.Static.Member != nil && p.Static.Member.ServerSecret != ""
	switch {
	case p.IsSecureClient() && !server:
		return errors.New("operatorSecret is set, but member.serverSecret is not")
	case server && !p.IsSecureClient():
		return errors.New("member.serverSecret is set, but operatorSecret is not")
	}
	return nil
}
