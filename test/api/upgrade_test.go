// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

// old is an object that was made before our definition came, and what can be done with it afterwards.
type old struct {
	name, spec, status string
	// lost is the path of a field that our schema does not know; it is not kept.
	lost []string
	// stuck is set where nothing but the mending of the spec can change the spec.
	stuck bool
	// correct corrects an object that breaks our rules. It is nil where the object is valid.
	correct func(t *testing.T, u *unstructured.Unstructured)
}

// setting returns a correction that sets one field.
func setting(value any, path ...string) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, u *unstructured.Unstructured) {
		t.Helper()
		set(t, u, value, path...)
	}
}

// removing returns a correction that removes one field.
func removing(path ...string) func(*testing.T, *unstructured.Unstructured) {
	return func(_ *testing.T, u *unstructured.Unstructured) { unstructured.RemoveNestedField(u.Object, path...) }
}

var oldClusters = []old{
	{
		name: "running", spec: `{size: 3, version: 3.2.13, repository: quay.io/coreos/etcd, pod: {resources: {}, ClusterDomain: ""}}`,
		status: `{phase: Running, size: 3, serviceName: running-client, clientPort: 2379, currentVersion: 3.2.13, targetVersion: "",
          members: {ready: [running-abcdefghij]}, conditions: [{type: Available, status: "True", lastUpdateTime: "2019-03-01T10:00:00Z"}]}`,
	},
	{name: "failed", spec: `{size: 3, TLS: {static: {member: {peerSecret: p, serverSecret: s}, operatorSecret: o}}}`, status: `{phase: Failed, reason: no secret}`},
	{name: "leftovers", spec: `{size: 3, baseImage: quay.io/coreos/etcd, selfHosted: {}, backup: {maxBackups: 5, pv: {volumeSizeInMB: 512}}}`},
	{name: "nulls", spec: `{size: 3, version: null, pod: null, TLS: {static: null}}`},
	{name: "of-another-fork", spec: `{size: 3, notOurs: {a: b}}`, lost: []string{"spec", "notOurs"}},
	{name: "empty", spec: `{size: 0}`, correct: setting(int64(3), "spec", "size")},
	{name: "no-size", spec: `{version: 3.2.13}`, stuck: true, correct: setting(int64(3), "spec", "size")},
	{name: "big", spec: `{size: 9}`, correct: setting(int64(7), "spec", "size")},
	{name: "latest", spec: `{size: 3, version: latest}`, correct: setting("3.6.16", "spec", "version")},
	{name: "reserved", spec: `{size: 3, pod: {labels: {app: mine, team: db}}}`, correct: removing("spec", "pod", "labels", "app")},
	{name: "half-tls", spec: `{size: 3, TLS: {static: {operatorSecret: o}}}`, correct: removing("spec", "TLS")},
	{name: "no-dot", spec: `{size: 3, pod: {ClusterDomain: cluster.local}}`},
	{name: "with-claim", spec: `{size: 3, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}`},
	{
		name: "no-access-modes", spec: `{size: 3, pod: {persistentVolumeClaimSpec: {resources: {requests: {storage: 1Gi}}}}}`,
		correct: setting([]any{"ReadWriteOnce"}, "spec", "pod", "persistentVolumeClaimSpec", "accessModes"),
	},
	{name: "block", spec: `{size: 3, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], volumeMode: Block}}}`},
	{name: "named-volume", spec: `{size: 1, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], volumeName: pv}}}`},
	{name: "wal-dir", spec: `{size: 3, pod: {etcdEnv: [{name: ETCD_WAL_DIR, value: /wal}]}}`, correct: removing("spec", "pod", "etcdEnv")},
	{name: "dotted.name", spec: `{size: 3}`},
	{name: strings.Repeat("n", 60), spec: `{size: 3}`},
}

var oldBackups = []old{
	{
		name: "done", spec: `{etcdEndpoints: ["http://c:2379"], storageType: S3, s3: {path: b/k, awsSecret: aws, forcePathStyle: false}}`,
		status: `{succeeded: true, etcdVersion: 3.2.13, etcdRevision: 17, lastSuccessDate: "2019-03-01T10:00:00Z"}`,
	},
	{name: "failed", spec: `{etcdEndpoints: ["http://c:2379"], storageType: GCS, gcs: {path: b/k}}`, status: `{succeeded: false, Reason: no answer, lastSuccessDate: null}`},
	{name: "of-old", spec: `{clusterName: c, etcdEndpoints: ["http://c:2379"], storageType: S3, s3: {path: b/k, awsSecret: aws}}`, lost: []string{"spec", "clusterName"}},
	{
		name: "no-endpoints", spec: `{etcdEndpoints: [], storageType: S3, s3: {path: b/k, awsSecret: aws}}`,
		correct: setting([]any{"http://c:2379"}, "spec", "etcdEndpoints"),
	},
	{name: "no-key", spec: `{etcdEndpoints: ["http://c:2379"], storageType: S3, s3: {path: b, awsSecret: aws}}`, correct: setting("b/k", "spec", "s3", "path")},
	{name: "unknown-store", spec: `{etcdEndpoints: ["http://c:2379"], storageType: Ceph, s3: {path: b/k, awsSecret: aws}}`, correct: setting("S3", "spec", "storageType")},
	{
		name: "no-block", spec: `{etcdEndpoints: ["http://c:2379"], storageType: S3}`, stuck: true,
		correct: setting(map[string]any{"path": "b/k", "awsSecret": "aws"}, "spec", "s3"),
	},
}

