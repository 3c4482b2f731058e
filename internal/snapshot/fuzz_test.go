// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"filippo.io/age"

	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The look at a database ends, whatever its pages say.
func FuzzDatabase(f *testing.F) {
	f.Add(whole(3), 100)
	f.Fuzz(func(_ *testing.T, data []byte, at int) {
		d := &Database{}
		if at < 0 || at > len(data) {
			at = 0
		}
		_, _ = d.Write(data[:at])
		_, _ = d.Write(data[at:])
		_ = d.Verify()
		_ = d.HasAuthentication()
	})
}

// What is in a store is read to its end or refused, with keys and without.
func FuzzUnseal(f *testing.F) {
	f.Add(whole(1), "", "")
	f.Add([]byte(zstdMagic), string(Zstd), "")
	f.Add([]byte(ageMagic+"\n-> X25519 a\n"), "", string(Age))
	key, err := age.GenerateX25519Identity()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, compression, encryption string) {
		for _, keys := range [][]age.Identity{nil, {key}} {
			s := &storedBytes{body: io.NopCloser(bytes.NewReader(data)), facts: Facts{Compression: Compression(compression), Encryption: Encryption(encryption)}}
			plain, err := s.unseal(keys, true)
			if err != nil {
				continue
			}
			const most = 64 << 20
			_, err = io.Copy(io.Discard, io.LimitReader(NewChecked(&wholly{plain: plain, stored: s}), most))
			if err != nil && !errors.Is(err, ErrBroken) && !errors.Is(err, ErrKeys) {
				t.Errorf("an error of the store, which gave all that it has: %v", err)
			}
			_ = plain.Close()
		}
	})
}

// Labels, and the spec in one of them, are somebody else's texts.
func FuzzLabels(f *testing.F) {
	f.Add(pack(`{"size":3,"pod":{"busyboxImage":"x"}}`, nil), "3.6.16", "9", "2026-01-01T00:00:00Z")
	f.Fuzz(func(t *testing.T, spec, version, number, at string) {
		facts := FactsOf(store.Object{Labels: store.Labels{
			labelClusterSpec: spec, labelVersion: version, labelRevision: number, labelTime: at, labelClusterID: version,
		}})
		if len(facts.EtcdVersion) > 64 {
			t.Errorf("a version of %d bytes", len(facts.EtcdVersion))
		}
		checkKept(t, facts)
	})
}

// FuzzKeptSpec is FuzzLabels without the packing, which keeps most of what is tried from being a spec.
func FuzzKeptSpec(f *testing.F) {
	f.Add(`{"size":3,"version":"3.6.16","pod":{"busyboxImage":"x","persistentVolumeClaimSpec":{"volumeName":"v"}}}`)
	f.Fuzz(func(t *testing.T, spec string) { checkKept(t, Facts{ClusterSpec: spec}) })
}

func checkKept(t *testing.T, facts Facts) {
	t.Helper()
	spec := facts.KeptSpec()
	if spec == nil {
		return
	}
	if spec.Repository != "" || spec.TLS != nil || spec.Service != nil || spec.Recovery != nil {
		t.Errorf("taken over: %+v", spec)
	}
	if spec.Pod == nil {
		return
	}
	if spec.Pod.BusyboxImage != "" || len(spec.Pod.EtcdEnv) > 0 || len(spec.Pod.Labels) > 0 || spec.Pod.SecurityContext != nil {
		t.Errorf("taken over: %+v", spec.Pod)
	}
	if claim := spec.Pod.PersistentVolumeClaimSpec; claim.VolumeName != "" || claim.DataSource != nil || claim.DataSourceRef != nil || claim.Selector != nil {
		t.Errorf("taken over: %+v", claim)
	}
}

func FuzzName(f *testing.F) {
	f.Add("key_v9_2026-01-01-00:00:00")
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := ParseName(name); ok && n.Revision < 0 {
			t.Errorf("%q has revision %d", name, n.Revision)
		}
	})
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("AGE-SECRET-KEY-1"), []byte("age1"))
	f.Fuzz(func(t *testing.T, identities, recipients []byte) {
		to, _, err := Keys("s", map[string][]byte{identitiesKey: identities, recipientsKey: recipients})
		if err == nil && len(to) == 0 {
			t.Error("nobody could read such a backup")
		}
	})
}
