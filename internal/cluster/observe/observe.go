// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package observe reads Kubernetes and etcd into one Snapshot. It decides nothing.
//
// It reads Kubernetes through any client.Reader: the cache, which costs the API
// server nothing and tells that there may be something to do, or the API server
// itself, before anything is done. Caches lie in three ways: they are behind, they
// miss what this process has just written, and after a change of leader they may be
// behind what another process wrote. So a cache is asked whether to look, and never
// believed when it says that something is gone.
package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// Observer takes snapshots.
type Observer struct {
	// Etcd connects to members.
	Etcd etcd.Connector
	// Secrets gives the content of referenced secrets.
	Secrets SecretSource
	// HelperImage is the operator's own image.
	HelperImage string
	// Now is the clock.
	Now func() time.Time
	// Random makes a name's suffix and a token.
	Random func() (suffix, token string)
	// Together runs f for each index, all at once where that is possible.
	Together func(n int, f func(i int))
	// Nodes reads nodes from a cache, whose good news is believed; nil where the operator may not.
	Nodes client.Reader
	// Recovery reads backups and restores, which no cache is kept of.
	Recovery client.Reader
}

// askTimeout limits each question to etcd. A member that swallows packets holds
// its own cluster up for this long, and no other.
const askTimeout = 2 * time.Second

// Observe reads everything about the cluster through r. It returns nil where the
// object does not exist.
func (o *Observer) Observe(ctx context.Context, r client.Reader, key types.NamespacedName) (*snapshot.Snapshot, error) {
	cluster := &v1beta2.EtcdCluster{}
	if err := r.Get(ctx, key, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // nothing to see is a valid view
		}
		return nil, fmt.Errorf("reading the EtcdCluster: %w", err)
	}
	s := &snapshot.Snapshot{Now: o.Now(), Cluster: cluster, HelperImage: o.HelperImage}
	s.NewName, s.NewToken = o.Random()
	reads := []func(context.Context, client.Reader, *snapshot.Snapshot) error{
		o.pods, o.claims, o.peerService, o.clientService, o.budget, o.secrets,
	}
	errs := make([]error, len(reads))
	o.Together(len(reads), func(i int) { errs[i] = reads[i](ctx, r, s) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := o.nodes(ctx, r, s); err != nil {
		return nil, err
	}
	o.askEtcd(ctx, s)
	if err := o.recovery(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

// recovery reads by what a cluster that has lost its majority can be recovered.
func (o *Observer) recovery(ctx context.Context, s *snapshot.Snapshot) (err error) {
	policy := s.Cluster.Spec.Recovery
	if s.Etcd.Membership != nil || s.Cluster.Status.QuorumLostSince == nil || policy == nil || policy.Mode != v1beta2.RecoveryBackup {
		return nil
	}
	if s.Recovery.Backup, err = find(ctx, o.Recovery, s.Cluster, policy.BackupName, &v1beta2.EtcdBackup{}); err != nil {
		return err
	}
	s.Recovery.Restore, err = find(ctx, o.Recovery, s.Cluster, manifests.RecoveryRestoreName(s.Cluster), &v1beta2.EtcdRestore{})
	return err
}

func ofCluster(c *v1beta2.EtcdCluster) []client.ListOption {
	return []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels(manifests.ClusterLabels(c.Name))}
}

// pods reads those that belong to this very object.
func (o *Observer) pods(ctx context.Context, r client.Reader, s *snapshot.Snapshot) error {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, ofCluster(s.Cluster)...); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	incarnation := s.Cluster.Status.Incarnation()
	s.Pods = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
		owned := snapshot.IsOwned(s.Cluster, &pod)
		former := owned && manifests.Incarnation(&pod) != incarnation
		if former {
			s.Former.Pods = append(s.Former.Pods, pod)
		}
		return !owned || former
	})
	return nil
}

