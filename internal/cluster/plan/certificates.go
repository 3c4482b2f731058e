// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// Finding is something that is wrong with a certificate that the cluster uses, or will be.
type Finding struct {
	// Reason is that of the condition CertificateProblem.
	Reason string
	// Message tells the user which date or name it is about, and what to do.
	Message string
	// Unusable says that a handshake with the certificate fails.
	Unusable bool
}

// The reasons of the condition CertificateProblem. docs/tls.md lists them; a test keeps the two equal.
const (
	FindingSecret      = "SecretNotUsable"
	FindingExpired     = "CertificateExpired"
	FindingNotYetValid = "CertificateNotYetValid"
	FindingName        = "CertificateNameMissing"
	FindingUntrusted   = "CertificateUntrusted"
	FindingExpiring    = "CertificateExpiring"
)

// Findings lists the reasons of the condition.
var Findings = []string{FindingSecret, FindingExpired, FindingNotYetValid, FindingName, FindingUntrusted, FindingExpiring}

// warnWithin is how long before its end a certificate is reported; one that lives shorter than five times that, in its last fifth.
const warnWithin = 14 * 24 * time.Hour

// CertificateFindings are the things that are wrong with the certificates of a cluster, those first that nothing works with.
func CertificateFindings(v *view.View) []Finding {
	var list []Finding
	for _, need := range manifests.SecretsOf(v.Cluster) {
		list = append(list, findingsIn(v, need)...)
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return b2i(b.Unusable) - b2i(a.Unusable) })
	return list
}

// findingsIn are those of one secret.
func findingsIn(v *view.View, need manifests.SecretNeed) []Finding {
	if why := lacking(v, need); why != "" {
		return []Finding{{Reason: FindingSecret, Message: why, Unusable: true}}
	}
	secret := v.Secrets[need.Name]
	files := need.Files.In(secret.Keys)
	var list []Finding
	for _, entry := range []string{files.Cert, files.CA} {
		certificate, known := secret.Certificates[entry]
		if !known {
			continue
		}
		at := fmt.Sprintf("%s in Secret %s (%s)", entry, need.Name, need.Field)
		if certificate.Problem != "" {
			list = append(list, Finding{FindingSecret, fmt.Sprintf("%s %s: correct the Secret", at, certificate.Problem), true})
			continue
		}
		list = append(list, findingsOfTime(v.Now, at, certificate)...)
		if entry == files.Cert {
			list = append(list, findingsOfNames(v, need, at, certificate)...)
		}
	}
	for _, d := range v.Distrust {
		if d.Field == need.Field {
			list = append(list, Finding{FindingUntrusted, fmt.Sprintf("%s in Secret %s (%s) %s, whose certificate is in Secret %s: issue it again by the authority that the other side trusts",
				files.Cert, need.Name, need.Field, d.Why, d.Authority), true})
		}
	}
	return list
}

func findingsOfTime(now time.Time, at string, c view.Certificate) []Finding {
	const layout = "2006-01-02 15:04:05 UTC"
	within := min(warnWithin, c.NotAfter.Sub(c.NotBefore)/5)
	switch {
	case now.After(c.NotAfter):
		return []Finding{{FindingExpired, fmt.Sprintf("%s expired on %s: write a new one into the Secret", at, c.NotAfter.UTC().Format(layout)), true}}
	case now.Before(c.NotBefore):
		return []Finding{{FindingNotYetValid, fmt.Sprintf("%s is valid only from %s on", at, c.NotBefore.UTC().Format(layout)), true}}
	case c.NotAfter.Sub(now) < within:
		return []Finding{{FindingExpiring, fmt.Sprintf("%s expires on %s: write a new one into the Secret before that", at, c.NotAfter.UTC().Format(layout)), false}}
	}
	return nil
}

// findingsOfNames are about the names under which the members, or their Service, are reached.
func findingsOfNames(v *view.View, need manifests.SecretNeed, at string, c view.Certificate) []Finding {
	if need.Files == manifests.OperatorFiles {
		return nil
	}
	var list []Finding
	if host := manifests.Host(v.Cluster, v.Cluster.Name+"-xxxxxxxxxx"); !isNamed(c, host) {
		list = append(list, Finding{FindingName, fmt.Sprintf("%s lacks the name %s of the members: issue it again with that name", at, manifests.Host(v.Cluster, "*")), true})
	}
	if service := manifests.ClientServiceHost(v.Cluster); need.Files == manifests.ServerFiles && !isNamed(c, service) {
		list = append(list, Finding{FindingName, fmt.Sprintf("%s lacks the name %s of the client Service: issue it again with that name", at, service), false})
	}
	return list
}

// isNamed reports whether a certificate is that of a host.
func isNamed(c view.Certificate, host string) bool {
	names := &x509.Certificate{}
	for _, name := range c.Names {
		if address := net.ParseIP(name); address != nil {
			names.IPAddresses = append(names.IPAddresses, address)
			continue
		}
		names.DNSNames = append(names.DNSNames, name)
	}
	return names.VerifyHostname(host) == nil
}

// unusableCertificate is what keeps members from being given certificates with which nobody would hear them; nil where all are
// usable. For some reasons only, where they are given.
func (p *planning) unusableCertificate(reasons ...string) *Wait {
	for _, f := range CertificateFindings(p.View) {
		if f.Unusable && (len(reasons) == 0 || slices.Contains(reasons, f.Reason)) {
			return &Wait{WaitingForSecret, f.Message}
		}
	}
	return nil
}

// certificateForRestart keeps a member that is heard from being restarted with certificates with which it would not be: those that it
// has, if it keeps its pod, or those of the secrets, if it gets another one.
func (p *planning) certificateForRestart(m *view.Member) *Wait {
	switch {
	case m == nil:
		return nil
	case p.needsNewPod[m.Pod]:
		return p.unusableCertificate()
	}
	return p.unusableCertificate(FindingExpired)
}
