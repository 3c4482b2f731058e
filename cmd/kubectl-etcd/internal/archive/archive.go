// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Archive is a report that is being made. All that goes in passes the redactor.
type Archive struct {
	Redactor Redactor
	// folder is the name of the folder that all files are in.
	folder  string
	at      time.Time
	files   []file
	missing []string
}

type file struct{ name, about, text string }

// New returns an empty archive.
func New(folder string, at time.Time) *Archive { return &Archive{folder: folder, at: at} }

// AddText adds a file.
func (a *Archive) AddText(name, about, text string) {
	a.files = append(a.files, file{name, about, a.Redactor.Text(text)})
}

// AddObject adds an object as YAML.
func (a *Archive) AddObject(name, about string, object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return err
	}
	out, err := yaml.Marshal(a.Redactor.Object(plain))
	if err != nil {
		return err
	}
	a.files = append(a.files, file{name, about, string(out)})
	return nil
}

// Missing notes what could not be added.
func (a *Archive) Missing(what string, err error) {
	a.missing = append(a.missing, fmt.Sprintf("%s: %s", what, a.Redactor.Text(err.Error())))
}

// Contents lists what is in the archive, and what is not.
func (a *Archive) Contents() string {
	var b strings.Builder
	for _, f := range a.files {
		fmt.Fprintf(&b, "%-40s %8d  %s\n", f.name, len(f.text), f.about)
	}
	for _, m := range a.missing {
		fmt.Fprintf(&b, "not in it: %s\n", m)
	}
	return b.String()
}

// contentsNote says what a reader may rely on.
const contentsNote = `Secrets are not in this archive: no Secret is copied, values of environment variables and of annotations of others
are taken out, and so is what looks like a key, a token or a password. Names of objects, nodes and buckets are in it.
Look through it before you give it to others.

`

// Write writes the archive.
func (a *Archive) Write(w io.Writer) error {
	zipped := gzip.NewWriter(w)
	packed := tar.NewWriter(zipped)
	list := append([]file{{"CONTENTS.txt", "", contentsNote + a.Contents()}}, a.files...)
	for _, f := range list {
		header := &tar.Header{Name: a.folder + "/" + f.name, Mode: 0o600, Size: int64(len(f.text)), ModTime: a.at, Typeflag: tar.TypeReg}
		if err := packed.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.WriteString(packed, f.text); err != nil {
			return err
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
