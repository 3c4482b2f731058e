// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/internal/authority"
)

// IdentitySecret is the Secret, in the namespace of the operator, by which all its replicas are one
// server to the members: its certificate, and the key that the members' tokens are derived from.
const IdentitySecret = "etcd-restore-operator-identity" //nolint:gosec // a name

// tokenKeyEntry is the entry of the Secret beside those of a kubernetes.io/tls one.
const (
	tokenKeyEntry = "token.key"
	caEntry       = "ca.crt"
)

const (
	validity    = 10 * 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
	// identityEvery is how often the Secret is read: somebody may have deleted it.
	identityEvery = 10 * time.Minute
	// identityRetry is how soon a refresh that failed is repeated.
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

// IdentityKeeper keeps the identity of this process up to date.
type IdentityKeeper struct {
	client    client.Client
	secrets   client.Reader
	namespace string
	held      atomic.Pointer[identity]
	// failed is why the last refresh failed, if it did.
	failed atomic.Pointer[error]
	// ready is closed when there is an identity.
	ready chan struct{}
}

// NewIdentityKeeper returns one that keeps the Secret in the operator's namespace. Secrets are never cached.
func NewIdentityKeeper(c client.Client, secrets client.Reader, namespace string) *IdentityKeeper {
	return &IdentityKeeper{client: c, secrets: secrets, namespace: namespace, ready: make(chan struct{})}
}

// current is the identity, or nil where it is not known yet.
func (i *IdentityKeeper) current() *identity { return i.held.Load() }

// missing is the error for whoever needs the identity before it is known. It says what stands in the way.
func (i *IdentityKeeper) missing() error {
	if failed := i.failed.Load(); failed != nil && *failed != nil {
		// As text only: the API server's answer about that Secret is not its answer to what is done now.
		return fmt.Errorf("%w: %s", errNoIdentity, (*failed).Error())
	}
	return errNoIdentity
}

// Start implements manager.Runnable.
func (i *IdentityKeeper) Start(ctx context.Context) error {
	repeat(ctx, func() time.Duration {
		err := i.refresh(ctx, time.Now())
		i.failed.Store(&err)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "could not refresh the server's certificate")
			return identityRetry
		}
		return identityEvery
	})
	return nil
}

// repeat calls do at once, and again after each pause that do returns, until ctx ends or there is no pause.
func repeat(ctx context.Context, do func() (pause time.Duration)) {
	for {
		pause := do()
		if pause == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves.
func (i *IdentityKeeper) NeedLeaderElection() bool { return false }

// refresh reads the Secret, and recreates its content where there is none or where it is about to expire.
func (i *IdentityKeeper) refresh(ctx context.Context, now time.Time) error {
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
		log.FromContext(ctx).Info("creating a new server certificate", "because", err.Error())
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

// newIdentity creates the content of the Secret. The key of the authority is thrown away: it signs the
// one certificate, and a new one comes with a new authority.
func newIdentity(namespace string, now time.Time) (map[string][]byte, error) {
	// Members' clocks may be behind.
	from, until := now.Add(-time.Hour), now.Add(validity)
	ca, err := authority.New(ServiceName+" authority", from, until)
	if err != nil {
		return nil, fmt.Errorf("creating the authority: %w", err)
	}
	server, err := authority.Issue(ca, authority.Request{
		CommonName: ServiceName, Names: serverNames(namespace), Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: from, NotAfter: until,
	})
	if err != nil {
		return nil, fmt.Errorf("creating the certificate of the server: %w", err)
	}
	tokenKey := make([]byte, 32)
	if _, err := rand.Read(tokenKey); err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return map[string][]byte{
		corev1.TLSCertKey:       server.Certificate,
		corev1.TLSPrivateKeyKey: server.Key,
		caEntry:                 ca.Certificate,
		tokenKeyEntry:           tokenKey,
	}, nil
}

// parseIdentity reads the content of the Secret. The error says why it cannot be used.
func parseIdentity(data map[string][]byte, namespace string, now time.Time) (*identity, error) {
	const minKey = 16
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	if len(data[tokenKeyEntry]) < minKey {
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
