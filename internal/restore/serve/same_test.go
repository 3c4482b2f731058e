// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestAnotherObjectIsNoticedWhileItIsServed(t *testing.T) {
	const checked = "the backup that was checked"
	sum := sha256.Sum256([]byte(checked))
	want := &v1beta2.RestoredBackup{Size: int64(len(checked)), SHA256: hex.EncodeToString(sum[:])}
	for name, tc := range map[string]struct {
		from     io.Reader
		replaced bool
		err      error
	}{
		"the same":             {strings.NewReader(checked), false, nil},
		"the same, slowly":     {iotest.OneByteReader(strings.NewReader(checked)), false, nil},
		"of the same size":     {strings.NewReader("the backup that was changed"), true, errReplaced},
		"longer":               {strings.NewReader(checked + "!"), true, errReplaced},
		"shorter":              {strings.NewReader(checked[:5]), true, errReplaced},
		"a store that is away": {io.MultiReader(strings.NewReader(checked[:5]), iotest.ErrReader(io.ErrUnexpectedEOF)), false, io.ErrUnexpectedEOF},
	} {
		got, err := io.ReadAll(newSameBackup(tc.from, want))
		if !errors.Is(err, tc.err) || errors.Is(err, errReplaced) != tc.replaced {
			t.Errorf("%s: %v", name, err)
		}
		if int64(len(got)) > want.Size {
			t.Errorf("%s: %d bytes are passed on", name, len(got))
		}
	}
}
