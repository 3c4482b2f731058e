// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package node says what a node of the lab consists of: a machine that sees /var/lib, /var/log and /run of its own and runs
// containerd, kubelet and kube-proxy with the paths that they have on any Linux.
//
// /var/lib and /var/log lie in the node's folder and survive the node's end, as on a disk. /run is in memory and does not.
package node

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/images"
	"github.com/etcd-operator/etcd-operator/lab/internal/machine"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

// Node is what the configuration of a node is made of.
type Node struct {
	// Number is 1 or more.
	Number int
	// Dir is its folder, Logs the one for the logs of its components.
	Dir, Logs string
	// Cgroup is the name of its control group.
	Cgroup string
	// Lab is the path of the lab program.
	Lab string
	// Set holds the programs.
	Set *artifacts.Set
	// CA is the file of the authority that signs the API server's client certificate; Certificate is the kubelet's own.
	CA          string
	Certificate pki.Pair
	// Kubeconfig and ProxyKubeconfig are those of kubelet and kube-proxy.
	Kubeconfig, ProxyKubeconfig string
	// Tars are the images that it has from the start.
	Tars []images.Tar
	// BootID is another one each time the node is switched on. Kubelet reports it, so that a report of this time can be told from
	// one of the time before.
	BootID string
}

// bootID is where the kernel keeps its own, which does not change when a node is switched off and on.
const bootID = "kernel/random/boot_id"

// BootIDOf returns the BootID of the node whose first process is pid.
func BootIDOf(pid int) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/proc/sys/%s", pid, bootID))
	if err != nil {
		return "", fmt.Errorf("look when a node was switched on: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// socket is where containerd listens, as the node sees it.
const socket = "/run/containerd/containerd.sock"

// Name returns the name of node n.
func Name(n int) string { return "node" + strconv.Itoa(n) }

// Number returns n of the node that is called name.
func Number(name string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
	return n, err == nil && n >= 1 && Name(n) == name
}

// Zone returns the zone that node n is labelled with.
func Zone(n int) string { return "zone" + strconv.Itoa(n) }

// Images returns the image store of the node: as the node sees it itself, or as it is seen from outside if pid, its first
// process, is given.
func (n Node) Images(pid int) images.Store {
	address := socket
	if pid != 0 {
		address = fmt.Sprintf("/proc/%d/root%s", pid, socket)
	}
	return images.Store{Ctr: n.Set.Ctr, Address: address, Record: filepath.Join(n.Dir, "images.json")}
}

//go:embed files
var files embed.FS

// configuration returns the node's files by their names.
func (n Node) configuration() (map[string][]byte, error) {
	values := struct {
		Node
		Name, Folder, Socket, Pause, Runc, CNIPlugins, DNS, Pods, NodePods, PodBridge string
	}{
		n, Name(n.Number), n.folder(), socket, artifacts.PauseImage, n.Set.Runc, n.Set.CNIPlugins,
		network.DNS, network.Pods, network.PodsOf(n.Number), network.PodBridge,
	}
	rendered := map[string][]byte{}
	for name, source := range map[string]string{
		"kubelet.yaml":        "kubelet.yaml",
		"kube-proxy.yaml":     "kube-proxy.yaml",
		"containerd.toml":     "containerd.toml",
		"resolv.conf":         "resolv.conf",
		"cni/10-lab.conflist": "10-lab.conflist",
	} {
		t, err := template.New(source).Option("missingkey=error").ParseFS(files, "files/"+source)
		if err != nil {
			return nil, fmt.Errorf("configuration of %s: %w", values.Name, err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, values); err != nil {
			return nil, fmt.Errorf("configuration of %s: %w", values.Name, err)
		}
		rendered[name] = b.Bytes()
	}
	wanted, err := json.MarshalIndent(Wanted{Store: n.Images(0), Tars: n.Tars}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", values.Name, err)
	}
	rendered[wantedFile] = wanted
	return rendered, nil
}

func (n Node) folder() string { return filepath.Join(n.Dir, "config") }

// wantedFile holds a Wanted.
const wantedFile = "images.json"

// Wanted is what the command that imports a node's images reads.
type Wanted struct {
	Store images.Store
	Tars  []images.Tar
}

// Write makes the node's folders and writes its configuration.
func (n Node) Write() error {
	for _, folder := range []string{"config/cni", "var-lib/kubelet/volume-plugins", "log", "volumes"} {
		if err := os.MkdirAll(filepath.Join(n.Dir, folder), 0o750); err != nil {
			return fmt.Errorf("make the folders of %s: %w", Name(n.Number), err)
		}
	}
	rendered, err := n.configuration()
	if err != nil {
		return err
	}
	for name, content := range rendered {
		path := filepath.Join(n.folder(), name)
		// kube-proxy ends when its file is written, even with the same content.
		if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, content) {
			continue
		}
		if err := wholefile.Write(path, content, 0o600); err != nil {
			return fmt.Errorf("configure %s: %w", Name(n.Number), err)
		}
	}
	return nil
}

// Spec returns the machine. keep are folders below /var/lib that the node has to see although it has a /var/lib of its own.
func (n Node) Spec(cgroups []string, report string, keep ...string) machine.Spec {
	name := Name(n.Number)
	return machine.Spec{
		Name:    name,
		Cgroups: cgroups,
		Mounts: []machine.Mount{
			{Source: filepath.Join(n.Dir, "var-lib"), Target: "/var/lib"},
			{Source: filepath.Join(n.Dir, "log"), Target: "/var/log"},
			{Target: "/run"},
		},
		Keep: keep,
		// What kubelet wants these to be. It would set them for the whole machine, which is not its own.
		Sysctls: map[string]string{
			bootID:                      n.BootID,
			"vm/overcommit_memory":      "1",
			"vm/panic_on_oom":           "0",
			"kernel/panic":              "10",
			"kernel/panic_on_oops":      "1",
			"kernel/keys/root_maxkeys":  "1000000",
			"kernel/keys/root_maxbytes": "25000000",
		},
		Components: n.components(name),
		Report:     report,
	}
}

func (n Node) components(name string) []machine.Component {
	kubernetes := func(program string) string { return filepath.Join(n.Set.Bin, program) }
	config := func(file string) string { return filepath.Join(n.folder(), file) }
	components := []machine.Component{
		{Name: "containerd", Command: []string{n.Set.Containerd, "--config=" + config("containerd.toml")}},
		{Name: "images", Command: []string{n.Lab, "import-images", config(wantedFile)}, Once: true},
		{Name: "kubelet", Command: []string{
			kubernetes("kubelet"),
			"--config=" + config("kubelet.yaml"),
			"--kubeconfig=" + n.Kubeconfig,
			"--hostname-override=" + name,
			"--node-ip=" + network.Node(n.Number),
			"--node-labels=topology.kubernetes.io/zone=" + Zone(n.Number),
			"--v=2",
		}},
		{Name: "kube-proxy", Command: []string{kubernetes("kube-proxy"), "--config=" + config("kube-proxy.yaml"), "--v=2"}},
	}
	// containerd looks for its shim beside itself only if that is on the path.
	path := filepath.Dir(n.Set.Containerd) + ":/usr/sbin:/usr/bin:/sbin:/bin"
	for i := range components {
		c := &components[i]
		c.Name = name + "-" + c.Name
		c.Log = filepath.Join(n.Logs, c.Name+".log")
		c.Env = []string{"PATH=" + path}
	}
	return components
}
