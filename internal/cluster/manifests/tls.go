// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

const (
	volumePeerTLS   = "member-peer-tls"
	volumeServerTLS = "member-server-tls"
	volumeClientTLS = "etcd-client-tls"
	mountPeerTLS    = "/etc/etcdtls/member/peer-tls"
	mountServerTLS  = "/etc/etcdtls/member/server-tls"
	mountClientTLS  = "/etc/etcdtls/operator/etcd-tls"
)

// TLSFiles are the three files of a secret: under the names of the original, and
// under those of a kubernetes.io/tls secret.
type TLSFiles struct{ Cert, Key, CA string }

// Names of the files in the secrets.
var (
	PeerFiles     = TLSFiles{"peer.crt", "peer.key", "peer-ca.crt"}
	ServerFiles   = TLSFiles{"server.crt", "server.key", "server-ca.crt"}
	OperatorFiles = TLSFiles{"etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt"}
	StandardFiles = TLSFiles{"tls.crt", "tls.key", "ca.crt"}
)

// In returns the names under which a secret with these keys has the files: the
// original's where they are there, otherwise the standard ones.
func (f TLSFiles) In(keys []string) TLSFiles {
	if !slices.Contains(keys, f.Cert) && slices.Contains(keys, StandardFiles.Cert) {
		return StandardFiles
	}
	return f
}

// Missing returns the files that a secret with these keys lacks.
func (f TLSFiles) Missing(keys []string) []string {
	in := f.In(keys)
	var missing []string
	for _, name := range []string{in.Cert, in.Key, in.CA} {
		if !slices.Contains(keys, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

type tlsVolume struct {
	secret, volume, mount string
	files                 TLSFiles
}

// items maps standard keys to the names of the original, so that the files in the
// pod have the same names whatever kind the secret is of.
func (t tlsVolume) items(keys []string) []corev1.KeyToPath {
	if t.files.In(keys) == t.files {
		return nil
	}
	return []corev1.KeyToPath{
		{Key: StandardFiles.Cert, Path: t.files.Cert},
		{Key: StandardFiles.Key, Path: t.files.Key},
		{Key: StandardFiles.CA, Path: t.files.CA},
	}
}

// tlsVolumes are those that etcd itself reads, podTLSVolumes all that its container has: people use the
// certificate of a client there, with etcdctl, at the place where the original's probes had it.
func podTLSVolumes(c *v1beta2.EtcdCluster) []tlsVolume {
	list := tlsVolumes(c)
	if c.Spec.TLS.IsSecureClient() {
		list = append(list, tlsVolume{c.Spec.TLS.Static.OperatorSecret, volumeClientTLS, mountClientTLS, OperatorFiles})
	}
	return list
}

func tlsVolumes(c *v1beta2.EtcdCluster) []tlsVolume {
	var list []tlsVolume
	if c.Spec.TLS.IsSecurePeer() {
		list = append(list, tlsVolume{c.Spec.TLS.Static.Member.PeerSecret, volumePeerTLS, mountPeerTLS, PeerFiles})
	}
	if c.Spec.TLS.IsSecureClient() && c.Spec.TLS.Static.Member != nil {
		list = append(list, tlsVolume{c.Spec.TLS.Static.Member.ServerSecret, volumeServerTLS, mountServerTLS, ServerFiles})
	}
	return list
}

// ServesTLS reports whether the etcd of a pod serves clients by TLS: as its own command line says, or as the
// spec does where that does not tell.
func ServesTLS(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		for _, arg := range pod.Spec.Containers[i].Command {
			if urls, found := strings.CutPrefix(arg, "--listen-client-urls="); found && pod.Spec.Containers[i].Name == ContainerEtcd {
				return strings.HasPrefix(urls, "https://")
			}
		}
	}
	return c.Spec.TLS.IsSecureClient()
}

func tlsFlags(c *v1beta2.EtcdCluster) []string {
	var flags []string
	for _, t := range tlsVolumes(c) {
		prefix := "--"
		if t.volume == volumePeerTLS {
			prefix = "--peer-"
		}
		flags = append(flags,
			prefix+"client-cert-auth=true",
			fmt.Sprintf("%strusted-ca-file=%s/%s", prefix, t.mount, t.files.CA),
			fmt.Sprintf("%scert-file=%s/%s", prefix, t.mount, t.files.Cert),
			fmt.Sprintf("%skey-file=%s/%s", prefix, t.mount, t.files.Key))
	}
	return flags
}

// SecretNeed is a secret that the spec refers to, and the files it has to have.
type SecretNeed struct {
	Name  string
	Field string
	Files TLSFiles
}

// SecretsOf lists the secrets that the spec refers to.
func SecretsOf(c *v1beta2.EtcdCluster) []SecretNeed {
	var needs []SecretNeed
	if c.Spec.TLS == nil || c.Spec.TLS.Static == nil {
		return nil
	}
	static := c.Spec.TLS.Static
	if static.Member != nil && static.Member.PeerSecret != "" {
		needs = append(needs, SecretNeed{static.Member.PeerSecret, "spec.TLS.static.member.peerSecret", PeerFiles})
	}
	if static.Member != nil && static.Member.ServerSecret != "" {
		needs = append(needs, SecretNeed{static.Member.ServerSecret, "spec.TLS.static.member.serverSecret", ServerFiles})
	}
	if static.OperatorSecret != "" {
		needs = append(needs, SecretNeed{static.OperatorSecret, "spec.TLS.static.operatorSecret", OperatorFiles})
	}
	return needs
}

// Trust is that those who hold one secret have to accept the certificate of another: they meet it in a handshake.
type Trust struct {
	// By is the secret with the authorities, Of the one with the certificate.
	By, Of SecretNeed
	// Usages are what the certificate is shown as: that of a client, of a server, or of both.
	Usages []x509.ExtKeyUsage
}

// TrustsOf lists who has to trust whom: members each other, the operator the members, and the members the operator.
func TrustsOf(c *v1beta2.EtcdCluster) []Trust {
	var list []Trust
	var server, operator *SecretNeed
	for _, need := range SecretsOf(c) {
		switch need.Files {
		case PeerFiles:
			list = append(list, Trust{By: need, Of: need, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
		case ServerFiles:
			server = &need
		case OperatorFiles:
			operator = &need
		}
	}
	if server == nil || operator == nil {
		return list
	}
	return append(list,
		Trust{By: *operator, Of: *server, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		Trust{By: *server, Of: *operator, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}
