// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// generator makes views at random, from a seed: a cluster somewhere in its life, to which a few things
// happen that may each happen at any time. Most of the combinations nobody would think of.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

func (g generator) oneIn(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

// view is one that a planner may meet.
func (g generator) view() *view.View {
	s := g.life()
	changes := g.changes()
	for range g.IntN(5) {
		changes[g.IntN(len(changes))](s)
	}
	if !g.oneIn(10) {
		s.guarded()
	}
	return s.View
}

// life is where a cluster is in its life before things happen to it.
func (g generator) life() *scene {
	names := []string{"c-a", "c-b", "c-c", "c-d", "c-e"}[:pick(g, 1, 2, 3, 3, 3, 5)]
	stages := []v1beta2.RestoreStage{v1beta2.RestoreStageFilling, v1beta2.RestoreStageReplacing, v1beta2.RestoreStageStarting}
	switch g.IntN(8) {
	case 0:
		s := fresh()
		g.bootstrap(s)
		return s
	case 1:
		s := recorded(pick(g, "", "pod-c-a", "pod-other"))
		if g.oneIn(2) {
			seedPod(s, g.seedState(s))
		}
		return s
	case 2:
		return restoring(pick(g, stages...), func(s *scene) {
			g.fetching(s)
		})
	case 3:
		return fromSurvivor(func(s *scene) {
			s.Pods = nil
			s.Cluster.Status.Bootstrap.Restore.Stage = pick(g, stages...)
			g.fetching(s)
		})
	case 4:
		return lost(&v1beta2.RecoveryPolicy{
			Mode: pick(g, v1beta2.RecoveryManual, v1beta2.RecoverySurvivor, v1beta2.RecoveryBackup), BackupName: "b", AllowDataLoss: g.oneIn(2),
		}, nil)
	case 5:
		s := newScene(names...).withVolumes()
		if g.oneIn(4) {
			asksForRecovery(s)
		}
		if g.oneIn(4) && len(s.Pods) > 0 {
			s.unclaim(s.Pods[0].Name)
			if g.oneIn(2) {
				s.Etcd.Membership = nil
			}
		}
		return s
	}
	return newScene(names...)
}

// bootstrap lets a cluster be created from a backup, by an EtcdRestore in any state.
func (g generator) bootstrap(s *scene) {
	switch g.IntN(4) {
	case 0:
		fromBackup(s)
	case 1:
		origin(pick(g, nil, succeeded, failedBefore(time.Minute), failedBefore(time.Hour), func(r *v1beta2.EtcdRestore) { r.OwnerReferences = nil }))(s)
	}
}

// fetching gives a restored cluster its first member, in any state.
func (g generator) fetching(s *scene) {
	if g.oneIn(4) {
		return
	}
	states := []corev1.ContainerState{works, ended, fails, idle}
	s.seed(pick(g, states...), pick(g, states...), g.seedState(s))
	if g.oneIn(3) {
		s.Previous.Pods = nil
	}
	if g.oneIn(3) {
		s.Cluster.Status.Bootstrap.PodUID = "pod-c-s"
	}
}

// seedState puts the pod of a first member into a state.
func (g generator) seedState(s *scene) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if g.oneIn(2) {
			pod.Spec.SchedulingGates = nil
		}
		if g.oneIn(3) {
			manifests.LetStart(pod)
		}
		if g.oneIn(4) {
			pod.Finalizers = []string{manifests.FinalizerSeed}
		}
		if g.oneIn(4) {
			pod.DeletionTimestamp = now()
		}
		if g.oneIn(2) {
			g.podState(pod)
		}
		if g.oneIn(4) {
			tooLargePod(s, pod)
		}
	}
}

// podState lets Kubernetes report something of a pod.
func (g generator) podState(pod *corev1.Pod) {
	container := corev1.ContainerStatus{Name: "etcd", ContainerID: pick(g, "", "x", "y"), RestartCount: int32(g.IntN(10))}
	container.State = pick(g, works, fails, idle, ended, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: pick(g, "ErrImagePull", "CreateContainerError", "PodInitializing")}})
	if g.oneIn(2) {
		container.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: pick(g, int32(0), 2, membergate.ExitDataLost), FinishedAt: *now()}
	}
	pod.Spec.NodeName = pick(g, "", "node-c-a", "node-c-b", "elsewhere")
	pod.Status.PodIP = pick(g, "", "10.0.0.1")
	pod.Status.Phase = pick(g, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded)
	pod.Status.ContainerStatuses = pick(g, nil, []corev1.ContainerStatus{container})
	pod.Status.Conditions = pick(g, nil,
		[]corev1.PodCondition{{Type: corev1.PodReady, Status: pick(g, corev1.ConditionTrue, corev1.ConditionFalse), LastTransitionTime: *now()}},
		[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}},
		[]corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred}})
}

