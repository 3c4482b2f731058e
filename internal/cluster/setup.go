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
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
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
	// Scope says which objects the operator serves.
	Scope scope.Scope
	// HelperImage is the image of the init container: the operator's own.
	HelperImage string
	// Defaults are for what a spec does not say.
	Defaults manifests.Defaults
	// PodName is the name that events carry as their source.
	PodName string
	// Namespaces are those that the operator serves; none stands for all.
	Namespaces []string
	// OpenShift says whether members run on OpenShift, which gives each pod its user and groups; nil to find out.
	OpenShift *bool
	// Operators are the operators as those who connect to members.
	Operators []networkingv1.NetworkPolicyPeer
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
		&networkingv1.NetworkPolicy{}:   ours,
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
	nodes, err := mayWatch(ctx, live, authorizationv1.ResourceAttributes{Resource: "nodes"})
	if err != nil {
		return err
	}
	if !nodes {
		ctrl.Log.Info("the operator may not watch nodes: members on lost nodes are replaced only once Kubernetes deletes their pods")
	}
	policies, err := mayWatchPolicies(ctx, live, o.Namespaces)
	if err != nil {
		return err
	}
	if !policies {
		ctrl.Log.Info("the operator may not watch NetworkPolicies: it cannot serve spec.networkPolicy; create_role.sh grants the right", "namespaces", o.Namespaces)
	}
	events, err := newRecorder(mgr, o.PodName)
	if err != nil {
		return err
	}
	resizes, err := canResize(ctx, mgr)
	if err != nil {
		return err
	}
	if o.OpenShift == nil {
		if o.OpenShift, err = isOpenShift(ctx, mgr); err != nil {
			return err
		}
	}
	observer := &observe.Observer{
		CannotResize: !resizes,
		AssignsUsers: *o.OpenShift,

		Scope:       o.Scope,
		Etcd:        pool,
		Secrets:     &observe.Secrets{Metadata: mgr.GetClient(), Contents: live, Now: time.Now},
		HelperImage: o.HelperImage,
		Defaults:    o.Defaults,
		Operators:   o.Operators,
		Now:         time.Now,
		Random:      func() (string, string) { return utilrand.String(10), uuid.NewString() },
		Together:    together,
		Live:        live,
	}
	if nodes {
		observer.Nodes = mgr.GetClient()
	}
	if policies {
		observer.Policies = mgr.GetClient()
	}
	r := &Reconciler{
		Cached: mgr.GetClient(), Live: live, Observer: observer, Actor: &act.Actor{Kube: live, Etcd: pool}, Events: events,
		Serves: func(c *v1beta2.EtcdCluster) bool { return o.Scope.Serves(c) }, Jitter: Spread,
	}
	return r.watch(ctx, mgr, nodes, policies, o.Scope)
}

// together runs f for each index at the same time.
func together(n int, f func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { f(i) })
	}
	group.Wait()
}

func (r *Reconciler) watch(ctx context.Context, mgr ctrl.Manager, nodes, policies bool, served scope.Scope) error {
	isOfCluster := func(o client.Object) bool { return o.GetLabels()[manifests.LabelCluster] != "" }
	ofCluster := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		if !isOfCluster(o) {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[manifests.LabelCluster]}}}
	})
	has := predicate.NewPredicateFuncs(isOfCluster)
	has.UpdateFunc = func(e event.UpdateEvent) bool { return isOfCluster(e.ObjectOld) || isOfCluster(e.ObjectNew) } // that a label was taken off is news
	labelled := builder.WithPredicates(has)
	b := ctrl.NewControllerManagedBy(mgr).Named("etcdcluster").
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, longestBackoff),
		}).
		For(&v1beta2.EtcdCluster{}, builder.WithPredicates(
			served.Predicate(),
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}), lifecycleMetrics())).
		Watches(&corev1.Pod{}, ofCluster, labelled).
		Watches(&corev1.PersistentVolumeClaim{}, ofCluster, labelled).
		Watches(&corev1.Service{}, ofCluster, labelled).
		Watches(&policyv1.PodDisruptionBudget{}, ofCluster, labelled, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.usersOfSecret))
	if policies {
		b = b.Watches(&networkingv1.NetworkPolicy{}, ofCluster, labelled)
	}
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

// mayWatch asks whether the operator's role lets it see a resource without which it works all the same: nodes, or it cannot tell a
// lost node from a slow one, and NetworkPolicies, which roles of earlier releases lack.
func mayWatch(ctx context.Context, c client.Client, what authorizationv1.ResourceAttributes) (bool, error) {
	for _, verb := range []string{"get", "list", "watch"} {
		what.Verb = verb
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
		if err := c.Create(ctx, review); err != nil {
			return false, fmt.Errorf("asking whether %s may be watched: %w", what.Resource, err)
		}
		if !review.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}

// mayWatchPolicies asks whether the operator may see the NetworkPolicies of all namespaces that it serves: its cache is one.
func mayWatchPolicies(ctx context.Context, c client.Client, namespaces []string) (bool, error) {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		may, err := mayWatch(ctx, c, authorizationv1.ResourceAttributes{Group: networkingv1.GroupName, Resource: "networkpolicies", Namespace: namespace})
		if !may {
			return false, err
		}
	}
	return true, nil
}

// securityGroup is the API group of OpenShift's security context constraints.
const securityGroup = "security.openshift.io"

// isOpenShift asks whether this Kubernetes is OpenShift, whose admission refuses pods that choose their user.
func isOpenShift(ctx context.Context, mgr ctrl.Manager) (*bool, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to ask which API groups there are: %w", err)
	}
	groups, err := client.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking which API groups there are: %w", err)
	}
	is := slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == securityGroup })
	if is {
		ctrl.Log.Info("this is OpenShift: members get pods without a user of their own, and the platform assigns one; -openshift=false prevents it")
	}
	return &is, nil
}

// canResize asks whether this Kubernetes can change the resources of running pods, which takes version 1.33.
func canResize(ctx context.Context, mgr ctrl.Manager) (bool, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return false, fmt.Errorf("preparing to ask what Kubernetes can do with pods: %w", err)
	}
	core, err := client.ServerResourcesForGroupVersionWithContext(ctx, "v1")
	if err != nil {
		return false, fmt.Errorf("asking what Kubernetes can do with pods: %w", err)
	}
	can := slices.ContainsFunc(core.APIResources, func(r metav1.APIResource) bool { return r.Name == "pods/resize" })
	if !can {
		ctrl.Log.Info("this Kubernetes cannot change the resources of running pods: members get new pods for changed resources")
	}
	return can, nil
}
