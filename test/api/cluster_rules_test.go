// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// strictDryRun asks for everything that a create does, down to the last check, but the write.
var strictDryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}

// unchecked is what the API server adds where a value is of the wrong type, missing or not one of a list.
const unchecked = ", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]"

// clusterManifest makes the manifest of an EtcdCluster from its name and the lines of its spec.
func clusterManifest(name, spec string) string {
	return fmt.Sprintf("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: %s}\nspec:\n%s",
		name, indent(spec))
}

func indent(lines string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

func TestEtcdClusterRulesTellTheUserWhatToChange(t *testing.T) {
	t.Parallel()
	const (
		size    = ": must be from 1 to 7; 3 and 5 are the usual sizes"
		quota   = ": must be from 16Mi to 8Gi, which is the largest database that etcd recommends; who needs another one sets ETCD_QUOTA_BACKEND_BYTES in pod.etcdEnv"
		version = ": must be a version as major.minor.patch, such as 3.6.16 or v3.6.16"
		labels  = `spec.pod.labels: Invalid value: must not contain the label app or a label that begins with etcd_, which the operator sets itself`
		pairing = `spec.TLS.static: Invalid value: operatorSecret and member.serverSecret belong together: set both to serve clients over TLS, or neither`
		env     = `spec.pod.etcdEnv: Invalid value: must not contain ETCD_WAL_DIR, ETCD_FORCE_NEW_CLUSTER, ETCD_CONFIG_FILE, ETCD_MAX_LEARNERS or what begins with ETCD_DISCOVERY: the operator controls where members keep their data and how they join their cluster`
		length  = `metadata: Invalid value: the name must be no longer than 52 characters, because a member's name is the name of the cluster followed by 11 characters`
		label   = `metadata: Invalid value: the name must begin with a letter and consist of lower case letters, digits and dashes, because it becomes the name of a Service`
	)
	name52 := strings.Repeat("n", 52)
	tests := []struct {
		name, cluster, spec string
		want                string // "" where the object is accepted
	}{
		{name: "size 1", spec: "size: 1"},
		{name: "an even size", spec: "size: 4"},
		{name: "size 7", spec: "size: 7"},
		{name: "size 0", spec: "size: 0", want: "spec.size: Invalid value: 0" + size},
		{name: "size 8", spec: "size: 8", want: "spec.size: Invalid value: 8" + size},
		{name: "negative size", spec: "size: -1", want: "[.spec.size: Invalid value: -1: should be a non-negative integer, spec.size: Invalid value: -1" + size + "]"},
		{name: "no size", spec: "version: 3.6.16", want: "[spec.size: Required value" + unchecked},

		{name: "version", spec: "{size: 3, version: 3.6.16}"},
		{name: "version of the original's example", spec: "{size: 3, version: 3.2.13}"},
		{name: "version with v", spec: "{size: 3, version: v3.6.16}"},
		{name: "version with a suffix", spec: "{size: 3, version: v3.5.21-arm64}"},
		{name: "empty version", spec: `{size: 3, version: ""}`},
		{name: "latest", spec: "{size: 3, version: latest}", want: `spec.version: Invalid value: "latest"` + version},
		{name: "no patch version", spec: `{size: 3, version: "3.6"}`, want: `spec.version: Invalid value: "3.6"` + version},
		{name: "four numbers", spec: "{size: 3, version: 3.6.16.1}", want: `spec.version: Invalid value: "3.6.16.1"` + version},
		{name: "an image", spec: `{size: 3, version: "etcd:v3.6.16"}`, want: `spec.version: Invalid value: "etcd:v3.6.16"` + version},

		{name: "a quota", spec: "{size: 3, storageQuota: 16Mi}"},
		{name: "a quota as a number", spec: "{size: 3, storageQuota: 8589934592}"},
		{name: "a tiny quota", spec: "{size: 3, storageQuota: 15Mi}", want: `spec.storageQuota: Invalid value: "15Mi"` + quota},
		{name: "a huge quota", spec: "{size: 3, storageQuota: 9Gi}", want: `spec.storageQuota: Invalid value: "9Gi"` + quota},
		{
			name: "two quotas", spec: `{size: 3, storageQuota: 4Gi, pod: {etcdEnv: [{name: ETCD_QUOTA_BACKEND_BYTES, value: "1"}]}}`,
			want: "spec.storageQuota: Invalid value: must not be set together with ETCD_QUOTA_BACKEND_BYTES in pod.etcdEnv, which is the same setting",
		},
		{name: "a quota that fits", spec: "{size: 3, storageQuota: 4Gi, pod: {persistentVolumeClaimSpec: {resources: {requests: {storage: 10Gi}}}}}"},
		{
			name: "a quota that does not fit", spec: "{size: 3, storageQuota: 4Gi, pod: {persistentVolumeClaimSpec: {resources: {requests: {storage: 3Gi}}}}}",
			want: "spec.storageQuota: Invalid value: must not be larger than the volume of a member",
		},

		{
			name: "defragmentation",
			spec: `{size: 3, maintenance: {defragment: {freePercent: 40, minFree: 1Gi, windows: [{start: "02:30", durationMinutes: 90, days: [Saturday, Sunday], timeZone: Europe/Berlin}]}}}`,
		},
		{name: "recovery of space", spec: "{size: 3, maintenance: {onQuotaExceeded: Recover, allowCompaction: true}}"},
		{
			name: "another recovery of space", spec: "{size: 3, maintenance: {onQuotaExceeded: Always}}",
			want: `spec.maintenance.onQuotaExceeded: Invalid value: "Always": must be Report, which is the default, or Recover`,
		},
		{name: "defragmentation as it is by default", spec: "{size: 3, maintenance: {defragment: {}}}"},
		{
			name: "defragmentation at any time", spec: "{size: 3, maintenance: {defragment: {freePercent: 5}}}",
			want: "spec.maintenance.defragment.freePercent: Invalid value: 5: must be from 10 to 95",
		},
		{
			name: "a window at no time", spec: `{size: 3, maintenance: {defragment: {windows: [{start: "2:30", durationMinutes: 90}]}}}`,
			want: `spec.maintenance.defragment.windows[0].start: Invalid value: "2:30": must be hours and minutes, such as "02:30"`,
		},
		{
			name: "a window without an end", spec: `{size: 3, maintenance: {defragment: {windows: [{start: "02:30", durationMinutes: 1441}]}}}`,
			want: "spec.maintenance.defragment.windows[0].durationMinutes: Invalid value: 1441: must be from 1 to 1440, which is a day",
		},
		{
			name: "a window on no day", spec: `{size: 3, maintenance: {defragment: {windows: [{start: "02:30", durationMinutes: 60, days: [Sun]}]}}}`,
			want: `spec.maintenance.defragment.windows[0].days[0]: Invalid value: "Sun": must be Monday, Tuesday, Wednesday, Thursday, Friday, Saturday or Sunday`,
		},

		{name: "labels", spec: "{size: 3, pod: {labels: {team: db, app.kubernetes.io/name: etcd, my_etcd_x: z}}}"},
		{name: "label app", spec: "{size: 3, pod: {labels: {app: mine}}}", want: labels},
		{name: "label etcd_cluster", spec: "{size: 3, pod: {labels: {team: db, etcd_cluster: mine}}}", want: labels},

		{name: "TLS for clients", spec: "{size: 3, TLS: {static: {member: {serverSecret: s}, operatorSecret: o}}}"},
		{name: "TLS for peers alone", spec: "{size: 3, TLS: {static: {member: {peerSecret: p}}}}"},
		{name: "TLS for all", spec: "{size: 3, TLS: {static: {member: {peerSecret: p, serverSecret: s}, operatorSecret: o}}}"},
		{name: "TLS with empty names", spec: `{size: 3, TLS: {static: {member: {peerSecret: "", serverSecret: ""}, operatorSecret: ""}}}`},
		{name: "no operatorSecret", spec: "{size: 3, TLS: {static: {member: {peerSecret: p, serverSecret: s}}}}", want: pairing},
		{name: "no serverSecret", spec: "{size: 3, TLS: {static: {member: {peerSecret: p}, operatorSecret: o}}}", want: pairing},
		{name: "no member at all", spec: "{size: 3, TLS: {static: {operatorSecret: o}}}", want: pairing},

		{name: "longest name", cluster: name52, spec: "size: 3"},
		{name: "name too long", cluster: name52 + "n", spec: "size: 3", want: length},
		{name: "name with a dot", cluster: "my.cluster", spec: "size: 3", want: label},
		{name: "name with a digit in front", cluster: "1st", spec: "size: 3", want: label},

		{name: "service", spec: "{size: 3, service: {name: my-etcd, annotations: {a: b}, selector: {app: etcd}}}"},
		{name: "service with the name of the client service", spec: "{size: 3, service: {name: c-client}}"},
		{
			name: "service with the cluster's name", spec: "{size: 3, service: {name: c}}",
			want: "spec.service.name: Invalid value: must differ from the name of the cluster, which is the name of the Service that the members use among themselves",
		},
		{
			name: "service with a bad name", spec: "{size: 3, service: {name: My_Etcd}}",
			want: `spec.service.name: Invalid value: "My_Etcd": must begin with a letter and consist of lower case letters, digits and dashes, because it is the name of a Service`,
		},

		{
			name: "environment of etcd",
			spec: `{size: 3, pod: {etcdEnv: [{name: ETCD_QUOTA_BACKEND_BYTES, value: "1"}, {name: ETCD_AUTO_COMPACTION_RETENTION, value: "1"},
              {name: ETCD_DATA_DIR, value: has no effect}, {name: HOME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}}`,
		},
		{name: "a log somewhere else", spec: "{size: 3, pod: {etcdEnv: [{name: A, value: b}, {name: ETCD_WAL_DIR, value: /var/etcd/wal}]}}", want: env},
		{name: "a forced new cluster", spec: `{size: 3, pod: {etcdEnv: [{name: ETCD_FORCE_NEW_CLUSTER, value: "true"}]}}`, want: env},
		{name: "a file of settings", spec: "{size: 3, pod: {etcdEnv: [{name: ETCD_CONFIG_FILE, value: /etc/etcd.yaml}]}}", want: env},
		{name: "a number of learners", spec: `{size: 3, pod: {etcdEnv: [{name: ETCD_MAX_LEARNERS, value: "1"}]}}`, want: env},
		{name: "discovery", spec: "{size: 3, pod: {etcdEnv: [{name: ETCD_DISCOVERY, value: x}]}}", want: env},
		{name: "discovery by DNS", spec: "{size: 3, pod: {etcdEnv: [{name: ETCD_DISCOVERY_SRV, value: example.com}]}}", want: env},

		{name: "a claim without access modes", spec: "{size: 3, pod: {persistentVolumeClaimSpec: {resources: {requests: {storage: 1Gi}}}}}"},
		{name: "a claim of a file system", spec: "{size: 3, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem}}}"},
		{
			name: "a claim of a block device", spec: "{size: 3, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], volumeMode: Block}}}",
			want: "spec.pod.persistentVolumeClaimSpec.volumeMode: Invalid value: must not be Block, because etcd keeps its data in files",
		},
		{
			name: "a claim of one volume for all", spec: "{size: 3, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], volumeName: pv1}}}",
			want: "spec.pod.persistentVolumeClaimSpec.volumeName: Invalid value: must not be set, because each member needs a volume of its own; use selector to choose among volumes",
		},

		{name: "cluster domain", spec: "{size: 3, pod: {ClusterDomain: .cluster.local}}"},
		{name: "empty cluster domain", spec: `{size: 3, pod: {ClusterDomain: ""}}`},
		{
			name: "cluster domain without a dot", spec: "{size: 3, pod: {ClusterDomain: cluster.local}}",
			want: `spec.pod.ClusterDomain: Invalid value: "cluster.local": must begin with a dot, as in .cluster.local`,
		},

		{name: "a grace period", spec: "{size: 3, pod: {terminationGracePeriodSeconds: 5}}"},
		{
			name: "no time to stop", spec: "{size: 3, pod: {terminationGracePeriodSeconds: 4}}",
			want: "spec.pod.terminationGracePeriodSeconds: Invalid value: 4: must be from 5 to 3600; etcd stops within a second or two",
		},
		{name: "DNS timeout", spec: "{size: 3, pod: {DNSTimeoutInSecond: 30}}"},
		{
			name: "negative DNS timeout", spec: "{size: 3, pod: {DNSTimeoutInSecond: -1}}",
			want: "spec.pod.DNSTimeoutInSecond: Invalid value: -1: must be 0, which means no limit, or more",
		},

		{name: "a network policy for pods of the namespace", spec: "{size: 3, networkPolicy: {}}"},
		{name: "clients of other namespaces", spec: "{size: 3, networkPolicy: {clients: [{podSelector: {}, namespaceSelector: {}}]}}"},
		{
			name: "a client that is nobody", spec: "{size: 3, networkPolicy: {clients: [{}]}}",
			want: "spec.networkPolicy.clients[0]: Invalid value: must have a podSelector, a namespaceSelector or an ipBlock",
		},
		{
			name: "a reader of metrics that is nobody", spec: "{size: 3, networkPolicy: {metrics: [{}]}}",
			want: "spec.networkPolicy.metrics[0]: Invalid value: must have a podSelector, a namespaceSelector or an ipBlock",
		},
		{
			name: "a client that is two things", spec: "{size: 3, networkPolicy: {clients: [{namespaceSelector: {}, ipBlock: {cidr: 10.0.0.0/8}}]}}",
			want: "spec.networkPolicy.clients[0]: Invalid value: ipBlock cannot be combined with podSelector or namespaceSelector: make it an entry of its own",
		},
		{
			name: "a reader of metrics that is two things", spec: "{size: 3, networkPolicy: {metrics: [{podSelector: {}, ipBlock: {cidr: 10.0.0.0/8}}]}}",
			want: "spec.networkPolicy.metrics[0]: Invalid value: ipBlock cannot be combined with podSelector or namespaceSelector: make it an entry of its own",
		},
		{name: "no patience with a lost node", spec: "{size: 3, nodeLostToleranceSeconds: 0}"},
		{
			name: "negative patience", spec: "{size: 3, nodeLostToleranceSeconds: -5}",
			want: "spec.nodeLostToleranceSeconds: Invalid value: -5: must be 0 or more",
		},

		{
			name: "a spread without a skew", spec: "{size: 3, pod: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}}",
			want: "spec.pod.topologySpreadConstraints: Invalid value: maxSkew must be 1 or more, and topologyKey must be the name of a label of nodes",
		},
		{
			name: "a spread that is neither asked nor wished for", spec: "{size: 3, pod: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: Sometimes}]}}",
			want: "spec.pod.topologySpreadConstraints: Invalid value: whenUnsatisfiable must be DoNotSchedule or ScheduleAnyway",
		},
		{name: "recovery from a survivor", spec: "{size: 3, recovery: {mode: Survivor, patienceSeconds: 0, allowDataLoss: true}}"},
		{name: "recovery from a backup", spec: "{size: 3, recovery: {mode: Backup, backupName: nightly}}"},
		{name: "recovery by hand", spec: "{size: 3, recovery: {mode: Manual}}"},
		{name: "an empty recovery", spec: "{size: 3, recovery: {}}"},
		{
			name: "unknown recovery mode", spec: "{size: 3, recovery: {mode: Auto}}",
			want: `spec.recovery.mode: Invalid value: "Auto": must be Manual, which is the default, Survivor or Backup`,
		},
		{
			name: "recovery from no backup", spec: "{size: 3, recovery: {mode: Backup}}",
			want: "spec.recovery.backupName: Required value: must be set, because mode is Backup",
		},
		{
			name: "negative patience with lost members", spec: "{size: 3, recovery: {patienceSeconds: -1}}",
			want: "spec.recovery.patienceSeconds: Invalid value: -1: must be 0 or more",
		},

		{name: "keep the volumes", spec: "{size: 3, deletionPolicy: Retain}"},
		{
			name: "unknown deletion policy", spec: "{size: 3, deletionPolicy: Keep}",
			want: `spec.deletionPolicy: Invalid value: "Keep": must be Delete, which is the default, or Retain`,
		},
	}
	namespace := server.NewNamespace(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.cluster == "" {
				tc.cluster = "c"
			}
			_, err := resource(t, clusters, namespace).Create(t.Context(), object(t, clusterManifest(tc.cluster, tc.spec)), strictDryRun)
			if got := refusal(t, err, "EtcdCluster", tc.cluster); got != tc.want {
				t.Errorf("the user sees\n  %s\nwant\n  %s", got, tc.want)
			}
		})
	}
}
