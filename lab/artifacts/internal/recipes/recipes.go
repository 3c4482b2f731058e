// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package recipes says what the lab's Go programs are compiled out of: for each of Kubernetes, etcd and CoreDNS a Go module of its
// own, whose go.mod and go.sum are committed here. So a build resolves nothing, and compiles the same sources everywhere.
//
// `go install PATH@VERSION` cannot build these programs, because it refuses modules with replace directives.
package recipes

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// After a change of a version below:
//go:generate go run ../mkrecipes

// Versions of what is compiled.
const (
	KubernetesVersion = "v1.36.3"
	CoreDNSVersion    = "v1.14.7"
	// stagingVersion is the version under which Kubernetes publishes the libraries of the same release.
	stagingVersion = "v0.36.3"
)

// EtcdVersions are the versions of etcd that are compiled, oldest first.
var EtcdVersions = []string{"v3.5.21", "v3.5.35", "v3.6.10", "v3.6.16", "v3.7.3"}

// The folders of this package, each with go.mod.txt and go.sum.txt, and a main.go where the program is not one of a dependency.
// A folder with a real go.mod would be another module, which cannot be embedded; a main.go whose imports are not in the lab's own
// go.mod would break the lab's build, hence the ending .txt there too.
//
//go:embed */*.txt pause/main.go
var files embed.FS

// Recipe is a Go module and the programs to build out of it.
type Recipe struct {
	// Name and Version are what a human calls the result.
	Name, Version string
	// Folder holds the module's files in this package.
	Folder string
	// Modules are what the module requires directly, the first being the one with the programs.
	Modules []Module
	// Staging is the published version of the modules that lie in the repository of the first of Modules, if that module
	// refers to them by folder.
	Staging string
	// Programs are what is built.
	Programs []Program
	// Variables are string variables set by the linker, as PACKAGE.NAME=VALUE.
	Variables []string
	// Cold is how long a build takes on two cores when nothing is in Go's build cache, for the expectations of whoever waits.
	Cold time.Duration
	// Disk is the size of the programs, in bytes. GoDisk is about what a cold build needs in each of Go's module cache, its build
	// cache and its folder of temporary files.
	Disk, GoDisk uint64
}

const megabyte = 1 << 20

// Module is a Go module at a version.
type Module struct{ Path, Version string }

// Program is a main package and the name of its binary.
type Program struct{ Name, Package string }

// ControlPlane is the part of Kubernetes that a test without nodes needs.
func ControlPlane() Recipe {
	r := kubernetes("kube-apiserver", "kubectl")
	r.Name, r.Cold = "kubernetes-api", 6*time.Minute
	return r
}

// Kubernetes is all six programs. They share most packages, so they are built together.
func Kubernetes() Recipe {
	return kubernetes("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl")
}

func kubernetes(programs ...string) Recipe {
	r := Recipe{
		Name:    "kubernetes",
		Version: KubernetesVersion,
		Folder:  "kubernetes",
		Modules: []Module{{"k8s.io/kubernetes", KubernetesVersion}},
		Staging: stagingVersion,
		// Without a version the programs claim to be v0.0.0-master, and kubelet and API server judge each other by it.
		Variables: []string{
			"k8s.io/component-base/version.gitVersion=" + KubernetesVersion,
			"k8s.io/component-base/version.gitMajor=1",
			"k8s.io/component-base/version.gitMinor=" + strings.Split(KubernetesVersion, ".")[1],
			"k8s.io/component-base/version.gitTreeState=clean",
			"k8s.io/component-base/version.gitCommit=module-proxy",
			"k8s.io/component-base/version.buildDate=1970-01-01T00:00:00Z",
			"k8s.io/client-go/pkg/version.gitVersion=" + KubernetesVersion,
		},
		Cold:   10 * time.Minute,
		Disk:   500 * megabyte,
		GoDisk: 2000 * megabyte,
	}
	for _, p := range programs {
		r.Programs = append(r.Programs, Program{p, "k8s.io/kubernetes/cmd/" + p})
	}
	return r
}

