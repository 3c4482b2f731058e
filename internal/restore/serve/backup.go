// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"filippo.io/age"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/secretfield"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/stall"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// storeTimeout is how long a store may send nothing before reading from it is given up.
const storeTimeout = time.Minute

// WatchStore returns a context for what is read from a store, which ends when the store stalls.
func WatchStore(ctx context.Context) (context.Context, *stall.Guard) {
	return stall.Watch(ctx, "the store", storeTimeout)
}

// Backups opens the backups that EtcdRestores name.
type Backups struct {
	// Secrets are read when they are needed, and never cached.
	Secrets client.Reader
	// OtherNamespaces says that the operator serves other namespaces than its own.
	OtherNamespaces bool
	// FileRoot is the folder of the stores of type File.
	FileRoot string
	// Permissions are what endpoints of objects may lead to, and what they may use.
	Permissions kind.Permissions
	// Transport carries requests to stores; nil for the network.
	Transport http.RoundTripper
}

// Backup is a backup that is open for reading: the plain snapshot. It returns an error instead of io.EOF
// where the object is not what was written.
type Backup struct {
	*snapshot.Opened
	Facts snapshot.Facts
	Key   string
	URL   string
	store store.Store
}

// Close implements io.Closer.
func (b *Backup) Close() error { return errors.Join(b.Opened.Close(), b.store.Close()) }

// Open opens the backup that an object names, to check it.
func (s *Backups) Open(ctx context.Context, r *v1beta2.EtcdRestore) (*Backup, error) {
	b := &Backup{}
	return b, s.open(ctx, r, func(st store.Store, key string, identities []age.Identity) (err error) {
		b.store, b.Key, b.URL = st, key, st.URL(key)
		b.Opened, b.Facts, err = snapshot.Open(ctx, st, key, identities, r.Spec.SHA256)
		return err
	})
}

// stream opens the backup for a member, which knows its sum and checks it.
func (s *Backups) stream(ctx context.Context, r *v1beta2.EtcdRestore) (io.ReadCloser, error) {
	var body io.ReadCloser
	var from store.Store
	err := s.open(ctx, r, func(st store.Store, key string, identities []age.Identity) (err error) {
		from = st
		body, err = snapshot.OpenUnchecked(ctx, st, key, identities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{body, both{body, from}}, nil
}

// both closes two things.
type both [2]io.Closer

// Close implements io.Closer.
func (b both) Close() error { return errors.Join(b[0].Close(), b[1].Close()) }

// open opens the store of the backup that an object names. Where use fails, the store is closed again.
func (s *Backups) open(ctx context.Context, r *v1beta2.EtcdRestore, use func(store.Store, string, []age.Identity) error) error {
	c, err := kind.OfRestore(r)
	if err != nil {
		return problem.Final(problem.Invalid, err)
	}
	c.FileRoot, c.Permissions, c.Transport = s.FileRoot, s.Permissions, s.Transport
	if s.OtherNamespaces {
		c.NamesWithin = r.Namespace
	}
	if c.Secret, err = s.read(ctx, r.Namespace, c.SecretField, c.SecretName); err != nil {
		return err
	}
	identities, err := s.identities(ctx, r)
	if err != nil {
		return err
	}
	st, key, err := store.Open(ctx, c)
	if err != nil {
		return err
	}
	if err := use(st, key, identities); err != nil {
		_ = st.Close()
		return BrokenAt(st.URL(key), err)
	}
	return nil
}

// identities are the keys that can read an encrypted backup.
func (s *Backups) identities(ctx context.Context, r *v1beta2.EtcdRestore) ([]age.Identity, error) {
	name := r.Spec.EncryptionSecret
	if name == "" {
		return nil, nil
	}
	data, err := s.read(ctx, r.Namespace, "encryptionSecret", name)
	if err != nil {
		return nil, err
	}
	_, identities, err := snapshot.Keys(name, data)
	if err != nil {
		return nil, badSecret(err)
	}
	if len(identities) == 0 {
		return nil, badSecret(fmt.Errorf("secret %q, which encryptionSecret names, has no private keys in \"identities\"; only those can read a backup", name))
	}
	return identities, nil
}

// read returns the content of the secret that a field of the spec names. No name is no content.
func (s *Backups) read(ctx context.Context, namespace, field, name string) (map[string][]byte, error) {
	data, err := secretfield.Read(ctx, s.Secrets, namespace, field, name)
	if err != nil {
		return nil, badSecret(err)
	}
	return data, nil
}
