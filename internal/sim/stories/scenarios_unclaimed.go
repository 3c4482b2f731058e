// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// unclaimed: others take off pods what members are found by. Nothing of that is a loss.
func unclaimed() []Scenario {
	backedUp := Act{Name: "backup", Do: createBackup, Until: after(5 * time.Second)}
	stays := func() func(*Simulation) bool { return both(after(15*time.Minute), both(isIncarnation(""), areFound)) }
	return []Scenario{
		scenario("all pods lose their owner", emptyDir, recovery(v1beta2.RecoveryBackup), backedUp, onAll("disown", stays(), disown)),
		scenario("all pods lose a label", emptyDir, recovery(v1beta2.RecoveryBackup), backedUp, onAll("strip", stays(), strip(manifests.LabelApp))),
		scenario("all pods lose a label, and the user consents to start over", emptyDir,
			Act{Name: "strip and consent", Until: stays(), Do: func(sim *Simulation) {
				onAll("strip", nil, strip(manifests.LabelCluster)).Do(sim)
				consent(sim)
			}}),
		scenario("a pod loses its label", emptyDir, until(both(after(time.Minute), both(isIncarnation(""), areFound)), onMember("strip", false, strip(manifests.LabelCluster)))),
		scenario("a restored cluster's pod loses its label", emptyDir, backup("b1"), restore("r1", "b1", false), until(both(after(time.Minute), isIncarnation("r1")), onMember("strip", false, strip(manifests.LabelIncarnation)))),
		scenario("a pod loses its owner, and another is deleted", volumes, Act{Name: "disown and delete", Do: func(sim *Simulation) {
			pods := sim.Members()
			disown(sim, pods[0])
			deletePod(sim, pods[1])
		}}),
		scenario("a pod cannot be shown to be a member's", emptyDir, until(isNamed(), onMember("alienate", false, alienate)), returned()),
		scenario("no pod can be shown to be a member's", emptyDir, recovery(v1beta2.RecoveryBackup), backedUp, onAll("alienate", isNamed(), alienate), returned()),
		orphans(),
		forgottenPod(),
		lostSurroundings("services and the budget lose their owner", withoutOwner),
		lostSurroundings("services and the budget lose the label app", without(manifests.LabelApp)),
		lostSurroundings("services and the budget lose all that they are known by", withoutMetadata),
		lostClaims("a volume loses its owner, and its pod is deleted", withoutOwner),
		lostClaims("a volume loses the label app, and its pod is deleted", without(manifests.LabelApp)),
		lostClaims("a volume loses the cluster's label, and its pod is deleted", without(manifests.LabelCluster)),
		scenario("the volumes of a restored cluster lose their label", volumes, backup("b1"), restore("r1", "b1", false),
			onAll("strip", both(after(time.Minute), both(isIncarnation("r1"), areLabeled)), onClaim(without(manifests.LabelIncarnation)))),
		scenario("volumes that are to stay lose what they are known by", volumes,
			until(keepsVolumes(), change("retain", func(s *v1beta2.ClusterSpec) { s.DeletionPolicy = v1beta2.DeletionPolicyRetain })),
			onAll("strip", keepsVolumes(), func(sim *Simulation, pod *corev1.Pod) {
				onClaim(func(o client.Object) { o.SetAnnotations(nil) })(sim, pod)
			}),
			change("delete", func(s *v1beta2.ClusterSpec) { s.DeletionPolicy = v1beta2.DeletionPolicyDelete })),
	}
}

// forgottenPod: the pod of a member that etcd has forgotten has ended, and loses its label before anybody could delete it.
func forgottenPod() Scenario {
	return scenario("an evicted member's pod loses its label while the spec is invalid", emptyDir,
		until(reports(plan.InvalidSpec), scale(9)),
		until(after(10*time.Second), onMember("evict and remove", false, func(sim *Simulation, pod *corev1.Pod) {
			sim.noted = pod.Name
			sim.Leader().Remove(sim.Held.MemberNamed(pod.Name).ID)
			evict(sim, pod)
		})),
		until(after(10*time.Second), Act{Name: "strip", Do: func(sim *Simulation) {
			if pod, ok := sim.Kube.Find(kubemodel.Pods, sim.noted).(*corev1.Pod); ok {
				strip(manifests.LabelCluster)(sim, pod)
			}
		}}),
		scale(3))
}

// lostClaims: what a volume is known by is taken off, and it is all that is left of its member. The data is still there, so
// that the member stays who it is.
func lostClaims(name string, change func(client.Object)) Scenario {
	return scenario(name, volumes, Act{Name: "strip and delete", Do: func(sim *Simulation) {
		sim.noted = sim.memberNames()
		onMember("", false, func(sim *Simulation, pod *corev1.Pod) {
			onClaim(change)(sim, pod)
			deletePod(sim, pod)
		}).Do(sim)
	}, Until: both(after(time.Minute), func(sim *Simulation) bool {
		return sim.IsSettled() && sim.memberNames() == sim.noted && areLabeled(sim)
	})})
}

// areLabeled: the volumes of all members have the labels by which they are found.
func areLabeled(sim *Simulation) bool {
	want := manifests.ClusterLabels(world.Name)
	if incarnation := sim.Cluster().Status.Incarnation(); incarnation != "" {
		want[manifests.LabelIncarnation] = incarnation
	}
	for _, pod := range sim.Members() {
		claim := sim.Kube.Find(kubemodel.Claims, pod.Name)
		if claim == nil || !maps.Equal(claim.GetLabels(), want) {
			return false
		}
	}
	return true
}

