// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Strict validation is what kubectl asks for: an unknown or doubled field is an error. What people have in
// their repositories must pass it, and every word of their specs must be kept.
func TestManifestsOfTheOriginalAndOfTheForkAreAccepted(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	for _, folder := range []string{"testdata/original", "testdata/fork"} {
		for file, manifests := range manifestsUnder(t, folder) {
			for _, manifest := range manifests {
				t.Run(file+"/"+manifest.GetName(), func(t *testing.T) {
					t.Parallel()
					created, err := resource(t, resourceOf(t, manifest), namespace).Create(t.Context(), manifest, strictDryRun)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(withoutNulls(manifest.Object["spec"]), withoutNulls(created.Object["spec"])); diff != "" {
						t.Errorf("the spec was changed (-sent +stored):\n%s", diff)
					}
				})
			}
		}
	}
}

// The placeholders are those that the walkthrough fills with sed.
func TestOurExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	fill := strings.NewReplacer("<full-s3-path>", "mybucket/etcd.backup", "<aws-secret>", "aws",
		"<etcd-cluster-endpoints>", `"http://example-etcd-cluster-client:2379"`)
	namespace := server.NewNamespace(t)
	kinds := map[string]int{}
	for file, manifests := range manifestsUnder(t, "../../example", fill.Replace) {
		for _, manifest := range manifests {
			kinds[manifest.GetKind()]++
			t.Run(file+"/"+manifest.GetName(), func(t *testing.T) {
				t.Parallel()
				if _, err := resource(t, resourceOf(t, manifest), namespace).Create(t.Context(), manifest, strictDryRun); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	for _, kind := range []string{v1beta2.EtcdClusterResourceKind, v1beta2.EtcdBackupResourceKind, v1beta2.EtcdRestoreResourceKind} {
		if kinds[kind] == 0 {
			t.Errorf("example/ has no manifest of kind %s", kind)
		}
	}
}

// Old manifests carry blocks that lost their meaning. They are kept as they are, so that tools which compare
// a manifest with the stored object see no difference.
func TestLeftoversAreKeptAndDoNotBlockLaterChanges(t *testing.T) {
	t.Parallel()
	api := resource(t, clusters, server.NewNamespace(t))
	manifest := manifestsUnder(t, "testdata/original")["testdata/original/cluster-leftovers.yaml"][0]
	if _, err := api.Create(t.Context(), manifest, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		t.Fatal(err)
	}
	changed, err := api.Patch(t.Context(), manifest.GetName(), types.MergePatchType, []byte(`{"spec":{"size":5}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Nobody knows what is inside these blocks, so not even a null inside them is removed.
	set(t, manifest, int64(5), "spec", "size")
	want, err := json.Marshal(manifest.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(changed.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestAnUnknownFieldIsReportedNotSwallowed(t *testing.T) {
	t.Parallel()
	_, err := resource(t, clusters, server.NewNamespace(t)).Create(t.Context(), object(t, clusterManifest("c", "{size: 3, sise: 5}")), strictDryRun)
	if err == nil || !strings.Contains(err.Error(), `unknown field "spec.sise"`) {
		t.Errorf("got error %v, want one that names spec.sise", err)
	}
}

// manifestsUnder reads the objects of our group from all YAML and JSON files under a folder, by file.
func manifestsUnder(t *testing.T, folder string, edits ...func(string) string) map[string][]*unstructured.Unstructured {
	t.Helper()
	found := map[string][]*unstructured.Unstructured{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || (filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, edit := range edits {
			text = []byte(edit(string(text)))
		}
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if u := object(t, string(document)); u.GroupVersionKind().Group == v1beta2.GroupName {
				found[path] = append(found[path], u)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no manifests under %s", folder)
	}
	return found
}

// resourceOf finds the resource of an object of ours by its kind.
func resourceOf(t *testing.T, u *unstructured.Unstructured) schema.GroupVersionResource {
	t.Helper()
	switch u.GroupVersionKind() {
	case v1beta2.SchemeGroupVersion.WithKind(v1beta2.EtcdClusterResourceKind):
		return clusters
	case v1beta2.SchemeGroupVersion.WithKind(v1beta2.EtcdBackupResourceKind):
		return backups
	case v1beta2.SchemeGroupVersion.WithKind(v1beta2.EtcdRestoreResourceKind):
		return restores
	}
	t.Fatalf("%s is none of our kinds", u.GroupVersionKind())
	return schema.GroupVersionResource{}
}

// withoutNulls returns a copy without the fields that are null, and with numbers as a dynamic client has them.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range value {
			if v != nil {
				out[k] = withoutNulls(v)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = withoutNulls(v)
		}
		return out
	case float64:
		return int64(value)
	default:
		return value
	}
}
