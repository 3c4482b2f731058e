// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

func create() Act { return Act{Name: "create", Do: (*World).Apply} }

func change(name string, do func(*v1beta2.ClusterSpec)) Act {
	return Act{Name: name, Do: func(w *World) { w.Change(do) }}
}

func scale(n int) Act { return change("scale", func(s *v1beta2.ClusterSpec) { s.Size = n }) }

func upgrade(version string) Act {
	return change("version "+version, func(s *v1beta2.ClusterSpec) { s.Version = version })
}

// begin is an act that is not waited for.
func begin(a Act, until func(w *World) bool) Act {
	a.Until = until
	return a
}

func after(d time.Duration) func(w *World) bool {
	var end time.Duration
	return func(w *World) bool {
		if end == 0 || w.Loop.Now() < end-d {
			end = w.Loop.Now() + d
		}
		return w.Loop.Now() >= end
	}
}

// atOnce lets the next act begin in the same moment.
func atOnce(*World) bool { return true }

// reason waits until the status says that the cluster is not ready for this reason.
func reason(name string) func(w *World) bool {
	return func(w *World) bool {
		c := w.Condition(v1beta2.ClusterConditionReady)
		return c != nil && c.Reason == name
	}
}

func policy(s *v1beta2.ClusterSpec) *v1beta2.PodPolicy {
	if s.Pod == nil {
		s.Pod = &v1beta2.PodPolicy{}
	}
	return s.Pod
}

// onMember does something to the pod of the member that leads, or of one that follows.
func onMember(name string, leader bool, do func(w *World, pod *corev1.Pod)) Act {
	return Act{Name: name, Do: func(w *World) {
		for _, pod := range w.Members() {
			if p := w.Kube.ProcessOf(pod.Name); p != nil && p.IsLeading() == leader {
				do(w, pod)
				w.truth.survives()
				return
			}
		}
	}}
}

func destroyDir(w *World, pod *corev1.Pod) {
	if dir := w.truth.dataOf(pod.Name); dir != nil {
		*dir = etcdmodel.Dir{}
	}
}

// emptyReboot lets the node of a member start anew with an empty disk.
func emptyReboot(w *World, name string) {
	pod := w.Kube.Pod(name)
	if pod == nil || pod.Spec.NodeName == "" || !w.Kube.IsUp(pod.Spec.NodeName) {
		return
	}
	w.Kube.FailNode(pod.Spec.NodeName)
	for _, other := range w.Members() {
		if other.Spec.NodeName == pod.Spec.NodeName && w.Kube.Find(kubemodel.Claims, other.Name) == nil {
			destroyDir(w, other)
		}
	}
	w.truth.survives()
	w.Kube.BootNode(pod.Spec.NodeName)
}

// powerCut takes the power from all machines, and gives it back.
func powerCut() []Act {
	return []Act{
		{Name: "power cut", Do: func(w *World) {
			for _, node := range w.Kube.NodeNames() {
				w.Kube.FailNode(node)
			}
		}, Until: after(2 * time.Minute)},
		{Name: "power back", Do: func(w *World) {
			for _, node := range w.Kube.NodeNames() {
				w.Kube.BootNode(node)
			}
		}},
	}
}

func deletePod(w *World, pod *corev1.Pod) { _ = w.Kube.Delete(kubemodel.Pods, pod.Name, nil) }

func with(s Scenario, acts ...Act) Scenario {
	s.Acts = append(append([]Act{create()}, s.Acts...), acts...)
	return s
}

var (
	emptyDir = Options{}
	volumes  = Options{Volumes: true}
)

