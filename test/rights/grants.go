// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package rights compares what the operators may do with what they do: it reads the roles that
// example/rbac/create_role.sh makes and the audit log of an API server, and tells which requests were
// forbidden, which rights nobody used, and which requests were allowed by rights from elsewhere.
package rights

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/test/repository"
)

// Right is the smallest thing that can be granted: one verb on one resource, or on one object of it.
type Right struct {
	// Group is the API group; Resource has a subresource after a slash.
	Group, Resource string
	// Name limits the right to one object. It is empty where there is no limit.
	Name string
	Verb string
}

// String is the right as a person would ask for it: get leases.coordination.k8s.io etcd-operator.
func (r Right) String() string {
	text := r.Verb + " " + r.Object()
	if r.Name != "" {
		text += " " + r.Name
	}
	return text
}

// Object is the resource with its group, and with its subresource after a slash.
func (r Right) Object() string {
	resource, subresource, found := strings.Cut(r.Resource, "/")
	if r.Group != "" {
		resource += "." + r.Group
	}
	if found {
		resource += "/" + subresource
	}
	return resource
}

// Grant is a right that somebody has.
type Grant struct {
	// Role is the name of the role that the right comes from.
	Role string
	// Namespace is where the right holds. Empty means everywhere.
	Namespace string
	Right
}

// Covers tells whether the grant allows a request.
func (g Grant) Covers(r Request) bool {
	if g.Namespace != "" && g.Namespace != r.Namespace {
		return false
	}
	if g.Name != "" && (g.Name != r.Name || r.Verb == "create" || r.Verb == "deletecollection") {
		return false // RBAC does not see the name of an object that is being created
	}
	return is(g.Verb, r.Verb) && is(g.Group, r.Group) && is(g.Resource, r.Resource)
}

func is(granted, asked string) bool { return granted == rbacv1.VerbAll || granted == asked }

// Grants are the rights of users, by the users' names.
type Grants map[string][]Grant

// CreateRole is what example/rbac/create_role.sh grants with these flags.
func CreateRole(ctx context.Context, flags ...string) (Grants, error) {
	script := filepath.Join(repository.Root(), "example", "rbac", "create_role.sh")
	var stderr bytes.Buffer
	render := exec.CommandContext(ctx, script, append(slices.Clone(flags), "--print")...)
	render.Stderr = &stderr
	manifests, err := render.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", script, strings.Join(flags, " "), err, stderr.Bytes())
	}
	return Parse(manifests)
}

// Parse resolves the roles and bindings among manifests. Every role that a binding names has to be there.
func Parse(manifests []byte) (Grants, error) {
	rules, bindings := map[rbacv1.RoleRef][]rbacv1.PolicyRule{}, []rbacv1.RoleBinding{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		// A ClusterRole has the fields of a Role, and a ClusterRoleBinding those of a RoleBinding.
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(text, &kind); err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		switch kind.Kind {
		case "Role", "ClusterRole":
			var role rbacv1.Role
			if err := yaml.UnmarshalStrict(text, &role); err != nil {
				return nil, fmt.Errorf("reading a %s: %w", kind.Kind, err)
			}
			rules[rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind.Kind, Name: role.Name}] = role.Rules
		case "RoleBinding", "ClusterRoleBinding":
			var b rbacv1.RoleBinding
			if err := yaml.UnmarshalStrict(text, &b); err != nil {
				return nil, fmt.Errorf("reading a %s: %w", kind.Kind, err)
			}
			bindings = append(bindings, b)
		}
	}
	return resolve(rules, bindings)
}

func resolve(rules map[rbacv1.RoleRef][]rbacv1.PolicyRule, bindings []rbacv1.RoleBinding) (Grants, error) {
	grants := Grants{}
	// A ClusterRoleBinding has no namespace: it holds everywhere.
	for _, b := range bindings {
		granted, ok := rules[b.RoleRef]
		if !ok {
			return nil, fmt.Errorf("binding %s names %s %s, which is not there", b.Name, b.RoleRef.Kind, b.RoleRef.Name)
		}
		for _, subject := range b.Subjects {
			if subject.Kind != rbacv1.ServiceAccountKind {
				return nil, fmt.Errorf("binding %s is for a %s: only ServiceAccounts are known here", b.Name, subject.Kind)
			}
			user := ServiceAccount(subject.Namespace, subject.Name)
			for _, rule := range granted {
				for _, right := range split(rule) {
					grants[user] = append(grants[user], Grant{Role: b.RoleRef.Name, Namespace: b.Namespace, Right: right})
				}
			}
		}
	}
	return grants, nil
}

// split takes a rule apart.
func split(rule rbacv1.PolicyRule) []Right {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var rights []Right
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				for _, verb := range rule.Verbs {
					rights = append(rights, Right{group, resource, name, verb})
				}
			}
		}
	}
	return rights
}

const serviceAccountPrefix = "system:serviceaccount:"

// ServiceAccount is the user name of a ServiceAccount.
func ServiceAccount(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// splitServiceAccount finds namespace and name in the user name of a ServiceAccount.
func splitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}