var oldRestores = []old{
	{
		name: "done", spec: `{etcdCluster: {name: done}, backupStorageType: S3, s3: {path: b/k, awsSecret: aws, endpoint: "", forcePathStyle: false}}`,
		status: `{succeeded: true}`,
	},
	{name: "failed", spec: `{etcdCluster: {name: failed}, backupStorageType: ABS, abs: {path: c/k, absSecret: abs}}`, status: `{succeeded: false, reason: no object}`},
	{name: "unnamed", spec: `{etcdCluster: {name: ""}, backupStorageType: GCS, gcs: {path: b/k}}`, correct: setting("c", "spec", "etcdCluster", "name")},
	{name: "no-key", spec: `{etcdCluster: {name: c}, backupStorageType: OSS, oss: {path: b, ossSecret: oss}}`, correct: setting("b/k", "spec", "oss", "path")},
}

func TestUpgradeFromAnotherOperatorLosesNoObject(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		ours func() *apiextensionsv1.CustomResourceDefinition
		olds []old
	}{{crd.EtcdClusters, oldClusters}, {crd.EtcdBackups, oldBackups}, {crd.EtcdRestores, oldRestores}}
	makers := map[string]func(t *testing.T, ours *apiextensionsv1.CustomResourceDefinition){
		"original": storeOriginalDefinition,
		"fork":     createForkDefinition,
	}
	for who, makeDefinition := range makers {
		for _, kind := range kinds {
			ours := inGroup(kind.ours(), who+".example.com")
			t.Run(who+"/"+ours.Spec.Names.Kind, func(t *testing.T) {
				t.Parallel()
				makeDefinition(t, ours)
				testUpgrade(t, ours, kind.olds)
			})
		}
	}
}

func testUpgrade(t *testing.T, ours *apiextensionsv1.CustomResourceDefinition, olds []old) {
	t.Helper()
	gvr := schema.GroupVersionResource{Group: ours.Spec.Group, Version: "v1beta2", Resource: ours.Spec.Names.Plural}
	api := resource(t, gvr, server.NewNamespace(t))
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		_, err := api.List(ctx, metav1.ListOptions{})
		return err
	})
	before := map[string]*unstructured.Unstructured{}
	for _, o := range olds {
		manifest := object(t, fmt.Sprintf("{apiVersion: %s/v1beta2, kind: %s, metadata: {name: %s, finalizers: [example.com/keep]}, spec: %s}",
			gvr.Group, ours.Spec.Names.Kind, o.name, o.spec))
		if o.status != "" {
			manifest.Object["status"] = object(t, o.status).Object
		}
		created, err := api.Create(t.Context(), manifest, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before[o.name] = created
	}

	install(t, server.Config(), ours.DeepCopy())
	checkUpgraded(t, ours)
	awaitSchema(t, api, olds[0].name)

	after, err := api.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Items) != len(olds) {
		t.Errorf("%d objects, want %d", len(after.Items), len(olds))
	}
	for _, o := range olds {
		t.Run(o.name, func(t *testing.T) { testOldObject(t, api, o, before[o.name]) })
	}
}

// awaitSchema waits until the API server checks writes against our schema: it exchanges the handlers of a
// kind a moment after it has stored the definition.
func awaitSchema(t *testing.T, api dynamic.ResourceInterface, name string) {
	t.Helper()
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		u, err := api.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		u.Object["spec"] = "not a spec"
		_, err = api.Update(ctx, u, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("the old schema still accepts anything")
		}
		return nil
	})
}

