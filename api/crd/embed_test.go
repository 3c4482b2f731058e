// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

var update = flag.Bool("update", false, "record the revisions in testdata")

func TestDefinitionsHaveTheNamesOfTheOriginal(t *testing.T) {
	want := map[string]apiextensionsv1.CustomResourceDefinitionNames{
		v1beta2.EtcdClusterCRDName: {Kind: "EtcdCluster", ListKind: "EtcdClusterList", Plural: "etcdclusters", Singular: "etcdcluster", ShortNames: []string{"etcd"}},
		v1beta2.EtcdBackupCRDName:  {Kind: "EtcdBackup", ListKind: "EtcdBackupList", Plural: "etcdbackups", Singular: "etcdbackup"},
		v1beta2.EtcdRestoreCRDName: {Kind: "EtcdRestore", ListKind: "EtcdRestoreList", Plural: "etcdrestores", Singular: "etcdrestore"},
	}
	got := map[string]apiextensionsv1.CustomResourceDefinitionNames{}
	for _, d := range crd.All() {
		got[d.Name] = d.Spec.Names
		if d.Spec.Group != v1beta2.GroupName || d.Spec.Scope != apiextensionsv1.NamespaceScoped ||
			len(d.Spec.Versions) != 1 || d.Spec.Versions[0].Name != "v1beta2" {
			t.Errorf("%s: group %s, scope %s, %d versions; want %s, Namespaced and v1beta2 alone",
				d.Name, d.Spec.Group, d.Spec.Scope, len(d.Spec.Versions), v1beta2.GroupName)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestEachCallReturnsACopyOfItsOwn(t *testing.T) {
	crd.EtcdClusters().Spec.Group = "changed"
	if got := crd.EtcdClusters().Spec.Group; got != v1beta2.GroupName {
		t.Errorf("a change of one copy shows in the next: group %q", got)
	}
}

// everyChangeIsRaised reports whether no definition has changed and kept its revision. A line is a name, a
// revision and a sum.
func everyChangeIsRaised(recorded, now string) bool {
	before := map[string]string{}
	for line := range strings.Lines(recorded) {
		if f := strings.Fields(line); len(f) == 3 {
			before[f[0]+" "+f[1]] = f[2]
		}
	}
	for line := range strings.Lines(now) {
		f := strings.Fields(line)
		if sum, same := before[f[0]+" "+f[1]]; same && sum != f[2] {
			return false
		}
	}
	return true
}

// An operator does not replace a definition of a higher revision than its own. That protects users'
// data only if every schema has a revision of its own.
func TestASchemaThatChangesRaisesItsRevision(t *testing.T) {
	const file = "testdata/revisions.txt"
	var now strings.Builder
	for _, d := range crd.All() {
		spec, err := json.Marshal(d.Spec)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&now, "%s %s %x\n", d.Name, d.Annotations[crd.AnnotationRevision], sha256.Sum256(spec))
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if *update && everyChangeIsRaised(string(recorded), now.String()) {
		if err := os.WriteFile(file, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(recorded), now.String()); diff != "" {
		t.Errorf("a definition has changed. Raise its %s, a marker in api/v1beta2, run make generate and record it with\n"+
			"  go test ./api/crd -update\n(-recorded +now):\n%s", crd.AnnotationRevision, diff)
	}
}
