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
	"io/fs"
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

// Tree lists everything below the folder root on this machine, as the root filesystem of an image.
func Tree(root string) ([]File, error) { return nil, errors.New("not implemented yet") }

// Write writes the image to the file at path, replacing it in one step when it is complete.
func Write(path string, s Spec) error { return errors.New("not implemented yet") }
