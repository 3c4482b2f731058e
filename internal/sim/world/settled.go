// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Condition is a condition of the cluster; nil where it is not there.
func (w *World) Condition(t v1beta2.ClusterConditionType) *v1beta2.ClusterCondition {
	cluster := w.Cluster()
	if cluster == nil {
		return nil
	}
	for i := range cluster.Status.Conditions {
		if cluster.Status.Conditions[i].Type == t {
			return &cluster.Status.Conditions[i]
		}
	}
	return nil
}

// ReportsReady reports whether the status claims that all is as the spec asks for.
func (w *World) ReportsReady() bool {
	c := w.Condition(v1beta2.ClusterConditionReady)
	return c != nil && c.Status == corev1.ConditionTrue && w.Cluster().Status.ObservedGeneration == w.Cluster().Generation
}

// IsSettled reports whether the status claims that all is as the spec asks for, and it is true.
func (w *World) IsSettled() bool { return w.ReportsReady() && w.MatchesSpec() == nil }

// MatchesSpec compares what there is with what the spec asks for.
func (w *World) MatchesSpec() error {
	cluster := w.Cluster()
	if cluster == nil {
		return fmt.Errorf("there is no cluster")
	}
	leader := w.Leader()
	if leader == nil {
		return fmt.Errorf("there is no leader")
	}
	list := leader.Disk().List
	if voters := list.Voters(); len(list.Members) != cluster.Spec.Size || voters != cluster.Spec.Size {
		return fmt.Errorf("%d members and %d voters, %d are asked for", len(list.Members), voters, cluster.Spec.Size)
	}
	for i := range list.Members {
		if err := w.memberMatchesSpec(cluster, &list.Members[i]); err != nil {
			return err
		}
	}
	if n := len(w.Members()); n != cluster.Spec.Size {
		return fmt.Errorf("%d pods, %d are asked for", n, cluster.Spec.Size)
	}
	if err := w.surroundingsMatchSpec(cluster); err != nil {
		return err
	}
	return w.claimsMatchSpec(cluster)
}

func (w *World) memberMatchesSpec(cluster *v1beta2.EtcdCluster, m *etcdmodel.Member) error {
	name := PodOf(m)
	pod := w.Kube.Pod(name)
	switch {
	case pod == nil || pod.DeletionTimestamp != nil:
		return fmt.Errorf("member %s has no pod", name)
	case !w.IsHealthy(m):
		return fmt.Errorf("member %s is not healthy", name)
	case !w.RunsImage(pod) || drift.NeedsImage(cluster, w.Defaults, pod):
		return fmt.Errorf("member %s runs another version", name)
	case drift.NeedsReplacing(cluster, pod) || drift.NeedsResources(cluster, pod):
		return fmt.Errorf("member %s has an old pod", name)
	case cluster.Spec.StorageQuota != nil && manifests.QuotaOf(pod) != cluster.Spec.StorageQuota.Value():
		return fmt.Errorf("member %s has another quota", name)
	case pod.Labels[manifests.LabelServing] != "true":
		return fmt.Errorf("member %s is out of the client service", name)
	}
	return nil
}

// surroundingsMatchSpec: members have their names, and drains their limit.
func (w *World) surroundingsMatchSpec(cluster *v1beta2.EtcdCluster) error {
	if service, ok := w.Kube.Find(kubemodel.Services, Name).(*corev1.Service); !ok || !service.Spec.PublishNotReadyAddresses {
		return fmt.Errorf("no service gives members their names")
	}
	budget, ok := w.Kube.Find(kubemodel.Budgets, Name).(*policyv1.PodDisruptionBudget)
	if want := manifests.MinAvailable(cluster.Spec.Size, cluster.Spec.Size); !ok || budget.Spec.MinAvailable.IntValue() != want {
		return fmt.Errorf("no budget lets %d members be available", want)
	}
	for _, o := range []client.Object{w.Kube.Find(kubemodel.Services, Name), w.Kube.Find(kubemodel.Services, manifests.ClientServiceName(cluster)), budget} {
		if o == nil || !OwnedBy(o, cluster.UID) || !labels.SelectorFromSet(manifests.ClusterLabels(Name)).Matches(labels.Set(o.GetLabels())) {
			return fmt.Errorf("a service or the budget is missing, or has lost its owner or a label")
		}
	}
	return w.networkMatchesSpec(cluster)
}

