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
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// Observer takes views.
type Observer struct {
	// Etcd connects to members.
	Etcd etcd.Connector
	// Secrets gives the content of referenced secrets.
	Secrets SecretSource
	// Scope says by which labels operators know what they serve.
	Scope scope.Scope
	// HelperImage is the operator's own image.
	HelperImage string
	// Defaults are for what a spec does not say.
	Defaults manifests.Defaults
	// CannotResize says that this Kubernetes cannot change the resources of running pods.
	CannotResize bool
	// AssignsUsers says that the platform gives each pod its user and groups.
	AssignsUsers bool
	// Policies reads NetworkPolicies from a cache; nil where the operator may not.
	Policies client.Reader
	// Operators are the operators as those who connect to members.
	Operators []networkingv1.NetworkPolicyPeer
	// Now is the clock.
	Now func() time.Time
	// Random makes a name's suffix and a token.
	Random func() (suffix, token string)
	// Together runs f for each index, all at once where that is possible.
	Together func(n int, f func(i int))
	// Nodes reads nodes from a cache, whose good news is believed; nil where the operator may not.
	Nodes client.Reader
	// Live reads from the API server itself: backups and restores, which no cache is kept of, and pods that the
	// cache does not show.
	Live client.Reader
}

// askTimeout limits each question to etcd. A member that swallows packets holds
// its own cluster up for this long, and no other.
const askTimeout = 2 * time.Second

// Observe reads everything about the cluster through r.
func (o *Observer) Observe(ctx context.Context, r client.Reader, key types.NamespacedName) (*view.View, error) {
	cluster := &v1beta2.EtcdCluster{}
	if err := r.Get(ctx, key, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return o.observeGone(ctx, r, key)
		}
		return nil, fmt.Errorf("reading the EtcdCluster: %w", err)
	}
	v := &view.View{Now: o.Now(), Cluster: cluster, HelperImage: o.HelperImage, CannotResize: o.CannotResize, CannotPolice: o.Policies == nil, Operators: o.Operators, AssignsUsers: o.AssignsUsers}
	v.ScopeLabels, v.Defaults = o.Scope.Labels(cluster), o.Defaults
	v.NewName, v.NewToken = o.Random()
	reads := []func(context.Context, client.Reader, *view.View) error{
		o.pods, o.claims, o.peerService, o.clientService, o.budget, o.networkPolicy, o.secrets,
	}
	errs := make([]error, len(reads))
	o.Together(len(reads), func(i int) { errs[i] = reads[i](ctx, r, v) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := o.claimPods(ctx, v, knownMembers(v)); err != nil {
		return nil, err
	}
	if err := o.search(ctx, v); err != nil {
		return nil, err
	}
	if err := o.nodes(ctx, r, v); err != nil {
		return nil, err
	}
	o.askEtcd(ctx, v)
	if err := o.claimPods(ctx, v, listedMembers(v)); err != nil {
		return nil, err
	}
	if err := o.claimVolumes(ctx, v, slices.Concat(knownMembers(v), podNames(v), listedMembers(v))); err != nil {
		return nil, err
	}
	if err := o.recovery(ctx, v); err != nil {
		return nil, err
	}
	if err := o.origin(ctx, v); err != nil {
		return nil, err
	}
	return v, nil
}

// observeGone reads what may be left of an object that does not exist: pods that something still holds.
func (o *Observer) observeGone(ctx context.Context, r client.Reader, key types.NamespacedName) (*view.View, error) {
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, ofCluster(cluster)...); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return &view.View{Now: o.Now(), Gone: true, Cluster: cluster, Pods: pods.Items}, nil
}

// recovery reads by what a cluster that has lost its majority can be recovered.
func (o *Observer) recovery(ctx context.Context, v *view.View) (err error) {
	if v.Cluster.Status.QuorumLostSince == nil {
		return nil
	}
	if policy := v.Cluster.Spec.Recovery; policy != nil && policy.Mode == v1beta2.RecoveryBackup {
		if v.Recovery.Backup, err = find(ctx, o.Live, v.Cluster, policy.BackupName, &v1beta2.EtcdBackup{}); err != nil {
			return err
		}
	}
	// Where the majority is back, or the spec asks for something else by now, the restore may have to be withdrawn.
	v.Recovery.Restore, err = find(ctx, o.Live, v.Cluster, manifests.RecoveryRestoreName(v.Cluster), &v1beta2.EtcdRestore{})
	return err
}

// origin reads by what a cluster is created that does not begin empty.
func (o *Observer) origin(ctx context.Context, v *view.View) (err error) {
	if v.Cluster.Spec.BootstrapSource() == nil || v.Cluster.Status.ClusterID != "" {
		return nil
	}
	v.Origin, err = find(ctx, o.Live, v.Cluster, manifests.BootstrapRestoreName(v.Cluster), &v1beta2.EtcdRestore{})
	return err
}

func ofCluster(c *v1beta2.EtcdCluster) []client.ListOption {
	return []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels(manifests.ClusterLabels(c.Name))}
}

