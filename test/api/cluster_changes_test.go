// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestImmutableFieldsOfEtcdClusterAreReported(t *testing.T) {
	t.Parallel()
	const (
		claim    = "{accessModes: [ReadWriteOnce], storageClassName: fast, volumeMode: Filesystem, resources: {requests: {storage: 1Gi}, limits: {storage: 10Gi}}}"
		appears  = "spec.pod.persistentVolumeClaimSpec: Invalid value: cannot be added or removed later, because the members would lose their data: create a new EtcdCluster and move the data there"
		frozen   = ": cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value"
		shrink   = "spec.pod.persistentVolumeClaimSpec.resources.requests: Invalid value: the storage request cannot be decreased or removed, because volumes can only grow"
		domain   = "spec.pod.ClusterDomain: Invalid value: cannot be changed later, because the URLs of the members contain it"
		peer     = "spec.TLS.static.member.peerSecret: Invalid value: cannot be added or removed later, because members with and without TLS cannot communicate with each other; the name of the Secret can be changed"
		inClaim  = "spec.pod.persistentVolumeClaimSpec."
		client   = "spec.TLS.static.operatorSecret: Invalid value: cannot be removed later, because the operator could no longer connect to members that still require a certificate; the name of the Secret can be changed"
		withBoth = "{size: 3, TLS: {static: {member: {peerSecret: p, serverSecret: s}, operatorSecret: o}}}"
		born     = "spec.bootstrap: Invalid value: cannot be added, changed or removed later, because it says how the cluster came into being: create another EtcdCluster, or restore a backup with an EtcdRestore"
		withPeer = "{size: 3, TLS: {static: {member: {peerSecret: p}}}}"
	)
	withClaim := func(spec string) string { return "{size: 3, pod: {persistentVolumeClaimSpec: " + spec + "}}" }
	withOrigin := func(path string) string {
		return "{size: 3, bootstrap: {restore: {backupStorageType: S3, s3: {path: " + path + ", awsSecret: aws}}}}"
	}
	replaced := func(from, to string) string {
		if !strings.Contains(claim, from) {
			t.Fatalf("the claim does not contain %q", from)
		}
		return withClaim(strings.Replace(claim, from, to, 1))
	}

	tests := []struct {
		name, before, after string
		want                string // "" where the change is accepted
	}{
		{
			name: "a quota that comes and changes", before: "{size: 3, storageQuota: 1Gi}", after: "{size: 3, storageQuota: 4Gi}",
		},
		{name: "upkeep that comes", before: "size: 3", after: "{size: 3, maintenance: {defragment: {}}}"},
		{name: "a quota that goes", before: "{size: 3, storageQuota: 1Gi}", after: "size: 3"},
		{
			name:   "what can change",
			before: "{size: 3, version: 3.5.21}",
			after: `{size: 5, version: 3.6.16, repository: example.com/etcd, paused: true, podDisruptionBudget: false, deletionPolicy: Retain,
              nodeLostToleranceSeconds: 300, service: {name: mine}, networkPolicy: {clients: [{podSelector: {}}, {ipBlock: {cidr: 10.0.0.0/8}}], metrics: [{namespaceSelector: {}}]},
              TLS: {static: {member: {serverSecret: s}, operatorSecret: o}},
              pod: {labels: {a: b}, annotations: {c: d}, resources: {requests: {cpu: 100m}}, antiAffinity: true,
                etcdEnv: [{name: ETCD_QUOTA_BACKEND_BYTES, value: "8589934592"}], securityContext: {runAsUser: 9000}, tmpfs: true,
                tolerations: [{operator: Exists}], nodeSelector: {e: f}, busyboxImage: busybox, priorityClassName: high, DNSTimeoutInSecond: 5,
                imagePullSecrets: [{name: registry}], serviceAccountName: etcd, runtimeClassName: gvisor, terminationGracePeriodSeconds: 30,
                hostAliases: [{ip: 10.1.2.3, hostnames: [mirror.example.com]}],
                topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}}`,
		},

		{name: "a bootstrap that stays", before: withOrigin("b/k"), after: strings.Replace(withOrigin("b/k"), "size: 3", "size: 5", 1)},
		{name: "a bootstrap that appears", before: "size: 3", after: withOrigin("b/k"), want: born},
		{name: "a bootstrap that changes", before: withOrigin("b/k"), after: withOrigin("b/l"), want: born},
		{name: "a bootstrap that goes", before: withOrigin("b/k"), after: "size: 3", want: born},

		{name: "a claim that appears", before: "size: 3", after: withClaim(claim), want: appears},
		{name: "a claim that appears in a pod policy", before: "{size: 3, pod: {antiAffinity: true}}", after: withClaim(claim), want: appears},
		{name: "a claim that goes", before: withClaim(claim), after: "{size: 3, pod: {antiAffinity: true}}", want: appears},
		{name: "a claim that goes with the pod policy", before: withClaim(claim), after: "size: 3", want: appears},
		{name: "a claim that becomes null", before: withClaim(claim), after: withClaim("null"), want: appears},

		{name: "more storage", before: withClaim(claim), after: replaced("requests: {storage: 1Gi}", "requests: {storage: 2Gi}")},
		{name: "as much storage in other words", before: withClaim(claim), after: replaced("requests: {storage: 1Gi}", "requests: {storage: 1024Mi}")},
		{
			name: "more storage, from a bare number", before: withClaim("{resources: {requests: {storage: 1000000}}}"),
			after: withClaim("{resources: {requests: {storage: 1Gi}}}"),
		},
		{
			name: "a first request", before: withClaim("{accessModes: [ReadWriteOnce]}"),
			after: withClaim("{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"),
		},
		{name: "less storage", before: withClaim(claim), after: replaced("requests: {storage: 1Gi}", "requests: {storage: 1023Mi}"), want: shrink},
		{name: "less storage, to a bare number", before: withClaim(claim), after: replaced("requests: {storage: 1Gi}", "requests: {storage: 5}"), want: shrink},
		{name: "no storage request any more", before: withClaim(claim), after: replaced("requests: {storage: 1Gi}, ", ""), want: shrink},

		{
			name: "other access modes", before: withClaim(claim), after: replaced("[ReadWriteOnce]", "[ReadWriteMany]"),
			want: inClaim + "accessModes: Invalid value" + frozen,
		},
		{
			name: "access modes that were left out", before: withClaim("{resources: {requests: {storage: 1Gi}}}"),
			after: withClaim("{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"),
		},
		{
			name: "access modes that were empty", before: withClaim("{accessModes: [], resources: {requests: {storage: 1Gi}}}"),
			after: withClaim("{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"),
		},
		{
			name: "no access modes any more", before: withClaim(claim), after: replaced("accessModes: [ReadWriteOnce], ", ""),
			want: inClaim + "accessModes: Invalid value" + frozen,
		},
		{
			name: "another storage class", before: withClaim(claim), after: replaced("fast", "slow"),
			want: inClaim + "storageClassName: Invalid value" + frozen,
		},
		{
			name: "no storage class any more", before: withClaim(claim), after: replaced("storageClassName: fast, ", ""),
			want: inClaim + "storageClassName: Invalid value" + frozen,
		},
		{
			name: "another volume mode", before: withClaim(claim), after: replaced("Filesystem", "Block"),
			want: inClaim + "volumeMode: Invalid value" + frozen,
		},
		{
			name: "a volume name", before: withClaim(claim), after: replaced("{accessModes", "{volumeName: pv1, accessModes"),
			want: inClaim + "volumeName: Invalid value" + frozen,
		},
		{
			name: "a selector", before: withClaim(claim), after: replaced("{accessModes", "{selector: {matchLabels: {a: b}}, accessModes"),
			want: inClaim + "selector: Invalid value" + frozen,
		},
		{
			name: "a data source", before: withClaim(claim), after: replaced("{accessModes", "{dataSource: {kind: PersistentVolumeClaim, name: x}, accessModes"),
			want: inClaim + "dataSource: Invalid value" + frozen,
		},
		{
			name: "a data source reference", before: withClaim(claim),
			after: replaced("{accessModes", "{dataSourceRef: {kind: PersistentVolumeClaim, name: x}, accessModes"),
			want:  inClaim + "dataSourceRef: Invalid value" + frozen,
		},
		{
			name: "an attributes class", before: withClaim(claim), after: replaced("{accessModes", "{volumeAttributesClassName: gold, accessModes"),
			want: inClaim + "volumeAttributesClassName: Invalid value" + frozen,
		},
		{
			name: "other limits", before: withClaim(claim), after: replaced("limits: {storage: 10Gi}", "limits: {storage: 20Gi}"),
			want: inClaim + "resources.limits: Invalid value" + frozen,
		},

		{name: "a cluster domain that appears", before: "size: 3", after: "{size: 3, pod: {ClusterDomain: .cluster.local}}", want: domain},
		{
			name: "a cluster domain that changes", before: "{size: 3, pod: {ClusterDomain: .a.local}}",
			after: "{size: 3, pod: {ClusterDomain: .b.local}}", want: domain,
		},
		{name: "a cluster domain that goes", before: "{size: 3, pod: {ClusterDomain: .a.local}}", after: "size: 3", want: domain},
		{name: "an empty cluster domain, as Go clients write it", before: "size: 3", after: `{size: 3, pod: {ClusterDomain: ""}}`},

		{name: "peer TLS that appears", before: "size: 3", after: withPeer, want: peer},
		{name: "peer TLS that goes", before: withPeer, after: "size: 3", want: peer},
		{name: "peer TLS that becomes empty", before: withPeer, after: `{size: 3, TLS: {static: {member: {peerSecret: ""}}}}`, want: peer},
		{name: "another peer Secret", before: withPeer, after: "{size: 3, TLS: {static: {member: {peerSecret: q}}}}"},
		{name: "client TLS beside peer TLS", before: withPeer, after: withBoth},
		{name: "client TLS that goes", before: withBoth, after: withPeer, want: client},
		{name: "another operator Secret", before: withBoth, after: strings.Replace(withBoth, "operatorSecret: o", "operatorSecret: other", 1)},
	}
	namespace := server.NewNamespace(t)
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("c%d", i)
			api := resource(t, clusters, namespace)
			stored, err := api.Create(t.Context(), object(t, clusterManifest(name, tc.before)), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				t.Fatal(err)
			}
			stored.Object["spec"] = object(t, clusterManifest(name, tc.after)).Object["spec"]
			_, err = api.Update(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
			if got := refusal(t, err, "EtcdCluster", name); got != tc.want {
				t.Errorf("the user sees\n  %s\nwant\n  %s", got, tc.want)
			}
		})
	}
}
