// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// scene builds the view of a cluster of three healthy members c-a, c-b and c-c, of
// which c-a leads; tests change what they are about.
type scene struct {
	*view.View
	// made is the spec that the pods were made for.
	made *v1beta2.EtcdCluster
}

func newScene(names ...string) *scene {
	cluster := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "uid", ResourceVersion: "1"},
		Spec:       v1beta2.ClusterSpec{Size: len(names), Version: "3.6.16"},
		Status: v1beta2.ClusterStatus{
			ClusterID: "c1", CurrentVersion: "3.6.16", Phase: v1beta2.ClusterPhaseRunning,
			Bootstrap: &v1beta2.BootstrapStatus{Seed: "c-a", Token: "t", PodUID: "pod-c-a"},
		},
	}
	s := &scene{made: cluster.DeepCopy(), View: &view.View{
		Now: noon, Cluster: cluster, HelperImage: "operator", NewName: "new", NewToken: "token",
		PeerService: manifests.PeerService(cluster), ClientService: manifests.ClientService(cluster), Budget: manifests.Budget(cluster, manifests.MinAvailable(len(names), len(names))),
		Nodes: map[string]view.Node{},
		Etcd:  view.Etcd{Membership: &etcd.Membership{ClusterID: 0xc1}, Status: map[string]etcd.Status{}, Silent: map[string]string{}},
	}}
	for _, name := range names {
		s.addMember(name)
	}
	return s
}

func three() *scene { return newScene("c-a", "c-b", "c-c") }

func id(name string) uint64 { return uint64(name[len(name)-1]) }

// addMember adds a healthy, started voter with its pod.
func (s *scene) addMember(name string) {
	s.Etcd.Membership.Members = append(s.Etcd.Membership.Members, etcd.Member{ID: id(name), Name: name, PeerURLs: []string{manifests.PeerURL(s.made, name)}})
	s.Etcd.Status[name] = etcd.Status{ClusterID: 0xc1, MemberID: id(name), Leader: id("a"), AppliedIndex: 10000, RaftIndex: 10000, Version: "3.6.16"}
	s.addPod(name)
	pod := s.pod(name)
	pod.Annotations[manifests.AnnotationMemberID] = plan.FormatID(id(name))
	pod.Annotations[manifests.AnnotationRestarts] = "0"
	pod.Labels[manifests.LabelServing] = "true"
}

func (s *scene) addPod(name string) {
	start := manifests.Start{Member: name, HelperImage: "operator"}
	for _, m := range s.Etcd.Membership.Members {
		peer := view.NameOf(m)
		start.Peers = append(start.Peers, manifests.Peer{Name: peer, URL: manifests.PeerURL(s.made, peer)})
	}
	pod := manifests.MemberPod(s.made, start)
	pod.UID, pod.ResourceVersion = types.UID("pod-"+name), "1"
	pod.Spec.NodeName = "node-" + name
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "etcd", Ready: true, ContainerID: "x", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Hour))}}}},
	}
	s.Pods = append(s.Pods, *pod)
	s.Nodes["node-"+name] = view.Node{Exists: true, Ready: true}
}

func (s *scene) pod(name string) *corev1.Pod {
	for i := range s.Pods {
		if s.Pods[i].Name == name {
			return &s.Pods[i]
		}
	}
	panic("no pod " + name)
}

func (s *scene) losePod(name string) {
	s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return p.Name == name })
	s.silence(name)
}

// unready lets kubelets report that members do not serve.
func (s *scene) unready(names ...string) {
	for i := range s.Pods {
		if slices.Contains(names, s.Pods[i].Name) {
			s.Pods[i].Status.Conditions[0].Status = corev1.ConditionFalse
		}
	}
}

// reject lets a kubelet have rejected a member's pod, which is as old as this.
func (s *scene) reject(name string, age time.Duration) {
	s.silence(name)
	pod := s.pod(name)
	pod.CreationTimestamp = metav1.NewTime(s.Now.Add(-age))
	pod.Spec.NodeName = "n1"
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu"}
}

// silence lets a member not answer, nor serve; without a majority there is no member list either.
func (s *scene) silence(names ...string) {
	for _, name := range names {
		delete(s.Etcd.Status, name)
		s.Etcd.Silent[name] = "connection refused"
		s.unready(name)
	}
	if voters := len(s.Etcd.Membership.Members); len(s.Etcd.Status) < view.Quorum(voters) {
		for i := range s.Etcd.Membership.Members {
			s.Cluster.Status.MemberStatuses = append(s.Cluster.Status.MemberStatuses, v1beta2.MemberStatus{Name: s.Etcd.Membership.Members[i].Name})
		}
		s.Etcd.Membership = nil
		for name, status := range s.Etcd.Status {
			status.Leader = 0
			s.Etcd.Status[name] = status
		}
	}
}

// withVolumes gives every member a claim of its own.
func (s *scene) withVolumes() *scene {
	for _, c := range []*v1beta2.EtcdCluster{s.Cluster, s.made} {
		c.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}
	}
	for i := range s.Pods {
		claim := manifests.Claim(s.made, s.Pods[i].Name)
		claim.Status.Phase = corev1.ClaimBound
		s.Claims = append(s.Claims, *claim)
		s.Pods[i].Annotations[manifests.AnnotationPolicy] = manifests.Fingerprint(s.made)
	}
	return s
}

// crash lets a member's etcd exit again and again.
func (s *scene) crash(name string, restarts int32) {
	pod := s.pod(name)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "etcd", RestartCount: restarts, ContainerID: "x",
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Message: "panic: wal: crc mismatch"}},
	}}
	s.silence(name)
}

func (s *scene) nodeAway(name string, since time.Duration) {
	s.Nodes["node-"+name] = view.Node{Exists: true, Since: noon.Add(-since)}
	s.silence(name)
}

// learner makes a member a learner that has applied so many entries.
func (s *scene) learner(name string, applied uint64) {
	for i := range s.Etcd.Membership.Members {
		if s.Etcd.Membership.Members[i].Name == name {
			s.Etcd.Membership.Members[i].Learner = true
		}
	}
	status := s.Etcd.Status[name]
	status.Learner, status.AppliedIndex = true, applied
	s.Etcd.Status[name] = status
	delete(s.pod(name).Labels, manifests.LabelServing)
}

// unstarted adds a member that is on etcd's list and has no pod yet.
func (s *scene) unstarted(name string, learner bool) {
	s.Etcd.Membership.Members = append(s.Etcd.Membership.Members, etcd.Member{ID: id(name), PeerURLs: []string{manifests.PeerURL(s.made, name)}, Learner: learner})
}

// guarded gives the object the finalizer that one with volumes has.
func (s *scene) guarded() *scene {
	s.Cluster.Finalizers = nil
	if manifests.HasVolumes(s.Cluster) || len(s.Claims) > 0 || len(s.Previous.Claims) > 0 {
		s.Cluster.Finalizers = []string{manifests.FinalizerVolumes}
	}
	return s
}

// planned is what the planner does about a scene, in one line.
func planned(s *scene) string { return printPlan(s.View, plan.Next(s.guarded().View)) }
