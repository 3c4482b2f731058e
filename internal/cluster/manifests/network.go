// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// OperatorPeers are the operators as those who connect to members: the etcd-operator by the labels of its own pod, and an
// etcd-backup-operator beside it by the label that its manifest gives it.
func OperatorPeers(namespace string, ownLabels map[string]string) []networkingv1.NetworkPolicyPeer {
	home := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	own := maps.Clone(ownLabels)
	delete(own, "pod-template-hash") // it changes with each release
	return []networkingv1.NetworkPolicyPeer{
		{NamespaceSelector: home, PodSelector: &metav1.LabelSelector{MatchLabels: own}},
		{NamespaceSelector: home, PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "etcd-backup-operator"}}},
	}
}

// NetworkPolicy lets the members reach each other, the operators and clients reach the members, and nobody else.
func NetworkPolicy(c *v1beta2.EtcdCluster, operators []networkingv1.NetworkPolicyPeer) *networkingv1.NetworkPolicy {
	members := metav1.LabelSelector{MatchLabels: ClusterLabels(c.Name)}
	clients := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	var metrics []networkingv1.NetworkPolicyPeer
	if policy := c.Spec.NetworkPolicy; policy != nil {
		if len(policy.Clients) > 0 {
			clients = peers(policy.Clients)
		}
		metrics = peers(policy.Metrics)
	}
	rules := []networkingv1.NetworkPolicyIngressRule{
		{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &members}}, Ports: ports(PeerPort, ClientPort)},
		{From: clients, Ports: ports(ClientPort, MetricsPort)},
	}
	// A rule from nobody would be one from everybody.
	if len(operators) > 0 {
		rules = append(rules, networkingv1.NetworkPolicyIngressRule{From: operators, Ports: ports(ClientPort)})
	}
	if len(metrics) > 0 {
		rules = append(rules, networkingv1.NetworkPolicyIngressRule{From: metrics, Ports: ports(MetricsPort)})
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: objectMeta(c, c.Name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: members,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress:     rules,
		},
	}
}

func peers(list []v1beta2.NetworkPeer) []networkingv1.NetworkPolicyPeer {
	all := make([]networkingv1.NetworkPolicyPeer, 0, len(list))
	for _, p := range list {
		all = append(all, networkingv1.NetworkPolicyPeer(*p.DeepCopy()))
	}
	return all
}

func ports(numbers ...int32) []networkingv1.NetworkPolicyPort {
	all := make([]networkingv1.NetworkPolicyPort, 0, len(numbers))
	for _, n := range numbers {
		all = append(all, networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(n))})
	}
	return all
}
