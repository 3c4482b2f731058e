// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/internal/outside"
)

// apiServerPatience is how long the addresses of the API server are looked for.
const apiServerPatience = 5 * time.Second

// RefuseAPIServer adds the addresses of the API server to those that objects may not lead the operator to: its own way there,
// the Service, and the address by which the API server itself wants to be reached. What cannot be found out is left out.
func RefuseAPIServer(ctx context.Context, mgr ctrl.Manager, addresses *outside.Addresses) {
	ctx, cancel := context.WithTimeout(ctx, apiServerPatience)
	defer cancel()
	known := []string{net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))}
	if u, err := url.Parse(mgr.GetConfig().Host); err == nil {
		known = append(known, u.Host)
		if u.Port() == "" {
			known = append(known, net.JoinHostPort(u.Hostname(), u.Scheme))
		}
	}
	for _, address := range append(known, advertised(ctx, mgr)...) {
		for _, found := range resolve(ctx, address) {
			addresses.RefuseAPIServer(found)
		}
	}
}

// advertised are the addresses that the API server gives to its clients.
func advertised(ctx context.Context, mgr ctrl.Manager) []string {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil
	}
	answer := &metav1.APIVersions{}
	if err := client.RESTClient().Get().AbsPath("/api").Do(ctx).Into(answer); err != nil {
		mgr.GetLogger().V(1).Info("the API server does not say where it is", "cause", err.Error())
		return nil
	}
	var found []string
	for _, server := range answer.ServerAddressByClientCIDRs {
		found = append(found, server.ServerAddress)
	}
	return found
}

// resolve are the addresses of a host and a port.
func resolve(ctx context.Context, address string) []netip.AddrPort {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return nil
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	var found []netip.AddrPort
	for _, ip := range ips {
		found = append(found, netip.AddrPortFrom(ip, uint16(number)))
	}
	return found
}
