// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// backup keeps what there is, and lets some writes follow that are not in it.
func backup(name string) Act {
	return Act{Name: "backup", Do: func(w *World) { w.Backup(name) }, Until: after(5 * time.Second)}
}

// restore ends when the object stands for the restored cluster, and that is whole.
func restore(uid, from string, keep bool) Act {
	return Act{
		Name: "restore", Do: func(w *World) { w.RequestRestore(uid, from, keep) },
		Until: func(w *World) bool { return w.isSettled(w) && w.Cluster().Status.Incarnation() == uid },
	}
}

func withdraw(w *World) {
	w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) { o.SetAnnotations(nil) })
}

// asBefore ends when the object stands for the cluster again that it began with.
func asBefore(w *World) bool { return w.isSettled(w) && w.Cluster().Status.Incarnation() == "" }

func recovery(mode v1beta2.RecoveryMode) Act {
	return change("recovery", func(s *v1beta2.ClusterSpec) { s.Recovery = &v1beta2.RecoveryPolicy{Mode: mode, BackupName: "regular"} })
}

// loseTwo destroys the data of all members but one at the same moment.
func loseTwo(until func(w *World) bool) Act {
	return Act{Name: "lose two", Until: until, Do: func(w *World) {
		for _, pod := range w.Members()[1:] {
			if w.Volumes {
				w.Kube.LoseVolume(pod.Name)
				w.Kube.Crash(pod.Name)
				continue
			}
			w.Kube.DestroyNode(pod.Spec.NodeName)
		}
		w.truth.survives()
	}}
}

// recovered ends when the object stands for another cluster than at first, which is whole.
func recovered(w *World) bool { return w.isSettled(w) && w.Cluster().Status.Incarnation() != "" }

// regular is an EtcdBackup that has made a backup.
func regular(w *World) {
	w.Backup("store/backup")
	must(w.Kube.Create(&v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: "regular", Namespace: kubemodel.Namespace},
		Spec: v1beta2.BackupSpec{
			StorageType: v1beta2.BackupStorageTypeFile, BackupSource: v1beta2.BackupSource{File: &v1beta2.FileBackupSource{Path: "store/backup"}},
		},
		Status: v1beta2.BackupStatus{LastSuccessDate: w.Kube.Now()},
	}))
}

