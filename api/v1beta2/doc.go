// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1beta2 holds the API of the etcd operators: the kinds EtcdCluster, EtcdBackup and
// EtcdRestore of the group etcd.database.coreos.com.
//
// It is the API that the CoreOS etcd-operator introduced: every field, JSON key and Go name of it is
// kept, so that manifests, clients and scripts written against it go on working. Every optional field
// of a spec accepts null, which old clients write for what they leave out.
//
// Rules stand as close as possible to the field they are about: an API server lets an object that was
// stored before a rule existed live on, as long as the very value that breaks the rule is not touched.
//
// +kubebuilder:object:generate=true
// +groupName=etcd.database.coreos.com
package v1beta2
