// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// namedSecret is a Secret that the spec names, and the entry of the original that has the certificate.
type namedSecret struct{ use, name, entry string }

func secretsOf(c *v1beta2.EtcdCluster) []namedSecret {
	if c.Spec.TLS == nil || c.Spec.TLS.Static == nil {
		return nil
	}
	var list []namedSecret
	static := c.Spec.TLS.Static
	if member := static.Member; member != nil {
		list = append(list, namedSecret{"server", member.ServerSecret, "server.crt"}, namedSecret{"peer", member.PeerSecret, "peer.crt"})
	}
	return append(list, namedSecret{"operator", static.OperatorSecret, "etcd-client.crt"})
}

// readCertificates reads when the certificates expire.
func (s *Source) readCertificates(ctx context.Context, v *View) {
	for _, named := range secretsOf(v.Cluster) {
		if named.name == "" {
			continue
		}
		found := Certificate{Use: named.use, Secret: named.name}
		secret, err := s.Kube.CoreV1().Secrets(v.Cluster.Namespace).Get(ctx, named.name, metav1.GetOptions{})
		switch {
		case apierrors.IsForbidden(err):
			found.Problem = "you may not read it"
		case apierrors.IsNotFound(err):
			found.Problem = "it does not exist"
		case err != nil:
			found.Problem = err.Error()
		default:
			found.Expires, found.Problem = expiry(secret.Data, named.entry)
		}
		v.Certificates = append(v.Certificates, found)
	}
}

// expiry is when the first certificate of a chain expires; the others are the authority's.
func expiry(data map[string][]byte, entry string) (at time.Time, problem string) {
	text := data[entry]
	if len(text) == 0 {
		text = data["tls.crt"]
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}, "it has no certificate"
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, "its certificate cannot be read"
	}
	return certificate.NotAfter, ""
}
