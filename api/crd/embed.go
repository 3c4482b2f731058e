// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package crd holds the CustomResourceDefinitions of our kinds, as they are generated from the types in
// api/v1beta2. The operators install them from here, so that the program and the schema it expects can
// never be of different releases.
package crd

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// AnnotationRevision is the annotation by which a definition of ours tells its age: a whole number that
// goes up with every change of the schema. A definition without it was made by somebody else.
const AnnotationRevision = v1beta2.GroupName + "/crd-revision"

var (
	//go:embed etcd.database.coreos.com_etcdclusters.yaml
	etcdClusters []byte
	//go:embed etcd.database.coreos.com_etcdbackups.yaml
	etcdBackups []byte
	//go:embed etcd.database.coreos.com_etcdrestores.yaml
	etcdRestores []byte
)

// EtcdClusters returns a new copy of the definition of EtcdCluster.
func EtcdClusters() *apiextensionsv1.CustomResourceDefinition { return parse(etcdClusters) }

// EtcdBackups returns a new copy of the definition of EtcdBackup.
func EtcdBackups() *apiextensionsv1.CustomResourceDefinition { return parse(etcdBackups) }

// EtcdRestores returns a new copy of the definition of EtcdRestore.
func EtcdRestores() *apiextensionsv1.CustomResourceDefinition { return parse(etcdRestores) }

// All returns new copies of all definitions.
func All() []*apiextensionsv1.CustomResourceDefinition {
	return []*apiextensionsv1.CustomResourceDefinition{EtcdClusters(), EtcdBackups(), EtcdRestores()}
}

func parse(text []byte) *apiextensionsv1.CustomResourceDefinition {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, definition); err != nil {
		// The text is part of the program and every test of this package reads it.
		panic(fmt.Sprintf("the embedded definition is broken: %v", err))
	}
	return definition
}
