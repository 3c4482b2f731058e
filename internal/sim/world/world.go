// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package world is one simulated Kubernetes with one operator in it, one client that writes
// to etcd, and one restore operator. It decides what becomes of each effect of the
// operator, and asks a Checker before and after each of them.
package world

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Name is the name of the cluster in every world.
const Name = "c"

// Options are how a world begins.
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
	// Operator builds the operator of each life; nil for Today.
	Operator func(Parts) reconcile.Reconciler
	// OnEvent gets what the operator tells users of; nil where nobody listens.
	OnEvent func(report.Event)
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
	Writer   *Writer

	// Defaults are the flags that the next operator is started with.
	Defaults manifests.Defaults
	// Unpullable are the images that no registry has.
	Unpullable map[string]bool
	// RegistryDown says that no image can be had that a node does not have yet.
	RegistryDown bool
	// Backups are what can be restored, by name.
	Backups map[string]*etcdmodel.Disk
	// FailingReads is how many of the next reads from the API server fail.
	FailingReads int
	// Blind says that etcd refuses the operator's connections, whoever else's it accepts.
	Blind bool
	// RestoreOperatorDown says that nobody looks at EtcdRestores.
	RestoreOperatorDown bool

	checker  Checker
	operator *operator
	// beside is what runs beside the etcd-operator; nil for the stand-in of the restore operator.
	beside *Beside
	// lives is how many operators there were.
	lives int
	// down is set while no operator runs.
	down bool

	// injections say what becomes of an effect, by its number.
	injections map[int]Fate
	// faults is how many of them were not normal.
	faults    int
	steps     []string
	violation error
}

// Checker is asked before and after each effect of the operator, and hears of everything
// else that happens. It reports what must not be by World.Violate.
type Checker interface {
	// BeforeWrite is called before a write to the API server.
	BeforeWrite(kubemodel.Effect)
	// BeforeAdd, BeforePromote and BeforeRemove are called before a change of etcd's member list.
	BeforeAdd(learner bool)
	BeforePromote(id uint64)
	BeforeRemove(id uint64)
	// BeforeCommit is called before a write to etcd that changes nothing.
	BeforeCommit()
	// BeforeDefragment is called before a member is asked to defragment its database.
	BeforeDefragment(*etcdmodel.Process)
	// BeforeCompact and BeforeDisarm are called before history is dropped, and before the alarm of a full database is disarmed.
	BeforeCompact()
	BeforeDisarm()
	// AfterEffect is called after all of them.
	AfterEffect()

	// ObjectChanged is called for every change of an object, whoever made it.
	ObjectChanged(kind kubemodel.Kind, before, after client.Object)
	// ProcessChanged is called when an etcd wins or loses a leader.
	ProcessChanged(*etcdmodel.Process)
	// Bootstrapped is called when an etcd starts a cluster of its own.
	Bootstrapped(*etcdmodel.Process)
	// Published is called for every text that others than the owner of a secret can read.
	Published(where, text string)
}

// New returns a world without a cluster, which the checker that watch returns looks after.
func New(o Options, watch func(*World) Checker) *World {
	if o.Nodes == 0 {
		o.Nodes = 5
	}
	if o.Size == 0 {
		o.Size = 3
	}
	if o.Version == "" {
		o.Version = "3.6.16"
	}
	w := &World{Options: o, Loop: &clock.Loop{}, Rand: seeded(o.Seed), Unpullable: map[string]bool{}, Backups: map[string]*etcdmodel.Disk{}}
	w.Universe = &etcdmodel.Universe{Loop: w.Loop, Rand: w.Rand}
	w.Kube = kubemodel.New(w.Loop, w.Rand, w.Universe)
	w.Kube.LocalVolumes, w.Kube.Mirror, w.Kube.Sealed = o.LocalVolumes, o.Mirror, o.Sealed
	w.Writer = &Writer{w: w}
	for i := range o.Nodes {
		w.Kube.AddNode(fmt.Sprintf("n%d", i+1), fmt.Sprintf("z%d", i%3+1))
	}
	if o.TLS {
		w.createSecrets()
	}
	w.createForeign()
	w.connect(watch)
	w.operator = startOperator(w)
	w.Writer.start()
	return w
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// connect lets the models and the checker hear of each other.
func (w *World) connect(watch func(*World) Checker) {
	w.injections = map[int]Fate{}
	w.checker = watch(w)
	w.Kube.Pullable = func(image string) bool {
		return !w.RegistryDown && !w.Unpullable[strings.TrimPrefix(image, w.Mirror)] && !strings.ContainsAny(image, " !{}\n")
	}
	w.Kube.Snapshot = w.Served
	w.Kube.Watch = func(kind kubemodel.Kind, before, after client.Object) {
		w.operator.happened(kind)
		w.checker.ObjectChanged(kind, before, after)
		if w.beside != nil {
			w.beside.happened(kind, before, after)
			return
		}
		w.restoreOperator(kind, before, after)
	}
	w.Universe.Bootstrapped = w.checker.Bootstrapped
	changed := w.Universe.Changed
	w.Universe.Changed = func(p *etcdmodel.Process) {
		changed(p)
		w.checker.ProcessChanged(p)
	}
}

// foreign is the name of a volume that an earlier cluster of the same name left behind.
// It has all the labels, and belongs to somebody else.
const foreign = "c-foreign"

func (w *World) createForeign() {
	Must(w.Kube.Create(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
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
	Must(w.Kube.Create(&v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: kubemodel.Namespace}, Spec: w.Spec()}))
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
	if w.beside != nil {
		return w.beside.runUntil(end, done)
	}
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

// Violate notes the first violation of an invariant.
func (w *World) Violate(format string, args ...any) {
	if w.violation == nil {
		w.violation = fmt.Errorf("at %s: %s", w.Loop.Now(), fmt.Sprintf(format, args...))
		w.Tracef("VIOLATION %v", w.violation)
	}
}

// Violation is the first violation of an invariant; nil while all of them hold.
func (w *World) Violation() error { return w.violation }

// Tracef writes a line about what happens.
func (w *World) Tracef(format string, args ...any) {
	if w.Trace != nil {
		w.Trace(fmt.Sprintf("%12s ", w.Loop.Now().Round(time.Microsecond)) + fmt.Sprintf(format, args...))
	}
}

// Must is for what a world does itself, which cannot fail.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
