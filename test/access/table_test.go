// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/test/rights"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rightsTable is the page that the test of the table keeps true.
const rightsTable = "../../docs/rights-table.md"

// The whole of `kubectl auth can-i`, for everything that the API server has, and not only for what the roles
// mention.
func TestTheTableOfRightsIsTrue(t *testing.T) {
	t.Parallel()
	server := start(t)
	for _, definition := range crd.All() {
		if err := crdinstall.Ensure(t.Context(), server.RESTConfig(), definition, logr.Discard(), nil); err != nil {
			t.Fatal(err)
		}
	}
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	subjects := []subject{
		{title: "etcd-operator", namespace: "one", account: "etcd-operator"},
		{title: "etcd-backup-operator", namespace: "one", account: "etcd-backup-operator"},
		{title: "etcd-restore-operator", namespace: "one", account: "etcd-restore-operator"},
		{title: "etcd-operator with `create_role.sh --cluster-wide`", namespace: "all", account: "etcd-operator"},
		{title: "etcd-backup-operator with `create_role.sh --cluster-wide`", namespace: "all", account: "etcd-backup-operator"},
		{title: "etcd-restore-operator with `create_role.sh --cluster-wide`", namespace: "all", account: "etcd-restore-operator"},
		{title: "etcd-operator with `create_role.sh --watch-namespaces`, where the other namespace is in the list", namespace: "away", account: "etcd-operator"},
		{title: "etcd-backup-operator with `create_role.sh --watch-namespaces`", namespace: "away", account: "etcd-backup-operator"},
		{title: "etcd-restore-operator with `create_role.sh --watch-namespaces`", namespace: "away", account: "etcd-restore-operator"},
		{title: "etcd-operator with `create_role.sh --metrics-secure`", namespace: "metrics", account: "etcd-operator"},
		{title: "etcd-backup-operator with `create_role.sh --metrics-secure`", namespace: "metrics", account: "etcd-backup-operator"},
		{title: "etcd-restore-operator with `create_role.sh --metrics-secure`", namespace: "metrics", account: "etcd-restore-operator"},
		{title: "The CronJob of `example/etcd-backup-operator/cronjob.yaml`", namespace: "one", account: "etcd-backup-cronjob"},
		{title: "Users with the ClusterRole `etcd-viewer`, which joins `view`", namespace: "one", account: "viewer"},
		{title: "Users with the ClusterRole `etcd-editor`, which joins `edit`", namespace: "one", account: "editor"},
	}
	for _, namespace := range []string{"one", "all", "away", "metrics", "other"} {
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	server.createRole(t, "--namespace=one")
	server.createRole(t, "--namespace=all", "--cluster-wide")
	server.createRole(t, "--namespace=away", "--watch-namespaces=other")
	server.createRole(t, "--namespace=metrics", "--metrics-secure")
	server.kubectl(t, "apply", "-f", "example/rbac/user-roles.yaml")
	server.kubectl(t, "-n", "one", "apply", "-f", "example/etcd-backup-operator/cronjob.yaml")
	for _, user := range []string{"viewer", "editor"} {
		server.kubectl(t, "-n", "one", "create", "rolebinding", user, "--clusterrole=etcd-"+user, "--serviceaccount=one:"+user)
	}

	c := &canI{t: t, client: client, resources: everyResource(t, client), names: namesInRoles(t)}
	c.basics = c.ask(subject{namespace: "one", account: "somebody"})
	var page strings.Builder
	page.WriteString(`# What the operators may do

This table is what a real API server answers to ` + "`kubectl auth can-i`" + `, asked for every verb on every resource that it has. A test
makes it (` + "`go test ./access -update`" + ` in ` + "`test/`" + `). What every ServiceAccount may do is left out.
[Rights](rights.md) says what it is for.
`)
	for _, s := range subjects {
		fmt.Fprintf(&page, "\n## %s\n\n%s", s.title, rightsTableOf(c.ask(s)))
	}
	if *update {
		if err := os.WriteFile(rightsTable, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(rightsTable)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("%s differs; if that is right, run this test with -update (-want +got):\n%s", rightsTable, diff)
	}
	c.never()
}

// never asks what nobody must be able to do, whatever the table says.
func (c *canI) never() {
	c.t.Helper()
	for _, account := range []string{"default", "etcd-operator", "etcd-backup-operator", "etcd-restore-operator"} {
		for _, q := range []authorizationv1.ResourceAttributes{
			{Namespace: "kube-system", Verb: "create", Resource: "secrets"},
			{Namespace: "kube-system", Verb: "get", Resource: "secrets"},
			{Namespace: "other", Verb: "create", Resource: "pods"},
			{Namespace: "one", Verb: "create", Resource: "serviceaccounts", Subresource: "token"},
			{Namespace: "one", Verb: "create", Resource: "pods", Subresource: "exec"},
			{Verb: "bind", Group: rbacv1.GroupName, Resource: "clusterroles"},
			{Verb: "escalate", Group: rbacv1.GroupName, Resource: "clusterroles"},
			{Verb: "impersonate", Resource: "users"},
		} {
			if allowed, err := c.may(c.t.Context(), subject{namespace: "one", account: account}, q); err != nil || allowed {
				c.t.Errorf("may %s of one namespace %v: %t (%v)", account, q, allowed, err)
			}
		}
	}
}

// subject is somebody with rights. Its namespace is that of the operators.
type subject struct{ title, namespace, account string }

// canI asks an API server who may do what.
type canI struct {
	t         *testing.T
	client    kubernetes.Interface
	resources map[schema.GroupResource]bool // whether it is namespaced
	// names are those of objects that some role is limited to.
	names map[schema.GroupResource][]string
	// basics are what everybody may do.
	basics map[question]bool
}

// question is one that was answered by yes.
type question struct {
	resource schema.GroupResource
	name     string
	verb     string
	where    int
}

// The columns of the table.
const (
	atHome = iota
	elsewhere
	outside
	columns
)

var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// ask returns what a subject may do beyond the basics.
func (c *canI) ask(s subject) map[question]bool {
	c.t.Helper()
	yes, errs := map[question]bool{}, []error{}
	var mu sync.Mutex
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for resource, namespaced := range c.resources {
		places := map[int]string{outside: ""}
		if namespaced {
			places = map[int]string{atHome: s.namespace, elsewhere: "other"}
		}
		for where, namespace := range places {
			slots <- struct{}{}
			group.Go(func() {
				defer func() { <-slots }()
				allowed, err := c.askOf(s, resource, namespace)
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
				for _, q := range allowed {
					q.where = where
					if !c.basics[q] {
						yes[q] = true
					}
				}
			})
		}
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		c.t.Fatal(err)
	}
	return yes
}

// askOf returns what a subject may do with a resource in a namespace.
func (c *canI) askOf(s subject, resource schema.GroupResource, namespace string) ([]question, error) {
	var yes []question
	main, sub, _ := strings.Cut(resource.Resource, "/")
	for _, verb := range verbs {
		for _, name := range append([]string{""}, c.names[resource]...) {
			allowed, err := c.may(c.t.Context(), s, authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Group: resource.Group, Resource: main, Subresource: sub, Name: name,
			})
			if err != nil {
				return nil, err
			}
			if !allowed {
				continue
			}
			yes = append(yes, question{resource: resource, name: name, verb: verb})
			if name == "" {
				break // what holds for all names holds for each
			}
		}
	}
	return yes, nil
}

func (c *canI) may(ctx context.Context, s subject, q authorizationv1.ResourceAttributes) (bool, error) {
	review, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   rights.ServiceAccount(s.namespace, s.account),
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + s.namespace, "system:authenticated"}, ResourceAttributes: &q,
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// everyResource is all that the API server has, with subresources, and whether it is in namespaces.
func everyResource(t *testing.T, client kubernetes.Interface) map[schema.GroupResource]bool {
	t.Helper()
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[schema.GroupResource]bool{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			found[schema.GroupResource{Group: version.Group, Resource: r.Name}] = r.Namespaced
		}
	}
	if len(found) < 50 {
		t.Fatalf("the API server has only these resources: %v", found)
	}
	// Roles can name a subresource that nobody serves, and admission asks for it.
	found[schema.GroupResource{Group: "etcd.database.coreos.com", Resource: "etcdrestores/finalizers"}] = true
	return found
}

