// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

// nodePackage is a Debian package that a node needs, and a file or program that shows that it is installed, by Debian or otherwise.
// Only what is really called is listed: kube-proxy, for one, does not need the program conntrack any more.
type nodePackage struct{ name, program string }

// cniFolder is where Debian puts the CNI plugins.
const cniFolder = "/usr/lib/cni"

var nodePackages = []nodePackage{
	{"containerd", "containerd"},
	{"containerd", "containerd-shim-runc-v2"},
	{"containerd", "ctr"},
	{"runc", "runc"},
	{"containernetworking-plugins", cniFolder + "/bridge"},
	{"iptables", "iptables"}, // called by kubelet and by the CNI plugin portmap
	{"nftables", "nft"},      // called by kube-proxy
	{"iproute2", "ip"},       // called by the lab, for the nodes' network
	{"mount", "mount"},       // called by kubelet
}

// systemPath is where Debian keeps programs for root, which are not on everyone's PATH.
const systemPath = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"

// findProgram returns the path of a program; an absolute path stands for itself.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if !filepath.IsAbs(name) {
		for _, dir := range filepath.SplitList(systemPath) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("there is no %s on this machine", name)
}

// missingPackages lists the packages to install so that all the programs are there.
func missingPackages(packages []nodePackage) []string {
	var missing []string
	for _, p := range packages {
		if _, err := findProgram(p.program); err != nil && (len(missing) == 0 || missing[len(missing)-1] != p.name) {
			missing = append(missing, p.name)
		}
	}
	return missing
}

func installStep() step {
	missing := missingPackages(nodePackages)
	return step{
		title:     "install Debian packages: " + strings.Join(missing, ", "),
		packages:  missing,
		downloads: true,
		done:      func() bool { return len(missingPackages(nodePackages)) == 0 },
		make:      func(ctx context.Context, w *workshop) error { return w.install(ctx, missing) },
	}
}

func findNodePrograms(s *Set) error {
	for name, path := range map[string]*string{"containerd": &s.Containerd, "ctr": &s.Ctr, "runc": &s.Runc} {
		found, err := findProgram(name)
		if err != nil {
			return err
		}
		*path = found
	}
	s.CNIPlugins = cniFolder
	return nil
}

// install installs Debian packages.
func (w *workshop) install(ctx context.Context, packages []string) (err error) {
	log, err := w.openLog("apt")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := w.updateLists(ctx, log); err != nil {
		return err
	}
	hadContainerd := containerdServiceExists()
	args := append([]string{"install", "--yes", "--no-install-recommends"}, packages...)
	if err := run(ctx, log, aptGet(ctx, "", args...), nil); err != nil {
		return err
	}
	if hadContainerd || !containerdServiceExists() || !systemdRuns() {
		return nil
	}
	// Debian starts the service of a package that it installs. The lab runs containerds of its own, one for each node, and leaves
	// no service on the machine that was not there before.
	return run(ctx, log, exec.CommandContext(ctx, "systemctl", "disable", "--now", "containerd.service"), nil)
}

func containerdServiceExists() bool {
	_, err := os.Stat("/lib/systemd/system/containerd.service")
	return err == nil
}

// systemdRuns tells whether systemd is this machine's init, as sd_booted(3) does.
func systemdRuns() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

// updateLists fetches Debian's package lists, once.
func (w *workshop) updateLists(ctx context.Context, log *os.File) error {
	if w.updated {
		return nil
	}
	if err := run(ctx, log, aptGet(ctx, "", "update"), nil); err != nil {
		return err
	}
	w.updated = true
	return nil
}