// Etcd is the server, etcdctl and etcdutl of one version.
func Etcd(version string) Recipe {
	return Recipe{
		Name:    "etcd",
		Version: version,
		Folder:  "etcd-" + version,
		Modules: []Module{
			{"go.etcd.io/etcd/server/v3", version},
			{"go.etcd.io/etcd/etcdctl/v3", version},
			{"go.etcd.io/etcd/etcdutl/v3", version},
		},
		Programs: []Program{
			{"etcd", "go.etcd.io/etcd/server/v3"},
			{"etcdctl", "go.etcd.io/etcd/etcdctl/v3"},
			{"etcdutl", "go.etcd.io/etcd/etcdutl/v3"},
		},
		Variables: []string{"go.etcd.io/etcd/api/v3/version.GitSHA=module-proxy"},
		Cold:      90 * time.Second,
		Disk:      80 * megabyte,
		GoDisk:    200 * megabyte,
	}
}

// CoreDNS is a DNS server with the plugins that a cluster needs; the usual one brings the libraries of every cloud.
func CoreDNS() Recipe {
	return Recipe{
		Name:    "coredns",
		Version: CoreDNSVersion,
		Folder:  "coredns",
		Modules: []Module{
			{"github.com/coredns/coredns", CoreDNSVersion},
			// The same client libraries as in Kubernetes: they are compiled once for both.
			{"k8s.io/api", stagingVersion},
			{"k8s.io/apimachinery", stagingVersion},
			{"k8s.io/client-go", stagingVersion},
		},
		Programs: []Program{{"coredns", "."}},
		Cold:     time.Minute,
		Disk:     50 * megabyte,
		GoDisk:   200 * megabyte,
	}
}

// Pause is the first process of every pod. It needs nothing but the standard library.
func Pause() Recipe {
	return Recipe{
		Name:     "pause",
		Version:  "3.10",
		Folder:   "pause",
		Programs: []Program{{"pause", "."}},
		Disk:     2 * megabyte,
		GoDisk:   20 * megabyte,
	}
}

// All lists one recipe for each folder of this package.
func All() []Recipe {
	etcd := make([]Recipe, 0, len(EtcdVersions))
	for _, v := range EtcdVersions {
		etcd = append(etcd, Etcd(v))
	}
	return append(etcd, Kubernetes(), CoreDNS(), Pause())
}

// Title is the recipe in words.
func (r Recipe) Title() string { return r.Name + " " + r.Version }

// Files returns the module's files by name: go.mod, go.sum, and perhaps main.go.
func (r Recipe) Files() (map[string][]byte, error) {
	entries, err := fs.ReadDir(files, r.Folder)
	if err != nil {
		return nil, fmt.Errorf("recipe of %s: %w", r.Title(), err)
	}
	m := map[string][]byte{}
	for _, e := range entries {
		content, err := fs.ReadFile(files, r.Folder+"/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("recipe of %s: %w", r.Title(), err)
		}
		m[strings.TrimSuffix(e.Name(), ".txt")] = content
	}
	return m, nil
}

// GoVersion is the oldest Go that can build the recipe, such as 1.26.0.
func (r Recipe) GoVersion() (string, error) {
	m, err := r.Files()
	if err != nil {
		return "", err
	}
	f, err := modfile.ParseLax("go.mod", m["go.mod"], nil)
	if err != nil {
		return "", fmt.Errorf("recipe of %s: %w", r.Title(), err)
	}
	if f.Go == nil {
		return "", fmt.Errorf("recipe of %s: its go.mod has no go line", r.Title())
	}
	return f.Go.Version, nil
}

// BuildFlags are the flags of go build, besides -o and the packages.
func (r Recipe) BuildFlags() []string {
	linker := "-s -w"
	for _, v := range r.Variables {
		linker += " -X " + v
	}
	return []string{"-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags=" + linker}
}

// Key names the result of a build: version and everything that goes into it. The Go version is left out on purpose: an update of
// Go is no reason to build everything again.
func (r Recipe) Key() (string, error) {
	m, err := r.Files()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%s-%s", r.Name, r.Version, Hash(m, r.Programs, r.BuildFlags(), runtime.GOOS, runtime.GOARCH)), nil
}

// Hash is a short name for a list of values that can be written as JSON.
func Hash(values ...any) string {
	h := sha256.New()
	// Maps are encoded in the order of their keys, and nothing passed here can fail to encode.
	if err := json.NewEncoder(h).Encode(values); err != nil {
		panic(err)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
