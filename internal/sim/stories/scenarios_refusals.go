// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// refuse lets the API server refuse one verb for one kind of object, until all is repaired.
func refuse(sim *Simulation, n int) {
	kinds, verbs := []kubemodel.Kind{kubemodel.Pods, kubemodel.Claims, kubemodel.Services, kubemodel.Budgets}, []string{"create", "patch", "delete"}
	sim.Kube.Refuse(verbs[n/len(kinds)%len(verbs)], kinds[n%len(kinds)])
}

// refusals: the API server refuses an object, and nothing else waits for it.
func refusals() []Scenario {
	marked := both(reports(plan.StepFailed), allMarked)
	return []Scenario{
		{Name: "budgets are refused", Options: emptyDir, Acts: []Act{refusing(marked, "create", kubemodel.Budgets), accept()}},
		scenario("services are refused while a member is replaced", emptyDir,
			until(both(after(30*time.Second), marked), within(5*time.Minute, Act{Name: "refuse", Do: func(sim *Simulation) {
				sim.Kube.Refuse("create", kubemodel.Services)
				deleteClientService(sim)
				evict(sim, sim.Members()[1])
			}})), accept()),
		scenario("pods are refused while one is lost", volumes,
			until(reports(plan.StepFailed), Act{Name: "refuse", Do: func(sim *Simulation) {
				sim.Kube.Refuse("create", kubemodel.Pods)
				deletePod(sim, sim.Members()[0])
			}}),
			until(func(sim *Simulation) bool { return len(sim.Members()) == 2 && allHaveLabel(sim, "team") },
				within(time.Minute, change("labels", func(s *v1beta2.ClusterSpec) { podPolicy(s).Labels = map[string]string{"team": "a"} }))),
			accept()),
		scenario("claims are refused to grow", volumes,
			until(both(reports(plan.StepFailed), func(sim *Simulation) bool { return allHaveLabel(sim, "team") }),
				Act{Name: "refuse", Do: func(sim *Simulation) {
					sim.Kube.Refuse("patch", kubemodel.Claims)
					sim.Change(func(s *v1beta2.ClusterSpec) {
						enlarged(s)
						podPolicy(s).Labels = map[string]string{"team": "a"}
					})
				}}),
			until(func(sim *Simulation) bool { return len(sim.Members()) == 1 }, within(time.Minute, scale(1))),
			accept()),
		scenario("a webhook undoes what the operator writes", emptyDir,
			until(both(after(10*time.Minute), reports(plan.StepFailed)), Act{Name: "strip", Do: func(sim *Simulation) {
				sim.Kube.Strips = manifests.LabelServing
				sim.Kube.Edit(kubemodel.Pods, sim.Members()[0].Name, without(manifests.LabelServing))
			}}),
			Act{Name: "the webhook is gone", Do: func(sim *Simulation) { sim.Kube.Strips = "" }}),
	}
}

// refusing creates the cluster while a verb is refused for a kind.
func refusing(done func(*Simulation) bool, verb string, kind kubemodel.Kind) Act {
	return until(done, within(5*time.Minute, Act{Name: "create, and refuse", Do: func(sim *Simulation) {
		sim.Kube.Refuse(verb, kind)
		sim.Apply()
	}}))
}

func accept() Act { return Act{Name: "accept", Do: func(sim *Simulation) { sim.Kube.AcceptAll() }} }

// allMarked waits until clients are led to all members, and all have what guards their data.
func allMarked(sim *Simulation) bool {
	pods := sim.Members()
	for _, pod := range pods {
		if pod.Labels[manifests.LabelServing] != "true" || pod.Annotations[manifests.AnnotationMemberID] == "" {
			return false
		}
	}
	return len(pods) == sim.Cluster().Spec.Size
}

func allHaveLabel(sim *Simulation, label string) bool {
	for _, pod := range sim.Members() {
		if pod.Labels[label] == "" && pod.Status.Phase == corev1.PodRunning {
			return false
		}
	}
	return true
}