// Scenarios are the stories that are told clean, with every crash, and with every pair of crashes.
func Scenarios() []Scenario {
	return append([]Scenario{
		with(Scenario{Name: "create", Options: emptyDir}),
		with(Scenario{Name: "create one", Options: Options{Size: 1}}),
		with(Scenario{Name: "create with volumes", Options: volumes}),
		with(Scenario{Name: "create 3.5", Options: Options{Version: "3.5.35"}}),
		with(Scenario{Name: "scale up", Options: emptyDir}, scale(5)),
		with(Scenario{Name: "scale up from one", Options: Options{Size: 1, Volumes: true}}, scale(3)),
		with(Scenario{Name: "scale up beyond a quota and back", Options: volumes},
			begin(Act{Name: "quota", Do: func(w *World) { w.Kube.PodQuota = 3 }}, atOnce), begin(scale(5), reason("StepFailed")), scale(3)),
		with(Scenario{Name: "scale down", Options: Options{Size: 5}}, scale(3)),
		with(Scenario{Name: "scale down to one", Options: volumes}, scale(1)),
		with(Scenario{Name: "the last one crashes before anything is written", Options: Options{Size: 2, Volumes: true}},
			Act{Name: "the clients go", Do: func(w *World) { w.writer.stopped = true }, Until: after(time.Second)},
			begin(scale(1), func(w *World) bool { return len(w.Members()) == 1 }),
			onMember("crash", true, func(w *World, pod *corev1.Pod) { w.Kube.Crash(pod.Name) })),
		with(Scenario{Name: "heal a crash", Options: emptyDir}, onMember("crash", true, func(w *World, pod *corev1.Pod) { w.Kube.Crash(pod.Name) })),
		with(Scenario{Name: "heal a deleted pod", Options: emptyDir}, onMember("delete pod", true, deletePod)),
		with(Scenario{Name: "heal an evicted pod", Options: emptyDir}, onMember("evict", false, func(w *World, pod *corev1.Pod) { w.Kube.Evict(pod.Name) })),
		with(Scenario{Name: "heal a destroyed node", Options: emptyDir}, onMember("destroy node", true, func(w *World, pod *corev1.Pod) { w.Kube.DestroyNode(pod.Spec.NodeName) })),
		with(Scenario{Name: "heal a deleted pod with volume", Options: volumes}, onMember("delete pod", true, deletePod)),
		with(Scenario{Name: "heal an evicted pod with volume", Options: volumes}, onMember("evict", true, func(w *World, pod *corev1.Pod) { w.Kube.Evict(pod.Name) })),
		with(Scenario{Name: "heal a lost volume", Options: volumes}, onMember("lose volume", false, func(w *World, pod *corev1.Pod) {
			w.Kube.LoseVolume(pod.Name)
			w.Kube.Crash(pod.Name)
		})),
		with(Scenario{Name: "heal wiped data", Options: volumes}, onMember("wipe", false, func(w *World, pod *corev1.Pod) {
			destroyDir(w, pod)
			deletePod(w, pod)
		})),
		with(Scenario{Name: "a node comes back without its disk", Options: emptyDir}, Act{Name: "reboot", Do: func(w *World) { emptyReboot(w, w.Cluster().Status.Bootstrap.Seed) }}),
		with(Scenario{Name: "power cut", Options: emptyDir}, powerCut()...),
		with(Scenario{Name: "power cut with volumes", Options: volumes}, powerCut()...),
		with(Scenario{Name: "upgrade", Options: emptyDir}, upgrade("3.7.3")),
		with(Scenario{Name: "upgrade one", Options: Options{Size: 1, Volumes: true}}, upgrade("3.7.3")),
		with(Scenario{Name: "upgrade two", Options: Options{Size: 2}}, upgrade("3.6.10")),
		with(Scenario{Name: "upgrade with volumes", Options: volumes}, upgrade("3.7.3")),
		with(Scenario{Name: "upgrade from 3.5", Options: Options{Version: "3.5.35"}}, upgrade("3.6.16")),
		with(Scenario{Name: "upgrade while a member joins", Options: emptyDir},
			begin(onMember("evict", false, func(w *World, pod *corev1.Pod) { w.Kube.Evict(pod.Name) }), atOnce), upgrade("3.7.3")),
		with(Scenario{Name: "images come from a mirror", Options: Options{Mirror: "mirror/"}}, onMember("delete pod", true, deletePod), upgrade("3.7.3")),
		with(Scenario{Name: "rollback in the middle", Options: emptyDir}, begin(upgrade("3.7.3"), oneRuns("3.7.3")), upgrade("3.6.16")),
		with(Scenario{Name: "rollback of an image that cannot be pulled", Options: volumes},
			Act{Name: "break", Do: func(w *World) { w.unpullable["quay.io/coreos/etcd:v3.6.99"] = true }, Until: after(time.Second)},
			begin(upgrade("3.6.99"), reason("ImageNotAvailable")), upgrade("3.6.16")),
		with(Scenario{Name: "downgrade refused and taken back", Options: emptyDir}, begin(upgrade("3.5.35"), reason("DowngradeRefused")), upgrade("3.6.16")),
		with(Scenario{Name: "change env", Options: emptyDir}, changeEnv()),
		with(Scenario{Name: "change env with volumes", Options: volumes}, changeEnv()),
		with(Scenario{Name: "change env of one", Options: Options{Size: 1}}, changeEnv()),
		with(Scenario{Name: "change labels and resources", Options: volumes}, change("labels", func(s *v1beta2.ClusterSpec) {
			policy(s).Labels = map[string]string{"team": "a"}
			policy(s).Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
		}), change("resources in place", func(s *v1beta2.ClusterSpec) {
			policy(s).Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}
		})),
		with(Scenario{Name: "grow volumes", Options: volumes}, change("storage", func(s *v1beta2.ClusterSpec) {
			policy(s).PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
		})),
		with(Scenario{Name: "anti-affinity with as many nodes as members", Options: Options{Nodes: 3}}, change("antiAffinity", func(s *v1beta2.ClusterSpec) { policy(s).AntiAffinity = true })),
		with(Scenario{Name: "tls", Options: Options{TLS: true}}),
		with(Scenario{Name: "pause", Options: emptyDir},
			Act{Name: "pause and scale", Do: func(w *World) { w.Change(func(s *v1beta2.ClusterSpec) { s.Paused, s.Size = true, 5 }) }, Until: after(10 * time.Second)},
			change("go on", func(s *v1beta2.ClusterSpec) { s.Paused = false })),
		with(Scenario{Name: "all pods deleted with volumes", Options: volumes}, Act{Name: "delete all pods", Do: func(w *World) {
			for _, pod := range w.Members() {
				deletePod(w, pod)
			}
		}}),
		with(Scenario{Name: "a learner dies", Options: emptyDir}, begin(scale(5), hasLearner), Act{Name: "delete the learner's pod", Do: func(w *World) {
			for _, pod := range w.Members() {
				if m := w.truth.memberNamed(pod.Name); m == nil || m.Learner {
					deletePod(w, pod)
				}
			}
		}}),
		{Name: "name taken", Options: emptyDir, Acts: []Act{
			{Name: "somebody else's service", Do: func(w *World) {
				must(w.Kube.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: Name + "-client", Namespace: kubemodel.Namespace}}))
				w.Apply()
			}, Until: reason("NameTaken")},
			{Name: "it goes", Do: func(w *World) { must(w.Kube.Delete(kubemodel.Services, Name+"-client", nil)) }},
		}},
		with(Scenario{Name: "name taken while a member is lost", Options: emptyDir},
			Act{Name: "somebody else's service", Do: func(w *World) {
				must(w.Kube.Delete(kubemodel.Services, Name+"-client", nil))
				must(w.Kube.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: Name + "-client", Namespace: kubemodel.Namespace}}))
				deletePod(w, w.Members()[1])
			}, Until: reason("NameTaken")},
			Act{Name: "it goes", Do: func(w *World) { must(w.Kube.Delete(kubemodel.Services, Name+"-client", nil)) }}),
		{Name: "the seed is lost, and the user consents to start over", Options: emptyDir, Acts: []Act{
			{Name: "create", Do: (*World).Apply, Until: func(w *World) bool { return w.truth.bootstraps[w.Cluster().UID] == 1 }},
			{Name: "destroy the seed's node", Do: func(w *World) {
				w.Kube.DestroyNode(w.Members()[0].Spec.NodeName)
				w.truth.survives()
			}, Until: reason("SeedLost")},
			{Name: "consent", Do: func(w *World) {
				w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) {
					o.SetAnnotations(map[string]string{manifests.AnnotationBootstrapAgain: o.(*v1beta2.EtcdCluster).Status.Bootstrap.Seed})
				})
			}},
		}},
		deletion("delete", emptyDir),
		deletion("delete with volumes", volumes),
		adoption(),
	}, restoreScenarios()...)
}

