// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sim runs the operator's own code, unchanged, against models of Kubernetes
// and of etcd, in one goroutine and in virtual time. A seed gives the same run
// every time. After every effect the invariants are checked that docs/robustness.md
// lists.
package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Name is the name of the cluster in every world.
const Name = "c"

// Options are what makes a world.
type Options struct {
	Seed uint64
	// Lag is how many events the operator's caches may be behind.
	Lag int
	// Nodes is how many machines there are; 5 where it is zero.
	Nodes int
	// Volumes gives every member a volume, LocalVolumes one that is bound to its node.
	Volumes, LocalVolumes bool
	// Mirror is what admission puts in front of the images of pods.
	Mirror string
	// TLS uses secrets for peers and clients.
	TLS bool
	// Size and Version are what the cluster begins with; 3 and 3.6.16 where they are zero.
	Size    int
	Version string
	// Sealed proves at the end that the operator changed nothing that it had only read.
	Sealed bool
	// Trace gets a line for everything that happens; nil for silence.
	Trace func(string)
}

// World is one Kubernetes with one operator and one client.
type World struct {
	Options
	Loop     *clock.Loop
	Rand     *rand.Rand
	Universe *etcdmodel.Universe
	Kube     *kubemodel.Kube

	operator *operator
	writer   *writer
	truth    *truth

	// injections say what becomes of an effect, by its number.
	injections map[int]Fate
	effects    int
	steps      []string
	violation  error
	unpullable map[string]bool
	// backups are what can be restored, by name.
	backups  map[string]*etcdmodel.Disk
	apiFails int
	mended   bool
}

// Fate is what becomes of an effect.
type Fate int

// The fates of an effect.
const (
	Normal Fate = iota
	// CrashBefore ends the operator before the effect.
	CrashBefore
	// CrashAfter ends it after the effect and before it hears of it.
	CrashAfter
	// AnswerLost lets the effect happen, and the operator get an error.
	AnswerLost
	// NeverArrives gives the operator an error for something that did not happen.
	NeverArrives
)

func (f Fate) String() string {
	return [...]string{"normal", "crash before", "crash after", "applied but the answer lost", "never arrives"}[f]
}

// New makes a world without a cluster.
func New(o Options) *World {
	if o.Nodes == 0 {
		o.Nodes = 5
	}
	if o.Size == 0 {
		o.Size = 3
	}
	if o.Version == "" {
		o.Version = "3.6.16"
	}
	w := &World{Options: o, Loop: &clock.Loop{}, Rand: rand.New(rand.NewPCG(o.Seed, 0x5eed)), injections: map[int]Fate{}, unpullable: map[string]bool{}, backups: map[string]*etcdmodel.Disk{}}
	w.Universe = &etcdmodel.Universe{Loop: w.Loop, Rand: w.Rand}
	w.Kube = kubemodel.New(w.Loop, w.Rand, w.Universe)
	w.Kube.LocalVolumes, w.Kube.Mirror, w.Kube.Sealed = o.LocalVolumes, o.Mirror, o.Sealed
	w.Kube.Pullable = func(image string) bool { return !w.unpullable[image] }
	w.Kube.Snapshot = w.fetched
	w.truth = newTruth(w)
	w.writer = &writer{w: w}
	for i := range o.Nodes {
		w.Kube.AddNode(fmt.Sprintf("n%d", i+1), fmt.Sprintf("z%d", i%3+1))
	}
	if o.TLS {
		w.createSecrets()
	}
	w.createForeign()
	w.Kube.Watch = func(kind kubemodel.Kind, before, after client.Object) {
		w.operator.happened(kind)
		w.truth.happened(kind, before, after)
		w.restoreOperator(kind, before, after)
	}
	w.operator = startOperator(w)
	w.writer.start()
	return w
}

// foreign is the name of a volume that an earlier cluster of the same name left behind.
// It has all the labels, and is nobody's business.
const foreign = "c-foreign"

func (w *World) createForeign() {
	must(w.Kube.Create(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: foreign, Namespace: kubemodel.Namespace, Labels: manifests.ClusterLabels(Name),
		OwnerReferences: []metav1.OwnerReference{{Kind: v1beta2.EtcdClusterResourceKind, Name: Name, UID: "an-earlier-one"}},
	}}))
}