// restoreScenarios are the stories in which a cluster is made of a snapshot.
func restoreScenarios() []Scenario {
	deleteSeed := Act{Name: "the seed's pod is deleted", Do: func(w *World) {
		if pod := w.Kube.Pod(w.Cluster().Status.Bootstrap.Seed); pod != nil {
			deletePod(w, pod)
		}
	}, Until: func(w *World) bool { return w.isSettled(w) && w.Cluster().Status.Incarnation() == "r1" }}
	begun := func(stage v1beta2.RestoreStage) func(w *World) bool {
		return func(w *World) bool { _, now := stageOf(w.Cluster()); return now == stage }
	}
	return []Scenario{
		with(Scenario{Name: "restore over a live cluster", Options: emptyDir}, backup("b1"), restore("r1", "b1", false)),
		with(Scenario{Name: "restore over a live cluster with volumes", Options: volumes}, backup("b1"), restore("r1", "b1", false)),
		with(Scenario{Name: "restore and keep the volumes", Options: volumes}, backup("b1"), restore("r1", "b1", true)),
		with(Scenario{Name: "restore twice", Options: volumes}, backup("b1"), restore("r1", "b1", false), backup("b2"), restore("r2", "b2", false)),
		with(Scenario{Name: "restore of a tls cluster of one", Options: Options{TLS: true, Size: 1}}, backup("b1"), restore("r1", "b1", false)),
		with(Scenario{Name: "restore with nothing left", Options: volumes}, backup("b1"), Act{Name: "lose everything", Do: func(w *World) {
			for _, pod := range w.Members() {
				_ = w.Kube.Delete(kubemodel.Claims, pod.Name, nil)
				w.Kube.DestroyNode(pod.Spec.NodeName)
			}
			w.truth.survives()
		}, Until: reason(string(plan.AllDataLost))}, restore("r1", "b1", false)),
		{Name: "restore into a new object", Options: emptyDir, Acts: []Act{{Name: "create", Do: func(w *World) {
			w.backups["b1"] = &etcdmodel.Disk{}
			w.createTicket()
			cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: kubemodel.Namespace}, Spec: w.Spec()}
			w.request(cluster, "r1", "b1", false)
			must(w.Kube.Create(cluster))
		}}}},
		with(Scenario{Name: "a restore that fails is taken back", Options: emptyDir},
			begin(restore("r1", "none", false), reason(string(plan.RestoreFailing))), Act{Name: "take back", Do: withdraw, Until: asBefore}),
		with(Scenario{Name: "a restore that fails is taken back, with volumes", Options: volumes},
			begin(restore("r1", "none", false), reason(string(plan.RestoreFailing))), Act{Name: "take back", Do: withdraw, Until: asBefore}),
		with(Scenario{Name: "a restore that fails is replaced by another", Options: volumes}, backup("b2"),
			begin(restore("r1", "none", false), reason(string(plan.RestoreFailing))), restore("r2", "b2", false)),
		with(Scenario{Name: "the seed's pod goes while it is filled", Options: emptyDir}, backup("b1"),
			begin(restore("r1", "b1", false), begun(v1beta2.RestoreStageFilling)), deleteSeed),
		with(Scenario{Name: "the seed's pod goes while the others are deleted", Options: volumes}, backup("b1"),
			begin(restore("r1", "b1", false), begun(v1beta2.RestoreStageReplacing)), deleteSeed),
		with(Scenario{Name: "restore waits for a node that does not answer", Options: volumes}, backup("b1"),
			onMemberUntil("fail node", after(20*time.Second), func(w *World, pod *corev1.Pod) { w.Kube.FailNode(pod.Spec.NodeName) }),
			begin(restore("r1", "b1", false), after(3*time.Minute)),
			Act{Name: "nodes come back", Do: func(w *World) {
				for _, node := range w.Kube.NodeNames() {
					w.Kube.BootNode(node)
				}
			}, Until: func(w *World) bool { return w.isSettled(w) && w.Cluster().Status.Incarnation() == "r1" }}),
		with(Scenario{Name: "restore with as many nodes as members", Options: Options{Nodes: 3}},
			change("antiAffinity", func(s *v1beta2.ClusterSpec) { policy(s).AntiAffinity = true }), backup("b1"), restore("r1", "b1", false)),
		with(Scenario{Name: "power cut after a restore", Options: emptyDir}, append([]Act{backup("b1"), restore("r1", "b1", false)}, powerCut()...)...),
		with(Scenario{Name: "a survivor", Options: emptyDir}, recovery(v1beta2.RecoverySurvivor), loseTwo(recovered)),
		with(Scenario{Name: "a survivor with volumes", Options: volumes}, recovery(v1beta2.RecoverySurvivor), loseTwo(recovered)),
		with(Scenario{Name: "two survivors of five", Options: Options{Size: 5, Nodes: 6, Volumes: true}}, recovery(v1beta2.RecoverySurvivor), Act{
			Name: "lose three", Until: recovered, Do: func(w *World) {
				for _, pod := range w.Members()[2:] {
					w.Kube.LoseVolume(pod.Name)
					w.Kube.Crash(pod.Name)
				}
				w.truth.survives()
			},
		}),
		with(Scenario{Name: "the newest backup", Options: volumes}, recovery(v1beta2.RecoveryBackup),
			Act{Name: "backup", Do: regular, Until: after(5 * time.Second)}, loseTwo(recovered)),
		with(Scenario{Name: "the newest backup, with nothing left", Options: emptyDir}, recovery(v1beta2.RecoveryBackup),
			Act{Name: "backup", Do: regular, Until: after(5 * time.Second)}, Act{Name: "lose all", Until: recovered, Do: func(w *World) {
				for _, pod := range w.Members() {
					w.Kube.DestroyNode(pod.Spec.NodeName)
				}
				w.Kube.AddNode("n6", "z1")
				w.truth.survives()
			}}),
		with(Scenario{Name: "manual recovery touches nothing", Options: volumes}, loseTwo(reason(string(plan.QuorumLost))),
			Act{Name: "watch", Do: func(*World) {}, Until: after(20 * time.Minute)}),
		with(Scenario{Name: "members that may come back are waited for", Options: volumes}, recovery(v1beta2.RecoverySurvivor),
			Act{Name: "two nodes fail", Do: func(w *World) {
				for _, pod := range w.Members()[1:] {
					w.Kube.FailNode(pod.Spec.NodeName)
				}
			}, Until: after(10 * time.Minute)},
			Act{Name: "nodes come back", Do: func(w *World) {
				for _, node := range w.Kube.NodeNames() {
					w.Kube.BootNode(node)
				}
			}, Until: asBefore}),
	}
}

// onMemberUntil does something to a follower's pod, and does not wait for the cluster to be whole.
func onMemberUntil(name string, until func(w *World) bool, do func(w *World, pod *corev1.Pod)) Act {
	return begin(onMember(name, false, do), until)
}
