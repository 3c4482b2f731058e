// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// withPeerSecret gives a cluster TLS between members, with a certificate that expires after some time.
func withPeerSecret(left time.Duration) func(*view.View) {
	return func(v *view.View) {
		v.Cluster.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "peer"}}}
		v.Secrets = map[string]view.Secret{"peer": {Exists: true, Keys: []string{"ca.crt", "tls.crt", "tls.key"}, Certificates: map[string]view.Certificate{
			"tls.crt": {IDs: []string{"1"}, Names: []string{"*.c.ns.svc"}, NotBefore: v.Now.Add(-300 * 24 * time.Hour), NotAfter: v.Now.Add(left)},
		}}}
	}
}

func TestProblemsOfCertificatesAreReported(t *testing.T) {
	expiry := func(left time.Duration) string {
		return one("3.5.35").Now.Add(left).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	checkCondition(t, v1beta2.ClusterConditionCertificateProblem, map[string]conditionCase{
		"no TLS":         {},
		"a good one":     {change: withPeerSecret(100 * 24 * time.Hour)},
		"one to renew":   {change: withPeerSecret(time.Hour), want: "True CertificateExpiring: tls.crt in Secret peer (spec.TLS.static.member.peerSecret) expires on " + expiry(time.Hour) + ": write a new one into the Secret before that"},
		"one that ended": {change: withPeerSecret(-time.Hour), want: "True CertificateExpired: tls.crt in Secret peer (spec.TLS.static.member.peerSecret) expired on " + expiry(-time.Hour) + ": write a new one into the Secret"},
		"of several the worst": {change: func(v *view.View) {
			withPeerSecret(-time.Hour)(v)
			v.Distrust = []view.Distrust{{Field: "spec.TLS.static.member.peerSecret"}}
		}, want: "True CertificateExpired: tls.crt in Secret peer (spec.TLS.static.member.peerSecret) expired on " + expiry(-time.Hour) + ": write a new one into the Secret (and 1 more)"},
	})
}

// A certificate that will expire makes no cluster unready: nothing is wrong yet.
func TestACertificateThatExpiresSoonIsAnEventAndNoMore(t *testing.T) {
	v := one("3.5.35")
	before := report.Status(v, &plan.Plan{})
	withPeerSecret(time.Hour)(v)
	after := report.Status(v, &plan.Plan{})
	for _, c := range after.Conditions {
		if c.Type == v1beta2.ClusterConditionReady && c.Status != "True" {
			t.Errorf("Ready is %+v", c)
		}
	}
	if e := report.EventOfChange("", &before, &after); e == nil || e.Reason != plan.FindingExpiring || !e.Warning {
		t.Errorf("the event is %+v", e)
	}
	if e := report.EventOfChange("", &after, &after); e != nil {
		t.Errorf("there is another event: %+v", e)
	}
}
