// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storeManifest makes the manifest of an EtcdBackup or EtcdRestore from its spec.
func storeManifest(kind, spec string) string {
	return fmt.Sprintf("apiVersion: etcd.database.coreos.com/v1beta2\nkind: %s\nmetadata: {name: x}\nspec: {%s}\n", kind, spec)
}

func TestEtcdBackupRulesTellTheUserWhatToChange(t *testing.T) {
	t.Parallel()
	const (
		endpoints = `etcdEndpoints: ["http://example-etcd-cluster-client:2379"], `
		cron      = `: must be five fields as in a CronJob, such as "30 2 * * *", or @hourly, @daily, @weekly or @monthly; the time zone goes into timeZone`
		s3        = "storageType: S3, s3: {path: mybucket/etcd.backup, awsSecret: aws}"
	)
	runRules(t, backups, "EtcdBackup", slices.Concat(storeCases(endpoints, "storageType"), []ruleCase{
		{name: "once", spec: endpoints + s3},
		{name: "periodic", spec: endpoints + s3 + ", backupPolicy: {backupIntervalInSecond: 125, maxBackups: 4, timeoutInSecond: 30}"},
		{name: "policy of zeros", spec: endpoints + s3 + ", backupPolicy: {backupIntervalInSecond: 0, maxBackups: 0, timeoutInSecond: 0}"},
		{name: "a timeout below zero means the default, as in the original", spec: endpoints + s3 + ", backupPolicy: {timeoutInSecond: -1}"},
		{name: "with client certificates", spec: endpoints + s3 + ", clientTLSSecret: etcd-client-tls, allowSelfSignedCertificates: true"},

		{name: "by a reference", spec: "etcdClusterRef: {name: c}, " + s3},
		{name: "by a reference, without endpoints", spec: "etcdClusterRef: {name: c}, etcdEndpoints: null, " + s3},
		{name: "no endpoints", spec: s3, want: "spec.etcdEndpoints: Required value: must be set, unless etcdClusterRef is"},
		{
			name: "endpoints beside a reference", spec: endpoints + "etcdClusterRef: {name: c}, " + s3,
			want: "spec.etcdClusterRef: Invalid value: must not be set together with etcdEndpoints: only one of them can name what to back up",
		},
		{
			name: "empty endpoints", spec: "etcdEndpoints: [], " + s3,
			want: "spec.etcdEndpoints: Invalid value: must hold at least one client URL, such as http://example-etcd-cluster-client:2379",
		},
		{
			name: "an endpoint that is empty", spec: `etcdEndpoints: [""], ` + s3,
			want: `spec.etcdEndpoints[0]: Invalid value: "": spec.etcdEndpoints[0] in body should be at least 1 chars long`,
		},
		{
			name: "negative interval", spec: endpoints + s3 + ", backupPolicy: {backupIntervalInSecond: -1}",
			want: "spec.backupPolicy.backupIntervalInSecond: Invalid value: -1: must be 0, which makes one backup only, or more",
		},
		{
			name: "negative number of backups", spec: endpoints + s3 + ", backupPolicy: {maxBackups: -1}",
			want: "spec.backupPolicy.maxBackups: Invalid value: -1: must be 0, which keeps all backups, or more",
		},
		{name: "what is new", spec: endpoints + s3 + `, etcdAuthSecret: root, compression: Zstd, encryptionSecret: age, verify: Restore,
          ttlSecondsAfterFinished: 0, deletionPolicy: Delete, backupPolicy: {maxBackups: 3,
          schedule: {cron: "30 2 * * *", timeZone: Europe/Berlin, jitterInSecond: 60, suspend: true}}`},
		{name: "the defaults by their names", spec: endpoints + s3 + ", compression: None, verify: None, deletionPolicy: Keep"},
		{name: "the defaults as empty strings", spec: endpoints + s3 + `, compression: "", verify: "", deletionPolicy: ""`},
		{
			name: "unknown compression", spec: endpoints + s3 + ", compression: gzip",
			want: `spec.compression: Invalid value: "gzip": must be None, which is the default, or Zstd`,
		},
		{
			name: "unknown verification", spec: endpoints + s3 + ", verify: always",
			want: `spec.verify: Invalid value: "always": must be None, which is the default, or Restore`,
		},
		{
			name: "unknown deletion policy", spec: endpoints + s3 + ", deletionPolicy: Retain",
			want: `spec.deletionPolicy: Invalid value: "Retain": must be Keep, which is the default, or Delete`,
		},
		{
			name: "negative time to live", spec: endpoints + s3 + ", ttlSecondsAfterFinished: -1",
			want: "spec.ttlSecondsAfterFinished: Invalid value: -1: must be 0 or more",
		},
		{name: "schedule with a macro", spec: endpoints + s3 + `, backupPolicy: {schedule: {cron: "@daily"}}`},
		{name: "schedule beside an interval of 0", spec: endpoints + s3 + `, backupPolicy: {backupIntervalInSecond: 0, schedule: {cron: "@daily"}}`},
		{
			name: "schedule beside an interval", spec: endpoints + s3 + `, backupPolicy: {backupIntervalInSecond: 60, schedule: {cron: "@daily"}}`,
			want: "spec.backupPolicy.schedule: Invalid value: must not be set together with backupIntervalInSecond: only one of them can define when to back up",
		},
		{
			name: "schedule of four fields", spec: endpoints + s3 + `, backupPolicy: {schedule: {cron: "30 2 * *"}}`,
			want: `spec.backupPolicy.schedule.cron: Invalid value: "30 2 * *"` + cron,
		},
		{
			name: "schedule with a time zone in it", spec: endpoints + s3 + `, backupPolicy: {schedule: {cron: "TZ=UTC 2 * * *"}}`,
			want: `spec.backupPolicy.schedule.cron: Invalid value: "TZ=UTC 2 * * *"` + cron,
		},
		{
			name: "negative jitter", spec: endpoints + s3 + `, backupPolicy: {schedule: {cron: "@daily", jitterInSecond: -1}}`,
			want: "spec.backupPolicy.schedule.jitterInSecond: Invalid value: -1: must be 0 or more",
		},
		{
			name: "no storage type", spec: endpoints + "s3: {path: mybucket/etcd.backup, awsSecret: aws}",
			want: "[spec.storageType: Required value" + unchecked,
		},
	}))
}

