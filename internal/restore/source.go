// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/secretfield"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// sourceOf is where the backup of an object is, without the content of secrets.
func sourceOf(r *v1beta2.EtcdRestore) (store.Config, error) {
	spec := r.Spec
	c := store.Config{Kind: string(spec.BackupStorageType), Namespace: r.Namespace}
	missing := func(block string) (store.Config, error) {
		return store.Config{}, fmt.Errorf("%s must be set, because backupStorageType is %s", block, spec.BackupStorageType)
	}
	switch spec.BackupStorageType {
	case v1beta2.BackupStorageTypeS3:
		if spec.S3 == nil {
			return missing("s3")
		}
		c.Path, c.SecretName, c.Endpoint = spec.S3.Path, spec.S3.AWSSecret, spec.S3.Endpoint
		c.ForcePathStyle, c.Profile = spec.S3.ForcePathStyle, spec.S3.Profile
	case v1beta2.BackupStorageTypeABS:
		if spec.ABS == nil {
			return missing("abs")
		}
		c.Path, c.SecretName, c.Endpoint = spec.ABS.Path, spec.ABS.ABSSecret, spec.ABS.Endpoint
	case v1beta2.BackupStorageTypeGCS:
		if spec.GCS == nil {
			return missing("gcs")
		}
		c.Path, c.SecretName, c.Endpoint = spec.GCS.Path, spec.GCS.GCPSecret, spec.GCS.Endpoint
	case v1beta2.BackupStorageTypeOSS:
		if spec.OSS == nil {
			return missing("oss")
		}
		c.Path, c.SecretName, c.Endpoint = spec.OSS.Path, spec.OSS.OSSSecret, spec.OSS.Endpoint
	case v1beta2.BackupStorageTypeFile:
		if spec.File == nil {
			return missing("file")
		}
		c.Path = spec.File.Path
	default:
		return store.Config{}, fmt.Errorf("backupStorageType %q is not known; use S3, ABS, GCS, OSS or File", spec.BackupStorageType)
	}
	return c, nil
}

// sources opens backups.
type sources struct {
	// secrets are read when they are needed, and never cached.
	secrets client.Reader
	// fileRoot is the folder of the stores of type File.
	fileRoot string
}

// opened is a backup that is open for reading: the plain snapshot. It returns an error instead of
// io.EOF where the object is not what was written.
type opened struct {
	*snapshot.Opened
	facts snapshot.Facts
	key   string
	url   string
	store store.Store
}

// Close implements io.Closer.
func (s *opened) Close() error { return errors.Join(s.Opened.Close(), s.store.Close()) }

// open opens the backup that an object names, to check it.
func (s *sources) open(ctx context.Context, r *v1beta2.EtcdRestore) (*opened, error) {
	o := &opened{}
	return o, s.with(ctx, r, func(st store.Store, key string, identities []age.Identity) (err error) {
		o.store, o.key, o.url = st, key, st.URL(key)
		o.Opened, o.facts, err = snapshot.Open(ctx, st, key, identities, "")
		return err
	})
}

// stream opens the backup for a member, which knows its sum and checks it.
func (s *sources) stream(ctx context.Context, r *v1beta2.EtcdRestore) (io.ReadCloser, error) {
	var body io.ReadCloser
	var from store.Store
	err := s.with(ctx, r, func(st store.Store, key string, identities []age.Identity) (err error) {
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

// with opens the store of the backup that an object names. Where use fails, the store is closed again.
func (s *sources) with(ctx context.Context, r *v1beta2.EtcdRestore, use func(store.Store, string, []age.Identity) error) error {
	c, err := sourceOf(r)
	if err != nil {
		return refuse(ReasonInvalid, err)
	}
	c.FileRoot = s.fileRoot
	if c.Secret, err = s.read(ctx, r.Namespace, secretfield.OfStore[c.Kind], c.SecretName); err != nil {
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
		return brokenAt(st.URL(key), err)
	}
	return nil
}

// brokenAt refuses a backup that is no whole snapshot. Other errors are passed on as they are.
func brokenAt(url string, err error) error {
	if !errors.Is(err, snapshot.ErrBroken) {
		return err
	}
	return refuse(ReasonBroken, fmt.Errorf("%s is no whole snapshot of etcd (%w); name another backup", url, err))
}

// identities are the keys that can read an encrypted backup.
func (s *sources) identities(ctx context.Context, r *v1beta2.EtcdRestore) ([]age.Identity, error) {
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
func (s *sources) read(ctx context.Context, namespace, field, name string) (map[string][]byte, error) {
	data, err := secretfield.Read(ctx, s.secrets, namespace, field, name)
	if err != nil {
		return nil, badSecret(err)
	}
	return data, nil
}
