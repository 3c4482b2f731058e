// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package release_test makes a release, without its image, and compares the ways to install it: whoever changes from one to
// another gets the same objects.
package release_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/etcd-operator/etcd-operator/test/repository"
)

const (
	version   = "v0.1.0"
	image     = "ghcr.io/etcd-operator/etcd-operator:" + version
	namespace = "etcd-operator"
)

// folder is where the release is that all tests read.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "release-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

var made = sync.OnceValues(func() (string, error) {
	text, err := exec.Command(filepath.Join(repository.Root(), "hack/release.sh"), version, folder).CombinedOutput()
	return string(text), err
})

// makeRelease makes a release, once, and returns its folder.
func makeRelease(t *testing.T) string {
	t.Helper()
	if text, err := made(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return folder
}

// objects reads the objects of a manifest by kind and name.
func objects(t *testing.T, manifest []byte) map[string]*unstructured.Unstructured {
	t.Helper()
	found := map[string]*unstructured.Unstructured{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) == 0 {
			continue
		}
		key := o.GetKind() + "/" + o.GetName()
		if other := o.GetNamespace(); other != "" && other != namespace {
			key += " in " + other
		}
		if _, twice := found[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		found[key] = o
	}
}

func installFile(t *testing.T, out, name string) map[string]*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, text)
}

func kustomized(t *testing.T, out, overlay string) map[string]*unstructured.Unstructured {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(out, "kustomize/overlays", overlay))
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, text)
}

func loadChart(t *testing.T, out string) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(filepath.Join(out, "etcd-operator-"+strings.TrimPrefix(version, "v")+".tgz"))
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// render is what `helm template` prints, without the CRDs, which are not part of it either.
func render(t *testing.T, c *chart.Chart, values map[string]any) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "x", Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}) {
		if strings.HasSuffix(name, ".yaml") {
			manifest.WriteString("\n---\n" + files[name])
		}
	}
	found := objects(t, manifest.Bytes())
	for _, o := range found { // as Helm does with what names no namespace
		if namespaced := !strings.HasPrefix(o.GetKind(), "Cluster"); namespaced && o.GetNamespace() == "" {
			o.SetNamespace(namespace)
		}
	}
	return found, nil
}

// withoutCRDs leaves out what the chart has elsewhere.
func withoutCRDs(all map[string]*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	rest := map[string]*unstructured.Unstructured{}
	for key, o := range all {
		if o.GetKind() != "CustomResourceDefinition" && o.GetKind() != "Namespace" {
			rest[key] = o
		}
	}
	return rest
}

func TestAllWaysToInstallGiveTheSameObjects(t *testing.T) {
	out := makeRelease(t)
	helm := loadChart(t, out)
	for form, values := range map[string]map[string]any{"namespaced": {}, "cluster-wide": {"clusterWide": true}} {
		want := installFile(t, out, "install-"+form+".yaml")
		if diff := gocmp.Diff(want, kustomized(t, out, form)); diff != "" {
			t.Errorf("%s: kustomize (-install.yaml +kustomize):\n%s", form, diff)
		}
		got, err := render(t, helm, values)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(withoutCRDs(want), got); diff != "" {
			t.Errorf("%s: helm (-install.yaml +helm):\n%s", form, diff)
		}
	}
	if diff := gocmp.Diff(installFile(t, out, "install-namespaced.yaml"), installFile(t, out, "install.yaml")); diff != "" {
		t.Errorf("install.yaml is not the namespaced one:\n%s", diff)
	}
}

// Which namespaces, no file of a release can know. The chart grants what create_role.sh does.
func TestTheChartServesSomeNamespaces(t *testing.T) {
	helm := loadChart(t, makeRelease(t))
	for _, list := range [][]any{{"a", "b"}, {"a", namespace}} {
		got, err := render(t, helm, map[string]any{"watchNamespaces": list})
		if err != nil {
			t.Fatal(err)
		}
		names := fmt.Sprintf("%s,%s", list...)
		script := exec.CommandContext(t.Context(), filepath.Join(repository.Root(), "example/rbac/create_role.sh"), "--print", "--namespace="+namespace, "--watch-namespaces="+names)
		text, err := script.Output()
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range objects(t, text) {
			if diff := gocmp.Diff(want, got[key]); diff != "" {
				t.Errorf("%s: %s (-create_role.sh +helm):\n%s", names, key, diff)
			}
			delete(got, key)
		}
		for key, o := range got {
			containers, isDeployment, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
			if !isDeployment {
				t.Errorf("%s: only the chart has %s", names, key)
				continue
			}
			if diff := gocmp.Diff([]any{"-watch-namespaces=" + names}, containers[0].(map[string]any)["args"]); diff != "" {
				t.Errorf("%s: the arguments of %s (-want +got):\n%s", names, key, diff)
			}
		}
	}
}

