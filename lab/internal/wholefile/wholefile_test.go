// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package wholefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFileIsReplacedAndNeverWrittenInPlace(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if err := os.WriteFile(source, []byte("copied"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		write func(path string) error
		want  string
	}{
		"Write":     {func(path string) error { return Write(path, []byte("written"), 0o640) }, "written"},
		"WriteJSON": {func(path string) error { return WriteJSON(path, []int{1}, 0o640) }, "[\n  1\n]\n"},
		"Copy":      {func(path string) error { return Copy(path, source, 0o640) }, "copied"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			// Whoever has the file open goes on reading what it was.
			reader, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reader.Close() }()
			if err := tt.write(path); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(content)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			old := make([]byte, 16)
			if n, err := reader.Read(old); err != nil || string(old[:n]) != "before" {
				t.Errorf("an open file became %q (%v)", old[:n], err)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
				t.Errorf("left in the folder: %v (%v)", left, err)
			}
		})
	}
	if err := Copy(filepath.Join(dir, "copy"), filepath.Join(dir, "nothing"), 0o600); err == nil {
		t.Error("nothing was copied without complaint")
	}
}
