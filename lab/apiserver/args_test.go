// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/lab/pki"
)

func TestServerIsTrustedAtEveryAddressItHas(t *testing.T) {
	tests := []struct {
		name            string
		bind, advertise string
		want            []string
	}{
		{"loopback", "127.0.0.1", "127.0.0.1", []string{"127.0.0.1", "10.96.0.1"}},
		{"everywhere", "0.0.0.0", "172.30.0.1", []string{"127.0.0.1", "10.96.0.1", "172.30.0.1"}},
		{"two addresses", "172.30.0.1", "172.30.0.2", []string{"127.0.0.1", "10.96.0.1", "172.30.0.1", "172.30.0.2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id, err := servingIdentity(Options{BindAddress: tt.bind, AdvertiseAddress: tt.advertise, ServiceCIDR: "10.96.0.0/16"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ip := range id.IPs {
				got = append(got, ip.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			if !slices.Contains(id.DNSNames, "kubernetes.default.svc") {
				t.Errorf("names %v lack the one that pods use", id.DNSNames)
			}
		})
	}
}

func TestArgsRefuseWhatIsNotAnAddress(t *testing.T) {
	store, err := pki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{
		{PKI: store, BindAddress: "localhost", AdvertiseAddress: "127.0.0.1", ServiceCIDR: "10.96.0.0/16"},
		{PKI: store, BindAddress: "127.0.0.1", AdvertiseAddress: "127.0.0.1", ServiceCIDR: "10.96.0.0"},
	} {
		if args, err := Args(o); err == nil {
			t.Errorf("accepted: %v", args)
		}
	}
}

func TestExtraFlagsComeLast(t *testing.T) {
	store, err := pki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	args, err := Args(Options{
		PKI: store, BindAddress: "127.0.0.1", AdvertiseAddress: "127.0.0.1", Port: 6443, ServiceCIDR: "10.96.0.0/16",
		Extra: []string{"--allow-privileged=false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	last := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--allow-privileged=true") })
	if last < 0 || last > slices.Index(args, "--allow-privileged=false") {
		t.Errorf("a flag of the caller does not override ours: %v", args)
	}
}
