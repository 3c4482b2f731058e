// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/crd"
)

// nullCases holds for each kind its definition and a valid object with nothing but what is required.
func nullCases(t *testing.T) map[schema.GroupVersionResource]struct {
	definition *apiextensionsv1.CustomResourceDefinition
	least      *unstructured.Unstructured
} {
	t.Helper()
	type nullCase = struct {
		definition *apiextensionsv1.CustomResourceDefinition
		least      *unstructured.Unstructured
	}
	return map[schema.GroupVersionResource]nullCase{
		clusters: {crd.EtcdClusters(), object(t, clusterManifest("x", "size: 3"))},
		backups:  {crd.EtcdBackups(), object(t, storeManifest("EtcdBackup", `etcdEndpoints: ["http://c:2379"], storageType: S3, s3: {path: b/k, awsSecret: aws}`))},
		restores: {crd.EtcdRestores(), object(t, storeManifest("EtcdRestore", "etcdCluster: {name: c}, backupStorageType: S3, s3: {path: b/k, awsSecret: aws}"))},
	}
}

// Old clients write null for what they leave out. Each optional field of each block of a spec is null
// here once, down to the last corner of the affinity.
func TestNullInASpecIsTheSameAsAnAbsentField(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	for gvr, tc := range nullCases(t) {
		t.Run(gvr.Resource, func(t *testing.T) {
			t.Parallel()
			api := resource(t, gvr, namespace)
			blocks := 0
			for path, sent := range withNulls(tc.definition, "spec", tc.least) {
				blocks++
				if neverEmpty.MatchString(path) {
					continue
				}
				created, err := api.Create(t.Context(), sent, strictDryRun)
				if err != nil {
					t.Errorf("nulls in %s are refused: %v", path, err)
					continue
				}
				if diff := cmp.Diff(withoutNulls(sent.Object["spec"]), withoutNulls(created.Object["spec"])); diff != "" {
					t.Errorf("nulls in %s (-want +got):\n%s", path, diff)
				}
			}
			if blocks == 0 {
				t.Error("no block of the spec has an optional field")
			}
		})
	}
}

