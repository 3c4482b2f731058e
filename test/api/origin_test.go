// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
)

// The backup that a cluster is created from has the rules of an EtcdRestore.
func TestRulesOfABootstrapTellTheUserWhatToChange(t *testing.T) {
	t.Parallel()
	const file = "backupStorageType: File, file: {path: b/k}"
	cases := slices.Concat(storeCases("", "backupStorageType"), []ruleCase{
		{name: "no storage type", spec: "file: {path: b/k}", want: "[spec.backupStorageType: Required value" + unchecked},
		{name: "every field", spec: file + ", encryptionSecret: key, revisionBump: 1000000000, sha256: " + strings.Repeat("0a", 32)},
		{
			name: "a sum that is none", spec: file + ", sha256: sum",
			want: `spec.sha256: Invalid value: "sum": must be 64 hexadecimal digits in lower case, as sha256sum prints them`,
		},
		{name: "nulls", spec: file + ", s3: null, abs: null, gcs: null, oss: null, encryptionSecret: null, sha256: null, revisionBump: null"},
		{name: "the revision stays", spec: file + ", revisionBump: 0"},
		{
			name: "a revision that goes back", spec: file + ", revisionBump: -1",
			want: `spec.revisionBump: Invalid value: -1: must be 0, which leaves the revision as it is in the backup, or more`,
		},
		{
			name: "a revision that leaves none", spec: file + ", revisionBump: 2000000000000000000",
			want: `spec.revisionBump: Invalid value: 2000000000000000000: must be no more than 1000000000000000000, so that enough revisions are left`,
		},
	})
	for i := range cases {
		cases[i].spec = "size: 3, bootstrap: {restore: {" + cases[i].spec + "}}"
		cases[i].want = strings.ReplaceAll(cases[i].want, "spec.", "spec.bootstrap.restore.")
	}
	cases = append(cases, ruleCase{name: "one that says nothing", spec: "size: 3, bootstrap: {}"}, ruleCase{name: "one without a backup", spec: "size: 3, bootstrap: {restore: null}"})
	runRules(t, clusters, "EtcdCluster", cases)
}

// What an EtcdRestore creates has one origin.
func TestAnEtcdRestoreCreatesNoClusterFromAnotherBackup(t *testing.T) {
	t.Parallel()
	runRules(t, restores, "EtcdRestore", []ruleCase{{
		name: "two backups", spec: "etcdCluster: {name: c}, backupStorageType: File, file: {path: b/k}, clusterSpec: {size: 3, bootstrap: {restore: {backupStorageType: File, file: {path: b/l}}}}",
		want: "spec.clusterSpec.bootstrap.restore: Invalid value: must not be set, because the EtcdRestore says what the cluster is created from",
	}})
}
