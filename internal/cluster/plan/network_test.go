// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// walled is a cluster that asks for a network policy, and has it.
func walled() *scene {
	s := three()
	s.Operators = manifests.OperatorPeers("operators", map[string]string{"name": "etcd-operator"})
	s.Cluster.Spec.NetworkPolicy = &v1beta2.NetworkPolicy{}
	s.NetworkPolicy = manifests.NetworkPolicy(s.Cluster, s.Operators)
	return s
}

func TestTheNetworkPolicyIsAsTheSpecAsks(t *testing.T) {
	foreign := func(s *scene) { s.NetworkPolicy.OwnerReferences = others }
	check(t, map[string]planCase{
		"it is there":                      {scene: walled(), want: "steady state"},
		"it is missing":                    {scene: walled(), change: func(s *scene) { s.NetworkPolicy = nil }, want: "sync-network-policy: create NetworkPolicy c"},
		"it comes before the first member": {scene: fresh(), change: wantsWall, want: "sync-network-policy: create NetworkPolicy c"},
		"it comes before a new member":     {scene: walled(), change: func(s *scene) { s.NetworkPolicy = nil; s.Cluster.Spec.Size = 5 }, want: "sync-network-policy: create NetworkPolicy c"},
		"without quorum as well": {scene: walled(), change: func(s *scene) {
			s.NetworkPolicy = nil
			s.Etcd.Membership = nil
		}, want: "sync-network-policy: create NetworkPolicy c"},
		"the operators have moved": {scene: walled(), change: func(s *scene) {
			s.Operators = s.Operators[:1]
		}, want: "sync-network-policy: patch NetworkPolicy c (ingress[2].from)"},
		"others have opened it": {scene: walled(), change: func(s *scene) {
			s.NetworkPolicy.Spec.Ingress = append(s.NetworkPolicy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
		}, want: "sync-network-policy: patch NetworkPolicy c (ingress)"},
		"it has lost its owner": {scene: walled(), change: func(s *scene) { s.NetworkPolicy.OwnerReferences = nil }, want: "sync-network-policy: patch NetworkPolicy c (+owner EtcdCluster c)"},
		"nobody wants it":       {scene: walled(), change: func(s *scene) { s.Cluster.Spec.NetworkPolicy = nil }, want: "sync-network-policy: delete NetworkPolicy c"},
		"it is being deleted":   {scene: walled(), change: func(s *scene) { s.Cluster.Spec.NetworkPolicy = nil; s.NetworkPolicy.DeletionTimestamp = now() }, want: "steady state"},
		"it is somebody else's": {scene: walled(), change: foreign, want: "wait: NameTaken"},
		"that, and nobody wants it": {scene: walled(), change: func(s *scene) {
			foreign(s)
			s.Cluster.Spec.NetworkPolicy = nil
		}, want: "steady state"},
		"that, and a member is gone":     {scene: walled(), change: func(s *scene) { foreign(s); s.losePod("c-b") }, want: "replace-lost-voter: remove member c-b"},
		"it is refused":                  {scene: walled(), change: func(s *scene) { s.NetworkPolicy = nil; s.losePod("c-b"); s.refuse(1) }, want: "replace-lost-voter: remove member c-b"},
		"the right is missing":           {scene: walled(), change: func(s *scene) { s.NetworkPolicy = nil; s.CannotPolice = true }, want: "wait: StepFailed"},
		"which matters to nobody else":   {change: func(s *scene) { s.CannotPolice = true }, want: "steady state"},
		"a member is lost meanwhile too": {scene: walled(), change: func(s *scene) { s.CannotPolice = true; s.losePod("c-b") }, want: "replace-lost-voter: remove member c-b"},
	})
}

func wantsWall(s *scene) {
	s.PeerService = manifests.PeerService(s.Cluster)
	s.Cluster.Spec.NetworkPolicy = &v1beta2.NetworkPolicy{Clients: []v1beta2.NetworkPeer{{PodSelector: &metav1.LabelSelector{}}}}
}
