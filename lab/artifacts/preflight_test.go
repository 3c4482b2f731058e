// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPreflightSaysInOneSentenceWhatToDo(t *testing.T) {
	const gb = 1 << 30
	good := machine{
		os: "linux", arch: "amd64", root: true, aptGet: true, goVersion: "go1.26.8", goFolders: []string{"/gocache", "/gomod"},
		free: func(string) (uint64, uint64, error) { return 1, 100 * gb, nil },
	}
	compiling := step{goVersion: "1.26.0", disk: gb, goDisk: 2 * gb}
	tests := []struct {
		name    string
		machine func(*machine)
		steps   []step
		want    string
	}{
		{name: "all is well", steps: []step{compiling, {packages: []string{"containerd"}, downloads: true}}},
		{name: "not Linux", machine: func(m *machine) { m.os = "darwin" }, steps: []step{{}}, want: "the lab runs on Linux"},
		{name: "other architecture", machine: func(m *machine) { m.arch = "riscv64" }, steps: []step{{}}, want: "amd64 or arm64"},
		{name: "arm", machine: func(m *machine) { m.arch = "arm64" }, steps: []step{compiling}},
		{name: "no Go", machine: func(m *machine) { m.goVersion = "" }, steps: []step{compiling}, want: "there is no Go on the PATH: install go1.26.0 or newer"},
		{name: "no Go needed", machine: func(m *machine) { m.goVersion = "" }, steps: []step{{downloads: true}}},
		{
			name: "Go too old", machine: func(m *machine) { m.goVersion = "go1.25.9" }, steps: []step{{goVersion: "1.23.0"}, compiling, {goVersion: "1.24.0"}},
			want: "go1.25.9 is too old to compile what the lab runs: install go1.26.0 or newer",
		},
		{
			name: "not root", machine: func(m *machine) { m.root = false }, steps: []step{{packages: []string{"containerd", "runc"}}},
			want: "run apt-get install containerd runc as root, or run the lab as root",
		},
		{name: "not root, nothing to install", machine: func(m *machine) { m.root = false }, steps: []step{compiling, {downloads: true}}},
		{
			name: "not Debian", machine: func(m *machine) { m.aptGet = false }, steps: []step{{packages: []string{"runc"}}},
			want: "install them with this system's package manager",
		},
		{name: "not Debian, for an image", machine: func(m *machine) { m.aptGet = false }, steps: []step{{downloads: true}}, want: "use Debian 12"},
		{name: "disk full", machine: func(m *machine) {
			m.free = func(string) (uint64, uint64, error) { return 1, 9 * gb, nil }
		}, steps: []step{compiling, compiling}, want: "building needs 10.7 GB of free disk space for /cache and /gocache and /gomod, and there is 9.7 GB"},
		{name: "one of two disks full", machine: func(m *machine) {
			m.free = func(folder string) (uint64, uint64, error) {
				if folder == "/cache" {
					return 1, gb / 2, nil
				}
				return 2, 100 * gb, nil
			}
		}, steps: []step{compiling}, want: "1.1 GB of free disk space for /cache, and there is 0.5 GB"},
		{name: "just enough", machine: func(m *machine) {
			m.free = func(string) (uint64, uint64, error) { return 1, 5 * gb, nil }
		}, steps: []step{compiling}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := good
			if tt.machine != nil {
				tt.machine(&m)
			}
			err := m.check("/cache", tt.steps)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "\n"):
				t.Errorf("more than one sentence: %v", err)
			}
		})
	}
}

func TestPreflightWithoutGoDoesNotFailButReports(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	emptyCache(t)
	err := Preflight(Request{ControlPlane: true})
	if err == nil || !strings.Contains(err.Error(), "there is no Go on the PATH") {
		t.Errorf("got %v", err)
	}
}

func TestFreeSpaceOfAFolderThatDoesNotExistYetIsThatOfItsParent(t *testing.T) {
	dir := t.TempDir()
	device, _, err := freeSpace(dir)
	if err != nil {
		t.Fatal(err)
	}
	later, bytes, err := freeSpace(filepath.Join(dir, "a", "b"))
	if err != nil || later != device || bytes == 0 {
		t.Errorf("device %d with %d bytes (%v), want device %d", later, bytes, err, device)
	}
}

func TestMissingPackagesAreNamedOnce(t *testing.T) {
	got := missingPackages([]nodePackage{
		{"one", "no-such-program"}, {"one", "/no/such/file"}, {"there", "sh"}, {"two", "no-such-program"},
	})
	if strings.Join(got, " ") != "one two" {
		t.Errorf("missing: %v", got)
	}
}

func TestProgramsForRootAreFoundOnAnyonesPath(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if path, err := findProgram("sh"); err != nil || filepath.Base(path) != "sh" {
		t.Errorf("%s, %v", path, err)
	}
	if _, err := findProgram("no-such-program"); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("got %v", err)
	}
}

func TestLibrariesOfADynamicProgramAreCopiedToTheirPlaces(t *testing.T) {
	program, err := findProgram("dpkg-deb")
	if err != nil {
		program, err = findProgram("sh")
	}
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := copyLibraries(program, root); err != nil {
		t.Fatal(err)
	}
	interpreter, libraries, err := linkedTo(program)
	if err != nil {
		t.Fatal(err)
	}
	if interpreter == "" || len(libraries) == 0 {
		t.Fatalf("%s is static: the test shows nothing", program)
	}
	if _, err := os.Stat(filepath.Join(root, interpreter)); err != nil {
		t.Error(err)
	}
	for _, l := range libraries {
		found, err := findLibrary(l)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(filepath.Join(root, found)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", found, info, err)
		}
	}
}
