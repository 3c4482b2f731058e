// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package example checks what must hold between the manifests in this folder. That
// the API server takes them, and that they work, is tested in test/.
package example

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// read decodes a manifest and refuses fields that do not exist.
func read[T any](t *testing.T, path string) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var object T
	if err := yaml.UnmarshalStrict(text, &object); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return object
}

// The rights of an operator for one namespace are written down a second time, in
// two parts. They must not differ from those of an operator for all of them.
func TestBothWaysOfGrantingRightsGrantTheSame(t *testing.T) {
	everywhere := read[rbacv1.ClusterRole](t, "rbac/cluster-role-template.yaml").Rules
	inNamespace := read[rbacv1.Role](t, "rbac/role-template.yaml").Rules
	beyond := read[rbacv1.ClusterRole](t, "rbac/cluster-role-crd-template.yaml").Rules

	order := func(a, b rbacv1.PolicyRule) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	want, got := slices.SortedFunc(slices.Values(everywhere), order), slices.SortedFunc(slices.Values(slices.Concat(inNamespace, beyond)), order)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-cluster-role-template.yaml, +role-template.yaml and cluster-role-crd-template.yaml):\n%s", diff)
	}
}

func TestOnlyOurOwnGroupIsGrantedAsAWhole(t *testing.T) {
	for _, rule := range read[rbacv1.ClusterRole](t, "rbac/cluster-role-template.yaml").Rules {
		if slices.Equal(rule.APIGroups, []string{"etcd.database.coreos.com"}) {
			continue
		}
		if all := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs); slices.Contains(all, "*") {
			t.Errorf("a rule with a wildcard: %v", rule)
		}
		if slices.Contains(rule.Resources, "secrets") && slices.ContainsFunc(rule.Verbs, func(verb string) bool {
			// The restore operator keeps its certificate and the tickets of restores in Secrets.
			return !slices.Contains([]string{"get", "list", "watch", "create", "update", "delete"}, verb)
		}) || slices.Contains(rule.Resources, "secrets") && len(rule.Resources) > 1 {
			t.Errorf("more is granted on secrets than the operators need: %v", rule)
		}
	}
}

// The names are what scripts written for the original use.
func TestEachOperatorHasADeploymentOfItsNameThatRunsItsProgram(t *testing.T) {
	ports := map[int32]string{}
	for name, path := range map[string]string{
		"etcd-operator":         "deployment.yaml",
		"etcd-backup-operator":  "etcd-backup-operator/deployment.yaml",
		"etcd-restore-operator": "etcd-restore-operator/deployment.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			deployment := read[appsv1.Deployment](t, path)
			container := deployment.Spec.Template.Spec.Containers[0]
			if deployment.Name != name || !slices.Equal(container.Command, []string{name}) {
				t.Errorf("Deployment %s runs %s, want %s twice", deployment.Name, strings.Join(container.Command, " "), name)
			}
			if got := deployment.Spec.Template.Labels["name"]; got != name {
				t.Errorf("label name=%s, want %s", got, name)
			}
			env := map[string]string{}
			for _, e := range container.Env {
				env[e.Name] = e.ValueFrom.FieldRef.FieldPath
			}
			want := map[string]string{"MY_POD_NAMESPACE": "metadata.namespace", "MY_POD_NAME": "metadata.name"}
			if diff := gocmp.Diff(want, env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			port := container.Ports[0].ContainerPort
			if other, taken := ports[port]; taken {
				t.Errorf("port %d is that of %s too: they could not share a pod", port, other)
			}
			ports[port] = name
		})
	}
}
