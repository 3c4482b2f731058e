// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const manifests = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: op, namespace: operators}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: op, namespace: operators}
rules:
- {apiGroups: [""], resources: [pods, pods/resize], verbs: [get, patch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [op], verbs: [update]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op, namespace: operators}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: op}
subjects: [{kind: ServiceAccount, name: op, namespace: operators}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: op-nodes}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: op-nodes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: op-nodes}
subjects: [{kind: ServiceAccount, name: op, namespace: operators}]
`

var (
	begin = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	all   = []string{
		"op-nodes: list nodes", "op: create leases.coordination.k8s.io", "op: get pods", "op: get pods/resize",
		"op: patch pods", "op: patch pods/resize", "op: update leases.coordination.k8s.io op",
	}
)

func installation(t *testing.T) Installation {
	t.Helper()
	grants, err := Parse([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	return Installation{Namespace: "e2e-1", Grants: grants, Since: begin, Until: begin.Add(time.Hour)}
}

// line is a line of an audit log.
func line(after time.Duration, user, verb, object, decision string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":%q,"user":{"username":%q},"objectRef":%s,"requestReceivedTimestamp":%q,"annotations":{"authorization.k8s.io/decision":%q,"authorization.k8s.io/reason":""}}`,
		verb, user, object, begin.Add(after).Format("2006-01-02T15:04:05.000000Z07:00"), decision)
}

