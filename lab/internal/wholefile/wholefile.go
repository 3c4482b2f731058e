// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package wholefile writes files that are there as a whole or not at all, whatever happens to the process that writes them.
package wholefile

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Write replaces the file at path in one step. Two processes must not write the same file at once.
func Write(path string, content []byte, mode fs.FileMode) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, mode); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// WriteJSON is Write for a value in JSON.
func WriteJSON(path string, value any, mode fs.FileMode) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(content, '\n'), mode)
}

// Copy replaces the file at path by a copy of another in one step.
func Copy(path, source string, mode fs.FileMode) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	temporary := path + ".new"
	out, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
