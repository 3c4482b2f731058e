// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

import "time"

// Certificate is what is known of the certificates in one entry of a secret. All of it is public.
type Certificate struct {
	// Problem says why nobody can use the entry; empty where it can be read, and fits its key.
	Problem string
	// Names are the DNS names and addresses of the first certificate, which is the one that is shown to others.
	Names []string
	// CommonName is the name of whom the first certificate is for.
	CommonName string
	// NotBefore and NotAfter are from when and until when the first certificate is valid; of several authorities, any.
	NotBefore, NotAfter time.Time
	// IDs identify all certificates of the entry, in their order.
	IDs []string
}

// IsZero reports whether there is no certificate that could be read.
func (c Certificate) IsZero() bool { return len(c.IDs) == 0 }

// Distrust is a certificate that those who meet it refuse.
type Distrust struct {
	// Field is that of the spec which names the secret whose certificate is refused.
	Field string
	// Authority is the secret whose authorities those who refuse it trust.
	Authority string
	// Why completes the sentence "the certificate ...".
	Why string
}
