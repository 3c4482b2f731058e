// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"

	"github.com/etcd-operator/etcd-operator/internal/store"
)

// whole is a snapshot as etcd sends it.
func whole(pages int) []byte {
	data := make([]byte, pages*512)
	r := rand.NewChaCha8([32]byte{3})
	_, _ = r.Read(data[:len(data)/2]) // half of it compresses
	sum := sha256.Sum256(data)
	return slices.Concat(data, sum[:])
}

func TestBrokenSnapshotsNeverEnd(t *testing.T) {
	good := whole(300)
	flipped := bytes.Clone(good)
	flipped[1000] ^= 1
	trailer := bytes.Clone(good)
	trailer[len(trailer)-1] ^= 1
	cutStream := io.MultiReader(bytes.NewReader(good[:5000]), iotest.ErrReader(io.ErrUnexpectedEOF))
	for name, test := range map[string]struct {
		r    io.Reader
		want error
	}{
		"whole":                          {bytes.NewReader(good), nil},
		"whole, byte by byte":            {iotest.OneByteReader(bytes.NewReader(good)), nil},
		"whole, data and end together":   {iotest.DataErrReader(bytes.NewReader(good)), nil},
		"a bit flipped":                  {bytes.NewReader(flipped), ErrBroken},
		"a bit of the trailer flipped":   {bytes.NewReader(trailer), ErrBroken},
		"cut off in the trailer":         {bytes.NewReader(good[:len(good)-1]), ErrBroken},
		"cut off before the trailer":     {bytes.NewReader(good[:len(good)-32]), ErrBroken},
		"cut off at a page and 32 bytes": {bytes.NewReader(good[:512*10+32]), ErrBroken},
		"cut off, byte by byte":          {iotest.OneByteReader(bytes.NewReader(good[:700])), ErrBroken},
		"nothing":                        {bytes.NewReader(nil), ErrBroken},
		"only a trailer":                 {bytes.NewReader(good[:32]), ErrBroken},
		"more than the trailer":          {bytes.NewReader(append(bytes.Clone(good), 0)), ErrBroken},
		"a connection that broke":        {cutStream, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewChecked(test.r)
			n, err := io.Copy(io.Discard, c)
			if !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
				t.Fatalf("after %d bytes: %v, want %v", n, err, test.want)
			}
			if _, again := c.Read(make([]byte, 1)); again == nil || errors.Is(again, io.EOF) != (test.want == nil) {
				t.Errorf("read once more: %v", again)
			}
			sum := sha256.Sum256(good)
			if test.want == nil && (c.SHA256() != hex.EncodeToString(sum[:]) || c.Size() != int64(len(good))) {
				t.Errorf("sha256 = %s, size = %d", c.SHA256(), c.Size())
			}
		})
	}
}

