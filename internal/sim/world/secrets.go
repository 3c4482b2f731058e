// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// SecretMark is in every secret of a world, and must not be seen anywhere else.
const SecretMark = "dG9wc2VjcmV0" //nolint:gosec // it protects nothing

// certificate is created once: it is the same in all worlds.
var certificate = sync.OnceValues(func() (cert, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sim"}, IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{
			"*." + Name + "." + kubemodel.Namespace + ".svc", "*." + Name + "." + kubemodel.Namespace + ".svc.cluster.local",
			Name + "-client." + kubemodel.Namespace + ".svc",
		},
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
			Data:       map[string][]byte{files.Cert: cert, files.Key: append([]byte(SecretMark+"\n"), key...), files.CA: cert},
		})
		if err != nil {
			panic(err)
		}
	}
}
