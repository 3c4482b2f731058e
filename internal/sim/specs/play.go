// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Admission is what the API server does to a spec: it returns the spec that it stores, or refuses it. Before is nil for a new object.
type Admission interface {
	Admit(before, after map[string]any) (map[string]any, error)
}

// Result is what became of a case.
type Result struct {
	// Field is what the case was made for; empty for a sequence.
	Field string
	// Accepted and Refused count the specs that the API server took, and those that it did not.
	Accepted, Refused int
	// IsReached says that the last spec was reached, Reason why it was not.
	IsReached bool
	Reason    string
	Err       error
}

const (
	// enough is how long a spec may take to be reached before a reason for that is looked for.
	enough = 6 * time.Minute
	// patience is how long it may take until all is as before: longer than the longest back-off.
	patience = 30 * time.Minute
	// quiet is for how long the operator leaves a cluster alone that has settled.
	quiet = 12 * time.Second
)

// bases are the worlds in which specs are changed.
var bases = []world.Options{
	{Nodes: 8}, {Nodes: 8, Volumes: true}, {Nodes: 8, TLS: true}, {Nodes: 8, Size: 1}, {Nodes: 8, Size: 1, Volumes: true}, {Nodes: 8, Volumes: true, TLS: true},
}

var begun = sync.OnceValues(func() ([]*stories.Simulation, error) {
	worlds := make([]*stories.Simulation, len(bases))
	for i, o := range bases {
		s := stories.Scenario{Options: o, Acts: []stories.Act{{Name: "create", Do: func(sim *stories.Simulation) {
			furnish(sim.World)
			sim.Apply()
		}}}}
		sim, err := s.Begin(7)
		if err != nil {
			return nil, fmt.Errorf("base %d: %w", i, err)
		}
		worlds[i] = sim
	}
	return worlds, nil
})

// player plays one case.
type player struct {
	Case
	*stories.Simulation
	admission Admission
	result    Result
	// spec is what the API server has stored last.
	spec map[string]any
}

// Play plays a case.
func Play(c Case, admission Admission, trace func(string)) Result {
	worlds, err := begun()
	if err != nil {
		return Result{Err: err}
	}
	p := &player{Case: c, Simulation: worlds[c.Base].Clone(c.Seed, c.Lag, trace), admission: admission, result: Result{Field: c.Field()}}
	p.result.Err = p.play()
	return p.result
}

func (p *player) play() error {
	base := encoded(p.Cluster().Spec)
	before := stateOf(p.World)
	p.spec = base
	for _, change := range p.Changes {
		if err := p.change(merged(p.spec, change.Patch)); errors.Is(err, errRefused) {
			continue
		} else if err != nil {
			return err
		}
		if change.Wait > 0 {
			if err := p.Run(change.Wait); err != nil {
				return err
			}
			continue
		}
		if err := p.settle(); err != nil {
			return err
		}
	}
	if p.result.Accepted == 0 {
		return nil
	}
	if err := p.settle(); err != nil {
		return err
	}
	if err := p.judge(); err != nil {
		return err
	}
	return p.takeBack(base, before)
}

var errRefused = errors.New("the API server refuses the spec")

// change changes the spec, if the API server takes it.
func (p *player) change(to map[string]any) error {
	stored, err := p.admission.Admit(p.spec, to)
	if err != nil {
		p.result.Refused++
		p.Tracef("refused: %v", err)
		return errRefused
	}
	spec, err := decoded(stored)
	if err != nil {
		return fmt.Errorf("the API server takes a spec that the operator cannot read: %w", err)
	}
	p.result.Accepted++
	p.spec = stored
	p.Tracef("spec: %s", plain(stored))
	p.Change(func(s *v1beta2.ClusterSpec) { *s = *spec.DeepCopy() })
	return nil
}

// settle lets time pass until the cluster is what the spec asks for and the operator leaves it alone, or for long enough.
func (p *player) settle() error { return settle(p.Simulation, enough) }

func settle(sim *stories.Simulation, limit time.Duration) error {
	effects, since := sim.Effects(), sim.Loop.Now()
	return sim.RunUntil(sim.Loop.Now()+limit, func() bool {
		if sim.Effects() != effects || !sim.ReportsReady() {
			effects, since = sim.Effects(), sim.Loop.Now()
		}
		return sim.Loop.Now()-since > quiet
	})
}

