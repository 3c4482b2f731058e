// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
)

// auditPolicy says what is logged: who of the pods' ServiceAccounts asked for what, and whether that was allowed. Bodies are left
// out, with the Secrets in them, and so is what Kubernetes' own controllers do.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  userGroups: ["system:serviceaccounts:kube-system"]
- level: Metadata
  omitManagedFields: true
  userGroups: ["system:serviceaccounts"]
- level: None
`

// WriteAuditPolicy prepares a folder for Options.AuditDir.
func WriteAuditPolicy(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make the folder of the audit log: %w", err)
	}
	if err := os.WriteFile(auditPolicyPath(dir), []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("write the audit policy: %w", err)
	}
	return nil
}

func auditPolicyPath(dir string) string { return filepath.Join(dir, "policy.yaml") }

// auditArgs are the flags for a log in dir. Files of 100 MiB are put aside and kept.
func auditArgs(dir string) []string {
	if dir == "" {
		return nil
	}
	return []string{
		"--audit-policy-file=" + auditPolicyPath(dir),
		"--audit-log-path=" + filepath.Join(dir, "audit.log"),
		"--audit-log-maxsize=100",
	}
}