func TestWhatALogSaysOfRights(t *testing.T) {
	const (
		op    = "system:serviceaccount:e2e-1:op"
		pod   = `{"resource":"pods","namespace":"e2e-1","name":"a","apiVersion":"v1"}`
		lease = `{"resource":"leases","namespace":"e2e-1","name":"op","apiGroup":"coordination.k8s.io","apiVersion":"v1"}`
	)
	without := func(used ...string) (unused []string) {
		for _, r := range all {
			if !strings.Contains(strings.Join(used, "\n")+"\n", r+"\n") {
				unused = append(unused, r)
			}
		}
		return unused
	}
	for name, tc := range map[string]struct {
		log                         string
		unused                      []string
		forbidden, refused, foreign []string
		torn                        int
	}{
		"nothing was asked for": {unused: all},
		"a right is used":       {log: line(1, op, "get", pod, "allow"), unused: without("op: get pods")},
		"a subresource is another right": {
			log:    line(1, op, "patch", `{"resource":"pods","subresource":"resize","namespace":"e2e-1","name":"a"}`, "allow"),
			unused: without("op: patch pods/resize"),
		},
		"a right by name":             {log: line(1, op, "update", lease, "allow"), unused: without("op: update leases.coordination.k8s.io op")},
		"the log names what was made": {log: line(1, op, "create", lease, "allow"), unused: without("op: create leases.coordination.k8s.io")},
		"outside of namespaces":       {log: line(1, op, "list", `{"resource":"nodes"}`, "allow"), unused: without("op-nodes: list nodes")},
		"a missing right": {
			log:       line(time.Second, op, "delete", pod, "forbid") + "\n" + line(2*time.Second, op, "delete", strings.Replace(pod, `"a"`, `"b"`, 1), "forbid"),
			unused:    all,
			forbidden: []string{"op: delete pods in operators (2 times, first at 12:00:01: delete pods e2e-1/a)"},
		},
		"a right that an API server which has just started does not know of yet": {
			log:     line(time.Second, op, "get", pod, "forbid"),
			unused:  all,
			refused: []string{"op: get pods in operators (1 times, first at 12:00:01: get pods e2e-1/a)"},
		},
		"a right that holds elsewhere only": {
			log:       line(0, op, "get", strings.Replace(pod, "e2e-1", "e2e-2", 1), "forbid"),
			unused:    all,
			forbidden: []string{"op: get pods in e2e-2 (1 times, first at 12:00:00: get pods e2e-2/a)"},
		},
		"a name that the right is not for": {
			log:     line(0, op, "update", strings.Replace(lease, `"op"`, `"other"`, 1), "allow"),
			unused:  all,
			foreign: []string{"op: update leases.coordination.k8s.io in operators (1 times, first at 12:00:00: update leases.coordination.k8s.io e2e-1/other)"},
		},
		"what everybody may ask": {log: line(1, op, "create", `{"resource":"selfsubjectaccessreviews","apiGroup":"authorization.k8s.io"}`, "allow"), unused: all},
		"discovery":              {log: `{"verb":"get","user":{"username":"` + op + `"},"requestURI":"/apis","annotations":{"authorization.k8s.io/decision":"allow"}}`, unused: all},
		"others": {
			log: line(1, "system:serviceaccount:e2e-1:default", "delete", pod, "forbid") + "\n" + line(1, "system:serviceaccount:e2e-2:op", "delete", pod, "forbid") +
				"\n" + line(1, "admin", "delete", pod, "forbid"),
			unused: all,
		},
		"before the rights were there, and while they are taken away": {
			log: line(-1, op, "get", pod, "forbid") + "\n" + line(time.Hour, op, "get", pod, "forbid"), unused: all,
		},
		"somebody who speaks for the operator": {
			log:    strings.Replace(line(1, "admin", "get", pod, "allow"), `"objectRef"`, `"impersonatedUser":{"username":"`+op+`"},"objectRef"`, 1),
			unused: without("op: get pods"),
		},
		"a line that a crash tore": {
			log:    line(1, op, "patch", pod, "allow")[:100] + line(1, op, "patch", pod, "allow") + "\n" + line(1, op, "get", pod, "allow"),
			unused: without("op: get pods"), torn: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := NewUsage(installation(t))
			torn, err := ReadLog(strings.NewReader(tc.log), u.Count)
			if err != nil || torn != tc.torn {
				t.Errorf("%d lines are torn (%v), want %d", torn, err, tc.torn)
			}
			for what, pair := range map[string][2][]string{
				"unused": {tc.unused, u.Unused(nil)}, "forbidden": {tc.forbidden, u.Forbidden()}, "refused": {tc.refused, u.Refused()}, "foreign": {tc.foreign, u.Foreign()},
			} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

func TestARightIsUsedIfAnyInstallationUsesIt(t *testing.T) {
	first, second := installation(t), installation(t)
	second.Namespace = "e2e-2"
	u := NewUsage(first, second)
	u.Count(Request{Time: begin, User: ServiceAccount("e2e-2", "op"), Verb: "get", Resource: "pods", Namespace: "e2e-2", Name: "a", Allowed: true})
	if unused := u.Unused(nil); len(unused) != len(all)-1 || u.Requests() != 1 {
		t.Errorf("after one request of the second, %v are unused of %d requests", unused, u.Requests())
	}
}

func TestRightsThatAreNeededRarelyAreListed(t *testing.T) {
	rarely := map[string]string{"op: get pods": "why", "op: get cats": "why"}
	u := NewUsage(installation(t))
	for _, r := range u.Unused(rarely) {
		if r == "op: get pods" {
			t.Error("it counts as unused")
		}
	}
	if diff := cmp.Diff([]string{"op: get cats"}, u.Unknown(rarely)); diff != "" {
		t.Errorf("rights on the list that nobody has (-want +got):\n%s", diff)
	}
}

func TestABindingWithoutItsRoleIsAnError(t *testing.T) {
	if _, err := Parse([]byte(strings.ReplaceAll(manifests, "kind: Role, name: op}", "kind: Role, name: other}"))); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("got %v, want an error that names the role", err)
	}
}

// The script's own objects, with what they must have in common in each mode.
func TestTheScriptGrants(t *testing.T) {
	operators := []string{"etcd-operator", "etcd-backup-operator", "etcd-restore-operator"}
	for name, tc := range map[string]struct {
		flags []string
		// where the rights hold that are for the objects that an operator serves, and who has them.
		where   []string
		account func(operator string) string
	}{
		"one namespace":  {nil, []string{Home}, func(o string) string { return o }},
		"all namespaces": {[]string{"--cluster-wide"}, []string{""}, func(o string) string { return o }},
		"some namespaces": {
			[]string{"--watch-namespaces=a,b"}, []string{"a", "b"}, func(o string) string { return o },
		},
		"some namespaces, and its own": {
			[]string{"--watch-namespaces=a," + Home}, []string{"a", Home}, func(o string) string { return o },
		},
		"to the account of the original": {[]string{"--service-account=default"}, []string{Home}, func(string) string { return "default" }},
	} {
		t.Run(name, func(t *testing.T) {
			grants, err := CreateRole(t.Context(), append(tc.flags, "--namespace="+Home)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, operator := range operators {
				found := map[string]bool{}
				for _, g := range grants[ServiceAccount(Home, tc.account(operator))] {
					switch g.Role {
					case operator:
						found["served in "+g.Namespace] = true
						if !slices.Contains(tc.where, g.Namespace) {
							t.Errorf("%s holds in %q, want %q", g.Right, g.Namespace, tc.where)
						}
					case operator + "-home":
						if slices.Contains(tc.where, Home) || g.Namespace != Home {
							t.Errorf("%s holds in %q twice", g.Right, g.Namespace)
						}
					case operator + "-self":
						found["self"] = found["self"] || g.Namespace == Home
						if g.Namespace != Home {
							t.Errorf("%s holds in %q, want %q", g.Right, g.Namespace, Home)
						}
					case operator + ":" + Home:
						found["cluster"] = true
						if r := g.Resource; r != "nodes" && r != "customresourcedefinitions" {
							t.Errorf("%s holds everywhere", g.Right)
						}
					}
				}
				if len(found) != 2+len(tc.where) {
					t.Errorf("%s has rights of these kinds only: %v", operator, found)
				}
			}
		})
	}
}
