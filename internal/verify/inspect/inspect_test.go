// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/verify"
)

func TestWhatCannotBeRestoredIsToldFromWhatCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct {
		snapshot []byte // nil means that it is not there
		want     int
	}{
		"no snapshot of etcd": {bytes.Repeat([]byte("x"), 5000), verify.ExitBroken},
		"no file":             {nil, 1},
	} {
		dir := t.TempDir()
		if test.snapshot != nil {
			if err := os.WriteFile(filepath.Join(dir, verify.SnapshotFile), test.snapshot, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var printed bytes.Buffer
		if got := Main(t.Context(), []string{dir, "1"}, io.Discard, &printed); got != test.want {
			t.Errorf("%s: exit code %d, want %d; it printed %s", name, got, test.want, &printed)
		}
	}
}