func (o *Observer) claims(ctx context.Context, r client.Reader, s *snapshot.Snapshot) error {
	var claims corev1.PersistentVolumeClaimList
	if err := r.List(ctx, &claims, ofCluster(s.Cluster)...); err != nil {
		return fmt.Errorf("listing volume claims: %w", err)
	}
	for _, claim := range claims.Items {
		if snapshot.IsOwned(s.Cluster, &claim) || claim.Annotations[manifests.AnnotationClusterUID] == string(s.Cluster.UID) {
			if manifests.Incarnation(&claim) != s.Cluster.Status.Incarnation() {
				s.Former.Claims = append(s.Former.Claims, claim)
				continue
			}
			s.Claims = append(s.Claims, claim)
		}
	}
	return nil
}

func (o *Observer) peerService(ctx context.Context, r client.Reader, s *snapshot.Snapshot) (err error) {
	s.PeerService, err = find(ctx, r, s.Cluster, s.Cluster.Name, &corev1.Service{})
	return err
}

func (o *Observer) clientService(ctx context.Context, r client.Reader, s *snapshot.Snapshot) (err error) {
	s.ClientService, err = find(ctx, r, s.Cluster, manifests.ClientServiceName(s.Cluster), &corev1.Service{})
	return err
}

func (o *Observer) budget(ctx context.Context, r client.Reader, s *snapshot.Snapshot) (err error) {
	s.Budget, err = find(ctx, r, s.Cluster, s.Cluster.Name, &policyv1.PodDisruptionBudget{})
	return err
}

// find reads an object that the cluster needs under this name; nil where there is none.
// Whether it belongs to the cluster is the planner's question.
func find[T client.Object](ctx context.Context, r client.Reader, c *v1beta2.EtcdCluster, name string, into T) (T, error) {
	var none T
	err := r.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err): // the kind may not be installed
		return none, nil
	case err != nil:
		return none, fmt.Errorf("reading %T %s: %w", into, name, err)
	}
	return into, nil
}

func (o *Observer) secrets(ctx context.Context, _ client.Reader, s *snapshot.Snapshot) error {
	o.Secrets.LetGo()
	names := manifests.TicketsOf(s.Cluster)
	for _, need := range manifests.SecretsOf(s.Cluster) {
		names = append(names, need.Name)
	}
	for _, name := range names {
		secret, err := o.Secrets.Look(ctx, s.Cluster.Namespace, name)
		if err != nil {
			return fmt.Errorf("reading secret %s: %w", name, err)
		}
		if s.Secrets == nil {
			s.Secrets = map[string]snapshot.Secret{}
		}
		s.Secrets[name] = secret
	}
	return nil
}

// nodes reads the nodes that the pods are on.
func (o *Observer) nodes(ctx context.Context, r client.Reader, s *snapshot.Snapshot) error {
	if o.Nodes == nil {
		return nil
	}
	s.Nodes = map[string]snapshot.Node{}
	for _, pod := range slices.Concat(s.Pods, s.Former.Pods) {
		name := pod.Spec.NodeName
		if _, seen := s.Nodes[name]; seen || name == "" {
			continue
		}
		node, err := readNode(ctx, o.Nodes, name)
		if err == nil && !node.Ready {
			// Members are given up for this: where r is the API server, it is asked itself.
			node, err = readNode(ctx, r, name)
		}
		if err != nil {
			return err
		}
		s.Nodes[name] = node
	}
	return nil
}

func readNode(ctx context.Context, r client.Reader, name string) (snapshot.Node, error) {
	var node corev1.Node
	err := r.Get(ctx, types.NamespacedName{Name: name}, &node)
	switch {
	case apierrors.IsNotFound(err):
		return snapshot.Node{}, nil
	case err != nil:
		return snapshot.Node{}, fmt.Errorf("reading node %s: %w", name, err)
	}
	seen := snapshot.Node{Exists: true, Zone: node.Labels[corev1.LabelTopologyZone], Cordoned: node.Spec.Unschedulable}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			seen.Ready, seen.Since = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return seen, nil
}
