// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// IdentitySecret is the Secret, in the namespace of the operator, by which all its replicas are one
// server to the members: its certificate, and the key that the members' tokens are made with.
const IdentitySecret = "etcd-restore-operator-identity" //nolint:gosec // a name

// tokenKeyEntry is the entry of the Secret beside those of a kubernetes.io/tls one.
const (
	tokenKeyEntry = "token.key"
	caEntry       = "ca.crt"
)

const (
	validity    = 10 * 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
	// identityEvery is how often the Secret is looked at: somebody may have deleted it.
	identityEvery = 10 * time.Minute
	// identityRetry is how soon a look that failed is repeated.
	identityRetry = 2 * time.Second
)

// errNoIdentity is the error before the Secret was read for the first time.
var errNoIdentity = errors.New("the certificate of the server is not ready yet")

// identity is what the Secret holds.
type identity struct {
	certificate *tls.Certificate
	ca          []byte
	tokenKey    []byte
}

// identities keeps the identity of this process up to date.
type identities struct {
	client    client.Client
	secrets   client.Reader
	namespace string
	held      atomic.Pointer[identity]
	// failed is why the last look at the Secret failed, if it did.
	failed atomic.Pointer[error]
	// ready is closed when there is an identity.
	ready chan struct{}
}

func newIdentities(c client.Client, secrets client.Reader, namespace string) *identities {
	return &identities{client: c, secrets: secrets, namespace: namespace, ready: make(chan struct{})}
}

// current is the identity, or nil where it is not known yet.
func (i *identities) current() *identity { return i.held.Load() }

// missing is the error of who needs the identity before it is known. It says what stands in the way.
func (i *identities) missing() error {
	if failed := i.failed.Load(); failed != nil && *failed != nil {
		// As text only: what the API server said of that Secret is not its answer to what is done now.
		return fmt.Errorf("%w: %s", errNoIdentity, (*failed).Error())
	}
	return errNoIdentity
}

// Start implements manager.Runnable.
func (i *identities) Start(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		next := identityEvery
		err := i.refresh(ctx, time.Now())
		i.failed.Store(&err)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "the certificate of the server could not be brought up to date")
			next = identityRetry
		}
		timer.Reset(next)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves.
func (i *identities) NeedLeaderElection() bool { return false }

// refresh reads the Secret, and makes it where there is none or where it is about to expire.
func (i *identities) refresh(ctx context.Context, now time.Time) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: IdentitySecret}}
	err := i.secrets.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	switch {
	case apierrors.IsNotFound(err):
		if secret.Data, err = newIdentity(i.namespace, now); err != nil {
			return err
		}
		secret.Type = corev1.SecretTypeOpaque
		err = i.client.Create(ctx, secret)
		if apierrors.IsAlreadyExists(err) {
			// Another replica was quicker.
			err = i.secrets.Get(ctx, client.ObjectKeyFromObject(secret), secret)
		}
		if err != nil {
			return fmt.Errorf("creating Secret %s: %w", IdentitySecret, err)
		}
	case err != nil:
		return fmt.Errorf("reading Secret %s: %w", IdentitySecret, err)
	}
	who, err := parseIdentity(secret.Data, i.namespace, now)
	if err != nil {
		log.FromContext(ctx).Info("making a new certificate of the server", "because", err.Error())
		if secret.Data, err = newIdentity(i.namespace, now); err != nil {
			return err
		}
		if err := i.client.Update(ctx, secret); err != nil {
			return fmt.Errorf("updating Secret %s: %w", IdentitySecret, err)
		}
		if who, err = parseIdentity(secret.Data, i.namespace, now); err != nil {
			return err
		}
	}
	if i.held.Swap(who) == nil {
		close(i.ready)
	}
	return nil
}

// serverNames are the names under which members may reach the server.
func serverNames(namespace string) []string {
	return []string{
		fmt.Sprintf("%s.%s.svc", ServiceName, namespace),
		fmt.Sprintf("%s.%s", ServiceName, namespace),
		ServiceName,
	}
}

// newIdentity makes the content of the Secret. The key of the authority is thrown away: it signs the
// one certificate, and a new one comes with a new authority.
func newIdentity(namespace string, now time.Time) (map[string][]byte, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	// Members' clocks may be behind.
	from, until := now.Add(-time.Hour), now.Add(validity)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: ServiceName + " authority"},
		NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, authority, authority, caKey.Public(), caKey)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of the authority: %w", err)
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: ServiceName},
		NotBefore: from, NotAfter: until, DNSNames: serverNames(namespace),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, server, authority, key.Public(), caKey)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of the server: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding the key of the server: %w", err)
	}
	tokenKey := make([]byte, 32)
	if _, err := rand.Read(tokenKey); err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return map[string][]byte{
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		caEntry:                 pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		tokenKeyEntry:           tokenKey,
	}, nil
}

// parseIdentity reads the content of the Secret. The error says why it cannot be used.
func parseIdentity(data map[string][]byte, namespace string, now time.Time) (*identity, error) {
	const leastKey = 16
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	if len(data[tokenKeyEntry]) < leastKey {
		return nil, fmt.Errorf("%s is missing or short", tokenKeyEntry)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[caEntry]) {
		return nil, fmt.Errorf("%s holds no certificate", caEntry)
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{
		DNSName: serverNames(namespace)[0], Roots: roots, CurrentTime: now.Add(renewBefore),
	}); err != nil {
		return nil, fmt.Errorf("the certificate is not valid for long enough: %w", err)
	}
	return &identity{certificate: &pair, ca: bytes.Clone(data[caEntry]), tokenKey: bytes.Clone(data[tokenKeyEntry])}, nil
}
