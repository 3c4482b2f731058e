// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// SecretSource gives what the operator needs of secrets.
type SecretSource interface {
	// Look tells which entries a secret has.
	Look(ctx context.Context, namespace, name string) (view.Secret, error)
	// Identity makes the operator's client identity of a secret.
	Identity(ctx context.Context, namespace, name string) (*etcd.TLS, error)
	// Distrusts says why a certificate is refused by those who have to trust it, whatever the time; empty where it is not.
	Distrusts(ctx context.Context, namespace string, t manifests.Trust) (string, error)
	// EvictUnused forgets what nobody has looked at for a while.
	EvictUnused()
}

// Secrets is a SecretSource that reads a secret's content only when its metadata, of
// which a cache is kept, says that it has changed. A cache of the contents would hold
// every secret of the namespace in memory.
type Secrets struct {
	// Metadata reads PartialObjectMetadata, from a cache.
	Metadata client.Reader
	// Contents reads secrets from the API server.
	Contents client.Reader
	// Now is the clock.
	Now func() time.Time

	mu    sync.Mutex
	seen  map[types.NamespacedName]seenSecret
	swept time.Time
	// distrust is what comparisons of two secrets have shown: they cost more than a look.
	distrust map[pair]string
}

// unusedAfter is how long what was read of a secret is kept without anybody looking at it.
const unusedAfter = 10 * time.Minute

type seenSecret struct {
	lastUsed time.Time
	version  string
	keys     []string
	identity *etcd.TLS
	problem  string
	expires  map[string]time.Time

	certificates map[string]view.Certificate
	// public are the entries with certificates.
	public map[string][]byte
}

// Look implements SecretSource.
func (s *Secrets) Look(ctx context.Context, namespace, name string) (view.Secret, error) {
	seen, err := s.read(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	if err != nil || seen == nil {
		return view.Secret{}, err
	}
	return view.Secret{Exists: true, Keys: seen.keys, Problem: seen.problem, Expires: seen.expires, Certificates: seen.certificates}, nil
}

// Identity implements SecretSource.
func (s *Secrets) Identity(ctx context.Context, namespace, name string) (*etcd.TLS, error) {
	seen, err := s.read(ctx, types.NamespacedName{Namespace: namespace, Name: name})
	switch {
	case err != nil:
		return nil, err
	case seen == nil:
		return nil, fmt.Errorf("secret %s with the operator's certificate does not exist", name)
	case seen.identity == nil:
		return nil, fmt.Errorf("secret %s has no usable client certificate: %s", name, seen.problem)
	}
	return seen.identity, nil
}

func (s *Secrets) read(ctx context.Context, key types.NamespacedName) (*seenSecret, error) {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := s.Metadata.Get(ctx, key, meta); err != nil {
		if apierrors.IsNotFound(err) {
			s.forget(key)
			return nil, nil //nolint:nilnil // an absent secret is a valid view
		}
		return nil, err
	}
	s.mu.Lock()
	known, ok := s.seen[key]
	if ok {
		known.lastUsed = s.Now()
		s.seen[key] = known
	}
	s.mu.Unlock()
	if ok && known.version == meta.ResourceVersion {
		return &known, nil
	}
	secret := &corev1.Secret{}
	if err := s.Contents.Get(ctx, key, secret); err != nil {
		if apierrors.IsNotFound(err) {
			s.forget(key)
			return nil, nil //nolint:nilnil // an absent secret is a valid view
		}
		return nil, err
	}
	fresh := seenSecret{lastUsed: s.Now(), version: secret.ResourceVersion, keys: slices.Sorted(maps.Keys(secret.Data)), expires: expiryOf(secret)}
	fresh.certificates = certificatesIn(secret)
	fresh.public = publicParts(secret, fresh.certificates)
	identity, err := identityOf(secret)
	switch {
	case errors.Is(err, errNoClientCertificate):
		// A peer's or server's secret: nothing for the operator in it.
	case err != nil:
		fresh.problem = err.Error()
	default:
		fresh.identity = identity
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[types.NamespacedName]seenSecret{}
	}
	s.seen[key] = fresh
	return &fresh, nil
}

func (s *Secrets) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}

// EvictUnused implements SecretSource: private keys of deleted clusters do not stay in memory.
func (s *Secrets) EvictUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	if now.Sub(s.swept) < unusedAfter/10 {
		return
	}
	s.swept = now
	maps.DeleteFunc(s.seen, func(_ types.NamespacedName, known seenSecret) bool { return now.Sub(known.lastUsed) > unusedAfter })
	maps.DeleteFunc(s.distrust, func(p pair, _ string) bool {
		_, isKnown := s.seen[p.of]
		return !isKnown
	})
}

// expiryOf tells when the certificates of a secret expire, by the name of the entry.
func expiryOf(secret *corev1.Secret) map[string]time.Time {
	var expires map[string]time.Time
	for name, text := range secret.Data {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			certificate, err := x509.ParseCertificate(block.Bytes)
			if block.Type != "CERTIFICATE" || err != nil {
				continue
			}
			if known, ok := expires[name]; ok && known.Before(certificate.NotAfter) {
				continue
			}
			if expires == nil {
				expires = map[string]time.Time{}
			}
			expires[name] = certificate.NotAfter
		}
	}
	return expires
}

var errNoClientCertificate = errors.New("it has no client certificate")

// identityOf reads the operator's certificate. Its errors name entries, never contents.
func identityOf(secret *corev1.Secret) (*etcd.TLS, error) {
	files := manifests.OperatorFiles.In(slices.Collect(maps.Keys(secret.Data)))
	if len(secret.Data[files.Cert]) == 0 {
		return nil, errNoClientCertificate
	}
	pair, err := tls.X509KeyPair(secret.Data[files.Cert], secret.Data[files.Key])
	if err != nil {
		return nil, fmt.Errorf("%s and %s are not a matching certificate and key", files.Cert, files.Key)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(secret.Data[files.CA]) {
		return nil, fmt.Errorf("%s contains no certificate", files.CA)
	}
	return &etcd.TLS{
		Generation: string(secret.UID) + "/" + secret.ResourceVersion,
		Config:     &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12},
	}, nil
}