// networkMatchesSpec: the wall stands as it was asked for, or not at all. A policy of somebody else is nobody's concern.
func (w *World) networkMatchesSpec(cluster *v1beta2.EtcdCluster) error {
	policy, isThere := w.Kube.Find(kubemodel.NetworkPolicies, Name).(*networkingv1.NetworkPolicy)
	switch {
	case cluster.Spec.NetworkPolicy == nil:
		if isThere && OwnedBy(policy, cluster.UID) {
			return fmt.Errorf("a network policy is left that nobody wants")
		}
		return nil
	case !isThere || !OwnedBy(policy, cluster.UID):
		return fmt.Errorf("there is no network policy")
	case !equality.Semantic.DeepEqual(policy.Spec, manifests.NetworkPolicy(cluster, operatorPeers).Spec):
		return fmt.Errorf("the network policy lets others in than the spec")
	}
	return nil
}

func (w *World) claimsMatchSpec(cluster *v1beta2.EtcdCluster) error {
	if !manifests.HasVolumes(cluster) {
		return nil
	}
	own := 0
	want := cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage]
	for _, o := range w.Kube.All(kubemodel.Claims) {
		if !OwnedBy(o, cluster.UID) {
			continue
		}
		own++
		have := o.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests[corev1.ResourceStorage]
		if have.Cmp(want) != 0 || o.GetDeletionTimestamp() != nil {
			return fmt.Errorf("claim %s is not as asked for", o.GetName())
		}
	}
	if own != cluster.Spec.Size {
		return fmt.Errorf("%d claims, %d are asked for", own, cluster.Spec.Size)
	}
	return nil
}

// Summary is how the cluster is, without anything that differs between runs.
func (w *World) Summary() string {
	cluster := w.Cluster()
	if cluster == nil {
		return fmt.Sprintf("no cluster; %d pods, %d claims, %d services, %d budgets", len(w.Kube.All(kubemodel.Pods)),
			len(w.Kube.All(kubemodel.Claims)), len(w.Kube.All(kubemodel.Services)), len(w.Kube.All(kubemodel.Budgets)))
	}
	var parts []string
	for _, m := range cluster.Status.MemberStatuses {
		role := m.Role
		if role == v1beta2.MemberRoleLeader {
			role = v1beta2.MemberRoleVoter
		}
		parts = append(parts, fmt.Sprintf("%s %s healthy=%t", role, m.Version, m.Healthy))
	}
	return fmt.Sprintf("phase %s, ready %t, %d pods, %d claims, members %s", cluster.Status.Phase, w.ReportsReady(),
		len(w.Members()), len(w.Kube.All(kubemodel.Claims)), strings.Join(parts, "; "))
}

// Explain is what keeps the cluster from being settled, for a failure's message.
func (w *World) Explain() string {
	cluster := w.Cluster()
	if cluster == nil {
		return "no cluster"
	}
	text := w.Summary()
	if err := w.MatchesSpec(); err != nil {
		text = err.Error() + "; " + text
	}
	for _, c := range cluster.Status.Conditions {
		text += fmt.Sprintf("\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, pod := range w.Members() {
		text += fmt.Sprintf("\n  pod %s on %s phase %s ready %t deleting %t", pod.Name, pod.Spec.NodeName, pod.Status.Phase, kubemodel.Ready(pod), pod.DeletionTimestamp != nil)
		if p := w.Kube.ProcessOf(pod.Name); p != nil {
			text += fmt.Sprintf(" serving %t leader %t leading %t learner %t", p.IsServing(), p.HasLeader(), p.IsLeading(), p.IsLearner())
		}
	}
	return text
}