// judge compares what there is with a cluster that was created with the same spec.
func (p *player) judge() error {
	fresh, err := p.fresh()
	if err != nil {
		return fmt.Errorf("a cluster created with it: %w", err)
	}
	if !p.ReportsReady() {
		reason := p.reason()
		p.result.Reason = reason.name
		isOfTheWay := slices.Contains(ofTheWay, plan.Reason(reason.name)) || isWithoutRoom(reason, p.Cluster())
		if fresh.ReportsReady() && !isOfTheWay {
			return fmt.Errorf("a cluster created with its spec is Ready; this one is not after %s: %v", enough, reason)
		}
		return reason.check()
	}
	p.result.IsReached = true
	if !fresh.ReportsReady() {
		if p.Cluster().Spec.Paused || isOfLaterPods(newReason(fresh), p.Cluster()) {
			return nil // what there is stays as it is
		}
		return fmt.Errorf("the cluster is Ready; one created with its spec is not: %v", newReason(fresh))
	}
	if d := stateOf(p.World).difference(stateOf(fresh.World)); d != "" {
		return fmt.Errorf("the cluster is Ready, and not what one created with its spec is:%s", d)
	}
	return nil
}

// fresh is a cluster created with the spec.
func (p *player) fresh() (*stories.Simulation, error) {
	spec, err := decoded(p.spec)
	if err != nil {
		return nil, err
	}
	o := bases[p.Base]
	o.Seed = p.Seed
	sim := stories.New(o)
	furnish(sim.World)
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: world.Name, Namespace: kubemodel.Namespace}, Spec: *spec}
	if err := sim.Kube.Create(cluster); err != nil {
		return nil, err
	}
	return sim, settle(sim, enough)
}

// takeBack asks for the former spec again, as far as the API server allows that.
func (p *player) takeBack(base map[string]any, before state) error {
	if err := p.change(base); errors.Is(err, errRefused) {
		return nil
	} else if err != nil {
		return err
	}
	if err := settle(p.Simulation, patience); err != nil {
		return err
	}
	if !p.ReportsReady() {
		if reason := p.reason(); reason.name == string(plan.DowngradeRefused) {
			return nil // it says so, and it is too late
		}
		return fmt.Errorf("taken back, and not Ready after %s: %s", patience, p.Explain())
	}
	if d := stateOf(p.World).difference(before); d != "" {
		return fmt.Errorf("taken back, and not as before:%s", d)
	}
	return p.Held.CheckAll()
}

// isOfLaterPods reports whether a cluster cannot be created for a field that reaches only pods which are created later.
func isOfLaterPods(r reason, cluster *v1beta2.EtcdCluster) bool {
	return r.name == string(plan.ImageNotAvailable) && manifests.PolicyOf(cluster).BusyboxImage != ""
}

// isWithoutRoom reports whether the member that joins before another one leaves finds no place, since no two may be in one
// zone. docs/found.md has it among what is open.
func isWithoutRoom(r reason, cluster *v1beta2.EtcdCluster) bool {
	a := manifests.PolicyOf(cluster).Affinity
	return r.name == string(plan.PodUnschedulable) && a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// ofTheWay are the reasons why a spec cannot be reached from another one.
var ofTheWay = []plan.Reason{plan.DowngradeRefused, plan.MinorVersionSkipped}

// reason is why a cluster is not ready.
type reason struct{ name, message string }

func (p *player) reason() reason { return newReason(p.Simulation) }

func newReason(sim *stories.Simulation) reason {
	c := sim.Condition(v1beta2.ClusterConditionReady)
	if c == nil || c.Status == corev1.ConditionTrue {
		return reason{}
	}
	return reason{c.Reason, c.Message}
}

// check makes sure that a reason is one that users find in docs/reasons.md, and tells them something.
func (r reason) check() error {
	if r.name == "" || r.message == "" || !slices.Contains(plan.Reasons, plan.Reason(r.name)) {
		return fmt.Errorf("the cluster is not Ready, and names no reason: %q", r)
	}
	return nil
}

// encoded is a spec as the API server stores it.
func encoded(spec v1beta2.ClusterSpec) map[string]any {
	content, err := json.Marshal(spec)
	if err != nil {
		panic("specs: API types always encode: " + err.Error())
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(content, &fields); err != nil {
		panic(err)
	}
	return fields
}

func decoded(fields map[string]any) (*v1beta2.ClusterSpec, error) {
	content, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	var spec v1beta2.ClusterSpec
	return &spec, json.Unmarshal(content, &spec)
}
