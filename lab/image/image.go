// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package image writes container images without a container engine and without a registry.
//
// An image becomes one tar file in the OCI image layout, which `ctr images import` and every other tool that reads OCI layouts
// understands. Equal input gives equal bytes, so an image's digest can be compared between machines and a cached tar can be
// named after its content.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Spec describes one image, for one or more platforms.
type Spec struct {
	// Tags are the names of the image, each complete with registry host, path and tag, such as quay.io/coreos/etcd:v3.6.16.
	Tags []string
	// Platforms are the variants of the image.
	Platforms []Platform
	// Entrypoint and Cmd are what a container of this image runs.
	Entrypoint, Cmd []string
	// User is the user a container runs as, in numbers such as 65532:65532, so that kubelet can verify runAsNonRoot. Empty is root.
	User string
	// WorkingDir is the folder a container starts in.
	WorkingDir string
	// Env are the environment variables of a container, as NAME=value.
	Env []string
	// Labels are the image's labels, such as org.opencontainers.image.source.
	Labels map[string]string
	// Compress stores the layers gzipped: for images that travel. Images that are only loaded on this machine are quicker without.
	Compress bool
}

// Platform is the image's root filesystem on one kind of machine.
type Platform struct {
	// OS and Architecture in Go's spelling, such as linux and arm64.
	OS, Architecture string
	// Files is the root filesystem. Parent folders that are not listed are created with mode 0755.
	Files []File
}

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

var (
	// tagPattern is a name with host, path and tag. The host has a dot or a port, as opposed to the first part of a short name,
	// for which each tool has its own idea of the missing host.
	tagPattern  = regexp.MustCompile(`^([a-z0-9-]+(\.[a-z0-9-]+)+|localhost)(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	userPattern = regexp.MustCompile(`^[0-9]+(:[0-9]+)?$`)
)

// validate reports everything that is wrong with the spec.
func (s Spec) validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.Tags) == 0 {
		fail("an image needs a tag")
	}
	for _, t := range s.Tags {
		if !tagPattern.MatchString(t) {
			fail("tag %q is not complete: write it as HOST/PATH:TAG, such as ghcr.io/etcd-operator/etcd-operator:dev", t)
		}
	}
	if s.User != "" && !userPattern.MatchString(s.User) {
		fail("user %q is not a number: write it as UID or UID:GID, so that Kubernetes can tell that it is not root", s.User)
	}
	for _, e := range s.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			fail("environment variable %q is not of the form NAME=value", e)
		}
	}
	return errors.Join(append(errs, s.validatePlatforms())...)
}

func (s Spec) validatePlatforms() error {
	if len(s.Platforms) == 0 {
		return errors.New("an image needs a platform")
	}
	var errs []error
	seen := map[string]bool{}
	for _, p := range s.Platforms {
		if p.OS == "" || p.Architecture == "" {
			errs = append(errs, fmt.Errorf("platform %s is not complete: name the system and the architecture, such as linux/amd64", p))
		}
		if seen[p.String()] {
			errs = append(errs, fmt.Errorf("platform %s is given twice", p))
		}
		seen[p.String()] = true
	}
	return errors.Join(errs...)
}

// File is one entry of the root filesystem; Dir, Regular, Content, Symlink and Tree make them. All entries belong to root.
type File struct {
	// Path in the image, absolute.
	Path string
	// Mode holds the kind of the entry (a regular file, fs.ModeDir or fs.ModeSymlink) and its permissions.
	Mode fs.FileMode
	// Source is the path of the file on this machine that holds the content of a regular file.
	Source string
	// Data is the content of a regular file without a Source.
	Data []byte
	// Target is where a symbolic link points.
	Target string
}

// Dir is a folder. /tmp wants mode fs.ModeSticky|0o777.
func Dir(path string, mode fs.FileMode) File { return File{Path: path, Mode: fs.ModeDir | mode} }

// Regular is a file with the content of source on this machine.
func Regular(path, source string, mode fs.FileMode) File {
	return File{Path: path, Mode: mode, Source: source}
}

// Content is a file with the given content.
func Content(path string, data []byte, mode fs.FileMode) File {
	return File{Path: path, Mode: mode, Data: data}
}

// Symlink is a symbolic link.
func Symlink(path, target string) File {
	return File{Path: path, Mode: fs.ModeSymlink | 0o777, Target: target}
}

func (f File) validate() error {
	if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "/" {
		return fmt.Errorf("path %q in the image: write it as an absolute path without detours", f.Path)
	}
	switch f.Mode.Type() {
	case 0, fs.ModeDir, fs.ModeSymlink:
		return nil
	default:
		return fmt.Errorf("%s: an image can hold files, folders and symbolic links, not %s", f.Path, f.Mode)
	}
}

// complete returns the files in the order of their paths, with every parent folder.
func complete(files []File) ([]File, error) {
	byPath := map[string]File{}
	for _, f := range files {
		if err := f.validate(); err != nil {
			return nil, err
		}
		if _, twice := byPath[f.Path]; twice {
			return nil, fmt.Errorf("path %s is given twice", f.Path)
		}
		byPath[f.Path] = f
	}
	for _, f := range files {
		for parent := path.Dir(f.Path); parent != "/"; parent = path.Dir(parent) {
			p, ok := byPath[parent]
			if !ok {
				byPath[parent] = Dir(parent, 0o755)
			} else if !p.Mode.IsDir() {
				return nil, fmt.Errorf("%s cannot be in %s, which is not a folder", f.Path, parent)
			}
		}
	}
	all := make([]File, 0, len(byPath))
	for _, f := range byPath {
		all = append(all, f)
	}
	// By path, a folder comes before what is in it, as tar readers expect.
	slices.SortFunc(all, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}
