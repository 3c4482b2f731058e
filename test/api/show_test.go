// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestKubectlGetShows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		gvr      schema.GroupVersionResource
		manifest string
		status   string
		columns  []string // those with "wide" behind them are shown by -o wide only
		cells    []any    // without the last one, the age
		fresh    []any    // the same before any operator has seen the object
	}{{
		name:     "EtcdCluster",
		gvr:      clusters,
		manifest: clusterManifest("x", "{size: 5, version: 3.6.16}"),
		status: `{phase: Running, readyReplicas: 4, currentVersion: 3.6.16, conditions: [{type: Available, status: "True", reason: Other}, {type: Ready, status: "False", reason: QuorumAtRisk}],
          memberStatuses: [{name: x-a, role: Voter, healthy: true, dbSize: 25Mi}, {name: x-b, role: Leader, healthy: true, dbSize: 26Mi}]}`,
		columns: []string{"Name", "Size", "Ready", "Version", "Phase", "Reason", "Leader wide", "Data wide", "Age"},
		cells:   []any{"x", int64(5), int64(4), "3.6.16", "Running", "QuorumAtRisk", "x-b", "26Mi"},
		fresh:   []any{"x", int64(5), nil, nil, nil, nil, nil, nil},
	}, {
		name:     "EtcdBackup",
		gvr:      backups,
		manifest: storeManifest("EtcdBackup", `etcdEndpoints: ["http://c:2379"], storageType: S3, s3: {path: b/k, awsSecret: aws}`),
		status: `{succeeded: false, etcdRevision: 17, Reason: "bucket b does not exist", size: 1024, nextRun: "2026-11-16T02:30:00Z",
          conditions: [{type: Ready, status: "False", reason: Stalled, message: "", lastTransitionTime: "2026-11-15T02:30:00Z"}]}`,
		columns: []string{"Name", "Type", "Succeeded", "Revision", "Last Success", "Status", "Size wide", "Next Run wide", "Reason wide", "Age"},
		cells:   []any{"x", "S3", false, int64(17), nil, "Stalled", int64(1024), "2026-11-16T02:30:00Z", "bucket b does not exist"},
		fresh:   []any{"x", "S3", nil, nil, nil, nil, nil, nil, nil},
	}, {
		name:     "EtcdRestore",
		gvr:      restores,
		manifest: storeManifest("EtcdRestore", "etcdCluster: {name: my-cluster}, backupStorageType: GCS, gcs: {path: b/k}"),
		status: `{succeeded: false, phase: Failed, reason: "the object is cut off", fetchedBytes: 17,
          backup: {url: u, size: 32, sha256: s, etcdRevision: 99, time: "2026-11-14T02:30:00Z"},
          conditions: [{type: Ready, status: "False", reason: SnapshotBroken, message: "", lastTransitionTime: "2026-11-15T02:30:00Z"}]}`,
		columns: []string{"Name", "Cluster", "Succeeded", "Phase", "Revision", "Status", "Backup Time wide", "Fetched wide", "Reason wide", "Age"},
		cells:   []any{"x", "my-cluster", false, "Failed", int64(99), "SnapshotBroken", "2026-11-14T02:30:00Z", int64(17), "the object is cut off"},
		fresh:   []any{"x", "my-cluster", nil, nil, nil, nil, nil, nil, nil},
	}}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			namespace := server.NewNamespace(t)
			api := resource(t, tc.gvr, namespace)
			stored, err := api.Create(t.Context(), object(t, tc.manifest), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			columns, cells := table(t, tc.gvr, namespace)
			if diff := cmp.Diff(tc.columns, columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.fresh, cells); diff != "" {
				t.Errorf("cells before the first status (-want +got):\n%s", diff)
			}
			stored.Object["status"] = object(t, tc.status).Object
			if _, err := api.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, cells := table(t, tc.gvr, namespace); !cmp.Equal(tc.cells, cells) {
				t.Errorf("cells (-want +got):\n%s", cmp.Diff(tc.cells, cells))
			}
		})
	}
}

// table asks for the objects of a namespace as kubectl get does, and returns the columns and the cells of
// the one row but for the age.
func table(t *testing.T, gvr schema.GroupVersionResource, namespace string) (columns []string, cells []any) {
	t.Helper()
	path := fmt.Sprintf("/apis/%s/%s/namespaces/%s/%s", gvr.Group, gvr.Version, namespace, gvr.Resource)
	text, err := kube(t).CoreV1().RESTClient().Get().AbsPath(path).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := &metav1.Table{}
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.ColumnDefinitions {
		if c.Priority > 0 {
			c.Name += " wide"
		}
		columns = append(columns, c.Name)
	}
	if len(got.Rows) != 1 {
		t.Fatalf("%d rows, want 1", len(got.Rows))
	}
	for _, cell := range got.Rows[0].Cells[:len(got.Rows[0].Cells)-1] {
		cells = append(cells, withoutNulls(cell))
	}
	return columns, cells
}

