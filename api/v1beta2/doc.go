// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1beta2 holds the API of the etcd operators: the kinds EtcdCluster, EtcdBackup and
// EtcdRestore of the group etcd.database.coreos.com.
//
// It is the API that the CoreOS etcd-operator introduced. All of its fields, JSON keys and exported Go
// names are here; docs/coming-from-coreos.md lists what a Go program has to change. Every optional field
// of a spec accepts null, which old clients write for fields they leave out.
//
// A validation rule stands at the field it is about. The API server ratchets: an object that was stored
// before the rule existed stays valid as long as the offending value itself is not changed.
//
// +kubebuilder:object:generate=true
// +groupName=etcd.database.coreos.com
package v1beta2