func TestEtcdRestoreRulesTellTheUserWhatToChange(t *testing.T) {
	t.Parallel()
	const (
		cluster = "etcdCluster: {name: example-etcd-cluster}, "
		s3      = "backupStorageType: S3, s3: {path: mybucket/etcd.backup, awsSecret: aws}"
	)
	runRules(t, restores, "EtcdRestore", slices.Concat(storeCases(cluster, "backupStorageType"), []ruleCase{
		{name: "no cluster", spec: s3, want: "[spec.etcdCluster: Required value" + unchecked},
		{name: "no name of the cluster", spec: "etcdCluster: {}, " + s3, want: "[spec.etcdCluster.name: Required value" + unchecked},
		{
			name: "an empty name of the cluster", spec: `etcdCluster: {name: ""}, ` + s3,
			want: `spec.etcdCluster.name: Invalid value: "": spec.etcdCluster.name in body should be at least 1 chars long`,
		},
		{
			name: "no storage type", spec: cluster + "s3: {path: mybucket/etcd.backup, awsSecret: aws}",
			want: "[spec.backupStorageType: Required value" + unchecked,
		},
		{
			name: "every field",
			spec: cluster + s3 + `, encryptionSecret: key, keepOldVolumes: true, revisionBump: 1000000000, ttlSecondsAfterFinished: 0, clusterSpec: {size: 3, version: "3.6.16"}`,
		},
		{name: "a sum", spec: cluster + s3 + ", sha256: " + strings.Repeat("0a", 32)},
		{
			name: "a sum that is none", spec: cluster + s3 + ", sha256: sum",
			want: `spec.sha256: Invalid value: "sum": must be 64 hexadecimal digits in lower case, as sha256sum prints them`,
		},
		{name: "the revision stays", spec: cluster + s3 + ", revisionBump: 0"},
		{
			name: "a revision that goes back", spec: cluster + s3 + ", revisionBump: -1",
			want: `spec.revisionBump: Invalid value: -1: must be 0, which leaves the revision as it is in the backup, or more`,
		},
		{
			name: "a revision that leaves none", spec: cluster + s3 + ", revisionBump: 2000000000000000000",
			want: `spec.revisionBump: Invalid value: 2000000000000000000: must be no more than 1000000000000000000, so that enough revisions are left`,
		},
		{name: "a negative time to live", spec: cluster + s3 + ", ttlSecondsAfterFinished: -1", want: `spec.ttlSecondsAfterFinished: Invalid value: -1: must be 0 or more`},
		{
			name: "a spec that no EtcdCluster could have", spec: cluster + s3 + ", clusterSpec: {size: 9}",
			want: `spec.clusterSpec.size: Invalid value: 9: must be from 1 to 7; 3 and 5 are the usual sizes`,
		},
	}))
}

