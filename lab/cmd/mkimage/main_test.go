// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder makes a root filesystem with one program.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "program"), []byte("code"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

func mkimage(args ...string) (string, error) {
	cmd := newCommand()
	out := new(bytes.Buffer)
	cmd.SetOut(out)
	cmd.SetErr(out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// configs returns the configuration blobs of an image, and the names of the files in its uncompressed layers.
func configs(t *testing.T, path string) (all []map[string]any, files []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	each(t, f, func(h *tar.Header, r io.Reader) {
		if h.Typeflag != tar.TypeReg {
			return
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if json.Unmarshal(content, &object) == nil {
			if object["rootfs"] != nil {
				all = append(all, object)
			}
			return
		}
		each(t, bytes.NewReader(content), func(h *tar.Header, _ io.Reader) { files = append(files, h.Name) })
	})
	return all, files
}

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
		f(h, reader)
	}
}

func TestFlagsEndUpInTheImage(t *testing.T) {
	output := filepath.Join(t.TempDir(), "image.tar")
	_, err := mkimage("--output", output, "--tag", "ghcr.io/a/b:dev", "--platform", "linux/arm64="+folder(t),
		"--entrypoint", "/program", "--entrypoint", "run", "--cmd", "x,y", "--user", "65532:65532", "--workdir", "/tmp",
		"--env", "A=b", "--label", "k=v=w", "--tmp", "--trust-store", "--no-compression")
	if err != nil {
		t.Fatal(err)
	}
	all, files := configs(t, output)
	if len(all) != 1 {
		t.Fatalf("%d configurations, want 1", len(all))
	}
	want := map[string]any{
		"Entrypoint": []any{"/program", "run"}, "Cmd": []any{"x,y"}, "User": "65532:65532", "WorkingDir": "/tmp",
		"Env": []any{"A=b"}, "Labels": map[string]any{"k": "v=w"},
	}
	if diff := cmp.Diff(want, all[0]["config"]); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if all[0]["architecture"] != "arm64" {
		t.Errorf("architecture %v", all[0]["architecture"])
	}
	wantFiles := []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "etc/ssl/certs/ca-certificates.crt", "program", "tmp/"}
	if diff := cmp.Diff(wantFiles, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestTheModulesOfProgramsAreListedInTheImageAndBesideIt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, output := t.TempDir(), filepath.Join(t.TempDir(), "new", "image.tar")
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "program"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"--output", output, "--tag", "ghcr.io/a/b:dev", "--platform", "linux/amd64=" + root, "--no-compression", "--sbom", "b"}
	if _, err := mkimage(args...); err != nil {
		t.Fatal(err)
	}
	_, files := configs(t, output)
	if !slices.Contains(files, "usr/share/sbom/b.spdx.json") {
		t.Errorf("there is no list in the image: %v", files)
	}
	beside, err := os.ReadFile(filepath.Join(filepath.Dir(output), "b-linux-amd64.spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pkg:golang/github.com/spf13/cobra@v", "pkg:golang/stdlib@1.", `"name": "program"`} {
		if !strings.Contains(string(beside), want) {
			t.Errorf("the list beside the image lacks %s", want)
		}
	}
}

func TestEveryPlatformIsInTheImage(t *testing.T) {
	output := filepath.Join(t.TempDir(), "image.tar")
	_, err := mkimage("--output", output, "--tag", "ghcr.io/a/b:dev", "--no-compression",
		"--platform", "linux/amd64="+folder(t), "--platform", "linux/arm64="+folder(t))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := configs(t, output)
	got := make([]any, 0, len(all))
	for _, c := range all {
		got = append(got, c["architecture"])
	}
	if diff := cmp.Diff([]any{"amd64", "arm64"}, got); diff != "" {
		t.Errorf("architectures (-want +got):\n%s", diff)
	}
}

func TestMistakesAreRefusedInWords(t *testing.T) {
	good := "linux/amd64=" + folder(t)
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"nothing given", nil, "required flag(s)"},
		{"no folder", []string{"--tag", "ghcr.io/a/b:dev", "--platform", "linux/amd64"}, "OS/ARCH=FOLDER"},
		{"no architecture", []string{"--tag", "ghcr.io/a/b:dev", "--platform", "linux=x"}, "OS/ARCH=FOLDER"},
		{"empty folder", []string{"--tag", "ghcr.io/a/b:dev", "--platform", "linux/amd64=" + t.TempDir()}, "is empty"},
		{"folder missing", []string{"--tag", "ghcr.io/a/b:dev", "--platform", "linux/amd64=/no/such/folder"}, "no such file"},
		{"label", []string{"--tag", "ghcr.io/a/b:dev", "--platform", good, "--label", "x"}, "NAME=VALUE"},
		{"a program of another language", []string{"--tag", "ghcr.io/a/b:dev", "--platform", good, "--sbom", "b"}, "/program cannot be listed"},
		{"tag", []string{"--tag", "b", "--platform", good}, "HOST/PATH:TAG"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := tt.args
			if len(args) > 0 {
				args = append(args, "--output", filepath.Join(t.TempDir(), "image.tar"))
			}
			_, err := mkimage(args...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	out, err := mkimage("--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--output", "--tag", "--platform", "--user", "--label", "Equal folders give an equal image"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help does not mention %q:\n%s", want, out)
		}
	}
}