// Spec is what the world's cluster begins with.
func (w *World) Spec() v1beta2.ClusterSpec {
	spec := v1beta2.ClusterSpec{Size: w.Size, Version: w.Version}
	if w.Volumes || w.LocalVolumes {
		spec.Pod = &v1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
	}
	if w.TLS {
		spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
			Member: &v1beta2.MemberSecret{PeerSecret: "peer", ServerSecret: "server"}, OperatorSecret: "operator",
		}}
	}
	return spec
}

// Apply creates the cluster.
func (w *World) Apply() {
	must(w.Kube.Create(&v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: kubemodel.Namespace}, Spec: w.Spec()}))
}

// Cluster is the object; nil where there is none.
func (w *World) Cluster() *v1beta2.EtcdCluster {
	if o := w.Kube.Find(kubemodel.Clusters, Name); o != nil {
		return o.(*v1beta2.EtcdCluster)
	}
	return nil
}

// Change changes the spec as a user does.
func (w *World) Change(change func(*v1beta2.ClusterSpec)) {
	w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) { change(&o.(*v1beta2.EtcdCluster).Spec) })
}

// Run lets d pass, or stops at the first violation.
func (w *World) Run(d time.Duration) error {
	return w.RunUntil(w.Loop.Now()+d, func() bool { return false })
}

// RunUntil lets time pass until done or the given time, whatever comes first.
func (w *World) RunUntil(end time.Duration, done func() bool) error {
	for w.violation == nil && w.Loop.Now() < end && !done() {
		at, ok := w.Loop.Next()
		switch {
		case w.operator.wakeAt <= w.Loop.Now():
			w.operator.round()
		case w.operator.wakeAt <= end && (!ok || w.operator.wakeAt <= at):
			w.Loop.RunUntil(w.operator.wakeAt)
		case !ok || at > end:
			w.Loop.RunUntil(end)
		default:
			w.Loop.Step()
		}
	}
	return w.violation
}

// Inject decides the fate of the effect with this number, counted from 1.
func (w *World) Inject(number int, fate Fate) { w.injections[number] = fate }

// Effects is how many effects the operator had or tried to have.
func (w *World) Effects() int { return w.effects }

// Steps are the effects, as text.
func (w *World) Steps() []string { return w.steps }

// Broken notes the first violation of an invariant.
func (w *World) broken(format string, args ...any) {
	if w.violation == nil {
		w.violation = fmt.Errorf("at %s: %s", w.Loop.Now(), fmt.Sprintf(format, args...))
		w.trace("VIOLATION %v", w.violation)
	}
}

func (w *World) trace(format string, args ...any) {
	if w.Trace != nil {
		w.Trace(fmt.Sprintf("%12s ", w.Loop.Now().Round(time.Microsecond)) + fmt.Sprintf(format, args...))
	}
}

// Members are the pods of the cluster, by name.
func (w *World) Members() []*corev1.Pod {
	var list []*corev1.Pod
	cluster := w.Cluster()
	if cluster == nil {
		return nil
	}
	for _, o := range w.Kube.All(kubemodel.Pods) {
		if ownedBy(o, cluster.UID) {
			list = append(list, o.(*corev1.Pod))
		}
	}
	return list
}

func ownedBy(o client.Object, uid types.UID) bool {
	for _, ref := range o.GetOwnerReferences() {
		if ref.UID == uid {
			return true
		}
	}
	return false
}

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

// SaysReady reports whether the status says that all is as the spec asks for.
func (w *World) SaysReady() bool {
	c := w.Condition(v1beta2.ClusterConditionReady)
	return c != nil && c.Status == corev1.ConditionTrue && w.Cluster().Status.ObservedGeneration == w.Cluster().Generation
}

// Summary says how the cluster is, without anything that differs between runs.
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
	return fmt.Sprintf("phase %s, ready %t, %d pods, %d claims, members %s", cluster.Status.Phase, w.SaysReady(),
		len(w.Members()), len(w.Kube.All(kubemodel.Claims)), strings.Join(parts, "; "))
}
