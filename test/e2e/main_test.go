// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the operators on the lab, as their users meet them: installed from
// example/, on real nodes, with real pods, and with no more rights than example/rbac gives.
package e2e

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// The tests together need every right that the operators have, except for these. Each is
// needed where it is said to be.
var rarely = func() map[string]string {
	const (
		lostRace   = "after a create that somebody else was quicker with"
		noCRD      = "the first test has brought the definitions to the lab; test/api begins without"
		olderCRD   = "the lab has no older definitions; test/api upgrades some"
		repeats    = "for an event that repeats an earlier one"
		admission  = "admission asks for it, and leaves no request in the log"
		noStreams  = "where the API server cannot stream lists, before Kubernetes 1.34; test/access does without"
		leftBehind = "after a restore that was deleted while its cluster carried the request; test/restore has one"
		crds       = " customresourcedefinitions.apiextensions.k8s.io"
		group      = ".etcd.database.coreos.com"
	)
	return map[string]string{
		"etcd-operator: get persistentvolumeclaims": lostRace,

		"etcd-operator:operators: create" + crds:         noCRD,
		"etcd-backup-operator:operators: create" + crds:  noCRD,
		"etcd-restore-operator:operators: create" + crds: noCRD,

		"etcd-operator:operators: update" + crds + " etcdclusters" + group:         olderCRD,
		"etcd-backup-operator:operators: update" + crds + " etcdbackups" + group:   olderCRD,
		"etcd-restore-operator:operators: update" + crds + " etcdrestores" + group: olderCRD,
		"etcd-restore-operator:operators: update" + crds + " etcdclusters" + group: olderCRD,

		"etcd-operator: patch events":                       repeats,
		"etcd-backup-operator: patch events.events.k8s.io":  repeats,
		"etcd-restore-operator: patch events.events.k8s.io": repeats,

		"etcd-operator: list etcdclusters" + group:              noStreams,
		"etcd-operator: list poddisruptionbudgets.policy":       noStreams,
		"etcd-operator: list networkpolicies.networking.k8s.io": noStreams,
		"etcd-operator: list secrets":                           noStreams,
		"etcd-operator: list services":                          noStreams,
		"etcd-operator:operators: list nodes":                   noStreams,
		"etcd-backup-operator: list etcdbackups" + group:        noStreams,
		"etcd-restore-operator: list etcdclusters" + group:      noStreams,
		"etcd-restore-operator: list etcdrestores" + group:      noStreams,

		"etcd-restore-operator: update etcdrestores" + group + "/finalizers": admission,
		"etcd-restore-operator: get etcdrestores" + group:                    leftBehind,
	}
}()

func TestMain(m *testing.M) { tenant.Main(m, tenant.Rights{All: true, Rarely: rarely}) }