type ruleCase struct {
	name, spec string
	want       string // "" where the object is accepted
}

// storeCases are the rules about stores, which backups and restores have in common. rest is what else a spec
// needs, and choice the name of the field that chooses the store.
func storeCases(rest, choice string) []ruleCase {
	const (
		bucket    = `: must be the bucket, a slash and the key, such as mybucket/etcd.backup`
		container = `: must be the container, a slash and the key, such as mycontainer/etcd.backup`
		folder    = `: must be a folder, a slash and the key, such as nightly/etcd.backup, without names that begin with a dot`
		tooShort  = " in body should be at least 1 chars long"
	)
	store := func(name, block string) string { return rest + choice + ": " + name + block }
	missing := func(block, name string) string {
		return fmt.Sprintf("spec.%s: Required value: must be set, because %s is %s", block, choice, name)
	}
	return []ruleCase{
		{name: "S3", spec: store("S3", ", s3: {path: b/k, awsSecret: aws}")},
		{name: "S3 compatible", spec: store("S3", `, s3: {path: b/k, awsSecret: aws, endpoint: "http://minio:9000", forcePathStyle: true}`)},
		{name: "S3 as Go clients write it", spec: store("S3", `, s3: {path: b/k, awsSecret: aws, endpoint: "", forcePathStyle: false}`)},
		{name: "ABS", spec: store("ABS", ", abs: {path: c/k, absSecret: abs}")},
		{name: "GCS", spec: store("GCS", ", gcs: {path: b/k, gcpSecret: gcp}")},
		{name: "GCS with the credentials of the pod", spec: store("GCS", ", gcs: {path: b/k}")},
		{name: "OSS", spec: store("OSS", `, oss: {path: b/k, ossSecret: oss, endpoint: "http://oss-cn-hangzhou.aliyuncs.com"}`)},
		{name: "File", spec: store("File", ", file: {path: nightly/etcd.backup}")},
		{name: "a deep key", spec: store("S3", ", s3: {path: b/deep/er/k, awsSecret: aws}")},
		{name: "a block of another store beside", spec: store("S3", ", s3: {path: b/k, awsSecret: aws}, gcs: {path: b/k}")},

		{
			name: "an unknown store", spec: store("FTP", ""),
			want: fmt.Sprintf(`[spec.%s: Unsupported value: "FTP": supported values: "S3", "ABS", "GCS", "OSS", "File"`, choice) + unchecked,
		},
		{name: "S3 without its block", spec: store("S3", ""), want: missing("s3", "S3")},
		{name: "S3 with the block of another store", spec: store("S3", ", gcs: {path: b/k}"), want: missing("s3", "S3")},
		{name: "S3 with a null block", spec: store("S3", ", s3: null"), want: missing("s3", "S3")},
		{name: "ABS without its block", spec: store("ABS", ""), want: missing("abs", "ABS")},
		{name: "GCS without its block", spec: store("GCS", ""), want: missing("gcs", "GCS")},
		{name: "OSS without its block", spec: store("OSS", ""), want: missing("oss", "OSS")},

		{name: "File without its block", spec: store("File", ""), want: missing("file", "File")},

		{name: "S3 path without a key", spec: store("S3", ", s3: {path: mybucket, awsSecret: aws}"), want: `spec.s3.path: Invalid value: "mybucket"` + bucket},
		{name: "S3 path with an empty key", spec: store("S3", ", s3: {path: mybucket/, awsSecret: aws}"), want: `spec.s3.path: Invalid value: "mybucket/"` + bucket},
		{name: "S3 path without a bucket", spec: store("S3", ", s3: {path: /key, awsSecret: aws}"), want: `spec.s3.path: Invalid value: "/key"` + bucket},
		{name: "S3 path that is a URL", spec: store("S3", `, s3: {path: "s3://b/k", awsSecret: aws}`), want: `spec.s3.path: Invalid value: "s3://b/k"` + bucket},
		{name: "S3 path that is empty", spec: store("S3", `, s3: {path: "", awsSecret: aws}`), want: `spec.s3.path: Invalid value: ""` + bucket},
		{name: "ABS path without a key", spec: store("ABS", ", abs: {path: c, absSecret: abs}"), want: `spec.abs.path: Invalid value: "c"` + container},
		{name: "GCS path without a key", spec: store("GCS", ", gcs: {path: b}"), want: `spec.gcs.path: Invalid value: "b"` + bucket},
		{name: "OSS path without a key", spec: store("OSS", ", oss: {path: b, ossSecret: oss}"), want: `spec.oss.path: Invalid value: "b"` + bucket},
		{name: "File path without a key", spec: store("File", ", file: {path: etcd.backup}"), want: `spec.file.path: Invalid value: "etcd.backup"` + folder},
		{name: "File path that leaves the volume", spec: store("File", ", file: {path: a/../../b}"), want: `spec.file.path: Invalid value: "a/../../b"` + folder},
		{name: "File path from the root", spec: store("File", ", file: {path: /etc/passwd}"), want: `spec.file.path: Invalid value: "/etc/passwd"` + folder},
		{name: "no path", spec: store("S3", ", s3: {awsSecret: aws}"), want: "[spec.s3.path: Required value" + unchecked},

		{name: "S3 without a secret", spec: store("S3", ", s3: {path: b/k}"), want: "[spec.s3.awsSecret: Required value" + unchecked},
		{
			name: "S3 with an empty secret", spec: store("S3", `, s3: {path: b/k, awsSecret: ""}`),
			want: `spec.s3.awsSecret: Invalid value: "": spec.s3.awsSecret` + tooShort,
		},
		{name: "ABS without a secret", spec: store("ABS", ", abs: {path: c/k}"), want: "[spec.abs.absSecret: Required value" + unchecked},
		{
			name: "ABS with an empty secret", spec: store("ABS", `, abs: {path: c/k, absSecret: ""}`),
			want: `spec.abs.absSecret: Invalid value: "": spec.abs.absSecret` + tooShort,
		},
		{name: "OSS without a secret", spec: store("OSS", ", oss: {path: b/k}"), want: "[spec.oss.ossSecret: Required value" + unchecked},
		{
			name: "OSS with an empty secret", spec: store("OSS", `, oss: {path: b/k, ossSecret: ""}`),
			want: `spec.oss.ossSecret: Invalid value: "": spec.oss.ossSecret` + tooShort,
		},
	}
}

func runRules(t *testing.T, gvr schema.GroupVersionResource, kind string, tests []ruleCase) {
	t.Helper()
	namespace := server.NewNamespace(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := resource(t, gvr, namespace).Create(t.Context(), object(t, storeManifest(kind, tc.spec)), strictDryRun)
			if got := refusal(t, err, kind, "x"); got != tc.want {
				t.Errorf("the user sees\n  %s\nwant\n  %s", got, tc.want)
			}
		})
	}
}
