// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

// Certificates are looked at when a connection is made. Members that know each other stay connected when the certificates
// between them expire; who starts from then on is heard by nobody.

// ExpirePeerCertificates lets the certificates between members expire, or renews them.
func (k *Kube) ExpirePeerCertificates(expire bool) {
	k.peersExpired = expire
	k.peersExpiredAt = k.Loop.Now()
	k.Universe.NetworkChanged()
}

// trust reports whether two members can have made a connection.
func (k *Kube) trust(a, b *podRuntime) bool {
	return !k.peersExpired || max(a.etcdBegan, b.etcdBegan) < k.peersExpiredAt
}