// namesInRoles are the names of objects that the roles are limited to.
func namesInRoles(t *testing.T) map[schema.GroupResource][]string {
	t.Helper()
	grants, err := rights.CreateRole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[schema.GroupResource][]string{}
	for _, of := range grants {
		for _, g := range of {
			resource := schema.GroupResource{Group: g.Group, Resource: g.Resource}
			if g.Name != "" && !slices.Contains(names[resource], g.Name) {
				names[resource] = append(names[resource], g.Name)
			}
		}
	}
	return names
}

// rightsTableOf shows answers in Markdown.
func rightsTableOf(yes map[question]bool) string {
	rows := map[string]*[columns][]string{}
	for q := range yes {
		object := rights.Right{Group: q.resource.Group, Resource: q.resource.Resource}.Object()
		if q.name != "" {
			object += " `" + q.name + "`"
		}
		if rows[object] == nil {
			rows[object] = &[columns][]string{}
		}
		rows[object][q.where] = append(rows[object][q.where], q.verb)
	}
	var text strings.Builder
	text.WriteString("| | in its namespace | in other namespaces | outside of namespaces |\n| --- | --- | --- | --- |\n")
	for _, object := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&text, "| %s |", object)
		for _, found := range rows[object] {
			slices.SortFunc(found, func(a, b string) int { return slices.Index(verbs, a) - slices.Index(verbs, b) })
			text.WriteString(strings.TrimRight(" "+strings.Join(found, ", "), " ") + " |")
		}
		text.WriteString("\n")
	}
	return text.String()
}
