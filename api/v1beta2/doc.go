// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1beta2 holds the API of the etcd operators: the kinds EtcdCluster, EtcdBackup and
// EtcdRestore of the group etcd.database.coreos.com.
//
// It is the API that the CoreOS etcd-operator introduced: every field, JSON key and Go name of it is
// kept, so that manifests, clients and scripts written against it go on working. Every optional field
// accepts null, because old clients write nulls. Additions are marked as such.
//
// +kubebuilder:object:generate=true
// +groupName=etcd.database.coreos.com
package v1beta2
