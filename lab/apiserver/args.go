// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/etcd-operator/etcd-operator/lab/pki"
)

// Options are what differs between one kube-apiserver and another.
type Options struct {
	// PKI holds the certificates; Args adds those that the API server needs and that are missing.
	PKI *pki.Store
	// EtcdEndpoint is the URL of the etcd that stores the objects.
	EtcdEndpoint string
	// BindAddress is the address to listen on, AdvertiseAddress the one that pods and nodes reach it at. The server's
	// certificate is valid for both, for 127.0.0.1 and for the first address of ServiceCIDR.
	BindAddress, AdvertiseAddress string
	// Port is the HTTPS port.
	Port int
	// ServiceCIDR is the range of ClusterIPs.
	ServiceCIDR string
	// AuditDir is a folder that WriteAuditPolicy has prepared, for an audit log of what ServiceAccounts do: audit.log, and
	// files named after it when that has become large. If it is empty there is none.
	AuditDir string
	// Extra flags, appended after the others.
	Extra []string
}

// frontProxyClient is the only name that may speak for others through the aggregation layer.
const frontProxyClient = "front-proxy-client"

// Args issues the certificates that a kube-apiserver needs and returns its arguments.
func Args(o Options) ([]string, error) {
	serving, err := servingIdentity(o)
	if err != nil {
		return nil, err
	}
	server, err := o.PKI.Certificate("apiserver", serving)
	if err != nil {
		return nil, err
	}
	kubelet, err := o.PKI.Certificate("apiserver-kubelet-client",
		pki.Identity{CommonName: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}})
	if err != nil {
		return nil, err
	}
	frontProxy, err := o.PKI.FrontProxyCertificate("front-proxy-client", pki.Identity{CommonName: frontProxyClient})
	if err != nil {
		return nil, err
	}
	tokens := o.PKI.ServiceAccountKey()
	args := []string{
		"--etcd-servers=" + o.EtcdEndpoint,
		"--bind-address=" + o.BindAddress,
		"--secure-port=" + strconv.Itoa(o.Port),
		"--advertise-address=" + o.AdvertiseAddress,
		"--service-cluster-ip-range=" + o.ServiceCIDR,
		"--allow-privileged=true",
		"--authorization-mode=Node,RBAC",
		// The second is off by default and on in OpenShift: who makes an object block the deletion of its owner needs rights on the
		// owner. Our roles have to be enough there, too.
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",

		"--client-ca-file=" + o.PKI.CA().Cert,
		"--tls-cert-file=" + server.Cert,
		"--tls-private-key-file=" + server.Key,

		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + tokens.Cert,
		"--service-account-signing-key-file=" + tokens.Key,

		"--kubelet-certificate-authority=" + o.PKI.CA().Cert,
		"--kubelet-client-certificate=" + kubelet.Cert,
		"--kubelet-client-key=" + kubelet.Key,
		// Nodes' names resolve nowhere on the host.
		"--kubelet-preferred-address-types=InternalIP",

		"--requestheader-client-ca-file=" + o.PKI.FrontProxyCA().Cert,
		"--requestheader-allowed-names=" + frontProxyClient,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + frontProxy.Cert,
		"--proxy-client-key-file=" + frontProxy.Key,
		// The host has no kube-proxy: aggregated APIs and webhooks are reached at their pods.
		"--enable-aggregator-routing=true",
	}
	return slices.Concat(args, auditArgs(o.AuditDir), o.Extra), nil
}

func servingIdentity(o Options) (pki.Identity, error) {
	services, err := netip.ParsePrefix(o.ServiceCIDR)
	if err != nil {
		return pki.Identity{}, fmt.Errorf("range of ClusterIPs %q: %w", o.ServiceCIDR, err)
	}
	addresses := []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), services.Masked().Addr().Next()}
	for _, s := range []string{o.BindAddress, o.AdvertiseAddress} {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return pki.Identity{}, fmt.Errorf("address of the API server %q: %w", s, err)
		}
		if !a.IsUnspecified() && !slices.Contains(addresses, a) {
			addresses = append(addresses, a)
		}
	}
	id := pki.Identity{
		CommonName: "kube-apiserver",
		DNSNames: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
		},
	}
	for _, a := range addresses {
		id.IPs = append(id.IPs, net.IP(a.AsSlice()))
	}
	return id, nil
}

// EtcdArgs returns the arguments of a single etcd on loopback which keeps its data in dataDir. It does not wait for the disk at
// each write: a lab survives the death of every process, and is recreated after the death of the machine.
func EtcdArgs(dataDir string, clientPort, peerPort int) []string {
	client := fmt.Sprintf("http://127.0.0.1:%d", clientPort)
	peer := fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	return []string{
		"--name=kubernetes",
		"--data-dir=" + dataDir,
		"--unsafe-no-fsync",
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=kubernetes=" + peer,
	}
}
