// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// awaitSecrets keeps the first member from being made before the secrets that it mounts are complete.
func awaitSecrets(p *planning) verdict {
	if w := p.secretForNewPods(); w != nil {
		return verdict{Waits: []Wait{*w}, Stop: true}
	}
	return verdict{}
}

// secretForNewPods is the first secret that new pods mount and that is not complete, or whose certificates nobody would
// accept; nil where all are good.
func (p *planning) secretForNewPods() *Wait { return p.unusableCertificate() }

// secretForReturning is secretForNewPods for the pod of a member that has run before. Made while a secret is not
// there, it would look for its files under the wrong names for good, and etcd would crash until the member is
// replaced. What only the operator reads has to be there for the pod to start, and no more.
func (p *planning) secretForReturning() *Wait {
	for _, need := range manifests.SecretsOf(p.Cluster) {
		why := lacking(p.View, need)
		if why == "" || (need.Files == manifests.OperatorFiles && p.Secrets[need.Name].Exists) {
			continue
		}
		return &Wait{WaitingForSecret, why}
	}
	return nil
}

// secretFor is what is lacking to create the pod that a member has not; nil where nothing is.
func (p *planning) secretFor(m *view.Member) *Wait {
	if m.HasStarted() {
		return p.secretForReturning()
	}
	return p.secretForNewPods()
}

// lacking says what a secret lacks; empty where it is complete.
func lacking(v *view.View, need manifests.SecretNeed) string {
	secret := v.Secrets[need.Name]
	switch missing := need.Files.Missing(secret.Keys); {
	case !secret.Exists:
		return fmt.Sprintf("Secret %s (%s) does not exist in namespace %s: create it with the entries %s, %s and %s",
			need.Name, need.Field, v.Cluster.Namespace, need.Files.Cert, need.Files.Key, need.Files.CA)
	case len(missing) > 0:
		return fmt.Sprintf("Secret %s (%s) has no entry %s: add it", need.Name, need.Field, missing[0])
	case secret.Problem != "":
		return fmt.Sprintf("Secret %s (%s) is not usable: %s", need.Name, need.Field, secret.Problem)
	}
	return ""
}

// ticketMissing says what is missing of the secret that gives access to the snapshot; nil where nothing is.
func (p *planning) ticketMissing(name string) *Wait {
	secret := p.Secrets[name]
	if !secret.Exists {
		return &Wait{WaitingForSecret, fmt.Sprintf("Secret %s, which gives access to the backup, does not exist in namespace %s: the restore operator creates it", name, p.Cluster.Namespace)}
	}
	for _, key := range []string{v1beta2.RestoreTicketToken, v1beta2.RestoreTicketCA} {
		if !slices.Contains(secret.Keys, key) {
			return &Wait{WaitingForSecret, fmt.Sprintf("Secret %s, which gives access to the backup, has no entry %s", name, key)}
		}
	}
	return nil
}

func (p *planning) secretKeys(name string) []string { return p.Secrets[name].Keys }
