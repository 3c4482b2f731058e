// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// clientTLS asks a cluster that runs without TLS for TLS with clients.
func clientTLS(s *scene) {
	withTLS(s)
	s.Cluster.Spec.TLS.Static.Member.PeerSecret = ""
	s.Cluster.Status.TLS = nil
}

func TestTLSCanBeTakenBackAsLongAsNoMemberHasIt(t *testing.T) {
	const pending, inUse = v1beta2.TLSPending, v1beta2.TLSInUse
	missing := func(s *scene) { clientTLS(s); delete(s.Secrets, "operator") }
	for name, tc := range map[string]struct {
		scene  *scene
		change func(*scene)
		want   *v1beta2.TLSStatus
	}{
		"none is asked for":     {scene: three(), change: func(*scene) {}},
		"its secret is missing": {scene: three(), change: missing, want: &v1beta2.TLSStatus{Clients: pending}},
		"it is not asked for again": {scene: three(), change: func(s *scene) {
			missing(s)
			s.Cluster.Status.TLS = &v1beta2.TLSStatus{Clients: pending}
			s.Cluster.Spec.TLS = nil
		}},
		"it is recorded": {scene: three(), change: func(s *scene) { missing(s); s.Cluster.Status.TLS = &v1beta2.TLSStatus{Clients: inUse} }, want: &v1beta2.TLSStatus{Clients: inUse}},
		"a pod has it, unrecorded": {scene: three(), change: func(s *scene) {
			missing(s)
			s.Pods[1].Spec.Containers[0].Command = []string{"etcd", "--listen-client-urls=https://0.0.0.0:2379"}
		}, want: &v1beta2.TLSStatus{Clients: inUse}},
		"before there is a member": {scene: fresh(), change: func(s *scene) { withTLS(s); s.Cluster.Status.TLS, s.Secrets = nil, nil }, want: &v1beta2.TLSStatus{Clients: pending, Peers: pending}},
		"between members that run": {scene: three(), change: func(s *scene) { withTLS(s); s.Cluster.Status.TLS, s.Secrets = nil, nil }, want: &v1beta2.TLSStatus{Clients: pending, Peers: inUse}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range tc.scene.Pods {
				tc.scene.Pods[i].Spec.Containers[0].Command = []string{"etcd", "--listen-client-urls=http://0.0.0.0:2379"}
			}
			tc.change(tc.scene)
			if diff := cmp.Diff(tc.want, plan.TLSProgress(tc.scene.View)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Who takes TLS back at the moment in which the first member gets it meets a status that has changed.
func TestTLSIsRecordedBeforeTheFirstMemberHasIt(t *testing.T) {
	plain := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			for i := range s.Pods {
				s.Pods[i].Spec.Containers[0].Command = []string{"etcd", "--listen-client-urls=http://0.0.0.0:2379"}
			}
			change(s)
		}
	}
	newCluster := func(s *scene) { withTLS(s); s.Cluster.Status.TLS = nil }
	check(t, map[string]planCase{
		"of a cluster that runs":       {scene: three().withVolumes(), change: plain(clientTLS), want: "record-tls: record (+TLS.clients=InUse)"},
		"of a new one":                 {scene: fresh(), change: newCluster, want: "record-tls: record (+TLS.clients=InUse +TLS.peers=InUse)"},
		"of one whose seed is chosen":  {scene: recorded(""), change: newCluster, want: "record-tls: record (+TLS.clients=InUse +TLS.peers=InUse)"},
		"not while a secret is absent": {scene: three().withVolumes(), change: plain(func(s *scene) { clientTLS(s); s.Secrets["server"] = view.Secret{} }), want: "wait: WaitingForSecret"},
	})
}
