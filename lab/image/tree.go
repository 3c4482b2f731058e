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
		inImage := path.Join("/", filepath.ToSlash(relative))
		switch {
		case info.IsDir() && info.Mode()&fs.ModeSticky != 0:
			files = append(files, Dir(inImage, fs.ModeSticky|0o777))
		case info.IsDir():
			files = append(files, Dir(inImage, 0o755))
		case info.Mode().IsRegular() && info.Mode()&0o100 != 0:
			files = append(files, Regular(inImage, source, 0o755))
		case info.Mode().IsRegular():
			files = append(files, Regular(inImage, source, 0o644))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(source)
			if err != nil {
				return err
			}
			files = append(files, Symlink(inImage, target))
		default:
			return fmt.Errorf("%s is a %s, which an image cannot hold", source, info.Mode().Type())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s for an image: %w", root, err)
	}
	return files, nil
}
