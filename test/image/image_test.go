// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package image tests the image that users run, as hack/images.sh builds it.
package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/test/repository"
)

// built is one image, with what is written beside it.
type built struct {
	tar, sbom string
}

// build builds the image from the sources in a folder, by a script that first sets up its surroundings.
func build(t *testing.T, sources, before string) built {
	t.Helper()
	out := t.TempDir()
	b := built{tar: filepath.Join(out, "etcd-operator.tar"), sbom: filepath.Join(out, "etcd-operator-linux-"+runtime.GOARCH+".spdx.json")}
	script := before + `; exec hack/images.sh ghcr.io/etcd-operator/etcd-operator:dev "$0" v0.0.0-test 0123456 ` + runtime.GOARCH
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script, b.tar)
	cmd.Dir = sources
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return b
}

// sourcesElsewhere is a copy of the sources in another folder, without git.
func sourcesElsewhere(t *testing.T) string {
	t.Helper()
	from, to := repository.Root(), filepath.Join(t.TempDir(), "somewhere", "else")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case relative == "_out", relative == ".git" && d.IsDir():
			return filepath.SkipDir
		case relative == ".git":
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), content, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func digest(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}

// unpack puts the files of the image's only layer into a folder.
func unpack(t *testing.T, image string) string {
	t.Helper()
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	root := t.TempDir()
	each(t, f, func(_ *tar.Header, blob io.Reader) {
		layer, err := gzip.NewReader(blob)
		if err != nil {
			return // a manifest
		}
		each(t, layer, func(h *tar.Header, content io.Reader) {
			file := filepath.Join(root, h.Name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(content)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, data, h.FileInfo().Mode().Perm()); err != nil {
				t.Fatal(err)
			}
		})
	})
	return root
}

// each calls f for each regular file of a tar.
func each(t *testing.T, r io.Reader, f func(*tar.Header, io.Reader)) {
	t.Helper()
	reader := tar.NewReader(r)
	for {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			f(h, reader)
		}
	}
}

func TestTwoBuildsGiveOneDigest(t *testing.T) {
	first := build(t, repository.Root(), "umask 022")
	second := build(t, sourcesElsewhere(t), "umask 077; export TZ=Asia/Tokyo LC_ALL=C SOURCE_DATE_EPOCH=1")
	for _, pair := range [][2]string{{first.tar, second.tar}, {first.sbom, second.sbom}} {
		a, b := digest(t, pair[0]), digest(t, pair[1])
		t.Logf("%s: %s", filepath.Base(pair[0]), a)
		if a != b {
			t.Errorf("%s is %s, and %s when it is built in another folder", filepath.Base(pair[0]), a, b)
		}
	}

	root := unpack(t, first.tar)
	t.Run("the trust store is Mozilla's", func(t *testing.T) { trustStore(t, root) })
	t.Run("the list names all that the programs are made of", func(t *testing.T) { listed(t, root, first.sbom) })
}

func trustStore(t *testing.T, root string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(content) || bytes.Count(content, []byte("BEGIN CERTIFICATE")) < 80 {
		t.Errorf("it has %d authorities", bytes.Count(content, []byte("BEGIN CERTIFICATE")))
	}
}

func listed(t *testing.T, root, beside string) {
	t.Helper()
	list, err := os.ReadFile(beside)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := os.ReadFile(filepath.Join(root, "usr/share/sbom/etcd-operator.spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(list, inside) {
		t.Error("the list in the image is not the one beside it")
	}
	want := []string{"golang.org/x/crypto/x509roots/fallback@"}
	programs, err := filepath.Glob(filepath.Join(root, "usr/local/bin/*"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, "stdlib@"+strings.TrimPrefix(info.GoVersion, "go"))
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			want = append(want, dep.Path+"@"+dep.Version)
		}
	}
	for _, module := range want {
		if !bytes.Contains(list, []byte("pkg:golang/"+module)) {
			t.Errorf("%s is not listed", module)
		}
	}
}
