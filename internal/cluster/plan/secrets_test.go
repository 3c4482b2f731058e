// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

func withPeerTLS(s *scene) {
	s.Cluster.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{PeerSecret: "peer"}}}
}

// A pod that is made while a secret is not there looks for its files under the wrong names for good.
func TestNoPodIsCreatedWithoutItsSecrets(t *testing.T) {
	secured := func(keys ...string) *scene {
		s := three().withVolumes()
		withPeerTLS(s)
		s.made.Spec.TLS = s.Cluster.Spec.TLS
		for i := range s.Pods {
			s.Pods[i].Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.made)
		}
		if keys != nil {
			s.Secrets = map[string]view.Secret{"peer": {Exists: true, Keys: keys}}
		}
		return s
	}
	standard := []string{"tls.crt", "tls.key", "ca.crt"}
	gone := func(s *scene) { s.losePod("c-c") }
	noQuorum := func(s *scene) { gone(s); s.silence("c-b") }
	renamed := func(s *scene) {
		s.Cluster = s.Cluster.DeepCopy()
		s.Cluster.Spec.TLS.Static.Member.PeerSecret = "other"
	}
	withClientTLS := func(operator view.Secret) *scene {
		s := secured(standard...)
		s.Cluster.Spec.TLS.Static.Member.ServerSecret, s.Cluster.Spec.TLS.Static.OperatorSecret = "peer", "operator"
		s.Secrets["operator"] = operator
		return s
	}
	check(t, map[string]planCase{
		"with it":                              {scene: secured(standard...), change: gone, want: "create-pods: create Pod c-c"},
		"without it":                           {scene: secured(), change: gone, want: "wait: WaitingForSecret"},
		"with half of it":                      {scene: secured("tls.crt"), change: gone, want: "wait: WaitingForSecret"},
		"with it and no quorum":                {scene: secured(standard...), change: noQuorum, want: "recreate-pod: create Pod c-c"},
		"without it and no quorum":             {scene: secured(), change: noQuorum, want: "wait: WaitingForSecret"},
		"nor is one deleted for another":       {scene: secured(standard...), change: renamed, want: "wait: WaitingForSecret"},
		"which gets its clients back":          {scene: secured(standard...), change: func(s *scene) { renamed(s); drained(s, "c-b", 2*time.Second) }, want: "sync-metadata: patch Pod c-b (+label etcd_serving=true -annotation drained-since)"},
		"members that run are left alone":      {scene: secured(), want: "steady state"},
		"the operator's own has to be there":   {scene: withClientTLS(view.Secret{}), change: gone, want: "wait: WaitingForSecret"},
		"but what is in it is no matter of it": {scene: withClientTLS(view.Secret{Exists: true, Problem: "no pair"}), change: gone, want: "create-pods: create Pod c-c"},
	})
}
