// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"os"
	"path/filepath"

	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/lab"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// AWSSecret is the name of the Secret that StartS3 makes.
const AWSSecret = "aws"

// S3 is a real S3 server that the pods of the lab and the test itself reach at the same address.
type S3 struct {
	*stores.Server
	tenant *Tenant
}

// StartS3 runs an S3 server with an empty bucket for the length of the test, and makes the Secret "aws"
// in the namespace as the document tells its readers to: from a credentials and a config file. The
// config file names the server, as it may for every AWS tool, so that manifests need no endpoint.
func (n *Tenant) StartS3() *S3 {
	n.Helper()
	s := &S3{Server: stores.StartS3At(n, lab.HostAddress), tenant: n}
	s.Config.Secret["config"] = append(s.Config.Secret["config"], "endpoint_url = "+s.URL+"\n"...)
	s.GiveSecret(n)
	return s
}

// GiveSecret makes the Secret "aws" in the namespace of another tenant.
func (s *S3) GiveSecret(n *Tenant) {
	n.Helper()
	args := []string{"create", "secret", "generic", AWSSecret}
	dir := n.TempDir()
	for name, content := range s.Config.Secret {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			n.Fatal(err)
		}
		args = append(args, "--from-file="+file)
	}
	n.Kubectl(args...)
}

// Path is the path of a key in the bucket, as manifests have it.
func (s *S3) Path(key string) string { return stores.Bucket + "/" + key }

// Open opens the bucket, for a look at what the operators wrote or to spoil it.
func (s *S3) Open() store.Store {
	s.tenant.Helper()
	opened, _, err := store.Open(s.tenant.Context(), s.Config)
	if err != nil {
		s.tenant.Fatal(err)
	}
	s.tenant.Cleanup(func() { _ = opened.Close() })
	return opened
}