// unpack downloads Debian packages and unpacks them into the folder target, without installing anything.
func (w *workshop) unpack(ctx context.Context, target string, packages ...string) (err error) {
	log, err := w.openLog("apt-" + packages[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	folder, err := os.MkdirTemp(w.temporary, "debs-")
	if err != nil {
		return err
	}
	download := func() error {
		return run(ctx, log, aptGet(ctx, folder, append([]string{"download"}, packages...)...), nil)
	}
	if err := download(); err != nil {
		// A fresh machine has no package lists, an old one may name versions that are gone.
		if os.Geteuid() != 0 || ctx.Err() != nil {
			return err
		}
		if err := w.updateLists(ctx, log); err != nil {
			return err
		}
		if err := download(); err != nil {
			return err
		}
	}
	debs, err := filepath.Glob(filepath.Join(folder, "*.deb"))
	if err != nil {
		return err
	}
	for _, deb := range debs {
		if err := run(ctx, log, exec.CommandContext(ctx, "dpkg-deb", "--extract", deb, target), nil); err != nil {
			return err
		}
	}
	return nil
}

// aptGet is an apt-get command that asks nothing and waits for another one to finish.
func aptGet(ctx context.Context, dir string, args ...string) *exec.Cmd {
	// Downloading as root into a folder that only root can read needs root; apt would do so after a warning.
	cmd := exec.CommandContext(ctx, "apt-get",
		slices.Concat([]string{"-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0", "-o", "APT::Sandbox::User=root"}, args)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	return cmd
}

// debianEtcdEntry is the etcd of Debian: etcd and etcdctl, and in rootfs the libraries that they are linked to.
func debianEtcdEntry() entry {
	packages := []string{"etcd-server", "etcd-client"}
	return entry{
		name: fmt.Sprintf("etcd-%s-%s", debianEtcd, recipes.Hash("debian", packages, runtime.GOARCH, "rootfs with libraries")),
		step: step{title: "unpack etcd " + debianEtcd + " from Debian's packages", downloads: true, disk: 60 << 20},
		fill: func(ctx context.Context, w *workshop, target string) error {
			unpacked := target + ".unpacked"
			if err := w.unpack(ctx, unpacked, packages...); err != nil {
				return err
			}
			if err := os.MkdirAll(target, 0o750); err != nil {
				return err
			}
			for _, program := range []string{"etcd", "etcdctl"} {
				path := filepath.Join(target, program)
				if err := os.Rename(filepath.Join(unpacked, "usr/bin", program), path); err != nil {
					return err
				}
				if err := copyLibraries(path, filepath.Join(target, "rootfs")); err != nil {
					return err
				}
			}
			return checkDebianEtcd(ctx, filepath.Join(target, "etcd"))
		},
	}
}

// checkDebianEtcd makes sure that this release of Debian has the etcd that we name.
func checkDebianEtcd(ctx context.Context, path string) error {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask etcd for its version: %w", err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	version := "v" + strings.TrimPrefix(first, "etcd Version: ")
	if version != debianEtcd {
		return fmt.Errorf("this release of Debian has etcd %s: use Debian 12, or do not ask for etcd %s", version, debianEtcd)
	}
	return nil
}

// busyboxEntry is Debian's static busybox with a link for each of its commands, as a root filesystem in the folder rootfs.
func busyboxEntry() entry {
	const name = "busybox-static"
	return entry{
		name: "busybox-" + recipes.Hash("debian", name, runtime.GOARCH, "rootfs with links"),
		step: step{title: "unpack busybox from Debian's package", downloads: true, disk: 5 << 20},
		fill: func(ctx context.Context, w *workshop, target string) error {
			unpacked := target + ".unpacked"
			if err := w.unpack(ctx, unpacked, name); err != nil {
				return err
			}
			binary, err := firstFile(filepath.Join(unpacked, "bin/busybox"), filepath.Join(unpacked, "usr/bin/busybox"))
			if err != nil {
				return err
			}
			bin := filepath.Join(target, "rootfs/bin")
			if err := os.MkdirAll(bin, 0o750); err != nil {
				return err
			}
			if err := os.Rename(binary, filepath.Join(bin, "busybox")); err != nil {
				return err
			}
			commands, err := exec.CommandContext(ctx, filepath.Join(bin, "busybox"), "--list").Output()
			if err != nil {
				return fmt.Errorf("ask busybox for its commands: %w", err)
			}
			for command := range strings.FieldsSeq(string(commands)) {
				err := os.Symlink("busybox", filepath.Join(bin, command))
				if err != nil && !errors.Is(err, os.ErrExist) {
					return err
				}
			}
			return nil
		},
	}
}

func firstFile(paths ...string) (string, error) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("none of %s is there", strings.Join(paths, ", "))
}
