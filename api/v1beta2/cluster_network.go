// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import networkingv1 "k8s.io/api/networking/v1"

// NetworkPolicy says who may connect to the members, besides the members themselves and the operators. If it is set, the
// operator maintains a NetworkPolicy of Kubernetes, which a network plugin has to enforce.
type NetworkPolicy struct {
	// Who may connect to the client port, as in the field "from" of a NetworkPolicy. Default: all pods of the cluster's
	// namespace.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Clients []NetworkPeer `json:"clients,omitempty"`

	// Who may read the metrics of the members besides the clients, as in the field "from" of a NetworkPolicy.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Metrics []NetworkPeer `json:"metrics,omitempty"`
}

// NetworkPeer is one entry of the field "from" of a NetworkPolicy.
//
// +kubebuilder:validation:XValidation:rule=`has(self.podSelector) || has(self.namespaceSelector) || has(self.ipBlock)`,message=`must have a podSelector, a namespaceSelector or an ipBlock`
// +kubebuilder:validation:XValidation:rule=`!has(self.ipBlock) || !(has(self.podSelector) || has(self.namespaceSelector))`,message=`ipBlock cannot be combined with podSelector or namespaceSelector: make it an entry of its own`
type NetworkPeer networkingv1.NetworkPolicyPeer