// pods reads those that belong to this very object. Those of nobody that have its labels are unclaimed.
func (o *Observer) pods(ctx context.Context, r client.Reader, v *view.View) error {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, ofCluster(v.Cluster)...); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	incarnation := v.Cluster.Status.Incarnation()
	v.Pods = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
		owned := view.IsOwned(v.Cluster, &pod)
		isPrevious := owned && manifests.Incarnation(&pod) != incarnation && !isOnLastList(v.Cluster, pod.Name)
		switch {
		case isPrevious:
			v.Previous.Pods = append(v.Previous.Pods, pod)
		case !owned:
			v.Unclaimed = append(v.Unclaimed, pod)
		}
		return !owned || isPrevious
	})
	return nil
}

func (o *Observer) claims(ctx context.Context, r client.Reader, v *view.View) error {
	var claims corev1.PersistentVolumeClaimList
	if err := r.List(ctx, &claims, ofCluster(v.Cluster)...); err != nil {
		return fmt.Errorf("listing volume claims: %w", err)
	}
	addClaims(v, claims.Items)
	return nil
}

// addClaims adds those of the cluster to the incarnation that they are of.
func addClaims(v *view.View, claims []corev1.PersistentVolumeClaim) {
	for _, claim := range claims {
		if isClaimOf(v.Cluster, &claim) {
			if manifests.Incarnation(&claim) != v.Cluster.Status.Incarnation() && !isOnLastList(v.Cluster, claim.Name) {
				v.Previous.Claims = append(v.Previous.Claims, claim)
				continue
			}
			v.Claims = append(v.Claims, claim)
		}
	}
}

func (o *Observer) peerService(ctx context.Context, r client.Reader, v *view.View) (err error) {
	v.PeerService, err = find(ctx, r, v.Cluster, v.Cluster.Name, &corev1.Service{})
	return err
}

func (o *Observer) clientService(ctx context.Context, r client.Reader, v *view.View) (err error) {
	v.ClientService, err = find(ctx, r, v.Cluster, manifests.ClientServiceName(v.Cluster), &corev1.Service{})
	return err
}

func (o *Observer) budget(ctx context.Context, r client.Reader, v *view.View) (err error) {
	v.Budget, err = find(ctx, r, v.Cluster, v.Cluster.Name, &policyv1.PodDisruptionBudget{})
	return err
}

// networkPolicy asks the API server only where a policy is wanted, or the cache shows one: most clusters have none.
func (o *Observer) networkPolicy(ctx context.Context, r client.Reader, v *view.View) error {
	if o.Policies == nil {
		return nil
	}
	seen, err := find(ctx, o.Policies, v.Cluster, v.Cluster.Name, &networkingv1.NetworkPolicy{})
	if err != nil || v.Cluster.Spec.NetworkPolicy == nil && seen == nil {
		return err
	}
	v.NetworkPolicy, err = find(ctx, r, v.Cluster, v.Cluster.Name, &networkingv1.NetworkPolicy{})
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

func (o *Observer) secrets(ctx context.Context, _ client.Reader, v *view.View) error {
	o.Secrets.EvictUnused()
	names := manifests.TicketsOf(v.Cluster)
	for _, need := range manifests.SecretsOf(v.Cluster) {
		names = append(names, need.Name)
	}
	for _, name := range names {
		secret, err := o.Secrets.Look(ctx, v.Cluster.Namespace, name)
		if err != nil {
			return fmt.Errorf("reading secret %s: %w", name, err)
		}
		if v.Secrets == nil {
			v.Secrets = map[string]view.Secret{}
		}
		v.Secrets[name] = secret
	}
	for _, t := range manifests.TrustsOf(v.Cluster) {
		why, err := o.Secrets.Distrusts(ctx, v.Cluster.Namespace, t)
		if err != nil {
			return fmt.Errorf("comparing the certificates in secrets %s and %s: %w", t.By.Name, t.Of.Name, err)
		}
		if why != "" {
			v.Distrust = append(v.Distrust, view.Distrust{Field: t.Of.Field, Authority: t.By.Name, Why: why})
		}
	}
	return nil
}

// nodes reads the nodes that the pods are on.
func (o *Observer) nodes(ctx context.Context, r client.Reader, v *view.View) error {
	if o.Nodes == nil {
		return nil
	}
	v.Nodes = map[string]view.Node{}
	for pod := range v.EveryPod() {
		name := pod.Spec.NodeName
		if _, seen := v.Nodes[name]; seen || name == "" {
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
		v.Nodes[name] = node
	}
	return nil
}

func readNode(ctx context.Context, r client.Reader, name string) (view.Node, error) {
	var node corev1.Node
	err := r.Get(ctx, types.NamespacedName{Name: name}, &node)
	switch {
	case apierrors.IsNotFound(err):
		return view.Node{}, nil
	case err != nil:
		return view.Node{}, fmt.Errorf("reading node %s: %w", name, err)
	}
	seen := view.Node{Exists: true, Zone: node.Labels[corev1.LabelTopologyZone], Cordoned: node.Spec.Unschedulable}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			seen.Ready, seen.Since = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return seen, nil
}
