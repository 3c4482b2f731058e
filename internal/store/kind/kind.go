// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package kind knows what the API says of the kinds of stores: which block of a spec belongs to which kind, how a
// block becomes the configuration of a store and back, and how the addresses of objects begin.
//
// A kind is one file here, with all that the API knows of it, and one row in kinds; its implementation is one file of
// package store. They are apart because whoever plans needs no client of any store.
package kind

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Config says where a store is and how to get in.
type Config struct {
	// Kind is the name of the kind of store, such as S3.
	Kind string
	// Path is <bucket>/<key>.
	Path string
	// Endpoint is the URL of the service. Empty means the kind's own.
	Endpoint string
	// Profile is the section of the files in an S3 secret. Empty means default.
	Profile string
	// ForcePathStyle puts an S3 bucket into the path of the URL.
	ForcePathStyle bool
	// Checksums makes an S3 server check a CRC32C of each request.
	Checksums bool
	// SecretName is the name of the secret. Empty means that there is none.
	SecretName string
	// SecretField is the field of the spec that names the secret, for messages.
	SecretField string
	// Secret is the content of the secret.
	Secret map[string][]byte
	// Namespace is whose backups a File store holds.
	Namespace string
	// NamesWithin is the namespace that short names in an endpoint are of. Empty means the operator's own.
	NamesWithin string
	// FileRoot is the folder of the File stores of all namespaces.
	FileRoot string
	// Transport carries the requests to an S3 service; nil for the network.
	Transport http.RoundTripper
	// Permissions are what the operator's flags allow.
	Permissions
}

// kind is what the API says of one kind of store.
type kind struct {
	name v1beta2.BackupStorageType
	// block is the name of the block in a spec, and secretField the field in it that names the secret.
	block, secretField string
	// schemes are how the addresses of objects begin.
	schemes []string
	// ofBackup and ofRestore read the kind's block. They return nil where it is missing.
	ofBackup  func(*v1beta2.BackupSource) *Config
	ofRestore func(*v1beta2.RestoreSource) *Config
	// toRestore writes the block of a restore from there.
	toRestore func(Config, *v1beta2.RestoreSource)
}

// kinds are the stores that there are.
var kinds = []kind{s3, abs, gcs, oss, file}

// Names are the names of the kinds.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k.name))
	}
	return names
}

// choice is the names as a sentence has them: S3, ABS or File.
func choice() string {
	names := Names()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func find(name v1beta2.BackupStorageType) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// OfBackup is where the backups of an object go, without the content of secrets. The error says what to change in
// the spec.
func OfBackup(b *v1beta2.EtcdBackup) (Config, error) {
	return configOf("storageType", b.Spec.StorageType, b.Namespace, func(k kind) *Config { return k.ofBackup(&b.Spec.BackupSource) })
}

// OfRestore is where the backup is that an object restores, without the content of secrets. The error says what to
// change in the spec.
func OfRestore(r *v1beta2.EtcdRestore) (Config, error) {
	return configOf("backupStorageType", r.Spec.BackupStorageType, r.Namespace, func(k kind) *Config { return k.ofRestore(&r.Spec.RestoreSource) })
}

// configOf is the configuration that a block holds. field is the one that says which block counts.
func configOf(field string, name v1beta2.BackupStorageType, namespace string, read func(kind) *Config) (Config, error) {
	k, ok := find(name)
	if !ok {
		return Config{}, fmt.Errorf("%s %q is not known; use %s", field, name, choice())
	}
	c := read(k)
	if c == nil {
		return Config{}, fmt.Errorf("%s must be set, because %s is %s", k.block, field, name)
	}
	c.Kind, c.Namespace = string(name), namespace
	if k.secretField != "" {
		c.SecretField = k.block + "." + k.secretField
	}
	return *c, nil
}

// RestoreSource is what names the object at a path of the store that a backup goes to. It is empty where the spec
// of the backup names no store.
func RestoreSource(b *v1beta2.EtcdBackup, path string) v1beta2.RestoreSource {
	var source v1beta2.RestoreSource
	c, err := OfBackup(b)
	if err != nil {
		return source
	}
	c.Path = path
	k, _ := find(b.Spec.StorageType)
	k.toRestore(c, &source)
	return source
}

// WrittenTo reports whether the last backup of an object is at a path of the store that its spec names. Where the spec
// was changed since, the names that the status has are of objects in another store.
func WrittenTo(b *v1beta2.EtcdBackup, path string) bool {
	last, err := url.Parse(b.Status.URL)
	if err != nil || b.Status.URL == "" {
		return true // an older operator did not say
	}
	if k, ok := find(b.Spec.StorageType); !ok || !slices.Contains(k.schemes, last.Scheme) {
		return false
	}
	where := "/" + last.Host + last.Path
	if len(b.Status.Backups) == 0 {
		return strings.HasSuffix(where, "/"+path)
	}
	bucket, _, _ := strings.Cut(path, "/")
	return strings.Contains(where, "/"+bucket+"/")
}

// MaxKey is how many bytes the key of an object may have. All services have this bound.
const MaxKey = 1024

// SplitPath takes the bucket and the key out of a path.
func SplitPath(path string) (bucket, key string, err error) {
	bucket, key, found := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !found || bucket == "" || strings.Trim(key, "/") == "" || strings.HasSuffix(key, "/") {
		return "", "", fmt.Errorf("path %q has to name a bucket and a key, as <bucket>/<key>", path)
	}
	if slices.Contains(strings.Split(path, "/"), "..") {
		return "", "", fmt.Errorf("path %q must not have \"..\" between slashes; stores refuse such names", path)
	}
	if len(key) > MaxKey {
		return "", "", fmt.Errorf("path has a key of %d bytes; %d is the most that stores accept", len(key), MaxKey)
	}
	return bucket, key, nil
}