// checkUpgraded checks that the definition is ours now.
func checkUpgraded(t *testing.T, ours *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	got, err := crds(t).Get(t.Context(), ours.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ours.Spec.Versions, got.Spec.Versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if got.Spec.PreserveUnknownFields {
		t.Error("unknown fields are still preserved, so nothing is checked")
	}
	if got.Annotations[crd.AnnotationRevision] != ours.Annotations[crd.AnnotationRevision] {
		t.Errorf("annotations %v", got.Annotations)
	}
	if diff := cmp.Diff([]string{"v1beta2"}, got.Status.StoredVersions); diff != "" {
		t.Errorf("stored versions (-want +got):\n%s", diff)
	}
}

// testOldObject goes through the life of an old object under the new definition.
func testOldObject(t *testing.T, api dynamic.ResourceInterface, o old, before *unstructured.Unstructured) {
	t.Helper()
	u, err := api.Get(t.Context(), o.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if o.lost != nil {
		unstructured.RemoveNestedField(before.Object, o.lost...)
	}
	if diff := cmp.Diff(withoutNulls(before.Object), withoutNulls(u.Object)); diff != "" {
		t.Errorf("the object has changed (-before +after):\n%s", diff)
	}

	set(t, u, "by the operator", "status", reasonKey(u))
	if u, err = api.UpdateStatus(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("the status cannot be written: %v", err)
	}
	u.SetLabels(map[string]string{"touched": "yes"})
	if u, err = api.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("the metadata cannot be written: %v", err)
	}
	changed := u.DeepCopy()
	changeElsewhere(t, changed)
	got, err := api.Update(t.Context(), changed, metav1.UpdateOptions{})
	switch {
	case o.stuck && err == nil:
		t.Error("a spec without what is required was accepted")
	case !o.stuck && err != nil:
		t.Fatalf("the rest of the spec cannot be changed: %v", err)
	case err == nil:
		u = got
	}
	if o.correct != nil {
		broken := u.DeepCopy()
		o.correct(t, u)
		if u, err = api.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
			t.Fatalf("the spec cannot be corrected: %v", err)
		}
		broken.SetResourceVersion(u.GetResourceVersion())
		if _, err := api.Update(t.Context(), broken, metav1.UpdateOptions{}); err == nil {
			t.Error("what had been corrected could be broken again")
		}
	}

	if err := api.Delete(t.Context(), o.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if u, err = api.Get(t.Context(), o.name, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	u.SetFinalizers(nil)
	if _, err := api.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Errorf("the finalizer cannot be removed: %v", err)
	}
}

// reasonKey is the key of the status that says why; in EtcdBackup it is in capitals.
func reasonKey(u *unstructured.Unstructured) string {
	if u.GetKind() == "EtcdBackup" {
		return "Reason"
	}
	return "reason"
}

// changeElsewhere changes a field that none of the old objects has wrong.
func changeElsewhere(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	switch u.GetKind() {
	case "EtcdCluster":
		set(t, u, true, "spec", "paused")
	case "EtcdBackup":
		set(t, u, "etcd-client-tls", "spec", "clientTLSSecret")
	case "EtcdRestore":
		set(t, u, map[string]any{"path": "other/key"}, "spec", "gcs")
	}
}

// storeOriginalDefinition writes the definition that the original made straight into the API server's store:
// in the API version of its time, without a schema and without subresources. Today's API cannot make such a
// definition any more, but clusters which were upgraded again and again have it.
func storeOriginalDefinition(t *testing.T, ours *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	names := ours.Spec.Names
	shortNames := "[]"
	if len(names.ShortNames) > 0 {
		shortNames = fmt.Sprintf("[%q]", names.ShortNames[0])
	}
	text := fmt.Sprintf(`{"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1",
"metadata": {"name": %[1]q, "uid": "%[1]s", "generation": 1, "creationTimestamp": "2019-03-01T10:00:00Z"},
"spec": {"group": %[2]q, "version": "v1beta2", "scope": "Namespaced", "preserveUnknownFields": true,
  "names": {"plural": %[3]q, "singular": %[4]q, "kind": %[5]q, "listKind": %[6]q, "shortNames": %[7]s},
  "versions": [{"name": "v1beta2", "served": true, "storage": true}], "conversion": {"strategy": "None"}},
"status": {
  "conditions": [
    {"type": "NamesAccepted", "status": "True", "lastTransitionTime": "2019-03-01T10:00:00Z", "reason": "NoConflicts", "message": "no conflicts found"},
    {"type": "Established", "status": "True", "lastTransitionTime": "2019-03-01T10:00:00Z", "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"}],
  "acceptedNames": {"plural": %[3]q, "singular": %[4]q, "kind": %[5]q, "listKind": %[6]q, "shortNames": %[7]s},
  "storedVersions": ["v1beta2"]}}`,
		ours.Name, ours.Spec.Group, names.Plural, names.Singular, names.Kind, names.ListKind, shortNames)
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{server.EtcdEndpoint()}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if _, err := store.Put(t.Context(), "/registry/apiextensions.k8s.io/customresourcedefinitions/"+ours.Name, text); err != nil {
		t.Fatal(err)
	}
}

// createForkDefinition makes a definition of today's API version with a schema that accepts everything and
// without a status subresource, as the fork has it.
func createForkDefinition(t *testing.T, ours *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	yes := true
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: ours.Name, Annotations: map[string]string{"controller-gen.kubebuilder.io/version": "v0.15.0"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: ours.Spec.Group, Scope: ours.Spec.Scope, Names: ours.Spec.Names,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta2", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": anything, "status": anything},
				}},
			}},
		},
	}
	if _, err := crds(t).Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