// changes are what may happen at any time.
func (g generator) changes() []func(*scene) {
	return []func(*scene){g.changeSpec, g.changeSpec, g.changePod, g.changePod, g.changeMember, g.changeMember, g.changeClaim, g.changeNode, g.changeObject, g.changeStatus}
}

func (g generator) changeSpec(s *scene) {
	s.Cluster = s.Cluster.DeepCopy()
	spec := &s.Cluster.Spec
	policy := func() *v1beta2.PodPolicy {
		if spec.Pod == nil {
			spec.Pod = &v1beta2.PodPolicy{}
		}
		return spec.Pod
	}
	pick(g,
		func() { spec.Size = pick(g, 0, 1, 2, 3, 4, 5, 7, 8) },
		func() { spec.Version = pick(g, "", "3.6.16", "3.6.17", "3.7.3", "3.5.35", "3.3.27", "3.8.0", "none") },
		func() { spec.Paused = true },
		func() { policy().EtcdEnv = []corev1.EnvVar{{Name: pick(g, "A", "ETCD_WAL_DIR"), Value: "b"}} },
		func() { policy().Labels = map[string]string{"a": "b"} },
		func() { policy().Resources = cpu(pick(g, "1", "2")) },
		func() { policy().AntiAffinity = true },
		func() { policy().BusyboxImage = "busybox" },
		func() {
			policy().PersistentVolumeClaimSpec = &corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")},
			}}
		},
		func() { spec.PodDisruptionBudget = ptr.To(g.oneIn(2)) },
		func() { spec.NetworkPolicy = &v1beta2.NetworkPolicy{}; s.CannotPolice = g.oneIn(4) },
		func() { spec.DeletionPolicy = v1beta2.DeletionPolicyRetain },
		func() { withPeerTLS(s); s.Secrets = pick(g, nil, map[string]view.Secret{"peer": {Exists: true}}) },
		func() { withTLS(s); s.Cluster.Status.TLS = nil },
		func() {
			spec.Recovery = &v1beta2.RecoveryPolicy{Mode: pick(g, v1beta2.RecoverySurvivor, v1beta2.RecoveryBackup), BackupName: "b", PatienceSeconds: ptr.To(int64(g.IntN(2)))}
		},
		func() {
			spec.Maintenance = &v1beta2.MaintenancePolicy{Defragment: &v1beta2.DefragmentPolicy{}, OnQuotaExceeded: v1beta2.QuotaExceededRecover, AllowCompaction: g.oneIn(2)}
			inUse, alarms := pick(g, int64(1<<20), 1<<30), pick(g, nil, []string{"memberID:98 alarm:NOSPACE "})
			for name, status := range s.Etcd.Status {
				status.DBSize, status.DBSizeInUse, status.Errors = 1<<30, inUse, alarms
				s.Etcd.Status[name] = status
			}
		},
		func() { spec.NodeLostToleranceSeconds = ptr.To(int64(g.IntN(100))) },
		func() {
			spec.Service = &v1beta2.ServicePolicy{Name: pick(g, "", "db"), Annotations: map[string]string{"a": "b"}}
		},
	)()
}

func (g generator) changePod(s *scene) {
	if len(s.Pods) == 0 || g.oneIn(8) {
		s.addPodNamed(pick(g, "c-a", "c-x", "c-new"))
		return
	}
	pod := &s.Pods[g.IntN(len(s.Pods))]
	pick(g,
		func() { pod.DeletionTimestamp = now() },
		func() { g.podState(pod) },
		func() { pod.Labels = nil },
		func() { pod.Annotations = nil },
		func() { pod.Labels = map[string]string{manifests.LabelIncarnation: "r0"} },
		func() {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationDrained, noon.Add(-pick(g, time.Millisecond, 2*time.Second, time.Hour)).Format(time.RFC3339Nano))
		},
		func() { drift.SetImage(s.Cluster, manifests.Defaults{}, pod) },
		func() { pod.Spec.Containers = nil },
		func() { // an image that does not exist
			pod.Annotations = map[string]string{manifests.AnnotationImage: "nowhere"}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "etcd", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
			delete(s.Etcd.Status, pod.Name)
		},
		func() { s.Pods = s.Pods[1:] },
		func() { s.Previous.Pods = append(s.Previous.Pods, *pod.DeepCopy()) },
	)()
}

// addPodNamed adds a pod, unless there is one.
func (s *scene) addPodNamed(name string) {
	for i := range s.Pods {
		if s.Pods[i].Name == name {
			return
		}
	}
	list := s.Etcd.Membership
	if list == nil {
		s.Etcd.Membership = &etcd.Membership{}
	}
	if s.Nodes == nil {
		s.Nodes = map[string]view.Node{}
	}
	s.addPod(name)
	s.Etcd.Membership = list
}

