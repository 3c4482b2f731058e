// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// serviceVersion is what the Operator Lifecycle Manager reads of a bundle.
func serviceVersion(t *testing.T, out string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range installFile(t, out, "bundle/manifests/etcd-operator.clusterserviceversion.yaml") {
		return o
	}
	t.Fatal("there is none")
	return nil
}

func list(t *testing.T, o *unstructured.Unstructured, path ...string) []map[string]any {
	t.Helper()
	items, found, err := unstructured.NestedSlice(o.Object, path...)
	if err != nil || !found {
		t.Fatalf("%v: %v", path, err)
	}
	var maps []map[string]any
	for _, item := range items {
		maps = append(maps, item.(map[string]any))
	}
	return maps
}

func TestTheBundleInstallsTheSameDeploymentsAndCRDs(t *testing.T) {
	out := makeRelease(t)
	want := installFile(t, out, "install.yaml")
	version1 := serviceVersion(t, out)
	got := map[string]any{}
	for _, d := range list(t, version1, "spec", "install", "spec", "deployments") {
		got["Deployment/"+d["name"].(string)] = d["spec"]
	}
	for _, crd := range list(t, version1, "spec", "customresourcedefinitions", "owned") {
		key := "CustomResourceDefinition/" + crd["name"].(string)
		file := installFile(t, out, "bundle/manifests/"+crd["name"].(string)+".yaml")
		got[key] = file[key].Object["spec"]
	}
	for key, o := range want {
		if kind := o.GetKind(); kind != "Deployment" && kind != "CustomResourceDefinition" {
			continue
		}
		if diff := gocmp.Diff(o.Object["spec"], got[key]); diff != "" {
			t.Errorf("%s (-install.yaml +bundle):\n%s", key, diff)
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("the bundle has more: %v", got)
	}
}

// What an account may do is the sum of its bindings, whoever creates them.
func TestTheBundleGrantsTheSameRights(t *testing.T) {
	out := makeRelease(t)
	all := installFile(t, out, "install.yaml")
	want, got := map[string][]string{}, map[string][]string{}
	note := func(into map[string][]string, key string, rules []any) {
		for _, rule := range rules {
			text, err := yaml.Marshal(rule)
			if err != nil {
				t.Fatal(err)
			}
			into[key] = append(into[key], string(text))
		}
	}
	for _, o := range all {
		role := strings.TrimSuffix(o.GetKind(), "Binding")
		if role == o.GetKind() {
			continue
		}
		name, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
		rules, _, _ := unstructured.NestedSlice(all[role+"/"+name].Object, "rules")
		for _, subject := range list(t, o, "subjects") {
			note(want, role+" of "+subject["name"].(string), rules)
		}
	}
	for field, role := range map[string]string{"permissions": "Role", "clusterPermissions": "ClusterRole"} {
		for _, permission := range list(t, serviceVersion(t, out), "spec", "install", "spec", field) {
			note(got, role+" of "+permission["serviceAccountName"].(string), permission["rules"].([]any))
		}
	}
	for _, rights := range []map[string][]string{want, got} {
		for _, rules := range rights {
			slices.Sort(rules)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(want) != 6 {
		t.Errorf("(-install.yaml +bundle)\n%s", diff)
	}
}

func TestTheBundleSaysWhatItIs(t *testing.T) {
	out := makeRelease(t)
	o := serviceVersion(t, out)
	number, _, _ := unstructured.NestedString(o.Object, "spec", "version")
	if o.GetName() != "etcd-operator."+version || "v"+number != version || o.GetAnnotations()["containerImage"] != image {
		t.Errorf("it is %s, version %s, with the image %s", o.GetName(), number, o.GetAnnotations()["containerImage"])
	}
	least, _, _ := unstructured.NestedString(o.Object, "spec", "minKubeVersion")
	if chart := loadChart(t, out).Metadata.KubeVersion; !strings.Contains(chart, strings.TrimSuffix(least, ".0")) {
		t.Errorf("the bundle needs Kubernetes %s, the chart %s", least, chart)
	}
	text, err := os.ReadFile(filepath.Join(out, "bundle/metadata/annotations.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct{ Annotations map[string]string }
	if err := yaml.Unmarshal(text, &metadata); err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile(filepath.Join(out, "bundle/bundle.Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range metadata.Annotations {
		if !strings.Contains(string(dockerfile), "LABEL "+name+"="+value+"\n") {
			t.Errorf("bundle.Dockerfile lacks %s=%s", name, value)
		}
	}
	if len(metadata.Annotations) != 6 {
		t.Errorf("the annotations are %v", metadata.Annotations)
	}
}
