// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The parts of the OCI image specification that are written. The order of the fields is the order in the file.
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int64             `json:"size"`
		Annotations map[string]string `json:"annotations,omitempty"`
		Platform    *platform         `json:"platform,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	index struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}
	manifest struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        descriptor   `json:"config"`
		Layers        []descriptor `json:"layers"`
	}
	config struct {
		Created      time.Time     `json:"created"`
		Architecture string        `json:"architecture"`
		OS           string        `json:"os"`
		Config       configRuntime `json:"config"`
		RootFS       rootFS        `json:"rootfs"`
	}
	configRuntime struct {
		User       string            `json:"User,omitempty"`
		Env        []string          `json:"Env,omitempty"`
		Entrypoint []string          `json:"Entrypoint,omitempty"`
		Cmd        []string          `json:"Cmd,omitempty"`
		WorkingDir string            `json:"WorkingDir,omitempty"`
		Labels     map[string]string `json:"Labels,omitempty"`
	}
	rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
)

const (
	mediaTypeIndex    = "application/vnd.oci.image.index.v1+json"
	mediaTypeManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaTypeConfig   = "application/vnd.oci.image.config.v1+json"
	mediaTypeLayer    = "application/vnd.oci.image.layer.v1.tar"

	// Two annotations name an image in a layout: containerd's own, which wins there, and the specification's.
	annotationContainerd = "io.containerd.image.name"
	annotationReference  = "org.opencontainers.image.ref.name"
)

// epoch is the time of everything in an image: a real time would make equal images differ.
var epoch = time.Unix(0, 0).UTC()

// Write writes the image to the file at path, replacing it in one step when it is complete.
func Write(path string, s Spec) (err error) {
	if err := s.validate(); err != nil {
		return fmt.Errorf("image %s: %w", filepath.Base(path), err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("image %s: %w", s.Tags[0], err)
	}
	// Everything is made beside the target, so that it is on the same filesystem and can be moved in one step.
	work, err := os.MkdirTemp(filepath.Dir(path), ".image-*")
	if err != nil {
		return fmt.Errorf("image %s: %w", s.Tags[0], err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	complete := filepath.Join(work, "image.tar")
	if err := write(complete, work, s); err != nil {
		return fmt.Errorf("image %s: %w", s.Tags[0], err)
	}
	if err := os.Rename(complete, path); err != nil {
		return fmt.Errorf("image %s: %w", s.Tags[0], err)
	}
	return nil
}

// blob is a part of the image, in a file or in memory.
type blob struct {
	descriptor
	file string
	data []byte
}

func write(path, work string, s Spec) (err error) {
	var blobs []blob
	manifests := index{SchemaVersion: 2, MediaType: mediaTypeIndex}
	for i, p := range s.Platforms {
		layer, diffID, err := writeLayer(filepath.Join(work, fmt.Sprintf("layer-%d", i)), p.Files, s.Compress)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		conf, err := jsonBlob(mediaTypeConfig, config{
			Created: epoch, Architecture: p.Architecture, OS: p.OS,
			Config: configRuntime{
				User: s.User, Env: s.Env, Entrypoint: s.Entrypoint, Cmd: s.Cmd, WorkingDir: s.WorkingDir, Labels: s.Labels,
			},
			RootFS: rootFS{Type: "layers", DiffIDs: []string{diffID}},
		})
		if err != nil {
			return err
		}
		man, err := jsonBlob(mediaTypeManifest, manifest{
			SchemaVersion: 2, MediaType: mediaTypeManifest, Config: conf.descriptor, Layers: []descriptor{layer.descriptor},
		})
		if err != nil {
			return err
		}
		blobs = append(blobs, layer, conf, man)
		d := man.descriptor
		d.Platform = &platform{Architecture: p.Architecture, OS: p.OS}
		manifests.Manifests = append(manifests.Manifests, d)
	}
	image, err := jsonBlob(mediaTypeIndex, manifests)
	if err != nil {
		return err
	}
	blobs = append(blobs, image)

	// The layout's own index names the one image once for each tag.
	names := index{SchemaVersion: 2, MediaType: mediaTypeIndex}
	for _, tag := range s.Tags {
		d := image.descriptor
		d.Annotations = map[string]string{annotationContainerd: tag, annotationReference: tag}
		names.Manifests = append(names.Manifests, d)
	}
	top, err := jsonBlob(mediaTypeIndex, names)
	if err != nil {
		return err
	}
	return writeLayout(path, top.data, blobs)
}

// writeLayout writes the tar of the whole image.
func writeLayout(path string, top []byte, blobs []blob) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := tar.NewWriter(out)
	for _, f := range []File{
		Content("/oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644), Content("/index.json", top, 0o644),
		Dir("/blobs", 0o755), Dir("/blobs/sha256", 0o755),
	} {
		if err := writeEntry(w, f); err != nil {
			return err
		}
	}
	written := map[string]bool{}
	for _, b := range blobs {
		// Platforms may share a part.
		if written[b.Digest] {
			continue
		}
		written[b.Digest] = true
		name := "/blobs/" + strings.Replace(b.Digest, ":", "/", 1)
		if err := writeEntry(w, File{Path: name, Mode: 0o644, Source: b.file, Data: b.data}); err != nil {
			return err
		}
	}
	return w.Close()
}

func jsonBlob(mediaType string, v any) (blob, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return blob{}, err
	}
	return blob{
		descriptor: descriptor{MediaType: mediaType, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data)), Size: int64(len(data))},
		data:       data,
	}, nil
}

// writeLayer writes a root filesystem to the file at path. It returns the layer and the digest of its uncompressed content.
func writeLayer(path string, files []File, compress bool) (layer blob, diffID string, err error) {
	files, err = complete(files)
	if err != nil {
		return blob{}, "", err
	}
	out, err := os.Create(path)
	if err != nil {
		return blob{}, "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	stored := &digester{w: out, h: sha256.New()}
	content := stored
	mediaType := mediaTypeLayer
	var zipper *gzip.Writer
	if compress {
		mediaType += "+gzip"
		zipper = gzip.NewWriter(stored)
		content = &digester{w: zipper, h: sha256.New()}
	}
	w := tar.NewWriter(content)
	for _, f := range files {
		if err := writeEntry(w, f); err != nil {
			return blob{}, "", err
		}
	}
	if err := w.Close(); err != nil {
		return blob{}, "", err
	}
	if zipper != nil {
		if err := zipper.Close(); err != nil {
			return blob{}, "", err
		}
	}
	d := descriptor{MediaType: mediaType, Digest: stored.digest(), Size: stored.n}
	return blob{descriptor: d, file: path}, content.digest(), nil
}

// digester passes data on while it computes its digest.
type digester struct {
	w io.Writer
	h hash.Hash
	n int64
}

func (d *digester) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	d.h.Write(p[:n])
	d.n += int64(n)
	return n, err
}

func (d *digester) digest() string { return fmt.Sprintf("sha256:%x", d.h.Sum(nil)) }

// writeEntry writes one entry of a tar, owned by root and as old as the epoch.
func writeEntry(w *tar.Writer, f File) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(f.Path, "/"), Mode: int64(f.Mode.Perm()), ModTime: epoch}
	if f.Mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	switch {
	case f.Mode.IsDir():
		h.Typeflag = tar.TypeDir
		h.Name += "/"
		return w.WriteHeader(h)
	case f.Mode&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		h.Linkname = f.Target
		return w.WriteHeader(h)
	case f.Source == "":
		h.Size = int64(len(f.Data))
		return writeContent(w, h, bytes.NewReader(f.Data))
	default:
		return writeSource(w, h, f.Source)
	}
}

// writeSource writes a regular file with the content of a file on this machine.
func writeSource(w *tar.Writer, h *tar.Header, path string) (err error) {
	source, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	return writeContent(w, h, source)
}

func writeContent(w *tar.Writer, h *tar.Header, content io.Reader) error {
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(w, content)
	if err != nil {
		return fmt.Errorf("write %s: %w", h.Name, err)
	}
	if n != h.Size {
		return fmt.Errorf("write %s: it had %d bytes, and %d when it was read", h.Name, h.Size, n)
	}
	return nil
}