func (g generator) changeMember(s *scene) {
	list := s.Etcd.Membership
	if list == nil || len(list.Members) == 0 {
		if g.oneIn(2) {
			s.Etcd.Membership = &etcd.Membership{ClusterID: pick(g, uint64(0xc1), 0xbad)}
		}
		return
	}
	m := &list.Members[g.IntN(len(list.Members))]
	pick(g,
		func() { m.Learner = true },
		func() { m.Name = "" },
		func() { m.PeerURLs = nil },
		func() { list.Members = list.Members[1:] },
		func() { s.unstarted(fmt.Sprintf("c-%c", 'f'+rune(g.IntN(3))), g.oneIn(2)) },
		func() { s.Etcd.Membership = nil },
		func() { list.ClusterID = 0xbad },
		func() { delete(s.Etcd.Status, m.Name) },
		func() {
			status := s.Etcd.Status[m.Name]
			status.Leader = pick(g, 0, m.ID)
			status.AppliedIndex = pick(g, 0, uint64(100), 10000)
			status.Errors = pick(g, nil, []string{"NOSPACE"}, []string{"CORRUPT"})
			status.Version = pick(g, "", "3.5.35", "3.6.16", "3.7.3")
			status.Learner = g.oneIn(4)
			if s.Etcd.Status != nil {
				s.Etcd.Status[m.Name] = status
			}
		},
		func() { s.Etcd.Refusing = []string{m.Name} },
	)()
}

func (g generator) changeClaim(s *scene) {
	owner := s.Cluster.DeepCopy()
	owner.Spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{}}
	claim := *manifests.Claim(owner, pick(g, "c-a", "c-b", "c-x", "c-s", "c-new"))
	for _, c := range s.Claims {
		if c.Name == claim.Name {
			pick(g, func() { s.Claims[0].Status.Phase = corev1.ClaimLost }, func() { delete(s.Claims[0].Labels, manifests.LabelApp) })()
			return
		}
	}
	if g.oneIn(3) {
		claim.DeletionTimestamp = now()
	}
	if g.oneIn(3) {
		claim.Annotations = map[string]string{manifests.AnnotationStarted: "true"}
	}
	if g.oneIn(3) {
		s.Previous.Claims = append(s.Previous.Claims, claim)
		return
	}
	s.Claims = append(s.Claims, claim)
}

func (g generator) changeNode(s *scene) {
	if g.oneIn(6) {
		s.Nodes = nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		if g.oneIn(2) {
			s.Nodes[name] = view.Node{Exists: g.oneIn(2), Ready: g.oneIn(2), Since: noon.Add(-time.Duration(g.IntN(600)) * time.Second), Zone: pick(g, "x", "y"), Cordoned: g.oneIn(3)}
		}
	}
}

func (g generator) changeObject(s *scene) {
	pick(g,
		func() { s.PeerService = nil },
		func() { s.ClientService = nil },
		func() { s.Budget = nil },
		func() { s.Budget = manifests.Budget(s.Cluster, 1); s.Budget.OwnerReferences = nil },
		func() { s.NetworkPolicy = manifests.NetworkPolicy(s.Cluster, nil) },
		func() { s.PeerService = manifests.PeerService(s.Cluster); s.PeerService.OwnerReferences = nil },
		func() { s.ClientService = manifests.ClientService(s.Cluster); s.ClientService.Spec.Selector = nil },
		func() { s.Cluster.DeletionTimestamp = now() },
		func() { asked(s) },
		func() { broken(s) },
		func() { s.Cluster.Annotations = nil },
		func() { s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"} },
	)()
}

func (g generator) changeStatus(s *scene) {
	status := &s.Cluster.Status
	pick(g,
		func() { status.ClusterID = pick(g, "", "c1", "bad") },
		func() {
			status.Phase = pick(g, v1beta2.ClusterPhaseNone, v1beta2.ClusterPhaseCreating, v1beta2.ClusterPhaseFailed)
		},
		func() {
			status.Bootstrap = pick(g, nil, &v1beta2.BootstrapStatus{}, &v1beta2.BootstrapStatus{Seed: "c-a"})
		},
		func() { status.QuorumLostSince = pick(g, nil, &metav1.Time{Time: noon.Add(-time.Hour)}) },
		func() { status.CurrentVersion = pick(g, "", "3.5.35", "3.7.3") },
		func() {
			status.MemberStatuses = []v1beta2.MemberStatus{{Name: "c-a", Role: pick(g, v1beta2.MemberRoleLeader, v1beta2.MemberRoleLearner, v1beta2.MemberRoleUnstarted)}, {Name: "c-b"}}
		},
		func() {
			if status.Bootstrap != nil && status.Bootstrap.Restore != nil {
				status.Bootstrap.Restore.KeepVolumes = true
			}
		},
	)()
}

// describe is a whole plan as text, to compare two of them.
func describe(v *view.View, p plan.Plan) string {
	text := []string{printPlan(v, p), "stop at " + p.Decision, p.LookAgain.String()}
	for _, w := range p.Waits {
		text = append(text, string(w.Reason)+": "+w.Message)
	}
	return strings.Join(text, "\n")
}
