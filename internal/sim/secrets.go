// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// secretMark is in every secret of a world, and must not be seen anywhere else.
const secretMark = "dG9wc2VjcmV0" //nolint:gosec // it protects nothing

// certificate is made once: it is the same in all worlds.
var certificate = sync.OnceValues(func() (cert, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sim"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		panic(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
})

func (w *World) createSecrets() {
	cert, key := certificate()
	for name, files := range map[string]manifests.TLSFiles{"operator": manifests.OperatorFiles, "peer": manifests.PeerFiles, "server": manifests.StandardFiles} {
		err := w.Kube.Create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: kubemodel.Namespace},
			Data:       map[string][]byte{files.Cert: cert, files.Key: append([]byte(secretMark+"\n"), key...), files.CA: cert},
		})
		if err != nil {
			panic(err)
		}
	}
}

// context carries a logger that looks for secrets, in the worlds that have any.
func (w *World) context() context.Context {
	if !w.TLS {
		return context.Background()
	}
	logger := funcr.New(func(prefix, args string) { w.truth.public("a log line", prefix+args) }, funcr.Options{Verbosity: 2})
	return log.IntoContext(context.Background(), logger)
}

// public checks a text that others than the owner of a secret can read.
func (t *truth) public(where, text string) {
	if strings.Contains(text, secretMark) || strings.Contains(text, "PRIVATE KEY") {
		t.w.broken("%s contains a secret: %s", where, text)
	}
}

// Event implements cluster.EventSink.
func (t *truth) Event(_ *v1beta2.EtcdCluster, _ bool, reason, message string) {
	t.events++
	t.w.trace("event %s: %s", reason, message)
	t.public("an event", reason+message)
}

func (t *truth) secrets(e kubemodel.Effect) {
	if !t.w.TLS {
		return
	}
	cluster, ok := e.Object.(*v1beta2.EtcdCluster)
	if !ok {
		return
	}
	t.public("the status", cluster.Status.Reason)
	for _, c := range cluster.Status.Conditions {
		t.public("a condition", c.Message)
	}
	for _, m := range cluster.Status.MemberStatuses {
		t.public("a member's status", m.Message)
	}
}
