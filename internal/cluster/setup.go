// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// workers is how many clusters are served at the same time. A worker costs a few
// kilobytes while it waits, and a cluster whose members swallow packets occupies
// one for two seconds out of seven: many sick clusters leave room for the others.
const workers = 256

// longestBackoff is the longest wait after failures in a row.
const longestBackoff = 30 * time.Second

// podsByNode finds the pods on a node in the cache.
const podsByNode = "spec.nodeName"

// Options are what the process knows and the controller needs.
type Options struct {
	ClusterWide bool
	// HelperImage is the image of the init container: the operator's own.
	HelperImage string
	// PodName is the name that events carry as their source.
	PodName string
}

// CacheByObject keeps the caches to what belongs to etcd clusters: everything else in
// the namespaces would only cost memory.
func CacheByObject() map[client.Object]cache.ByObject {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{manifests.LabelApp: "etcd"})}
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:                   ours,
		&corev1.PersistentVolumeClaim{}: ours,
		&corev1.Service{}:               ours,
		&policyv1.PodDisruptionBudget{}: ours,
		&corev1.Node{}:                  {Transform: slimNode},
	}
}

// slimNode drops what is large in a node and of no use here, such as its list of images.
func slimNode(object any) (any, error) {
	if node, ok := object.(*corev1.Node); ok {
		node.ManagedFields, node.Annotations = nil, nil
		node.Status = corev1.NodeStatus{Conditions: node.Status.Conditions}
	}
	return object, nil
}

// SetupWithManager adds the controller to the manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, o Options) error {
	pool := etcd.NewPool()
	live, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient()})
	if err != nil {
		return fmt.Errorf("preparing the API client: %w", err)
	}
	nodes, err := mayWatchNodes(ctx, live)
	if err != nil {
		return err
	}
	events, err := newRecorder(mgr, o.PodName)
	if err != nil {
		return err
	}
	observer := &observe.Observer{
		Etcd:        pool,
		Secrets:     &observe.Secrets{Metadata: mgr.GetClient(), Contents: live, Now: time.Now},
		HelperImage: o.HelperImage,
		Now:         time.Now,
		Random:      func() (string, string) { return utilrand.String(10), uuid.NewString() },
		Together:    together,
		Recovery:    live,
	}
	if nodes {
		observer.Nodes = mgr.GetClient()
	}
	r := &Reconciler{
		Cached: mgr.GetClient(), Live: live, Observer: observer, Actor: &act.Actor{Kube: live, Etcd: pool}, Events: events,
		Serves: func(c *v1beta2.EtcdCluster) bool { return scope.Serves(o.ClusterWide, c) }, Jitter: Spread,
	}
	return r.watch(ctx, mgr, nodes, o.ClusterWide)
}

// together runs f for each index at the same time.
func together(n int, f func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { f(i) })
	}
	group.Wait()
}

func (r *Reconciler) watch(ctx context.Context, mgr ctrl.Manager, nodes, clusterWide bool) error {
	ofCluster := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[manifests.LabelCluster]}}}
	})
	labelled := builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[manifests.LabelCluster] != "" }))
	b := ctrl.NewControllerManagedBy(mgr).Named("etcdcluster").
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, longestBackoff),
		}).
		For(&v1beta2.EtcdCluster{}, builder.WithPredicates(
			scope.Predicate(clusterWide),
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}), lifecycleMetrics())).
		Watches(&corev1.Pod{}, ofCluster, labelled).
		Watches(&corev1.PersistentVolumeClaim{}, ofCluster, labelled).
		Watches(&corev1.Service{}, ofCluster, labelled).
		Watches(&policyv1.PodDisruptionBudget{}, ofCluster, labelled, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.usersOfSecret))
	if nodes {
		err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, podsByNode, func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
		if err != nil {
			return fmt.Errorf("indexing pods by node: %w", err)
		}
		b = b.Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.clustersOnNode), builder.WithPredicates(nodeMatters()))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("setting up the EtcdCluster controller: %w", err)
	}
	return nil
}

// usersOfSecret are the clusters that refer to a secret.
func (r *Reconciler) usersOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	var list v1beta2.EtcdClusterList
	if err := r.Cached.List(ctx, &list, client.InNamespace(secret.GetNamespace())); err != nil {
		return nil // the health check sees it
	}
	var requests []reconcile.Request
	for i := range list.Items {
		names := manifests.TicketsOf(&list.Items[i])
		for _, need := range manifests.SecretsOf(&list.Items[i]) {
			names = append(names, need.Name)
		}
		if slices.Contains(names, secret.GetName()) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// clustersOnNode are the clusters with a member on a node.
func (r *Reconciler) clustersOnNode(ctx context.Context, node client.Object) []reconcile.Request {
	var pods corev1.PodList
	if err := r.Cached.List(ctx, &pods, client.MatchingFields{podsByNode: node.GetName()}); err != nil {
		return nil // the health check sees it
	}
	var requests []reconcile.Request
	for i := range pods.Items {
		if name := pods.Items[i].Labels[manifests.LabelCluster]; name != "" {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pods.Items[i].Namespace, Name: name}})
		}
	}
	return requests
}

// mayWatchNodes asks whether the operator's role lets it see nodes. Without that it
// works all the same, and only cannot tell a lost node from a slow one.
func mayWatchNodes(ctx context.Context, c client.Client) (bool, error) {
	for _, verb := range []string{"get", "list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "nodes"},
		}}
		if err := c.Create(ctx, review); err != nil {
			return false, fmt.Errorf("asking whether nodes may be watched: %w", err)
		}
		if !review.Status.Allowed {
			ctrl.Log.Info("the operator may not watch nodes: members on lost nodes are replaced only once Kubernetes deletes their pods")
			return false, nil
		}
	}
	return true, nil
}