// memberNames are the names of the members that have a pod.
func (sim *Simulation) memberNames() string {
	var names []string
	for _, pod := range sim.Members() {
		names = append(names, pod.Name)
	}
	return strings.Join(names, " ")
}

// keepsVolumes: for a while all volumes are noted to stay.
func keepsVolumes() func(*Simulation) bool {
	return both(after(time.Minute), func(sim *Simulation) bool {
		isNoted := func(sim *Simulation, o client.Object) bool {
			return o.GetAnnotations()[manifests.AnnotationClusterUID] == string(sim.Cluster().UID)
		}
		return countClaims(sim, isNoted) == 3
	})
}

// alienate takes off a pod its owner, and what shows whom it was made for.
func alienate(sim *Simulation, pod *corev1.Pod) {
	disown(sim, pod)
	sim.Kube.Edit(kubemodel.Pods, pod.Name, func(o client.Object) {
		annotations := o.GetAnnotations()
		delete(annotations, manifests.AnnotationPolicy)
		o.SetAnnotations(annotations)
	})
}

// isNamed: for a while nothing happens, and the status says that a pod is in the way.
func isNamed() func(*Simulation) bool { return both(after(15*time.Minute), reports(plan.NameTaken)) }

// returned: the user gives the pods back to the cluster.
func returned() Act {
	return Act{Name: "pods are given back", Until: isIncarnation(""), Do: func(sim *Simulation) {
		for _, o := range sim.Kube.All(kubemodel.Pods) {
			sim.Kube.Edit(kubemodel.Pods, o.GetName(), func(o client.Object) { o.SetOwnerReferences([]metav1.OwnerReference{sim.Cluster().AsOwner()}) })
		}
	}}
}

// orphans: the object is deleted without its pods, and created again over them.
func orphans() Scenario {
	return scenario("created again over the members of an earlier object", emptyDir,
		Act{Name: "orphan and create again", Do: func(sim *Simulation) {
			for _, kind := range []kubemodel.Kind{kubemodel.Pods, kubemodel.Services, kubemodel.Budgets} {
				for _, o := range sim.Kube.All(kind) {
					sim.Kube.Edit(kind, o.GetName(), func(o client.Object) { o.SetOwnerReferences(nil) })
				}
			}
			world.Must(sim.Kube.Delete(kubemodel.Clusters, world.Name, nil))
			for _, kind := range []kubemodel.Kind{kubemodel.Services, kubemodel.Budgets} {
				for _, o := range sim.Kube.All(kind) {
					world.Must(sim.Kube.Delete(kind, o.GetName(), nil))
				}
			}
			sim.Apply()
		}, Until: both(after(time.Minute), both(reports(plan.NameTaken), func(sim *Simulation) bool { return len(sim.Kube.All(kubemodel.Pods)) == sim.Size }))},
		Act{Name: "the orphans are deleted", Do: func(sim *Simulation) {
			for _, o := range sim.Kube.All(kubemodel.Pods) {
				wipe(sim, o.(*corev1.Pod))
			}
			sim.Held.NoteDataLoss()
		}})
}

// areFound: the pods of all members have the labels of the cluster.
func areFound(sim *Simulation) bool {
	for _, pod := range sim.Members() {
		if pod.Labels[manifests.LabelApp] == "" || pod.Labels[manifests.LabelCluster] == "" {
			return false
		}
	}
	return true
}

// onAll does something to the pods of all members.
func onAll(name string, done func(*Simulation) bool, do func(*Simulation, *corev1.Pod)) Act {
	return Act{Name: name, Until: done, Do: func(sim *Simulation) {
		for _, pod := range sim.Members() {
			do(sim, pod)
		}
	}}
}

// disown takes the owner off a pod.
func disown(sim *Simulation, pod *corev1.Pod) {
	sim.Kube.Edit(kubemodel.Pods, pod.Name, withoutOwner)
}

// strip takes a label off a pod.
func strip(label string) func(*Simulation, *corev1.Pod) {
	return func(sim *Simulation, pod *corev1.Pod) { sim.Kube.Edit(kubemodel.Pods, pod.Name, without(label)) }
}

// onClaim does to a member's volume claim what can be done to its pod; nothing where it has none.
func onClaim(change func(client.Object)) func(*Simulation, *corev1.Pod) {
	return func(sim *Simulation, pod *corev1.Pod) { sim.Kube.Edit(kubemodel.Claims, pod.Name, change) }
}

func withoutOwner(o client.Object) { o.SetOwnerReferences(nil) }

func without(label string) func(client.Object) {
	return func(o client.Object) {
		labels := o.GetLabels()
		delete(labels, label)
		o.SetLabels(labels)
	}
}

// consent sets the annotation that allows to start over with an empty cluster.
func consent(sim *Simulation) {
	sim.Kube.Edit(kubemodel.Clusters, world.Name, func(o client.Object) {
		o.SetAnnotations(map[string]string{manifests.AnnotationBootstrapAgain: o.(*v1beta2.EtcdCluster).Status.Bootstrap.Seed})
	})
}
