// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package api tests our kinds against a real API server: what it accepts, what it refuses and in which
// words, what it shows, and how their definitions get there. One API server, without nodes, serves all
// tests of the package; each test works in a namespace or an API group of its own.
package api

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

var (
	server *harness.Server

	clusters = v1beta2.SchemeGroupVersion.WithResource(v1beta2.EtcdClusterResourcePlural)
	backups  = v1beta2.SchemeGroupVersion.WithResource(v1beta2.EtcdBackupResourcePlural)
	restores = v1beta2.SchemeGroupVersion.WithResource(v1beta2.EtcdRestoreResourcePlural)
)

func TestMain(m *testing.M) {
	harness.Main(m, harness.Options{
		Setup: func(_ context.Context, s *harness.Server) error {
			server = s
			return nil
		},
		Finish: func() error {
			if everything := flag.Lookup("test.run").Value.String() == ""; !everything {
				return nil
			}
			return untestedRules()
		},
	})
}

// refusals collects the refusals that tests have seen.
var refusals struct {
	sync.Mutex
	seen []struct{ kind, words string }
}

// untestedRules returns an error that names each rule of our definitions that no test has seen broken.
func untestedRules() error {
	var errs []error
	var visit func(kind, path string, s apiextensionsv1.JSONSchemaProps)
	visit = func(kind, path string, s apiextensionsv1.JSONSchemaProps) {
		for _, rule := range s.XValidations {
			at := strings.TrimPrefix(path+rule.FieldPath, ".") + ": "
			ofKind := kind
			if inner, embedded := strings.CutPrefix(at, "spec.clusterSpec"); embedded && strings.HasPrefix(path, ".spec.clusterSpec") {
				// An EtcdRestore holds the very type that an EtcdCluster has as its spec.
				ofKind, at = "EtcdCluster", "spec"+inner
			}
			broken := func(r struct{ kind, words string }) bool {
				return r.kind == ofKind && strings.Contains(r.words, at) && strings.Contains(r.words, rule.Message)
			}
			if rule.Message == "" || !slices.ContainsFunc(refusals.seen, broken) {
				errs = append(errs, fmt.Errorf("no test breaks this rule of %s: %s%s", kind, at, rule.Rule))
			}
		}
		for name, property := range s.Properties {
			visit(kind, path+"."+name, property)
		}
		if s.Items != nil {
			visit(kind, path+"[0]", *s.Items.Schema)
		}
	}
	for _, definition := range crd.All() {
		visit(definition.Spec.Names.Kind, "", *definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
	return errors.Join(errs...)
}

func kube(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// resource gives access to the objects of a kind in a namespace, free of any Go type of ours.
func resource(t *testing.T, gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(gvr).Namespace(namespace)
}

// object reads a manifest.
func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(manifest), &u.Object); err != nil {
		t.Fatalf("%v in the manifest:\n%s", err, manifest)
	}
	return u
}

// refusal returns the words in which the API server refused a request, without the name of the object in
// front, or "" where it did not.
func refusal(t *testing.T, err error, kind, name string) string {
	t.Helper()
	if err == nil {
		return ""
	}
	words, ok := strings.CutPrefix(err.Error(), fmt.Sprintf("%s.%s %q is invalid: ", kind, v1beta2.GroupName, name))
	if !ok {
		t.Fatalf("the request failed in another way than by validation: %v", err)
	}
	refusals.Lock()
	defer refusals.Unlock()
	refusals.seen = append(refusals.seen, struct{ kind, words string }{kind, words})
	return words
}