func TestDiscoveryHasTheNamesThatUsersType(t *testing.T) {
	t.Parallel()
	list, err := kube(t).Discovery().ServerResourcesForGroupVersion(v1beta2.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	type names struct {
		Kind, Singular string
		Short          []string
	}
	got := map[string]names{}
	for _, r := range list.APIResources {
		got[r.Name] = names{r.Kind, r.SingularName, r.ShortNames}
	}
	want := map[string]names{
		"etcdclusters":        {"EtcdCluster", "etcdcluster", []string{"etcd"}},
		"etcdclusters/status": {"EtcdCluster", "", nil},
		"etcdclusters/scale":  {"Scale", "", nil},
		"etcdbackups":         {"EtcdBackup", "etcdbackup", nil},
		"etcdbackups/status":  {"EtcdBackup", "", nil},
		"etcdrestores":        {"EtcdRestore", "etcdrestore", nil},
		"etcdrestores/status": {"EtcdRestore", "", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestStatusAndSpecAreWrittenSeparately(t *testing.T) {
	t.Parallel()
	api := resource(t, clusters, server.NewNamespace(t))
	manifest := object(t, clusterManifest("c", "size: 3"))
	manifest.Object["status"] = map[string]any{"phase": "Running"}
	stored, err := api.Create(t.Context(), manifest, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if status, found := stored.Object["status"]; found {
		t.Errorf("a create wrote the status %v", status)
	}

	set(t, stored, "Creating", "status", "phase")
	set(t, stored, int64(7), "spec", "size")
	stored, err = api.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkPhaseSizeGeneration(t, stored, "Creating", 3, 1)

	set(t, stored, "Failed", "status", "phase")
	set(t, stored, int64(5), "spec", "size")
	stored, err = api.Update(t.Context(), stored, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkPhaseSizeGeneration(t, stored, "Creating", 5, 2)
}

func TestAWholeStatusIsKept(t *testing.T) {
	t.Parallel()
	api := resource(t, clusters, server.NewNamespace(t))
	stored, err := api.Create(t.Context(), object(t, clusterManifest("c", "size: 3")), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	status := object(t, `
phase: Failed
reason: quorum lost
observedGeneration: 1
controlPaused: true
conditions:
- {type: Available, status: "True", lastUpdateTime: "2026-11-15T00:00:00Z", lastTransitionTime: "2026-11-15T00:00:00Z", reason: Cluster available}
- {type: Ready, status: "False", reason: MemberDown, message: one member does not answer}
- {type: Stalled, status: "True"}
size: 3
replicas: 3
readyReplicas: 2
selector: app=etcd,etcd_cluster=c
minAvailable: 2
serviceName: c-client
clientPort: 2379
members: {ready: [c-aaaaaaaaaa], unready: [c-bbbbbbbbbb, c-cccccccccc]}
memberStatuses:
- {name: c-aaaaaaaaaa, id: 8e9e05c52164694d, role: Leader, healthy: true, version: 3.6.16, dbSize: 20Ki, node: node1}
- {name: c-bbbbbbbbbb, role: Unstarted, healthy: false, message: the image cannot be pulled}
currentVersion: 3.5.21
targetVersion: 3.6.16
clusterID: cdf818194e3a8c32
bootstrap: {seed: c-aaaaaaaaaa, token: 5b2b7a5e-7d2f-4f0b-9a53-0d7f6a3f6c11}
`).Object
	stored.Object["status"] = status
	updated, err := api.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutNulls(status), updated.Object["status"]); diff != "" {
		t.Errorf("status (-sent +stored):\n%s", diff)
	}
}

func set(t *testing.T, u *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func checkPhaseSizeGeneration(t *testing.T, u *unstructured.Unstructured, phase string, size, generation int64) {
	t.Helper()
	gotPhase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	gotSize, _, _ := unstructured.NestedInt64(u.Object, "spec", "size")
	if gotPhase != phase || gotSize != size || u.GetGeneration() != generation {
		t.Errorf("phase %q, size %d, generation %d; want %q, %d, %d", gotPhase, gotSize, u.GetGeneration(), phase, size, generation)
	}
}
