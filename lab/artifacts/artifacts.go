// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package artifacts provides everything the lab runs: Kubernetes, etcd, CoreDNS and the small images around them.
//
// Nothing is downloaded as a finished binary from a release page. Kubernetes, etcd and CoreDNS are compiled out of Go modules by
// recipes that are committed (internal/recipes), and the rest comes out of Debian's packages. Every result is cached in CacheDir
// under a name that holds its version and a hash of its recipe, so a changed recipe is built again and an unchanged one is found in
// milliseconds, from whichever clone of the project it is asked for.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

const (
	// KubernetesVersion is the version of all six Kubernetes programs.
	KubernetesVersion = recipes.KubernetesVersion
	// CoreDNSVersion is the version of the cluster DNS server.
	CoreDNSVersion = recipes.CoreDNSVersion
	// ControlPlaneEtcd is the version of the etcd that stores the lab's own Kubernetes objects.
	ControlPlaneEtcd = "v3.6.16"
)

// The names under which a lab with nodes finds its images. Manifests use them with imagePullPolicy IfNotPresent or Never:
// there is no registry to pull from.
const (
	PauseImage   = "registry.k8s.io/pause:3.10"
	CoreDNSImage = "registry.k8s.io/coredns/coredns:" + CoreDNSVersion
	BusyboxImage = "docker.io/library/busybox:1.28.0-glibc"
)

// debianEtcd is the version of etcd in Debian 12. It is older than Go modules of etcd that can be compiled.
const debianEtcd = "v3.4.23"

// EtcdVersions lists the versions of etcd whose images can be asked for, oldest first. Two patch versions of 3.5 and of 3.6 are
// there so that patch upgrades can be shown. v3.4.23 comes out of Debian 12's packages, which have no etcdutl.
var EtcdVersions = append([]string{debianEtcd}, recipes.EtcdVersions...)

// Request names what the caller needs; nothing else is built or installed.
type Request struct {
	// ControlPlane asks for kube-apiserver, kubectl and the etcd that stores Kubernetes' objects. That is enough for package
	// apiserver, and getting it needs no root.
	ControlPlane bool
	// Nodes asks for everything a full lab runs: the six Kubernetes programs, containerd, runc, the CNI plugins, the tools that
	// kubelet and kube-proxy call, and the images of CoreDNS, pause and busybox. It includes ControlPlane. Missing Debian
	// packages are installed, which needs root.
	Nodes bool
	// EtcdImages asks for the images of these versions, each one of EtcdVersions.
	EtcdImages []string
}

// Set tells where the things that were asked for are. Fields for things that were not asked for are empty.
type Set struct {
	// Bin is a folder with kube-apiserver and kubectl; with Request.Nodes also kube-controller-manager, kube-scheduler, kubelet
	// and kube-proxy.
	Bin string
	// Etcd maps a version to a folder with etcd, etcdctl and (from v3.5 on) etcdutl. It holds ControlPlaneEtcd and every version
	// of Request.EtcdImages.
	Etcd map[string]string
	// Images are the image tars to load into every node: pause, coredns, busybox, and the etcd versions asked for.
	Images []string
	// Containerd, Ctr and Runc are the paths of these programs. The containerd shim lies beside Containerd.
	Containerd, Ctr, Runc string
	// CNIPlugins is the folder with the CNI plugins bridge, host-local, loopback and portmap.
	CNIPlugins string
}

// Ensure builds or installs what is missing of r and returns where everything is. It runs Preflight first.
//
// It is safe to run from several processes at once: the first one builds, the others wait and find the result. It is safe to
// kill: results appear by rename, when they are complete. Lines for a human go to progress: what is being done, step i of n, how
// far it is and how long it took.
func Ensure(ctx context.Context, r Request, progress io.Writer) (*Set, error) {
	p, err := newPlan(r)
	if err != nil {
		return nil, err
	}
	if missing := p.missing(); len(missing) > 0 {
		if err := preflight(ctx, p.cache, missing); err != nil {
			return nil, err
		}
		if err := p.makeMissing(ctx, progress); err != nil {
			return nil, err
		}
	}
	return p.set()
}

// Preflight checks, without changing anything, whether Ensure can provide what r asks for on this machine: the operating system,
// Go, disk space, and root where packages are missing. The error is one sentence that says what to do. Nothing is asked of a
// machine on which everything is there already.
func Preflight(r Request) error {
	p, err := newPlan(r)
	if err != nil {
		return err
	}
	return preflight(context.Background(), p.cache, p.missing())
}

// cacheVariable is the environment variable that moves the cache.
const cacheVariable = "ETCD_OPERATOR_LAB_CACHE"

// CacheDir is the folder of everything this package has built: $ETCD_OPERATOR_LAB_CACHE, or else etcd-operator-lab in the user's
// cache folder. It may not exist yet.
func CacheDir() (string, error) {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep built programs in (%w): set %s", err, cacheVariable)
	}
	return filepath.Join(dir, "etcd-operator-lab"), nil
}

// validate refuses a request for something that does not exist.
func (r Request) validate() error {
	var errs []error
	for _, v := range r.EtcdImages {
		if !slices.Contains(EtcdVersions, v) {
			errs = append(errs, fmt.Errorf("there is no image of etcd %s: choose among %s", v, strings.Join(EtcdVersions, ", ")))
		}
	}
	return errors.Join(errs...)
}