func TestNullInAStatusIsTheSameAsAnAbsentField(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	for gvr, tc := range nullCases(t) {
		t.Run(gvr.Resource, func(t *testing.T) {
			t.Parallel()
			api := resource(t, gvr, namespace)
			stored, err := api.Create(t.Context(), tc.least, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			blocks := 0
			for path, sent := range withNulls(tc.definition, "status", stored) {
				blocks++
				updated, err := api.UpdateStatus(t.Context(), sent, metav1.UpdateOptions{
					DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
				})
				if err != nil {
					t.Errorf("nulls in %s are refused: %v", path, err)
					continue
				}
				if diff := cmp.Diff(withoutNulls(sent.Object["status"]), withoutNulls(updated.Object["status"])); diff != "" {
					t.Errorf("nulls in %s (-want +got):\n%s", path, diff)
				}
			}
			if blocks == 0 {
				t.Error("no block of the status has an optional field")
			}
		})
	}
}

// Server-side apply passes nulls on to the checks, where other requests have them removed before. So this
// holds for the fields that are ours, and not for what is inside the types of Kubernetes.
func TestNullIsAcceptedByServerSideApply(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	for gvr, tc := range nullCases(t) {
		t.Run(gvr.Resource, func(t *testing.T) {
			t.Parallel()
			api := resource(t, gvr, namespace)
			for path, sent := range withNulls(tc.definition, "spec", tc.least) {
				if ofKubernetes.MatchString(path) || neverEmpty.MatchString(path) {
					continue
				}
				manifest, err := sent.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				applied, err := api.Patch(t.Context(), sent.GetName(), types.ApplyPatchType, manifest, metav1.PatchOptions{
					FieldManager: "test", DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
				})
				if err != nil {
					t.Errorf("nulls in %s are refused: %v", path, err)
					continue
				}
				if diff := cmp.Diff(withoutNulls(sent.Object["spec"]), withoutNulls(applied.Object["spec"])); diff != "" {
					t.Errorf("nulls in %s (-want +got):\n%s", path, diff)
				}
			}
		})
	}
}

// ofKubernetes matches the blocks whose types are those of Kubernetes.
var ofKubernetes = regexp.MustCompile(`^spec\.(clusterSpec\.)?(pod\.(affinity|resources|tolerations|etcdEnv|persistentVolumeClaimSpec|securityContext|imagePullSecrets|hostAliases|topologySpreadConstraints)|networkPolicy\.(clients|metrics))`)

// neverEmpty matches the blocks that must have one of their optional fields: neither absent nor null can all of them be. Of a
// bootstrap that is a store's block, and none in an EtcdRestore, which has its own. A spread has a rule for what is required in it.
var neverEmpty = regexp.MustCompile(`^spec\.((clusterSpec\.)?networkPolicy\.(clients|metrics)|bootstrap\.restore(\.(abs|gcs|oss|file))?|clusterSpec\.bootstrap\.restore(\..+)?|(clusterSpec\.)?pod\.topologySpreadConstraints(\..+)?)$`)

// withNulls returns, by path, one object for each block under top ("spec" or "status") of a schema: the
// least object, with that block present and every optional field of the block null.
func withNulls(
	definition *apiextensionsv1.CustomResourceDefinition, top string, least *unstructured.Unstructured,
) map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	start := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[top]
	var visit func(path string, s apiextensionsv1.JSONSchemaProps, place func(root map[string]any) map[string]any)
	visit = func(path string, s apiextensionsv1.JSONSchemaProps, place func(root map[string]any) map[string]any) {
		root := runtime.DeepCopyJSON(least.Object)
		block := place(root)
		optional := false
		for name, property := range s.Properties {
			if property.Default != nil {
				continue // leastValue has put the default there, as the API server does
			}
			if _, there := block[name]; !there && !slices.Contains(s.Required, name) {
				block[name] = nil
				optional = true
			}
		}
		if optional {
			found[path] = &unstructured.Unstructured{Object: root}
		}
		for name, property := range s.Properties {
			element := property
			if property.Items != nil {
				element = *property.Items.Schema
			}
			if len(element.Properties) == 0 {
				continue
			}
			visit(path+"."+name, element, func(root map[string]any) map[string]any {
				parent := place(root)
				if property.Items != nil {
					child := leastObject(element)
					parent[name] = []any{child}
					return child
				}
				if child, there := parent[name].(map[string]any); there {
					return child
				}
				child := leastObject(element)
				parent[name] = child
				return child
			})
		}
	}
	visit(top, start, func(root map[string]any) map[string]any {
		if block, there := root[top].(map[string]any); there {
			return block
		}
		block := leastObject(start)
		root[top] = block
		return block
	})
	return found
}

// leastValue makes a value with nothing but what its schema requires or sets by default.
func leastValue(s apiextensionsv1.JSONSchemaProps) any {
	switch {
	case s.Default != nil:
		return decode(s.Default.Raw)
	case len(s.Enum) > 0:
		return decode(s.Enum[0].Raw)
	case s.XIntOrString:
		return "1"
	}
	switch s.Type {
	case "object":
		return leastObject(s)
	case "array":
		return []any{}
	case "integer", "number":
		return int64(1)
	case "boolean":
		return true
	}
	if s.Format == "date-time" {
		return "2026-11-15T00:00:00Z"
	}
	for _, rule := range s.XValidations {
		if example := exampleInRule.FindStringSubmatch(rule.Message); example != nil {
			return example[1]
		}
	}
	return "x"
}

// exampleInRule finds what the message of a rule gives as an example.
var exampleInRule = regexp.MustCompile(`such as "([^"]+)"`)

func leastObject(s apiextensionsv1.JSONSchemaProps) map[string]any {
	value := map[string]any{}
	for name, property := range s.Properties {
		if property.Default == nil && !slices.Contains(s.Required, name) {
			continue
		}
		value[name] = leastValue(property)
		if example, there := examples[name]; there {
			value[name] = example
		}
	}
	return value
}

// examples are values for required fields whose rules a schema cannot tell.
var examples = map[string]any{"path": "x/y", "cron": "@daily"}

func decode(text []byte) any {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err) // the schema came through an API server
	}
	return value
}
