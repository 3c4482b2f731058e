// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package truststore has the certificate authorities that an image trusts: Mozilla's, from a Go module whose version and sum are
// pinned, so that they do not depend on the machine that builds the image.
package truststore

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/etcd-operator/etcd-operator/lab/sbom"
)

// modulePath is the module that the authorities come from.
const modulePath = "golang.org/x/crypto/x509roots/fallback"

// PEM are the authorities in the form in which programs read them from /etc/ssl/certs/ca-certificates.crt.
//
// Mozilla trusts some authorities only for certificates that were issued before a date. A file cannot say that, so these are left out.
func PEM() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, fmt.Errorf("writing a certificate authority: %w", err)
		}
	}
	return out.Bytes(), nil
}

// Module is the module that the authorities come from, in the version that this program was built with.
func Module() (sbom.Module, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return sbom.Module{}, errors.New("this program does not know which modules it was built from")
	}
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			return sbom.Module{Path: dep.Path, Version: dep.Version, Sum: dep.Sum}, nil
		}
	}
	return sbom.Module{}, fmt.Errorf("this program was not built with %s", modulePath)
}