// folder is a store of files.
func folder(t *testing.T) store.Store {
	t.Helper()
	s, _, err := store.Open(t.Context(), store.Config{Kind: "File", Path: "b/k", Namespace: "ns", FileRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func identity(t *testing.T) *age.X25519Identity {
	t.Helper()
	i, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// keysFor are the keys for an object: none where it needs none.
func keysFor(f Format, key age.Identity) []age.Identity {
	if f.Encryption() == NotEncrypted {
		return nil
	}
	return []age.Identity{key}
}

func TestEveryFormatComesBack(t *testing.T) {
	key := identity(t)
	data := whole(5000)
	for name, format := range map[string]Format{
		"plain":                    {},
		"compressed":               {Compression: Zstd},
		"encrypted":                {Recipients: []age.Recipient{key.Recipient()}},
		"compressed and encrypted": {Compression: Zstd, Recipients: []age.Recipient{key.Recipient()}},
	} {
		t.Run(name, func(t *testing.T) {
			s := folder(t)
			sums, err := Write(t.Context(), s, "k", bytes.NewReader(data), format, Facts{Owner: "o", Run: "r", Revision: 9, EtcdVersion: "3.6.16"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			stored, _, err := s.Get(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(stored)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(raw)
			if sums.SHA256 != hex.EncodeToString(sum[:]) || sums.Size != int64(len(raw)) || sums.SnapshotSize != int64(len(data)) {
				t.Errorf("sums = %+v, the object has %d bytes", sums, len(raw))
			}
			if format.Encryption() == Age && bytes.Contains(raw, data[:64]) {
				t.Error("the data can be read in the store")
			}
			r, facts, err := Open(t.Context(), s, "k", keysFor(format, key), "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("came back with %v, equal: %t", err, bytes.Equal(got, data))
			}
			if facts.Owner != "o" || facts.Revision != 9 || facts.Compression != format.Compression || facts.SHA256 != sums.SHA256 {
				t.Errorf("facts = %+v", facts)
			}

			// A broken stream leaves no object, in any format.
			if _, err := Write(t.Context(), s, "broken", bytes.NewReader(data[:4000]), format, Facts{}, nil); !errors.Is(err, ErrBroken) {
				t.Errorf("Write of a broken stream = %v", err)
			}
			if _, err := s.Stat(t.Context(), "broken"); !store.Is(err, store.NoObject) {
				t.Errorf("after a broken stream: %v", err)
			}

			// A damaged object is found out, wherever the damage is.
			for _, i := range []int{10, len(raw) / 2, len(raw) - 1} {
				damaged := bytes.Clone(raw)
				damaged[i] ^= 1
				o, err := s.Stat(t.Context(), "k")
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Put(t.Context(), "damaged", bytes.NewReader(damaged), o.Labels, func() store.Labels { return nil }); err != nil {
					t.Fatal(err)
				}
				if err := readAll(t.Context(), s, "damaged", keysFor(format, key)); err == nil {
					t.Errorf("damage at byte %d of %d was not found", i, len(raw))
				}
			}
		})
	}
}

func readAll(ctx context.Context, s store.Store, key string, identities []age.Identity) error {
	r, _, err := Open(ctx, s, key, identities, "")
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	_, err = io.Copy(io.Discard, r)
	return err
}

func TestEncryptedBackupIsForItsKeyOnly(t *testing.T) {
	s, key := folder(t), identity(t)
	if _, err := Write(t.Context(), s, "k", bytes.NewReader(whole(10)), Format{Recipients: []age.Recipient{key.Recipient()}}, Facts{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t.Context(), s, "k", []age.Identity{identity(t)}); err == nil {
		t.Error("another key could read it")
	}
	if _, _, err := Open(t.Context(), s, "k", nil, ""); err == nil {
		t.Error("it could be read without a key")
	}
}

func TestPlainObjectOfAnotherToolCanBeOpened(t *testing.T) {
	s, data := folder(t), whole(10)
	if err := s.Put(t.Context(), "old", bytes.NewReader(data), nil, func() store.Labels { return nil }); err != nil {
		t.Fatal(err)
	}
	r, facts, err := Open(t.Context(), s, "old", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("came back with %v", err)
	}
	if facts != (Facts{}) {
		t.Errorf("facts = %+v, want none", facts)
	}
}

// A tool that copies objects may leave their metadata behind.
func TestObjectsWithoutTheirMetadataCanBeOpened(t *testing.T) {
	key := identity(t)
	data := whole(5000)
	for name, format := range map[string]Format{
		"compressed":               {Compression: Zstd},
		"encrypted":                {Recipients: []age.Recipient{key.Recipient()}},
		"compressed and encrypted": {Compression: Zstd, Recipients: []age.Recipient{key.Recipient()}},
	} {
		t.Run(name, func(t *testing.T) {
			s := folder(t)
			sealed, err := Seal(bytes.NewReader(data), format)
			if err != nil {
				t.Fatal(err)
			}
			defer sealed.Close()
			raw, err := io.ReadAll(sealed)
			if err != nil {
				t.Fatal(err)
			}
			put := func(raw []byte) {
				t.Helper()
				if err := s.Put(t.Context(), "copy", bytes.NewReader(raw), nil, func() store.Labels { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			put(raw)
			r, facts, err := Open(t.Context(), s, "copy", []age.Identity{key}, sealed.Sums().SHA256)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("came back with %v", err)
			}
			if want := (Facts{Compression: format.Compression, Encryption: format.Encryption()}); facts != want {
				t.Errorf("facts = %+v, want %+v", facts, want)
			}
			unchecked, err := OpenUnchecked(t.Context(), s, "copy", []age.Identity{key})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(unchecked); err != nil || !bytes.Equal(got, data) {
				t.Errorf("unchecked it came back with %v", err)
			}
			if err := errors.Join(r.Close(), unchecked.Close()); err != nil {
				t.Error(err)
			}
			if _, _, err := Open(t.Context(), s, "copy", nil, ""); errors.Is(err, ErrKeys) != (format.Encryption() == Age) {
				t.Errorf("without a key: %v", err)
			}
			for _, size := range []int{2, 10, 300, len(raw) - 1} {
				put(raw[:size])
				if err := readAll(t.Context(), s, "copy", keysFor(format, key)); !errors.Is(err, ErrBroken) {
					t.Errorf("cut off after %d bytes: %v", size, err)
				}
			}
		})
	}
}

// A store that breaks off at the very beginning says nothing of the backup.
func TestAStoreThatFailsAtOnceIsNotABrokenBackup(t *testing.T) {
	if _, _, err := Open(t.Context(), failing{folder(t)}, "k", nil, ""); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrBroken) {
		t.Errorf("Open = %v", err)
	}
}

// failing is a store whose objects cannot be read.
type failing struct{ store.Store }

func (failing) Get(context.Context, string) (io.ReadCloser, store.Object, error) {
	return io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)), store.Object{}, nil
}

func TestKeysOfASecret(t *testing.T) {
	key, other := identity(t), identity(t)
	for name, test := range map[string]struct {
		secret     map[string][]byte
		recipients int
		identities int
	}{
		"private keys are enough":              {map[string][]byte{"identities": []byte(key.String())}, 1, 1},
		"public keys are enough for a backup":  {map[string][]byte{"recipients": []byte(key.Recipient().String() + "\n" + other.Recipient().String())}, 2, 0},
		"comments and empty lines are allowed": {map[string][]byte{"identities": []byte("# mine\n\n" + key.String() + "\n")}, 1, 1},
		"an empty secret":                      {nil, 0, 0},
		"no age key":                           {map[string][]byte{"identities": []byte("sekret")}, 0, 0},
	} {
		recipients, identities, err := Keys("s", test.secret)
		if (err == nil) != (test.recipients > 0) || len(recipients) != test.recipients || len(identities) != test.identities {
			t.Errorf("%s: %d recipients, %d identities, %v", name, len(recipients), len(identities), err)
		}
		if err != nil && bytes.Contains([]byte(err.Error()), []byte("sekret")) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

// A whole snapshot is not enough where another one was written.
func TestAnotherSnapshotThanTheOneThatWasWrittenIsFoundOut(t *testing.T) {
	key := identity(t)
	for name, format := range map[string]Format{"plain": {}, "compressed and encrypted": {Compression: Zstd, Recipients: []age.Recipient{key.Recipient()}}} {
		s := folder(t)
		if _, err := Write(t.Context(), s, "k", bytes.NewReader(whole(100)), format, Facts{}, nil); err != nil {
			t.Fatal(err)
		}
		if err := readAll(t.Context(), s, "k", keysFor(format, key)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r, _, err := Open(t.Context(), s, "k", []age.Identity{key}, hex.EncodeToString(make([]byte, sha256.Size)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: with another sum: %v", name, err)
		}
		unchecked, err := OpenUnchecked(t.Context(), s, "k", []age.Identity{key})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(unchecked); err != nil || !bytes.Equal(got, whole(100)) {
			t.Errorf("%s: came back with %v", name, err)
		}
		if err := errors.Join(unchecked.Close(), r.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The spec of a cluster and the time are kept with a backup, and only what fits.
func TestWhatIsKeptWithABackupComesBack(t *testing.T) {
	s := folder(t)
	random := make([]byte, 4000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for spec, want := range map[string]string{`{"size":3}`: `{"size":3}`, "": "", hex.EncodeToString(random): ""} {
		if _, err := Write(t.Context(), s, "k", bytes.NewReader(whole(1)), Format{}, Facts{ClusterSpec: spec, Time: at}, nil); err != nil {
			t.Fatal(err)
		}
		r, facts, err := Open(t.Context(), s, "k", nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if facts.ClusterSpec != want || !facts.Time.Equal(at) {
			t.Errorf("%.20s: kept as %q, of %s", spec, facts.ClusterSpec, facts.Time)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whoever may ask for the metadata of an encrypted backup learns nothing of the cluster's spec.
func TestSpecKeptWithAnEncryptedBackupIsForItsKeysOnly(t *testing.T) {
	s, key := folder(t), identity(t)
	const spec = `{"size":3,"pod":{"etcdEnv":[{"name":"PASSWORD","value":"sekret"}]}}`
	other := identity(t)
	format := Format{Recipients: []age.Recipient{other.Recipient(), key.Recipient()}}
	if _, err := Write(t.Context(), s, "k", bytes.NewReader(whole(1)), format, Facts{Owner: "o", ClusterSpec: spec}, nil); err != nil {
		t.Fatal(err)
	}
	o, err := s.Stat(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	for name, label := range o.Labels {
		decoded, _ := base64.RawURLEncoding.DecodeString(label)
		if text := label + string(decoded) + unpack(label, NotEncrypted, nil); strings.Contains(text, "sekret") {
			t.Errorf("label %s shows the spec: %s", name, text)
		}
	}
	if facts := FactsOf(o); facts.Owner != "o" || facts.ClusterSpec != "" {
		t.Errorf("without a key: %+v", facts)
	}
	if text := unpack(o.Labels[labelSealedSpec], Age, []age.Identity{identity(t)}); text != "" {
		t.Errorf("another key reads %s", text)
	}
	for _, i := range []age.Identity{key, other} {
		r, facts, err := Open(t.Context(), s, "k", []age.Identity{i}, "")
		if err != nil {
			t.Fatal(err)
		}
		if facts.ClusterSpec != spec {
			t.Errorf("with the key the spec is %q", facts.ClusterSpec)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}

	// What the keys of many recipients leave no room for is left out, and so it is with those of hybrid keys.
	many := slices.Repeat(format.Recipients, 20)
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for name, recipients := range map[string][]age.Recipient{"many": many, "hybrid": {hybrid.Recipient()}} {
		if _, err := Write(t.Context(), s, "k", bytes.NewReader(whole(1)), Format{Recipients: recipients}, Facts{ClusterSpec: spec}, nil); err != nil {
			t.Fatal(err)
		}
		o, err := s.Stat(t.Context(), "k")
		if err != nil || o.Labels[labelSealedSpec] != "" || o.Labels[labelClusterSpec] != "" {
			t.Errorf("%s: labels %v, %v", name, o.Labels, err)
		}
	}
}

// An older operator kept it in the clear.
func TestSpecInTheClearBesideAnEncryptedBackupIsStillRead(t *testing.T) {
	s, key := folder(t), identity(t)
	sealed, err := Seal(bytes.NewReader(whole(1)), Format{Recipients: []age.Recipient{key.Recipient()}})
	if err != nil {
		t.Fatal(err)
	}
	defer sealed.Close()
	labels := store.Labels{labelEncryption: string(Age), labelClusterSpec: pack(`{"size":3}`, nil)}
	if err := s.Put(t.Context(), "k", sealed, labels, func() store.Labels { return nil }); err != nil {
		t.Fatal(err)
	}
	r, facts, err := Open(t.Context(), s, "k", []age.Identity{key}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if facts.ClusterSpec != `{"size":3}` {
		t.Errorf("the spec is %q", facts.ClusterSpec)
	}
}

// Who can write to the store, and has no key, must not be able to put a backup of their own in the place of an encrypted one.
func TestAPlainObjectIsRefusedWhereKeysAreNamed(t *testing.T) {
	s := folder(t)
	key := identity(t)
	for _, format := range []Format{{}, {Compression: Zstd}} {
		sums, err := Write(t.Context(), s, "k", bytes.NewReader(whole(1)), format, Facts{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(t.Context(), s, "k", []age.Identity{key}, ""); !errors.Is(err, ErrPlain) {
			t.Errorf("%q: %v", format.Compression, err)
		}
		// Its sum says that it is the one that was meant.
		opened, _, err := Open(t.Context(), s, "k", []age.Identity{key}, sums.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, opened); err != nil {
			t.Error(err)
		}
		_ = opened.Close()
		other, _, err := Open(t.Context(), s, "k", nil, strings.Repeat("0", 64))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, other); !errors.Is(err, ErrBroken) {
			t.Errorf("%q: another object than the pinned one is read: %v", format.Compression, err)
		}
		_ = other.Close()
	}
}
