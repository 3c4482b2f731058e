// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command olmbundle makes the bundle that the Operator Lifecycle Manager installs of a file that kubectl installs: the same
// CRDs, Deployments and rights.
//
//	olmbundle INSTALL_YAML VERSION DESCRIPTION_FILE FOLDER
package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

type object = map[string]any

const (
	packageName = "etcd-operator"
	channel     = "stable"
	repository  = "https://github.com/etcd-operator/etcd-operator"
	leastKube   = "1.30.0"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: olmbundle INSTALL_YAML VERSION DESCRIPTION_FILE FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "olmbundle:", err)
		os.Exit(1)
	}
}

func write(install, version, description, folder string) error {
	objects, err := read(install)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(description)
	if err != nil {
		return err
	}
	files := map[string]object{
		"metadata/annotations.yaml":                                {"annotations": labels()},
		"manifests/" + packageName + ".clusterserviceversion.yaml": serviceVersion(objects, strings.TrimPrefix(version, "v"), string(text)),
	}
	for _, crd := range ofKind(objects, "CustomResourceDefinition") {
		files["manifests/"+nameOf(crd)+".yaml"] = crd
	}
	for path, content := range files {
		if err := writeYAML(filepath.Join(folder, path), content); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "bundle.Dockerfile"), []byte(dockerfile()), 0o644) //nolint:gosec // it is for everybody to read
}

var separator = regexp.MustCompile(`(?m)^---$`)

func read(path string) ([]object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []object
	for _, document := range separator.Split(string(text), -1) {
		o := object{}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if len(o) > 0 {
			list = append(list, o)
		}
	}
	return list, nil
}

func writeYAML(path string, content object) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // it is for everybody to read
		return err
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // it is for everybody to read
}

func ofKind(objects []object, kind string) []object {
	list := slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return o["kind"] != kind })
	slices.SortFunc(list, func(a, b object) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	return list
}

// at is what an object has under some fields; nil where it has nothing.
func at(o object, path ...string) any {
	var value any = o
	for _, name := range path {
		below, ok := value.(object)
		if !ok {
			return nil
		}
		value = below[name]
	}
	return value
}

func nameOf(o object) string { return fmt.Sprint(at(o, "metadata", "name")) }

// serviceVersion describes one version of the operators.
func serviceVersion(objects []object, version, description string) object {
	return object{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
		"metadata": object{
			"name": packageName + ".v" + version,
			"annotations": object{
				"capabilities": "Auto Pilot", "categories": "Database", "repository": repository, "containerImage": imageOf(objects),
				"description": "Creates, scales, upgrades, backs up and repairs etcd clusters",
			},
		},
		"spec": object{
			"displayName": "etcd-operator", "version": version, "minKubeVersion": leastKube, "maturity": "beta", "description": description,
			"keywords": []any{"etcd", "database", "key value", "backup"}, "provider": object{"name": "The etcd-operator Authors"},
			"links":        []any{object{"name": "Documentation", "url": repository + "/tree/main/docs"}},
			"installModes": installModes(),
			"install": object{"strategy": "deployment", "spec": object{
				"deployments": deployments(objects), "permissions": rights(objects, "RoleBinding", "Role"), "clusterPermissions": rights(objects, "ClusterRoleBinding", "ClusterRole"),
			}},
			"customresourcedefinitions": object{"owned": owned(objects)},
		},
	}
}

// installModes: an operator serves the namespace that it runs in.
func installModes() []any {
	var modes []any
	for _, mode := range []string{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"} {
		modes = append(modes, object{"type": mode, "supported": mode == "OwnNamespace"})
	}
	return modes
}

func imageOf(objects []object) any {
	for _, deployment := range ofKind(objects, "Deployment") {
		if containers, ok := at(deployment, "spec", "template", "spec", "containers").([]any); ok && len(containers) > 0 {
			return at(containers[0].(object), "image")
		}
	}
	return nil
}

func deployments(objects []object) []any {
	var list []any
	for _, d := range ofKind(objects, "Deployment") {
		list = append(list, object{"name": nameOf(d), "label": at(d, "metadata", "labels"), "spec": d["spec"]})
	}
	return list
}

// rights are the rules that bindings of a kind give to each account.
func rights(objects []object, bindingKind, roleKind string) []any {
	rules := map[string][]any{}
	for _, binding := range ofKind(objects, bindingKind) {
		for _, role := range ofKind(objects, roleKind) {
			if nameOf(role) != at(binding, "roleRef", "name") {
				continue
			}
			for _, subject := range at(binding, "subjects").([]any) {
				account := fmt.Sprint(at(subject.(object), "name"))
				rules[account] = append(rules[account], role["rules"].([]any)...)
			}
		}
	}
	var list []any
	for _, account := range ofKind(objects, "ServiceAccount") {
		if own := rules[nameOf(account)]; len(own) > 0 {
			list = append(list, object{"serviceAccountName": nameOf(account), "rules": own})
		}
	}
	return list
}

func owned(objects []object) []any {
	var list []any
	for _, crd := range ofKind(objects, "CustomResourceDefinition") {
		for _, v := range at(crd, "spec", "versions").([]any) {
			version := v.(object)
			list = append(list, object{
				"name": nameOf(crd), "kind": at(crd, "spec", "names", "kind"), "displayName": at(crd, "spec", "names", "kind"), "version": version["name"],
				"description": at(version, "schema", "openAPIV3Schema", "description"),
			})
		}
	}
	return list
}

// labels say where in the bundle what is.
func labels() object {
	const prefix = "operators.operatorframework.io.bundle."
	return object{
		prefix + "mediatype.v1": "registry+v1", prefix + "manifests.v1": "manifests/", prefix + "metadata.v1": "metadata/",
		prefix + "package.v1": packageName, prefix + "channels.v1": channel, prefix + "channel.default.v1": channel,
	}
}

func dockerfile() string {
	lines := []string{"FROM scratch"}
	for name, value := range labels() {
		lines = append(lines, fmt.Sprintf("LABEL %s=%s", name, value))
	}
	slices.Sort(lines[1:])
	return strings.Join(append(lines, "COPY manifests /manifests/", "COPY metadata /metadata/"), "\n") + "\n"
}
