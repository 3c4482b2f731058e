// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// TLSPolicy configures TLS for a cluster.
type TLSPolicy struct {
	// Certificates from Secrets that the user provides and renews.
	// +optional
	// +nullable
	Static *StaticTLS `json:"static,omitempty"`
}

// StaticTLS names the Secrets that hold the certificates. Clients are served over TLS if
// member.serverSecret and operatorSecret are set; set both or neither.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.operatorSecret) && self.operatorSecret != "") == (has(self.member) && has(self.member.serverSecret) && self.member.serverSecret != "")`,message=`operatorSecret and member.serverSecret belong together: set both to serve clients over TLS, or neither`
type StaticTLS struct {
	// Certificates of the members.
	// +optional
	// +nullable
	Member *MemberSecret `json:"member,omitempty"`

	// Secret with the client certificate that the operator uses to connect to etcd: etcd-client.crt,
	// etcd-client.key and etcd-client-ca.crt, or the keys of a kubernetes.io/tls Secret.
	// +optional
	// +nullable
	OperatorSecret string `json:"operatorSecret,omitempty"`
}

// MemberSecret names the Secrets with the certificates of the members.
type MemberSecret struct {
	// Secret for the traffic between members: peer.crt, peer.key and peer-ca.crt, or the keys of a
	// kubernetes.io/tls Secret.
	// +optional
	// +nullable
	PeerSecret string `json:"peerSecret,omitempty"`

	// Secret for the traffic with clients: server.crt, server.key and server-ca.crt, or the keys of a
	// kubernetes.io/tls Secret.
	// +optional
	// +nullable
	ServerSecret string `json:"serverSecret,omitempty"`
}

// IsSecureClient reports whether clients use TLS to connect to the cluster.
func (p *TLSPolicy) IsSecureClient() bool {
	return p != nil && p.Static != nil && p.Static.OperatorSecret != ""
}

// IsSecurePeer reports whether the members use TLS among each other.
func (p *TLSPolicy) IsSecurePeer() bool {
	return p != nil && p.Static != nil && p.Static.Member != nil && p.Static.Member.PeerSecret != ""
}

// TLSProgress is how far TLS that the spec asks for has come: Pending while no member can have it yet, because its Secrets are not
// usable, and InUse from before the first member gets it.
//
// +kubebuilder:validation:Enum="";Pending;InUse
type TLSProgress string

const (
	// TLSPending means that no member has TLS yet: it can still be taken out of the spec.
	TLSPending TLSProgress = "Pending"
	// TLSInUse means that a member has TLS, or may have it.
	TLSInUse TLSProgress = "InUse"
)

// TLSStatus is how far TLS has come.
type TLSStatus struct {
	// TLS with clients: Pending or InUse. Empty if the spec does not ask for it.
	// +optional
	Clients TLSProgress `json:"clients,omitempty"`
	// TLS between members: Pending or InUse. Empty if the spec does not ask for it.
	// +optional
	Peers TLSProgress `json:"peers,omitempty"`
}