// Helm neither upgrades nor deletes what is in crds/: uninstalling it must not delete people's clusters.
func TestTheChartKeepsItsCRDsApart(t *testing.T) {
	out := makeRelease(t)
	helm := loadChart(t, out)
	want := installFile(t, out, "install.yaml")
	got := map[string]*unstructured.Unstructured{}
	for _, c := range helm.CRDObjects() {
		for key, o := range objects(t, c.File.Data) {
			got[key] = o
		}
	}
	for key, o := range want {
		if o.GetKind() == "CustomResourceDefinition" && !gocmp.Equal(o, got[key]) {
			t.Errorf("%s (-install.yaml +crds):\n%s", key, gocmp.Diff(o, got[key]))
		}
	}
	rendered, err := render(t, helm, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, o := range rendered {
		if o.GetKind() == "CustomResourceDefinition" {
			t.Errorf("%s is a template", key)
		}
	}
}

func TestTwoReplicasAreThoseOfTheExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository.Root(), "example/deployment-ha.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("ghcr.io/etcd-operator/etcd-operator:dev"), []byte(image))
	got, err := render(t, loadChart(t, makeRelease(t)), map[string]any{"replicas": 2})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range objects(t, text) {
		want.SetNamespace(namespace)
		if diff := gocmp.Diff(want, got[key]); diff != "" {
			t.Errorf("%s (-example +helm):\n%s", key, diff)
		}
	}
}

func TestTheChartRefusesValuesThatItDoesNotKnow(t *testing.T) {
	helm := loadChart(t, makeRelease(t))
	for want, values := range map[string]map[string]any{
		"clusterwide":         {"clusterwide": true},
		"replicas":            {"replicas": -1},
		"pullPolicy":          {"image": map[string]any{"pullPolicy": "Sometimes"}},
		"watchNamespaces":     {"watchNamespaces": []any{"A"}},
		"clusterWide serves":  {"clusterWide": true, "watchNamespaces": []any{"a"}},
		"metrics.podMonitor ": {"metrics": map[string]any{"podMonitor": true, "secure": true}},
	} {
		if _, err := render(t, helm, values); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v: %v", values, err)
		}
	}
	all := map[string]any{
		"imagePullSecrets": []any{map[string]any{"name": "registry"}}, "metrics": map[string]any{"secure": true}, "replicas": 3,
		"args": map[string]any{"etcd-operator": []any{"-log-level=DEBUG"}}, "nodeSelector": map[string]any{"a": "b"},
		"tolerations": []any{map[string]any{"operator": "Exists"}}, "image": map[string]any{"repository": "r", "tag": "t"},
	}
	got, err := render(t, helm, all)
	if err != nil {
		t.Fatal(err)
	}
	pod, _, _ := unstructured.NestedMap(got["Deployment/etcd-operator"].Object, "spec", "template", "spec")
	container := pod["containers"].([]any)[0].(map[string]any)
	want := []any{"r:t", []any{"-metrics-secure", "-log-level=DEBUG"}, []any{map[string]any{"name": "registry"}}, map[string]any{"a": "b"}, []any{map[string]any{"operator": "Exists"}}}
	if diff := gocmp.Diff(want, []any{container["image"], container["args"], pod["imagePullSecrets"], pod["nodeSelector"], pod["tolerations"]}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAllVersionsAgree(t *testing.T) {
	out := makeRelease(t)
	if c := loadChart(t, out); "v"+c.Metadata.Version != version || c.Metadata.AppVersion != version {
		t.Errorf("the chart is %s of %s", c.Metadata.Version, c.Metadata.AppVersion)
	}
	images := 0
	for key, o := range installFile(t, out, "install.yaml") {
		if o.GetKind() != "Deployment" {
			continue
		}
		images++
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if got := containers[0].(map[string]any)["image"]; got != image {
			t.Errorf("%s has the image %v", key, got)
		}
	}
	if images != 3 {
		t.Errorf("there are %d Deployments", images)
	}
	notes, err := os.ReadFile(filepath.Join(out, "release-notes.md"))
	if err != nil || !strings.HasPrefix(string(notes), "# etcd-operator "+version+"\n") {
		t.Errorf("the notes begin with %q: %v", cmp.Or(strings.SplitN(string(notes), "\n", 2)...), err)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--quiet", "checksums.txt")
	check.Dir = out
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("checksums: %v: %s", err, text)
	}
}

func TestAReleaseNeedsAVersionAndItsNotes(t *testing.T) {
	for given, want := range map[string]string{"1.2.3": "VERSION must be like v1.2.3", "v99.0.0": `CHANGELOG.md has no section "## v99.0.0"`} {
		text, err := exec.CommandContext(t.Context(), filepath.Join(repository.Root(), "hack/release.sh"), given, t.TempDir()).CombinedOutput()
		if err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v: %s", given, err, text)
		}
	}
}
