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
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// read is an image as a reader of the specification finds it.
type read struct {
	t     *testing.T
	files map[string][]byte
	order []string
}

func readTar(t *testing.T, r io.Reader) (headers []*tar.Header, contents map[string][]byte) {
	t.Helper()
	contents = map[string][]byte{}
	reader := tar.NewReader(r)
	for {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, h)
		contents[h.Name] = content
	}
}

func readImage(t *testing.T, path string) read {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	headers, files := readTar(t, bytes.NewReader(content))
	r := read{t: t, files: files}
	for _, h := range headers {
		r.order = append(r.order, h.Name)
	}
	return r
}

// blob returns a part of the image after checking its size and digest.
func (r read) blob(d descriptor) []byte {
	r.t.Helper()
	content, ok := r.files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
	if !ok {
		r.t.Fatalf("no blob %s in %v", d.Digest, r.order)
	}
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(content)); got != d.Digest || int64(len(content)) != d.Size {
		r.t.Fatalf("blob %s has digest %s and %d bytes, want %d", d.Digest, got, len(content), d.Size)
	}
	return content
}

func decode[T any](t *testing.T, content []byte) (v T) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, content)
	}
	return v
}

// variant is one platform of an image, read back.
type variant struct {
	Config  config
	Layer   string
	Headers []*tar.Header
	Content map[string][]byte
}

// variants follows the image of a tag down to its root filesystems.
func (r read) variants(tag string) map[string]variant {
	r.t.Helper()
	if got := string(r.files["oci-layout"]); got != `{"imageLayoutVersion":"1.0.0"}` {
		r.t.Errorf("oci-layout is %s", got)
	}
	for _, named := range decode[index](r.t, r.files["index.json"]).Manifests {
		if named.Annotations["io.containerd.image.name"] != tag {
			continue
		}
		if named.Annotations["org.opencontainers.image.ref.name"] != tag {
			r.t.Errorf("annotations of %s differ: %v", tag, named.Annotations)
		}
		found := map[string]variant{}
		for _, d := range decode[index](r.t, r.blob(named)).Manifests {
			m := decode[manifest](r.t, r.blob(d))
			v := variant{Config: decode[config](r.t, r.blob(m.Config)), Layer: m.Layers[0].MediaType}
			layer := r.blob(m.Layers[0])
			if strings.HasSuffix(v.Layer, "+gzip") {
				layer = unzip(r.t, layer)
			}
			if got := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); got != v.Config.RootFS.DiffIDs[0] {
				r.t.Errorf("the layer's content is %s, its config says %s", got, v.Config.RootFS.DiffIDs[0])
			}
			if d.Platform.OS != v.Config.OS || d.Platform.Architecture != v.Config.Architecture {
				r.t.Errorf("platform %v of a config for %s/%s", d.Platform, v.Config.OS, v.Config.Architecture)
			}
			v.Headers, v.Content = readTar(r.t, bytes.NewReader(layer))
			found[d.Platform.OS+"/"+d.Platform.Architecture] = v
		}
		return found
	}
	r.t.Fatalf("no image %s in %s", tag, r.files["index.json"])
	return nil
}

func unzip(t *testing.T, content []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func exampleSpec(t *testing.T) Spec {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("machine code"), 0o600); err != nil {
		t.Fatal(err)
	}
	platform := func(arch string) Platform {
		return Platform{OS: "linux", Architecture: arch, Files: []File{
			Regular("/usr/local/bin/program", program, 0o755),
			Content("/etc/arch", []byte(arch), 0o644),
			Symlink("/program", "usr/local/bin/program"),
			Dir("/tmp", fs.ModeSticky|0o777),
		}}
	}
	return Spec{
		Tags:       []string{"quay.io/a/b:v1", "localhost:5000/a/b:v1"},
		Platforms:  []Platform{platform("amd64"), platform("arm64")},
		Entrypoint: []string{"/usr/local/bin/program"},
		Cmd:        []string{"--help"},
		User:       "65532:65532",
		WorkingDir: "/tmp",
		Env:        []string{"PATH=/usr/local/bin"},
		Labels:     map[string]string{"org.opencontainers.image.title": "b"},
	}
}

func TestImageReadsBackAsItWasSpecified(t *testing.T) {
	for _, compress := range []bool{false, true} {
		t.Run(fmt.Sprintf("compress %t", compress), func(t *testing.T) {
			s := exampleSpec(t)
			s.Compress = compress
			path := filepath.Join(t.TempDir(), "new", "image.tar")
			if err := Write(path, s); err != nil {
				t.Fatal(err)
			}
			r := readImage(t, path)
			for _, tag := range s.Tags {
				variants := r.variants(tag)
				for _, arch := range []string{"amd64", "arm64"} {
					checkVariant(t, variants["linux/"+arch], arch, compress)
				}
			}
		})
	}
}

