// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFindsEachHierarchyOnce(t *testing.T) {
	tests := []struct {
		name      string
		mountinfo string
		want      Tree
		version   int
	}{
		{
			name: "v1 with an empty v2 beside it",
			mountinfo: `21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 21 0:26 / /sys/fs/cgroup rw,relatime - tmpfs none rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup none rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/cpuset rw,relatime - cgroup none rw,cpuset
33 30 0:29 / /sys/fs/cgroup/systemd rw,relatime - cgroup none rw,xattr,name=systemd
34 30 0:30 / /sys/fs/cgroup/unified rw,relatime - cgroup2 none rw,nsdelegate
35 30 0:28 / /somewhere/else/cpuset rw,relatime - cgroup none rw,cpuset
`,
			want: Tree{
				{Path: "/sys/fs/cgroup/cpu,cpuacct", Controllers: []string{"cpu", "cpuacct"}},
				{Path: "/sys/fs/cgroup/cpuset", Controllers: []string{"cpuset"}},
				{Path: "/sys/fs/cgroup/systemd"},
				{Path: "/sys/fs/cgroup/unified", Unified: true},
			},
			version: 1,
		},
		{
			name: "v2",
			mountinfo: `21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 21 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 none rw,nsdelegate,memory_recursiveprot
31 21 0:26 / /run/other rw - cgroup2 none rw
`,
			want:    Tree{{Path: "/sys/fs/cgroup", Unified: true}},
			version: 2,
		},
		{name: "none", mountinfo: "21 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n", version: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := parse(tt.mountinfo)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v := got.Version(); v != tt.version {
				t.Errorf("version %d, want %d", v, tt.version)
			}
		})
	}
}

// notes is a journal that remembers the order of things.
type notes []string

func (n *notes) Cgroup(path string) error     { *n = append(*n, "cgroup "+path); return nil }
func (n *notes) Controller(name string) error { *n = append(*n, "controller "+name); return nil }

func write(t *testing.T, content string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestCreateFillsEachCpusetOfV1FromTheOneAbove(t *testing.T) {
	root := t.TempDir()
	cpuset, pids := filepath.Join(root, "cpuset"), filepath.Join(root, "pids")
	for _, d := range []string{cpuset, pids} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "0-3\n", cpuset, "cpuset.cpus")
	write(t, "0\n", cpuset, "cpuset.mems")
	tree := Tree{{Path: cpuset, Controllers: []string{"cpuset"}}, {Path: pids, Controllers: []string{"pids"}}}
	var journal notes
	if err := tree.Create("lab/node1/system", &journal); err != nil {
		t.Fatal(err)
	}
	// What somebody set stays.
	write(t, "2\n", cpuset, "lab/node1", "cpuset.cpus")
	if err := tree.Create("lab/node1/kubepods", &journal); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{"lab": "0-3\n", "lab/node1": "2\n", "lab/node1/system": "0-3\n", "lab/node1/kubepods": "2\n"} {
		if got := read(t, cpuset, folder, "cpuset.cpus"); got != want {
			t.Errorf("%s: processors %q, want %q", folder, got, want)
		}
		if got := read(t, cpuset, folder, "cpuset.mems"); got != "0\n" {
			t.Errorf("%s: memory %q", folder, got)
		}
		if _, err := os.Stat(filepath.Join(pids, folder)); err != nil {
			t.Error(err)
		}
	}
	want := notes{"cgroup " + cpuset + "/lab", "cgroup " + pids + "/lab", "cgroup " + cpuset + "/lab", "cgroup " + pids + "/lab"}
	if diff := cmp.Diff(want, journal); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestCreateHandsDownMissingControllersOfV2AndNotesThoseOfTheRoot(t *testing.T) {
	root := t.TempDir()
	write(t, "cpuset cpu io memory pids rdma\n", root, "cgroup.controllers")
	write(t, "cpu memory pids io\n", root, "cgroup.subtree_control")
	var journal notes
	if err := (Tree{{Path: root, Unified: true}}).Create("lab", &journal); err != nil {
		t.Fatal(err)
	}
	// hugetlb is not there and cannot be handed down; rdma nobody needs, but runc will hand it down.
	if got := read(t, root, "cgroup.subtree_control"); got != "+cpuset" {
		t.Errorf("written %q, want only what was missing", got)
	}
	if diff := cmp.Diff(notes{"cgroup " + root + "/lab", "controller cpuset", "controller rdma"}, journal); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}
