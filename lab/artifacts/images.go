// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
	"github.com/etcd-operator/etcd-operator/lab/image"
)

// imageRecipe is an image that is made of entries of the cache.
type imageRecipe struct {
	name string
	spec image.Spec
	// files is the root filesystem; each Source is a path in the cache.
	files []image.File
	// tree is a folder in the cache whose content is added to files, or empty.
	tree string
}

// key names the image: everything that goes into it, its inputs by their own names in the cache.
func (r imageRecipe) key() string {
	return fmt.Sprintf("images/%s-%s.tar", r.name, recipes.Hash(r.spec, r.files, r.tree, runtime.GOARCH))
}

func (p *plan) addImage(r imageRecipe) {
	p.images = append(p.images, p.addEntry(entry{
		name: r.key(),
		step: step{title: "write the image " + r.spec.Tags[0], disk: 80 << 20},
		fill: func(_ context.Context, w *workshop, target string) error {
			files := slices.Clone(r.files)
			for i := range files {
				if files[i].Source != "" {
					files[i].Source = filepath.Join(w.cache, files[i].Source)
				}
			}
			if r.tree != "" {
				tree, err := image.Tree(filepath.Join(w.cache, r.tree))
				if err != nil {
					return err
				}
				files = append(files, tree...)
			}
			r.spec.Platforms = []image.Platform{{OS: "linux", Architecture: runtime.GOARCH, Files: files}}
			return image.Write(target, r.spec)
		},
	}))
}

// programPath is the PATH of images whose programs are called by name, as in kubectl exec.
const programPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func temporaryFolder() image.File { return image.Dir("/tmp", fs.ModeSticky|0o777) }

// etcdImage is laid out as upstream's: the programs in /usr/local/bin, a command and no entrypoint, no shell.
func etcdImage(version, folder string) imageRecipe {
	r := imageRecipe{
		name: "etcd-" + version,
		spec: image.Spec{
			Tags:       []string{"quay.io/coreos/etcd:" + version, "gcr.io/etcd-development/etcd:" + version},
			Cmd:        []string{"/usr/local/bin/etcd"},
			WorkingDir: "/var/etcd",
			Env:        []string{programPath},
		},
		files: []image.File{temporaryFolder(), image.Dir("/var/etcd", 0o755), image.Dir("/var/lib/etcd", 0o755)},
	}
	programs := []string{"etcd", "etcdctl", "etcdutl"}
	if version == debianEtcd {
		programs = programs[:2]
		r.tree = folder + "/rootfs"
		// Debian links its programs to the C library; its resolver would look for more libraries that are not in the image.
		r.spec.Env = append(r.spec.Env, "GODEBUG=netdns=go")
	}
	for _, p := range programs {
		r.files = append(r.files, image.Regular("/usr/local/bin/"+p, folder+"/"+p, 0o755))
	}
	return r
}

func pauseImage(folder string) imageRecipe {
	return imageRecipe{
		name:  "pause",
		spec:  image.Spec{Tags: []string{PauseImage}, Entrypoint: []string{"/pause"}, User: "65535:65535"},
		files: []image.File{image.Regular("/pause", folder+"/pause", 0o755)},
	}
}

func corednsImage(folder string) imageRecipe {
	return imageRecipe{
		name:  "coredns",
		spec:  image.Spec{Tags: []string{CoreDNSImage}, Entrypoint: []string{"/coredns"}},
		files: []image.File{temporaryFolder(), image.Regular("/coredns", folder+"/coredns", 0o755)},
	}
}

// busyboxImage is for tests and for operators that start a helper container; the original operator's default has this name.
func busyboxImage(folder string) imageRecipe {
	return imageRecipe{
		name: "busybox",
		spec: image.Spec{
			Tags: []string{BusyboxImage, "docker.io/library/busybox:lab"},
			Cmd:  []string{"sh"},
			Env:  []string{programPath},
		},
		files: []image.File{temporaryFolder(), image.Dir("/root", 0o700), image.Dir("/etc", 0o755), image.Dir("/var", 0o755)},
		tree:  folder + "/rootfs",
	}
}
