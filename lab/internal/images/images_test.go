// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeCtr is a client of containerd that writes down what it is asked to import, and fails for names with "bad" in them.
func fakeCtr(t *testing.T) (path string, imported func() []string) {
	t.Helper()
	dir := t.TempDir()
	path, log := filepath.Join(dir, "ctr"), filepath.Join(dir, "log")
	script := `#!/bin/sh
case "$*" in
*version) exit 0;;
*bad*) echo "cannot read it" >&2; exit 1;;
esac
for last; do :; done
basename "$last" >>"` + log + `"
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, func() []string {
		content, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(content))
	}
}

func tar(t *testing.T, dir, name, content string) Tar {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	hashed, err := Hash(path)
	if err != nil {
		t.Fatal(err)
	}
	return hashed
}

func TestHashAllReadsATarAgainOnlyIfItChanged(t *testing.T) {
	dir := t.TempDir()
	memory, path := filepath.Join(dir, "hashes"), filepath.Join(dir, "a.tar")
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	hashOf := func(content string, modified time.Time) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
		tars, err := HashAll(memory, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		return tars[0].Hash
	}
	first := hashOf("one", early)
	if got := hashOf("two", early); got != first {
		t.Error("a tar that looks the same was read again")
	}
	second := hashOf("two", late)
	if second == first {
		t.Error("a tar that was written again was not read")
	}
	if got := hashOf("one", early); got != first {
		t.Errorf("the hash of the first content is now %s", got)
	}
	if err := os.WriteFile(memory, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := hashOf("one", early); got != first {
		t.Errorf("with a damaged memory the hash is %s, want %s", got, first)
	}
	if _, err := HashAll(memory, []string{filepath.Join(dir, "none.tar")}); err == nil {
		t.Error("a tar that does not exist has a hash")
	}
}

func TestImportImportsWhatChangedSinceTheLastTime(t *testing.T) {
	ctr, imported := fakeCtr(t)
	dir := t.TempDir()
	s := Store{Ctr: ctr, Address: "sock", Record: filepath.Join(dir, "record")}
	a, b := tar(t, dir, "a.tar", "one"), tar(t, dir, "b.tar", "two")
	steps := []struct {
		tars []Tar
		want []string
	}{
		{[]Tar{a}, []string{"a.tar"}},
		{[]Tar{a, b}, []string{"a.tar", "b.tar"}},
		{[]Tar{b, a}, []string{"a.tar", "b.tar"}},
		{[]Tar{tar(t, dir, "a.tar", "changed")}, []string{"a.tar", "b.tar", "a.tar"}},
		{[]Tar{tar(t, dir, "a.tar", "one")}, []string{"a.tar", "b.tar", "a.tar", "a.tar"}},
	}
	for i, step := range steps {
		if err := s.Import(context.Background(), step.tars, io.Discard); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, imported()); diff != "" {
			t.Errorf("after step %d (-want +got):\n%s", i+1, diff)
		}
	}
}

func TestForgetMakesImportImportAgain(t *testing.T) {
	ctr, imported := fakeCtr(t)
	dir := t.TempDir()
	s := Store{Ctr: ctr, Address: "sock", Record: filepath.Join(dir, "record")}
	a := tar(t, dir, "a.tar", "one")
	for range 2 {
		if err := s.Forget(a.Path); err != nil {
			t.Fatal(err)
		}
		if err := s.Import(context.Background(), []Tar{a}, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a.tar", "a.tar"}, imported()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFailedImportIsReportedAndNotRemembered(t *testing.T) {
	ctr, imported := fakeCtr(t)
	dir := t.TempDir()
	s := Store{Ctr: ctr, Address: "sock", Record: filepath.Join(dir, "record")}
	good, bad := tar(t, dir, "good.tar", "one"), tar(t, dir, "bad.tar", "two")
	for range 2 {
		err := s.Import(context.Background(), []Tar{good, bad}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "bad.tar") || !strings.Contains(err.Error(), "cannot read it") {
			t.Errorf("got %v, want the file and what is wrong with it", err)
		}
	}
	if diff := cmp.Diff([]string{"good.tar"}, imported()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
