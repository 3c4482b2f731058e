// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

// step is one thing that may have to be made.
type step struct {
	// title is what is made, in words.
	title string
	// cold is how long it takes at worst, if that is long.
	cold time.Duration
	// done tells whether there is nothing left to make.
	done func() bool
	// make makes it.
	make func(ctx context.Context, w *workshop) error

	// What preflight checks before the first step is made.

	// goVersion is the oldest Go that can compile it; empty if nothing is compiled.
	goVersion string
	// packages are Debian packages to install, which needs root.
	packages []string
	// downloads tells whether Debian packages are downloaded, which needs apt-get.
	downloads bool
	// disk is the bytes that are needed in the cache, goDisk those in each of the folders that Go fills.
	disk, goDisk uint64
}

// plan is a request as the steps that fulfil it, in an order in which each finds what it needs.
type plan struct {
	request Request
	cache   string
	steps   []step
	// bin, etcd and images are names in the cache.
	bin    string
	etcd   map[string]string
	images []string
}

func newPlan(r Request) (*plan, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	p := &plan{request: r, cache: cache, etcd: map[string]string{}}
	// What is quick and depends on the release of Debian comes before the long compilations, so that it fails before them.
	if r.Nodes {
		p.steps = append(p.steps, installStep())
	}
	if slices.Contains(r.EtcdImages, debianEtcd) {
		p.etcd[debianEtcd] = p.addEntry(debianEtcdEntry())
	}
	if err := p.addKubernetes(); err != nil {
		return nil, err
	}
	if r.ControlPlane || r.Nodes {
		if err := p.addEtcd(ControlPlaneEtcd); err != nil {
			return nil, err
		}
	}
	if r.Nodes {
		if err := p.addNodeImages(); err != nil {
			return nil, err
		}
	}
	if err := p.addEtcdImages(); err != nil {
		return nil, err
	}
	return p, nil
}

// addEtcdImages adds the images in the order of the versions, whatever the order of the request, and each once.
func (p *plan) addEtcdImages() error {
	for _, v := range EtcdVersions {
		if !slices.Contains(p.request.EtcdImages, v) {
			continue
		}
		if err := p.addEtcd(v); err != nil {
			return err
		}
		p.addImage(etcdImage(v, p.etcd[v]))
	}
	return nil
}

// addKubernetes adds the programs of Kubernetes. Who asks for the control plane alone is served by the whole set if that is there.
func (p *plan) addKubernetes() error {
	if !p.request.ControlPlane && !p.request.Nodes {
		return nil
	}
	all, err := recipes.Kubernetes().Key()
	if err != nil {
		return err
	}
	r := recipes.Kubernetes()
	if !p.request.Nodes && !p.has(all) {
		r = recipes.ControlPlane()
	}
	p.bin, err = p.addProgram(r)
	return err
}

func (p *plan) addEtcd(version string) error {
	if p.etcd[version] != "" {
		return nil
	}
	name, err := p.addProgram(recipes.Etcd(version))
	p.etcd[version] = name
	return err
}

func (p *plan) addNodeImages() error {
	pause, err := p.addProgram(recipes.Pause())
	if err != nil {
		return err
	}
	coredns, err := p.addProgram(recipes.CoreDNS())
	if err != nil {
		return err
	}
	busybox := p.addEntry(busyboxEntry())
	for _, r := range []imageRecipe{pauseImage(pause), corednsImage(coredns), busyboxImage(busybox)} {
		p.addImage(r)
	}
	return nil
}

// addProgram adds the programs of a recipe and returns their name in the cache.
func (p *plan) addProgram(r recipes.Recipe) (string, error) {
	key, err := r.Key()
	if err != nil {
		return "", err
	}
	version, err := r.GoVersion()
	if err != nil {
		return "", err
	}
	return p.addEntry(entry{
		name: key,
		step: step{
			title: fmt.Sprintf("compile %s (%s)", r.Title(), programNames(r)), cold: r.Cold, goVersion: version,
			disk: r.Disk, goDisk: r.GoDisk,
		},
		fill: func(ctx context.Context, w *workshop, target string) error { return w.compile(ctx, r, key, target) },
	}), nil
}

// entry is something in the cache: a file or a folder which is there as a whole or not at all.
type entry struct {
	name string
	step step
	// fill makes it at target, which does not exist yet.
	fill func(ctx context.Context, w *workshop, target string) error
}

func (p *plan) addEntry(e entry) string {
	s := e.step
	s.done = func() bool { return p.has(e.name) }
	s.make = func(ctx context.Context, w *workshop) error { return w.keep(ctx, e) }
	p.steps = append(p.steps, s)
	return e.name
}

func (p *plan) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.cache, name))
	return err == nil
}

func (p *plan) missing() []step {
	return slices.DeleteFunc(slices.Clone(p.steps), func(s step) bool { return s.done() })
}

// set describes a fulfilled plan.
func (p *plan) set() (*Set, error) {
	s := &Set{Etcd: map[string]string{}}
	if p.bin != "" {
		s.Bin = filepath.Join(p.cache, p.bin)
	}
	for version, name := range p.etcd {
		s.Etcd[version] = filepath.Join(p.cache, name)
	}
	for _, name := range p.images {
		s.Images = append(s.Images, filepath.Join(p.cache, name))
	}
	if p.request.Nodes {
		if err := findNodePrograms(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// makeMissing makes what is missing, one process at a time.
func (p *plan) makeMissing(ctx context.Context, out io.Writer) (err error) {
	if err := os.MkdirAll(p.cache, 0o750); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	release, err := lock(ctx, filepath.Join(p.cache, "lock"), out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	// Whoever held the lock may have made it all.
	missing := p.missing()
	w := &workshop{cache: p.cache, temporary: filepath.Join(p.cache, "tmp")}
	// What a killed process left behind; nobody else is at work now.
	if err := os.RemoveAll(w.temporary); err != nil {
		return fmt.Errorf("clean up after an interrupted build: %w", err)
	}
	for i, s := range missing {
		w.report = newReport(out, i+1, len(missing), s)
		if err := s.make(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		w.report.done()
	}
	return nil
}

// workshop is where steps are made, by the one process that holds the lock.
type workshop struct {
	cache     string
	temporary string
	report    *report
	// updated is whether Debian's package lists have been fetched.
	updated bool
}

// keep makes an entry of the cache: filled aside, then moved in place in one step.
func (w *workshop) keep(ctx context.Context, e entry) error {
	target := filepath.Join(w.temporary, e.name)
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	if err := e.fill(ctx, w, target); err != nil {
		return err
	}
	// The name alone says that the content is whole, so the content must reach the disk first.
	if err := syncFilesystem(w.temporary); err != nil {
		return err
	}
	final := filepath.Join(w.cache, e.name)
	if err := os.MkdirAll(filepath.Dir(final), 0o750); err != nil {
		return err
	}
	if err := os.Rename(target, final); err != nil {
		return err
	}
	return os.RemoveAll(w.temporary)
}

func syncFilesystem(folder string) (err error) {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("write %s to disk: %w", folder, err)
	}
	return nil
}
