// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

// emptyCache points the package to a cache with nothing in it.
func emptyCache(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	t.Setenv(cacheVariable, dir)
	return dir
}

func planFor(t *testing.T, r Request) *plan {
	t.Helper()
	p, err := newPlan(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// names cuts the hashes off names in the cache.
func names(entries []string) []string {
	cut := make([]string, 0, len(entries))
	for _, e := range entries {
		e = strings.TrimSuffix(filepath.Base(e), ".tar")
		cut = append(cut, e[:strings.LastIndex(e, "-")])
	}
	return cut
}

func TestOnlyWhatIsAskedForIsPlanned(t *testing.T) {
	emptyCache(t)
	tests := []struct {
		name    string
		request Request
		bin     string
		etcd    []string
		images  []string
	}{
		{name: "nothing"},
		{name: "control plane", request: Request{ControlPlane: true}, bin: "kubernetes-api-v1.36.3", etcd: []string{"v3.6.16"}},
		{name: "nodes", request: Request{Nodes: true}, bin: "kubernetes-v1.36.3", etcd: []string{"v3.6.16"}, images: []string{"pause", "coredns", "busybox"}},
		{name: "images alone", request: Request{EtcdImages: []string{"v3.7.3"}}, etcd: []string{"v3.7.3"}, images: []string{"etcd-v3.7.3"}},
		{
			name: "images in any order and twice", request: Request{ControlPlane: true, EtcdImages: []string{"v3.6.16", "v3.4.23", "v3.6.16"}},
			bin: "kubernetes-api-v1.36.3", etcd: []string{"v3.4.23", "v3.6.16"}, images: []string{"etcd-v3.4.23", "etcd-v3.6.16"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planFor(t, tt.request)
			if tt.bin != "" || p.bin != "" {
				if diff := cmp.Diff([]string{tt.bin}, names([]string{p.bin})); diff != "" {
					t.Errorf("programs (-want +got):\n%s", diff)
				}
			}
			var etcd []string
			for v := range p.etcd {
				etcd = append(etcd, v)
			}
			slices.Sort(etcd)
			if diff := cmp.Diff(tt.etcd, etcd); diff != "" {
				t.Errorf("etcd (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.images, names(p.images), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatDependsOnDebianIsTriedBeforeTheLongCompilations(t *testing.T) {
	emptyCache(t)
	p := planFor(t, Request{Nodes: true, EtcdImages: EtcdVersions})
	position := func(title string) int {
		t.Helper()
		i := slices.IndexFunc(p.steps, func(s step) bool { return strings.HasPrefix(s.title, title) })
		if i < 0 {
			t.Fatalf("no step %q", title)
		}
		return i
	}
	compile := position("compile kubernetes")
	for _, quick := range []string{"install Debian packages", "unpack etcd v3.4.23"} {
		if position(quick) > compile {
			t.Errorf("%q comes after the compilation of Kubernetes", quick)
		}
	}
}

func TestControlPlaneIsServedByTheWholeKubernetesIfThatIsThere(t *testing.T) {
	cache := emptyCache(t)
	whole := planFor(t, Request{Nodes: true}).bin
	if err := os.MkdirAll(filepath.Join(cache, whole), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := planFor(t, Request{ControlPlane: true}).bin; got != whole {
		t.Errorf("programs from %s, want %s", got, whole)
	}
}

func TestUnknownEtcdVersionIsRefusedWithTheKnownOnes(t *testing.T) {
	emptyCache(t)
	_, err := Ensure(t.Context(), Request{EtcdImages: []string{"v3.3.0"}}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no image of etcd v3.3.0") || !strings.Contains(err.Error(), "v3.4.23, v3.5.21") {
		t.Errorf("got %v", err)
	}
}

func TestImageIsNamedAfterWhatIsInIt(t *testing.T) {
	base := etcdImage("v3.6.16", "etcd-a").key()
	if etcdImage("v3.6.16", "etcd-a").key() != base {
		t.Error("two names for one image")
	}
	if etcdImage("v3.6.16", "etcd-b").key() == base {
		t.Error("other programs, same name")
	}
	for name, change := range map[string]func(*imageRecipe){
		"tags":  func(r *imageRecipe) { r.spec.Tags = r.spec.Tags[:1] },
		"env":   func(r *imageRecipe) { r.spec.Env = nil },
		"files": func(r *imageRecipe) { r.files = r.files[1:] },
		"tree":  func(r *imageRecipe) { r.tree = "x" },
	} {
		r := etcdImage("v3.6.16", "etcd-a")
		change(&r)
		if r.key() == base {
			t.Errorf("a change of the %s does not change the name", name)
		}
	}
}

// planOf is a plan of entries made by the test.
func planOf(cache string, entries ...entry) *plan {
	p := &plan{cache: cache}
	for _, e := range entries {
		p.addEntry(e)
	}
	return p
}

func fileEntry(name string, fill func(target string) error) entry {
	return entry{name: name, step: step{title: "make " + name}, fill: func(_ context.Context, _ *workshop, target string) error {
		return fill(target)
	}}
}

func write(content string) func(string) error {
	return func(target string) error { return os.WriteFile(target, []byte(content), 0o644) }
}

func TestFailedStepLeavesNothingInTheCacheAndIsTakenUpAgain(t *testing.T) {
	cache := t.TempDir()
	broken := errors.New("broken")
	p := planOf(cache,
		fileEntry("first", write("1")),
		fileEntry("second", func(target string) error { return errors.Join(write("half")(target), broken) }),
		fileEntry("third", write("3")))
	err := p.makeMissing(t.Context(), io.Discard)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "make second") {
		t.Fatalf("got %v", err)
	}
	for name, want := range map[string]bool{"first": true, "second": false, "third": false} {
		if p.has(name) != want {
			t.Errorf("%s in the cache: %t, want %t", name, p.has(name), want)
		}
	}

	var progress bytes.Buffer
	p = planOf(cache, fileEntry("first", write("changed")), fileEntry("second", write("2")), fileEntry("third", write("3")))
	if err := p.makeMissing(t.Context(), &progress); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"first": "1", "second": "2", "third": "3"} {
		if got, err := os.ReadFile(filepath.Join(cache, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(cache, "tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half made file of the failed run is still there (%v)", err)
	}
	want := "lab: step 1 of 2: make second\nlab: step 1 of 2: done in 0s\nlab: step 2 of 2: make third\nlab: step 2 of 2: done in 0s\n"
	if diff := cmp.Diff(want, progress.String()); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestWhatAKilledProcessLeftBehindDoesNotDisturb(t *testing.T) {
	cache := t.TempDir()
	// A folder where the next one wants to write a file, and the lock file of a process that is no more.
	if err := errors.Join(os.MkdirAll(filepath.Join(cache, "tmp", "entry", "x"), 0o755), os.WriteFile(filepath.Join(cache, "lock"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	p := planOf(cache, fileEntry("entry", write("whole")))
	if err := p.makeMissing(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(cache, "entry")); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
}

// lineCounter receives a value whenever a process says that it waits for another.
type lineCounter chan struct{}

func (c lineCounter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("another process is building")) {
		c <- struct{}{}
	}
	return len(p), nil
}

func TestSeveralAtOnceMakeItOnce(t *testing.T) {
	const others = 3
	cache := t.TempDir()
	var made atomic.Int32
	waiting := make(lineCounter, others)
	var wait sync.WaitGroup
	for range others + 1 {
		wait.Go(func() {
			p := planOf(cache, fileEntry("entry", func(target string) error {
				made.Add(1)
				for range others {
					<-waiting
				}
				return write("x")(target)
			}))
			if err := p.makeMissing(t.Context(), waiting); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := made.Load(); got != 1 {
		t.Errorf("made %d times", got)
	}
}

func TestWhoWaitsForTheLockIsToldSoAndCanBeInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lock(t.Context(), path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	if _, err := lock(ctx, path, &out); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the wait was interrupted", err)
	}
	if !strings.Contains(out.String(), "another process is building") || !strings.Contains(out.String(), path) {
		t.Errorf("the waiting user reads %q", out.String())
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	// The interrupted one must not have taken the lock with it.
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	release, err = lock(ctx, path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestProgramIsCompiledAndPackedAsAnImage(t *testing.T) {
	cache := t.TempDir()
	p := &plan{cache: cache}
	folder, err := p.addProgram(recipes.Pause())
	if err != nil {
		t.Fatal(err)
	}
	p.addImage(pauseImage(folder))
	var progress bytes.Buffer
	if err := p.makeMissing(t.Context(), &progress); err != nil {
		t.Fatal(err)
	}
	if missing := p.missing(); len(missing) != 0 {
		t.Errorf("still missing: %v", missing)
	}
	interpreter, libraries, err := linkedTo(filepath.Join(cache, folder, "pause"))
	if err != nil || interpreter != "" || len(libraries) != 0 {
		t.Errorf("the program is not static: %s %v (%v)", interpreter, libraries, err)
	}
	if info, err := os.Stat(filepath.Join(cache, p.images[0])); err != nil || info.Size() < 1<<20 {
		t.Errorf("the image: %v, %v", info, err)
	}
	if !strings.Contains(progress.String(), "step 1 of 2: compile pause 3.10") {
		t.Errorf("progress:\n%s", progress.String())
	}
}

func TestEverythingCachedIsFoundWithoutAWord(t *testing.T) {
	// The first call may build, if this is the first test on the machine.
	if _, err := Ensure(t.Context(), Request{ControlPlane: true}, t.Output()); err != nil {
		t.Fatal(err)
	}
	// Without Go on the PATH: nothing may be needed to find what is there.
	t.Setenv("PATH", t.TempDir())
	var progress bytes.Buffer
	set, err := Ensure(t.Context(), Request{ControlPlane: true}, &progress)
	if err != nil {
		t.Fatal(err)
	}
	if progress.Len() > 0 {
		t.Errorf("progress: %s", progress.String())
	}
	for _, program := range []string{
		filepath.Join(set.Bin, "kube-apiserver"), filepath.Join(set.Bin, "kubectl"),
		filepath.Join(set.Etcd[ControlPlaneEtcd], "etcd"), filepath.Join(set.Etcd[ControlPlaneEtcd], "etcdctl"),
		filepath.Join(set.Etcd[ControlPlaneEtcd], "etcdutl"),
	} {
		if info, err := os.Stat(program); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s: %v, %v", program, info, err)
		}
	}
	if err := Preflight(Request{ControlPlane: true}); err != nil {
		t.Errorf("preflight asks for something although nothing is missing: %v", err)
	}
}
