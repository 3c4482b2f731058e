// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TLS that no member has can be taken back; where the status says that a member has it, or nothing, it cannot.
func TestTLSThatIsPendingCanBeTakenBack(t *testing.T) {
	t.Parallel()
	const (
		plain   = "{size: 3}"
		clients = "{size: 3, TLS: {static: {member: {serverSecret: s}, operatorSecret: o}}}"
		all     = "{size: 3, TLS: {static: {member: {peerSecret: p, serverSecret: s}, operatorSecret: o}}}"
		peers   = "{size: 3, TLS: {static: {member: {peerSecret: p}}}}"

		client = "spec.TLS.static.operatorSecret: Invalid value: cannot be removed later, because the operator could no longer connect to members that still require a certificate; the name of the Secret can be changed"
		peer   = "spec.TLS.static.member.peerSecret: Invalid value: cannot be added or removed later, because members with and without TLS cannot communicate with each other; the name of the Secret can be changed"
	)
	tests := []struct {
		name, before, clients, peers, after, want string
	}{
		{name: "for clients", before: clients, clients: "Pending", after: plain},
		{name: "for clients, and a member has it", before: clients, clients: "InUse", after: plain, want: client},
		{name: "for clients, and nobody knows", before: clients, after: plain, want: client},
		{name: "for all", before: all, clients: "Pending", peers: "Pending", after: plain},
		{name: "for clients only", before: all, clients: "Pending", peers: "InUse", after: peers},
		{name: "for all, and members have it among themselves", before: all, clients: "Pending", peers: "InUse", after: plain, want: peer},
		{name: "for members", before: peers, peers: "Pending", after: plain},
	}
	namespace := server.NewNamespace(t)
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("c%d", i)
			api := resource(t, clusters, namespace)
			stored, err := api.Create(t.Context(), object(t, clusterManifest(name, tc.before)), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				t.Fatal(err)
			}
			progress := map[string]any{}
			for of, value := range map[string]string{"clients": tc.clients, "peers": tc.peers} {
				if value != "" {
					progress[of] = value
				}
			}
			stored.Object["status"] = map[string]any{"TLS": progress}
			if stored, err = api.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
				t.Fatal(err)
			}
			stored.Object["spec"] = object(t, clusterManifest(name, tc.after)).Object["spec"]
			_, err = api.Update(t.Context(), stored, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
			if got := refusal(t, err, "EtcdCluster", name); got != tc.want {
				t.Errorf("the user sees\n  %s\nwant\n  %s", got, tc.want)
			}
		})
	}
}
