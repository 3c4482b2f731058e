// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

func moduleFile(t *testing.T, r Recipe) *modfile.File {
	t.Helper()
	m, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", m["go.mod"], nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestModulesAreResolvedForTheVersionsInTheRecipes fails when a version was changed without running go generate.
func TestModulesAreResolvedForTheVersionsInTheRecipes(t *testing.T) {
	for _, r := range All() {
		t.Run(r.Title(), func(t *testing.T) {
			f := moduleFile(t, r)
			if want := "lab/" + r.Folder; f.Module.Mod.Path != want {
				t.Errorf("module %s, want %s", f.Module.Mod.Path, want)
			}
			for _, m := range r.Modules {
				if !slices.ContainsFunc(f.Require, func(q *modfile.Require) bool { return q.Mod.Path == m.Path && q.Mod.Version == m.Version }) {
					t.Errorf("go.mod.txt does not require %s %s: run go generate in this folder", m.Path, m.Version)
				}
			}
			for _, p := range f.Replace {
				if p.New.Version != r.Staging {
					t.Errorf("%s is replaced by version %s, want %s", p.Old.Path, p.New.Version, r.Staging)
				}
			}
			files, err := r.Files()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Modules {
				if line := m.Path + " " + m.Version + " h1:"; !strings.Contains(string(files["go.sum"]), line) {
					t.Errorf("go.sum.txt has no checksum of %s %s: run go generate in this folder", m.Path, m.Version)
				}
			}
		})
	}
}

func TestEveryFolderBelongsToARecipe(t *testing.T) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	folders, used := make([]string, 0, len(entries)), make([]string, 0, len(entries))
	for _, e := range entries {
		folders = append(folders, e.Name())
	}
	for _, r := range All() {
		used = append(used, r.Folder)
	}
	slices.Sort(used)
	if diff := cmp.Diff(used, folders); diff != "" {
		t.Errorf("folders that no recipe uses, or recipes without a folder (-recipes +folders):\n%s", diff)
	}
}

func TestKeyChangesWithEverythingThatGoesIntoABuild(t *testing.T) {
	key := func(r Recipe) string {
		t.Helper()
		k, err := r.Key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(Etcd("v3.6.16"))
	if !strings.HasPrefix(base, "etcd-v3.6.16-") {
		t.Errorf("the key %s does not show what it is", base)
	}
	if again := key(Etcd("v3.6.16")); again != base {
		t.Errorf("two keys of one recipe: %s and %s", base, again)
	}
	for name, change := range map[string]func(*Recipe){
		"module":   func(r *Recipe) { r.Folder = "etcd-v3.7.3" },
		"programs": func(r *Recipe) { r.Programs = r.Programs[:1] },
		"linker":   func(r *Recipe) { r.Variables = nil },
	} {
		r := Etcd("v3.6.16")
		change(&r)
		if key(r) == base {
			t.Errorf("a change of the %s does not change the key", name)
		}
	}
	if key(ControlPlane()) == key(Kubernetes()) {
		t.Error("part and whole of Kubernetes have the same key")
	}
}

func TestKubernetesKnowsItsVersion(t *testing.T) {
	flags := strings.Join(Kubernetes().BuildFlags(), " ")
	for _, want := range []string{"version.gitVersion=v1.36.3", "version.gitMajor=1", "version.gitMinor=36"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is not in %s", want, flags)
		}
	}
}

func TestGoVersionIsThatOfTheModule(t *testing.T) {
	for _, r := range All() {
		got, err := r.GoVersion()
		if err != nil {
			t.Fatal(err)
		}
		if want := moduleFile(t, r).Go.Version; got != want {
			t.Errorf("%s: %s, want %s", r.Title(), got, want)
		}
	}
	if _, err := (Recipe{Folder: "missing"}).GoVersion(); err == nil {
		t.Error("a recipe without a module has a Go version")
	}
}
