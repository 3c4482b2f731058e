// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplane says what the lab's control plane consists of: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler and the volume provisioner, as one machine in the network of the switch.
package controlplane

import (
	"path/filepath"
	"strconv"

	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/machine"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

// Name is the name of the machine.
const Name = "control-plane"

const (
	port                     = 6443
	etcdClient, etcdPeerPort = 2379, 2380
)

// URL is where the API server is reached, from the machine the lab runs on and from every node.
func URL() string { return "https://" + network.ControlPlane + ":" + strconv.Itoa(port) }

// ControlPlane is what the control plane is made of.
type ControlPlane struct {
	// Dir is the folder of its data, Logs the one for the logs of its components, and AuditDir the one for the API server's audit
	// log, with the policy in it.
	Dir, Logs, AuditDir string
	// Lab is the lab program, StateDir the lab's folder, which the lab's own components are told.
	Lab, StateDir string
	// Set holds the programs, PKI the certificates, to which those that are missing are added.
	Set *artifacts.Set
	PKI *pki.Store
}

// Spec returns the machine.
func (c ControlPlane) Spec(cgroups []string, report string) (machine.Spec, error) {
	components, err := c.components()
	if err != nil {
		return machine.Spec{}, err
	}
	return machine.Spec{Name: Name, Cgroups: cgroups, Components: components, Report: report}, nil
}

func (c ControlPlane) components() ([]machine.Component, error) {
	api, err := apiserver.Args(apiserver.Options{
		PKI:              c.PKI,
		EtcdEndpoint:     "http://127.0.0.1:" + strconv.Itoa(etcdClient),
		BindAddress:      "0.0.0.0",
		AdvertiseAddress: network.ControlPlane,
		Port:             port,
		ServiceCIDR:      network.Services,
		AuditDir:         c.AuditDir,
	})
	if err != nil {
		return nil, err
	}
	manager, err := c.PKI.Kubeconfig("kube-controller-manager", URL(), pki.Identity{CommonName: "system:kube-controller-manager"})
	if err != nil {
		return nil, err
	}
	scheduler, err := c.PKI.Kubeconfig("kube-scheduler", URL(), pki.Identity{CommonName: "system:kube-scheduler"})
	if err != nil {
		return nil, err
	}
	own := func(command string) []string { return []string{c.Lab, command, "--state-dir=" + c.StateDir} }
	components := []machine.Component{
		{
			Name: "etcd",
			Command: append([]string{filepath.Join(c.Set.Etcd[artifacts.ControlPlaneEtcd], "etcd")},
				apiserver.EtcdArgs(filepath.Join(c.Dir, "etcd"), etcdClient, etcdPeerPort)...),
		},
		{Name: "kube-apiserver", Command: append([]string{filepath.Join(c.Set.Bin, "kube-apiserver")}, api...)},
		// The others may not read what they need at their start before the API server has written its first roles.
		{Name: "api-ready", Command: own("wait-for-api"), Once: true},
		{Name: "kube-controller-manager", Command: []string{
			filepath.Join(c.Set.Bin, "kube-controller-manager"),
			"--kubeconfig=" + manager,
			"--authentication-kubeconfig=" + manager,
			"--authorization-kubeconfig=" + manager,
			"--service-account-private-key-file=" + c.PKI.ServiceAccountKey().Key,
			"--root-ca-file=" + c.PKI.CA().Cert,
			"--cluster-signing-cert-file=" + c.PKI.CA().Cert,
			"--cluster-signing-key-file=" + c.PKI.CA().Key,
			"--use-service-account-credentials=true",
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
			"--cluster-cidr=" + network.Pods,
			"--allocate-node-cidrs=false",
			// A node that is dead or cut off is NotReady after 20 s, not after the default of 50 s.
			"--node-monitor-period=2s",
			"--node-monitor-grace-period=20s",
		}},
		{Name: "kube-scheduler", Command: []string{
			filepath.Join(c.Set.Bin, "kube-scheduler"),
			"--kubeconfig=" + scheduler,
			"--authentication-kubeconfig=" + scheduler,
			"--authorization-kubeconfig=" + scheduler,
			"--leader-elect=false",
			"--bind-address=127.0.0.1",
		}},
		{Name: "volumes", Command: own("volumes")},
	}
	for i := range components {
		components[i].Log = filepath.Join(c.Logs, components[i].Name+".log")
		components[i].Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	return components, nil
}
