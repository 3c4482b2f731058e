// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Deployments, Services, CronJobs, roles. Templates are create_role.sh's, and tested in test/access.
func TestOurExamplesOfOtherKindsAreAccepted(t *testing.T) {
	t.Parallel()
	namespace, err := kube(t).CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "examples-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for file, objects := range examplesOfOtherKinds(t) {
		for _, u := range objects {
			kinds[u.GetKind()]++
			t.Run(file+"/"+u.GetKind()+"/"+u.GetName(), func(t *testing.T) {
				t.Parallel()
				where := namespace.Name
				if strings.HasPrefix(u.GetKind(), "Cluster") {
					where = ""
				}
				plural, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
				if _, err := resource(t, plural, where).Create(t.Context(), u, strictDryRun); err != nil {
					t.Fatal(err)
				}
				// What a CronJob is to create has to be accepted, too.
				if text, found, _ := unstructured.NestedString(u.Object, "data", "backup.yaml"); found {
					if _, err := resource(t, backups, namespace.Name).Create(t.Context(), object(t, text), strictDryRun); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
	for _, kind := range []string{"Deployment", "PodDisruptionBudget", "Service", "ServiceAccount", "CronJob", "ClusterRole"} {
		if kinds[kind] == 0 {
			t.Errorf("example/ has no manifest of kind %s", kind)
		}
	}
}

// examplesOfOtherKinds are the objects in example/ that are not of our group, by file.
func examplesOfOtherKinds(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	fill := strings.NewReplacer("<full-s3-path>", "mybucket/etcd.backup", "<aws-secret>", "aws",
		"<etcd-cluster-endpoints>", `"http://example-etcd-cluster-client:2379"`)
	found := map[string][]*unstructured.Unstructured{}
	err := filepath.WalkDir("../../example", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "dashboards" {
			return filepath.SkipDir
		}
		if extension := filepath.Ext(path); err != nil || extension != ".yaml" && extension != ".json" || strings.HasSuffix(path, "-template.yaml") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			// What the Prometheus operator reads is tested in test/monitoring, what Flux reads in test/gitops.
			if u := object(t, fill.Replace(string(document))); u.GroupVersionKind().Group != v1beta2.GroupName && u.GroupVersionKind().Group != "monitoring.coreos.com" &&
				!strings.HasSuffix(u.GroupVersionKind().Group, ".fluxcd.io") {
				found[path] = append(found[path], u)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
