// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// walls are about who may connect to members: as the spec asks for, whatever others do to the policy.
func walls() []Scenario {
	edited := func(name string, do func(client.Object)) Scenario {
		return scenario(name, volumes, wall(), until(after(30*time.Second), Act{Name: "edit", Do: func(sim *Simulation) {
			sim.Kube.Edit(kubemodel.NetworkPolicies, world.Name, do)
		}}), scale(4))
	}
	return []Scenario{
		scenario("a wall is asked for, changed and not wanted any more", emptyDir, wall(), scale(5),
			change("clients", func(s *v1beta2.ClusterSpec) {
				s.NetworkPolicy.Clients = []v1beta2.NetworkPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"role": "client"}}}}
			}),
			change("none", func(s *v1beta2.ClusterSpec) { s.NetworkPolicy = nil })),
		{
			Name: "a wall is asked for before there is a member", Options: volumes,
			Acts: []Act{{Name: "create", Do: func(sim *Simulation) { sim.Apply(); sim.Change(withWall) }}},
		},
		edited("somebody opens the wall", func(o client.Object) {
			policy := o.(*networkingv1.NetworkPolicy)
			policy.Spec.Ingress = append(policy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
		}),
		edited("the wall loses its owner", withoutOwner),
		edited("the wall loses all that it is known by", withoutMetadata),
		scenario("somebody deletes the wall", emptyDir, wall(), until(after(30*time.Second), Act{Name: "delete", Do: func(sim *Simulation) {
			_ = sim.Kube.Delete(kubemodel.NetworkPolicies, world.Name, nil)
		}})),
		scenario("walls are refused, and a member is lost", emptyDir,
			until(reports(plan.StepFailed), Act{Name: "refuse", Do: func(sim *Simulation) {
				sim.Kube.Refuse("create", kubemodel.NetworkPolicies)
				sim.Change(withWall)
			}}),
			until(both(after(time.Minute), both(reports(plan.StepFailed), allMarked)), onMember("delete", false, deletePod)), accept()),
		scenario("somebody else has a wall of that name", emptyDir, until(after(time.Second), Act{Name: "policy of others", Do: func(sim *Simulation) {
			world.Must(sim.Kube.Create(&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{
				Name: world.Name, Namespace: kubemodel.Namespace, OwnerReferences: []metav1.OwnerReference{{UID: "somebody-else", Controller: new(bool)}},
			}}))
		}}), until(reports(plan.NameTaken), wall()), Act{Name: "they delete it", Do: func(sim *Simulation) {
			world.Must(sim.Kube.Delete(kubemodel.NetworkPolicies, world.Name, nil))
		}}),
	}
}

// wall asks for a wall.
func wall() Act { return change("wall", withWall) }

func withWall(s *v1beta2.ClusterSpec) { s.NetworkPolicy = &v1beta2.NetworkPolicy{} }
