// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

// inGroup returns a definition of ours moved to another API group, so that each test has one of its own.
func inGroup(definition *apiextensionsv1.CustomResourceDefinition, group string) *apiextensionsv1.CustomResourceDefinition {
	definition.Spec.Group = group
	definition.Name = definition.Spec.Names.Plural + "." + group
	return definition
}

func crds(t *testing.T) apiextensionsclient.CustomResourceDefinitionInterface {
	t.Helper()
	client, err := apiextensionsclient.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client.CustomResourceDefinitions()
}

// install installs a definition and fails the test where that takes too long.
func install(t *testing.T, cfg *rest.Config, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	if err := crdinstall.Ensure(ctx, cfg, definition, testr.New(t), nil); err != nil {
		t.Fatal(err)
	}
}

// counting returns a configuration that records each request which changes something.
func counting() (*rest.Config, func() []string) {
	var mu sync.Mutex
	var writes []string
	cfg := server.Config()
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				mu.Lock()
				writes = append(writes, r.Method)
				mu.Unlock()
			}
			return next.RoundTrip(r)
		})
	})
	return cfg, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(writes)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestInstallOnAFreshServerServesTheKindWhenItReturns(t *testing.T) {
	t.Parallel()
	for _, definition := range crd.All() {
		t.Run(definition.Spec.Names.Kind, func(t *testing.T) {
			t.Parallel()
			definition := inGroup(definition, "fresh.example.com")
			cfg, writes := counting()
			install(t, cfg, definition)
			gvr := schema.GroupVersionResource{Group: definition.Spec.Group, Version: "v1beta2", Resource: definition.Spec.Names.Plural}
			harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
				_, err := resource(t, gvr, "default").List(ctx, metav1.ListOptions{})
				return err
			})
			if diff := cmp.Diff([]string{"POST"}, writes()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInstallWritesNothingWhenAllIsInPlace(t *testing.T) {
	t.Parallel()
	for _, definition := range crd.All() {
		cfg, writes := counting()
		install(t, cfg, definition)
		if got := writes(); len(got) > 0 {
			t.Errorf("%s: a second install made the writes %v", definition.Name, got)
		}
	}
}

func TestInstallLeavesADefinitionOfANewerReleaseAlone(t *testing.T) {
	t.Parallel()
	newer := inGroup(crd.EtcdClusters(), "newer.example.com")
	newer.Annotations[crd.AnnotationRevision] = "1000"
	newer.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["ofTheFuture"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	install(t, server.Config(), newer)

	cfg, writes := counting()
	install(t, cfg, inGroup(crd.EtcdClusters(), "newer.example.com"))
	if got := writes(); len(got) > 0 {
		t.Errorf("the older release made the writes %v", got)
	}
}

func TestInstallPutsBackWhatWasChangedByHand(t *testing.T) {
	t.Parallel()
	ours := inGroup(crd.EtcdClusters(), "changed.example.com")
	install(t, server.Config(), ours)
	changed, err := crds(t).Get(t.Context(), ours.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed.Spec.Versions[0].AdditionalPrinterColumns = nil
	changed.Labels = map[string]string{"team": "db"}
	if _, err := crds(t).Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	install(t, server.Config(), ours)
	got, err := crds(t).Get(t.Context(), ours.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ours.Spec.Versions, got.Spec.Versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if got.Labels["team"] != "db" {
		t.Errorf("a label of the user is gone: %v", got.Labels)
	}
}

// An operator may start before its rights are there. It reports what is missing, and continues by itself.
func TestInstallWaitsForItsRights(t *testing.T) {
	t.Parallel()
	definition := inGroup(crd.EtcdBackups(), "rights.example.com")
	cfg := server.Config()
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "operator-without-rights"}

	waiting := make(chan string, 100)
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	go func() {
		done <- crdinstall.Ensure(ctx, cfg, definition, testr.New(t), func(reason string) { waiting <- reason })
	}()

	steps := []struct {
		verb   string // the right that is missing
		reason string
	}{
		{"get", `reading the CRD: customresourcedefinitions.apiextensions.k8s.io "` + definition.Name + `" is forbidden: User "operator-without-rights" cannot get resource`},
		{"create", `creating the CRD: customresourcedefinitions.apiextensions.k8s.io is forbidden: User "operator-without-rights" cannot create resource`},
	}
	for _, step := range steps {
		awaitReason(t, waiting, done, step.reason)
		allow(t, "operator-without-rights", step.verb)
	}
	if err := <-done; err != nil {
		t.Errorf("after the rights had come: %v", err)
	}
}

// awaitReason waits until the installer says that it waits for a reason, with what to do about it.
func awaitReason(t *testing.T, waiting <-chan string, done <-chan error, want string) {
	t.Helper()
	const advice = "give the operator's service account that right, or install the CRD yourself and start the operator with -create-crd=false"
	for {
		select {
		case got := <-waiting:
			if strings.HasPrefix(got, want) && strings.HasSuffix(got, advice) {
				return
			}
			t.Logf("waiting: %s", got)
		case err := <-done:
			t.Fatalf("the installer returned %v before it reported %q", err, want)
		}
	}
}

// allow gives a user one verb on definitions.
func allow(t *testing.T, user, verb string) {
	t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user + "-" + verb},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{verb}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := kube(t).RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kube(t).RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestManyInstallsAtOnceAllSucceed(t *testing.T) {
	t.Parallel()
	start := inGroup(crd.EtcdClusters(), "race.example.com")
	start.Annotations[crd.AnnotationRevision] = "0"
	start.Spec.Versions[0].AdditionalPrinterColumns = nil
	for _, existing := range []string{"none", "an older one"} {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() { install(t, server.Config(), inGroup(crd.EtcdClusters(), start.Spec.Group)) })
		}
		group.Wait()
		got, err := crds(t).Get(t.Context(), start.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(crd.EtcdClusters().Spec.Versions, got.Spec.Versions); diff != "" {
			t.Errorf("existing definition: %s; versions (-want +got):\n%s", existing, diff)
		}
		// The second round starts from an older definition.
		start.ResourceVersion = got.ResourceVersion
		if _, err := crds(t).Update(t.Context(), start, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// A definition that is being deleted takes its objects with it; nothing can save them. It comes back empty.
func TestInstallWaitsUntilADeletedDefinitionIsGone(t *testing.T) {
	t.Parallel()
	definition := inGroup(crd.EtcdRestores(), "deleted.example.com")
	definition.Finalizers = []string{"example.com/hold"}
	install(t, server.Config(), definition)
	if err := crds(t).Delete(t.Context(), definition.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	waiting := make(chan string, 100)
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	go func() {
		fresh := inGroup(crd.EtcdRestores(), "deleted.example.com")
		done <- crdinstall.Ensure(ctx, server.Config(), fresh, testr.New(t), func(reason string) { waiting <- reason })
	}()
	if got, want := <-waiting, "the CRD is being deleted; it is recreated as soon as it is gone"; got != want {
		t.Errorf("it waits because %q, want %q", got, want)
	}
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		held, err := crds(t).Get(ctx, definition.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		held.Finalizers = slices.DeleteFunc(held.Finalizers, func(f string) bool { return f == "example.com/hold" })
		_, err = crds(t).Update(ctx, held, metav1.UpdateOptions{})
		return err
	})
	if err := <-done; err != nil {
		t.Errorf("after the definition was gone: %v", err)
	}
}

func TestInstallReportsWhichNamesAreTaken(t *testing.T) {
	t.Parallel()
	squatter := inGroup(crd.EtcdRestores(), "names.example.com")
	squatter.Spec.Names.ShortNames = []string{"etcd"}
	install(t, server.Config(), squatter)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waiting := make(chan string, 100)
	done := make(chan error, 1)
	go func() {
		ours := inGroup(crd.EtcdClusters(), "names.example.com")
		done <- crdinstall.Ensure(ctx, server.Config(), ours, testr.New(t), func(reason string) { waiting <- reason })
	}()
	want := `the API server refuses the names of the CRD: "etcd" is already in use; delete the other CRD that uses them`
	if got := <-waiting; got != want {
		t.Errorf("it waits because %q, want %q", got, want)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("an install that was called off returned %v", err)
	}
}