func checkVariant(t *testing.T, v variant, arch string, compressed bool) {
	t.Helper()
	want := configRuntime{
		User: "65532:65532", Env: []string{"PATH=/usr/local/bin"}, Entrypoint: []string{"/usr/local/bin/program"}, Cmd: []string{"--help"},
		WorkingDir: "/tmp", Labels: map[string]string{"org.opencontainers.image.title": "b"},
	}
	if diff := cmp.Diff(want, v.Config.Config); diff != "" {
		t.Errorf("%s: config (-want +got):\n%s", arch, diff)
	}
	if got := strings.HasSuffix(v.Layer, "+gzip"); got != compressed {
		t.Errorf("%s: layer is of type %s", arch, v.Layer)
	}
	type entry struct {
		Name, Link string
		Type       byte
		Mode       int64
	}
	got := make([]entry, 0, len(v.Headers))
	for _, h := range v.Headers {
		got = append(got, entry{h.Name, h.Linkname, h.Typeflag, h.Mode})
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s: %s belongs to %d:%d and is of %s", arch, h.Name, h.Uid, h.Gid, h.ModTime)
		}
	}
	wantEntries := []entry{
		{"etc/", "", tar.TypeDir, 0o755},
		{"etc/arch", "", tar.TypeReg, 0o644},
		{"program", "usr/local/bin/program", tar.TypeSymlink, 0o777},
		{"tmp/", "", tar.TypeDir, 0o1777},
		{"usr/", "", tar.TypeDir, 0o755},
		{"usr/local/", "", tar.TypeDir, 0o755},
		{"usr/local/bin/", "", tar.TypeDir, 0o755},
		{"usr/local/bin/program", "", tar.TypeReg, 0o755},
	}
	if diff := cmp.Diff(wantEntries, got); diff != "" {
		t.Errorf("%s: files (-want +got):\n%s", arch, diff)
	}
	if string(v.Content["etc/arch"]) != arch || string(v.Content["usr/local/bin/program"]) != "machine code" {
		t.Errorf("%s: contents %q", arch, v.Content)
	}
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	for _, compress := range []bool{false, true} {
		s := exampleSpec(t)
		s.Compress = compress
		one, two := filepath.Join(t.TempDir(), "one.tar"), filepath.Join(t.TempDir(), "two.tar")
		if err := Write(one, s); err != nil {
			t.Fatal(err)
		}
		// Another order, another time, another umask: none of these is part of the image.
		for i := range s.Platforms {
			files := s.Platforms[i].Files
			files[0], files[3] = files[3], files[0]
		}
		program := s.Platforms[0].Files[3].Source
		if err := errors.Join(os.Chtimes(program, time.Now(), time.Now().Add(-time.Hour)), os.Chmod(program, 0o444)); err != nil {
			t.Fatal(err)
		}
		if err := Write(two, s); err != nil {
			t.Fatal(err)
		}
		if a, b := sum(t, one), sum(t, two); a != b {
			t.Errorf("compress %t: %s and %s", compress, a, b)
		}
	}
}

func sum(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func TestFailedWriteLeavesTheOldImageAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "image.tar")
	s := exampleSpec(t)
	if err := Write(path, s); err != nil {
		t.Fatal(err)
	}
	before := sum(t, path)
	s.Platforms[1].Files[0].Source = filepath.Join(dir, "missing")
	if err := Write(path, s); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("got %v, want that a file of linux/arm64 is missing", err)
	}
	if sum(t, path) != before {
		t.Error("the old image changed")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

func TestMistakesAreRefusedInWords(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Spec)
		want   string
	}{
		{"no tag", func(s *Spec) { s.Tags = nil }, "needs a tag"},
		{"short name", func(s *Spec) { s.Tags = []string{"busybox:1"} }, `tag "busybox:1" is not complete`},
		{"no tag in the name", func(s *Spec) { s.Tags = []string{"quay.io/a/b"} }, "is not complete"},
		{"user by name", func(s *Spec) { s.User = "nonroot" }, `user "nonroot" is not a number`},
		{"environment", func(s *Spec) { s.Env = []string{"PATH"} }, "NAME=value"},
		{"no platform", func(s *Spec) { s.Platforms = nil }, "needs a platform"},
		{"half a platform", func(s *Spec) { s.Platforms[0].Architecture = "" }, "platform linux/ is not complete"},
		{"platform twice", func(s *Spec) { s.Platforms[1] = s.Platforms[0] }, "linux/amd64 is given twice"},
		{"relative path", func(s *Spec) { s.Platforms[0].Files[0].Path = "bin/x" }, "absolute path"},
		{"detour", func(s *Spec) { s.Platforms[0].Files[0].Path = "/bin/../x" }, "absolute path"},
		{"path twice", func(s *Spec) { s.Platforms[0].Files[0].Path = "/tmp" }, "/tmp is given twice"},
		{"file in a file", func(s *Spec) { s.Platforms[0].Files[0].Path = "/etc/arch/x" }, "/etc/arch/x cannot be in /etc/arch"},
		{"device", func(s *Spec) { s.Platforms[0].Files[0].Mode = fs.ModeDevice }, "not D"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := exampleSpec(t)
			tt.change(&s)
			err := Write(filepath.Join(t.TempDir(), "image.tar"), s)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}

func TestTreeDoesNotDependOnTheUmask(t *testing.T) {
	root := t.TempDir()
	steps := []error{
		os.MkdirAll(filepath.Join(root, "usr/bin"), 0o700),
		os.WriteFile(filepath.Join(root, "usr/bin/program"), []byte("x"), 0o700),
		os.WriteFile(filepath.Join(root, "usr/data"), []byte("x"), 0o600),
		os.Symlink("usr/bin/program", filepath.Join(root, "link")),
		os.Mkdir(filepath.Join(root, "tmp"), 0o700),
		os.Chmod(filepath.Join(root, "tmp"), fs.ModeSticky|0o700),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	got, err := Tree(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		Symlink("/link", "usr/bin/program"),
		Dir("/tmp", fs.ModeSticky|0o777),
		Dir("/usr", 0o755),
		Dir("/usr/bin", 0o755),
		Regular("/usr/bin/program", filepath.Join(root, "usr/bin/program"), 0o755),
		Regular("/usr/data", filepath.Join(root, "usr/data"), 0o644),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := Tree(filepath.Join(root, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}
