// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"slices"
	"testing"
)

// The rights of the operators, by their names, where they serve one namespace, some, and all.
func rolesInAllModes(t *testing.T) map[string]map[string][]Grant {
	t.Helper()
	modes := map[string]map[string][]Grant{}
	for mode, flags := range map[string][]string{"one namespace": nil, "some namespaces": {"--watch-namespaces=a,b"}, "all namespaces": {"--cluster-wide"}} {
		grants, err := CreateRole(t.Context(), append(flags, "--namespace="+Home)...)
		if err != nil {
			t.Fatal(err)
		}
		modes[mode] = map[string][]Grant{}
		for user, of := range grants {
			_, operator, _ := splitServiceAccount(user)
			modes[mode][operator] = of
		}
	}
	return modes
}

func TestRolesAreLeast(t *testing.T) {
	writing := []string{"create", "update", "patch", "delete"}
	for mode, roles := range rolesInAllModes(t) {
		if len(roles) != 3 {
			t.Errorf("%s: there are %d ServiceAccounts, want one for each operator", mode, len(roles))
		}
		for operator, grants := range roles {
			for _, g := range grants {
				forbid := func(is bool, why string) {
					if is {
						t.Errorf("%s: %s may %s in %q: %s", mode, operator, g.Right, g.Namespace, why)
					}
				}
				all := []string{g.Group, g.Resource, g.Verb}
				forbid(slices.Contains(all, "*"), "a wildcard")
				forbid(g.Verb == "deletecollection", "nobody deletes many objects at once")
				forbid(g.Group == "apps" || g.Group == "discovery.k8s.io", "no code uses it")
				forbid(g.Resource == "secrets" && slices.Contains(writing, g.Verb) && operator != "etcd-restore-operator", "only the restore operator writes Secrets")
				forbid(g.Resource == "leases" && (g.Namespace != Home || g.Verb != "create" && g.Name != operator), "a Lease that is not its own")
				forbid(g.Resource == "customresourcedefinitions" && g.Verb != "create" && g.Name == "", "all definitions")
				forbid(g.Resource == "services" && operator != "etcd-operator" && g.Namespace != Home, "Services of others")
				forbid(g.Namespace == "" && mode != "all namespaces" && g.Resource != "customresourcedefinitions" && g.Resource != "nodes", "it does not serve all namespaces")
			}
		}
	}
}

// A right that another one includes would hide whether it is needed.
func TestNoRightIsGrantedTwice(t *testing.T) {
	for mode, roles := range rolesInAllModes(t) {
		for operator, grants := range roles {
			for i, g := range grants {
				for j, other := range grants {
					wider := (other.Namespace == "" || other.Namespace == g.Namespace) && (other.Name == "" || other.Name == g.Name) &&
						other.Group == g.Group && other.Resource == g.Resource && other.Verb == g.Verb
					if i != j && wider {
						t.Errorf("%s: %s has %s in %q twice, by %s and by %s", mode, operator, g.Right, g.Namespace, g.Role, other.Role)
					}
				}
			}
		}
	}
}

// A namespace's operators must work on while those of another one get other rights.
func TestInstallationsInTwoNamespacesShareNothing(t *testing.T) {
	first, err := CreateRole(t.Context(), "--namespace=first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := CreateRole(t.Context(), "--namespace=second")
	if err != nil {
		t.Fatal(err)
	}
	clusterRoles := map[string]bool{}
	for user, grants := range first {
		if second[user] != nil {
			t.Errorf("%s has rights from both", user)
		}
		for _, g := range grants {
			clusterRoles[g.Role] = clusterRoles[g.Role] || g.Namespace == ""
		}
	}
	for _, grants := range second {
		for _, g := range grants {
			if g.Namespace == "" && clusterRoles[g.Role] {
				t.Errorf("ClusterRole %s is made by both", g.Role)
			}
		}
	}
}
