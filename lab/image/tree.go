// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Tree lists everything below the folder root on this machine, as the root filesystem of an image.
//
// Permissions are reduced to what does not depend on the umask of whoever made the folder: folders are 0755 (1777 if their sticky
// bit is set, as for /tmp), files are 0755 if their owner may execute them and 0644 otherwise.
func Tree(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(source string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, source)
		if err != nil || relative == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := entryOf(path.Join("/", filepath.ToSlash(relative)), source, info.Mode())
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s for an image: %w", root, err)
	}
	return files, nil
}

// entryOf is the entry of an image for a file, folder or link on this machine.
func entryOf(inImage, source string, mode fs.FileMode) (File, error) {
	switch {
	case mode.IsDir() && mode&fs.ModeSticky != 0:
		return Dir(inImage, fs.ModeSticky|0o777), nil
	case mode.IsDir():
		return Dir(inImage, 0o755), nil
	case mode.IsRegular() && mode&0o100 != 0:
		return Regular(inImage, source, 0o755), nil
	case mode.IsRegular():
		return Regular(inImage, source, 0o644), nil
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(source)
		return Symlink(inImage, target), err
	default:
		return File{}, fmt.Errorf("%s is a %s, which an image cannot hold", source, mode.Type())
	}
}
