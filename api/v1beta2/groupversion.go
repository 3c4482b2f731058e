// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all kinds in this package.
const GroupName = "etcd.database.coreos.com"

// The kinds, their plurals, and the names of the CustomResourceDefinitions that serve them.
const (
	EtcdClusterResourceKind   = "EtcdCluster"
	EtcdClusterResourcePlural = "etcdclusters"
	EtcdClusterCRDName        = EtcdClusterResourcePlural + "." + GroupName

	EtcdBackupResourceKind   = "EtcdBackup"
	EtcdBackupResourcePlural = "etcdbackups"
	EtcdBackupCRDName        = EtcdBackupResourcePlural + "." + GroupName

	EtcdRestoreResourceKind   = "EtcdRestore"
	EtcdRestoreResourcePlural = "etcdrestores"
	EtcdRestoreCRDName        = EtcdRestoreResourcePlural + "." + GroupName
)

// An object with the annotation AnnotationScope and the value AnnotationClusterWide belongs to the operator
// that runs with -cluster-wide; an object without the annotation belongs to the operator of its namespace.
// No operator serves an object with any other value.
const (
	AnnotationScope       = GroupName + "/scope"
	AnnotationClusterWide = "clusterwide"
)

var (
	// SchemeGroupVersion is the group and version of the types in this package.
	SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta2"}

	// SchemeBuilder collects the functions that add these types to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds these types to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind qualifies a kind with the group.
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource qualifies a resource with the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(SchemeGroupVersion,
		&EtcdCluster{}, &EtcdClusterList{},
		&EtcdBackup{}, &EtcdBackupList{},
		&EtcdRestore{}, &EtcdRestoreList{},
	)
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}