func changeEnv() Act {
	return change("env", func(s *v1beta2.ClusterSpec) {
		policy(s).EtcdEnv = []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "1000000"}}
	})
}

func hasLearner(w *World) bool {
	l := w.truth.leader()
	return l != nil && l.Disk().List.Voters() < len(l.Disk().List.Members)
}

func oneRuns(version string) func(w *World) bool {
	return func(w *World) bool {
		for _, pod := range w.Members() {
			if p := w.Kube.ProcessOf(pod.Name); p != nil && p.HasLeader() && p.Flags.Version == version {
				return true
			}
		}
		return false
	}
}

// deletion: everything goes with the object.
func deletion(name string, o Options) Scenario {
	return with(Scenario{Name: name, Options: o}, Act{
		Name: "delete", Do: func(w *World) { _ = w.Kube.Delete(kubemodel.Clusters, Name, nil) },
		Until: func(w *World) bool {
			left := 0
			for kind := kubemodel.Pods; kind < kubemodel.Nodes; kind++ {
				left += len(w.Kube.All(kind))
			}
			return left == 1 // what belongs to someone else stays
		},
	})
}

// adoption: a cluster made by the original operator is taken over as it runs.
func adoption() Scenario {
	return Scenario{Name: "adopt", Options: emptyDir, Acts: []Act{
		{Name: "three pods of the original", Do: (*World).original, Until: func(w *World) bool { return w.truth.leader() != nil }},
		{Name: "the operator takes over", Do: func(*World) {}},
		scale(5),
	}}
}

// original makes what the original operator leaves behind: pods that are not
// restarted, without gates and without our marks.
func (w *World) original() {
	w.operator.wakeAt = never
	w.Apply()
	cluster := w.Cluster()
	peers := []manifests.Peer{}
	for _, suffix := range []string{"0000", "0001", "0002"} {
		name := manifests.MemberName(Name, suffix)
		peers = append(peers, manifests.Peer{Name: name, URL: manifests.PeerURL(cluster, name)})
	}
	must(w.Kube.Create(manifests.PeerService(cluster)))
	service := manifests.ClientService(cluster)
	service.Spec.Selector = manifests.ClusterLabels(Name)
	must(w.Kube.Create(service))
	for _, peer := range peers {
		pod := manifests.MemberPod(cluster, manifests.Start{Member: peer.Name, Token: "original", Peers: peers})
		pod.Annotations = map[string]string{manifests.AnnotationVersion: cluster.Spec.Version}
		delete(pod.Labels, manifests.LabelServing)
		pod.Spec.InitContainers, pod.Spec.SchedulingGates = nil, nil
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Env = nil
		}
		must(w.Kube.Create(pod))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
