// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Scenario is a story with a good end.
type Scenario struct {
	Name    string
	Options Options
	Acts    []Act
}

// Act is something that happens, and what is waited for afterwards.
type Act struct {
	Name string
	Do   func(w *World)
	// Until is what ends the act; nil waits until all is as the spec asks for.
	Until func(w *World) bool
	// End is when Until has to have come true.
	End time.Duration
}

// Result is how a scenario went.
type Result struct {
	Effects int
	Steps   []string
	Summary string
	// Took is the virtual time from the first act to the last one's end.
	Took time.Duration
	Err  error
}

const (
	// patience is how long an act may take: longer than the patience with a node
	// that is away, and than the longest pause of a work queue that failed often.
	patience = 30 * time.Minute
	// restTakes is how long a world is watched for writes that nobody needs.
	restTakes = 15 * time.Second
)

// Begin plays a scenario's first act, up to where everything is at rest. What follows
// can be told many times from there.
func (s Scenario) Begin(seed uint64) (*World, error) {
	o := s.Options
	o.Seed = seed
	w := New(o)
	if err := w.play(s.Acts[:1]); err != nil {
		return nil, err
	}
	return w, w.Settle()
}

// GoOn plays the other acts in a copy of a world in which the first one has been played.
func (s Scenario) GoOn(from *World, seed uint64, lag int, fates map[int]Fate, trace func(string)) Result {
	w := from.Clone(seed, lag, trace)
	for number, fate := range fates {
		w.Inject(number, fate)
	}
	err := w.play(s.Acts[1:])
	return Result{Effects: w.effects, Steps: w.steps, Summary: w.Summary(), Took: w.Loop.Now() - from.Loop.Now(), Err: err}
}

// Play runs a scenario with the given fates for the effects, and checks that it ends
// well: the cluster as the spec asks for, all acknowledged writes there, and no
// further writes by the operator.
func (s Scenario) Play(o Options, fates map[int]Fate) Result {
	w := New(o)
	for number, fate := range fates {
		w.Inject(number, fate)
	}
	err := w.play(s.Acts)
	return Result{Effects: w.effects, Steps: w.steps, Summary: w.Summary(), Took: w.Loop.Now(), Err: err}
}

func (w *World) play(acts []Act) error {
	for _, act := range acts {
		w.trace("act: %s", act.Name)
		act.Do(w)
		until := act.Until
		if until == nil {
			until = w.isSettled
		}
		limit := act.End
		if limit == 0 {
			limit = patience
		}
		if err := w.RunUntil(w.Loop.Now()+limit, func() bool { return until(w) }); err != nil {
			return fmt.Errorf("%s: %w", act.Name, err)
		}
		if !until(w) {
			return fmt.Errorf("%s: not done after %s: %s", act.Name, limit, w.Explain())
		}
	}
	return w.rest()
}

// mostEffects is how many effects the operator may have on the way to where it is asked to go. The longest
// scenario has 267: one that has many more went in circles, even if it got there in the end.
const mostEffects = 450

// rest lets the world come to rest and checks that the operator leaves it alone.
func (w *World) rest() error {
	if w.effects > mostEffects {
		return fmt.Errorf("the operator went in circles: %d effects, the last of them %v", w.effects, w.steps[len(w.steps)-20:])
	}
	if err := w.Run(restTakes); err != nil {
		return err
	}
	effects := w.effects
	if err := w.Run(restTakes); err != nil {
		return err
	}
	if w.effects > effects {
		return fmt.Errorf("at rest the operator writes: %v", w.steps[effects:])
	}
	if tampered := w.Kube.Tampered(); len(tampered) > 0 {
		return fmt.Errorf("the operator changed what it had only read: %v", tampered)
	}
	w.truth.checked = 0
	w.truth.check()
	return w.violation
}

// isSettled reports whether the status says so and it is true.
func (w *World) isSettled(*World) bool { return w.SaysReady() && w.asAskedFor() == nil }

// asAskedFor compares what there is with what the spec asks for.
func (w *World) asAskedFor() error {
	cluster := w.Cluster()
	if cluster == nil {
		return fmt.Errorf("there is no cluster")
	}
	leader := w.truth.leader()
	if leader == nil {
		return fmt.Errorf("there is no leader")
	}
	list := leader.Disk().List
	if voters := list.Voters(); len(list.Members) != cluster.Spec.Size || voters != cluster.Spec.Size {
		return fmt.Errorf("%d members and %d voters, %d are asked for", len(list.Members), voters, cluster.Spec.Size)
	}
	for i := range list.Members {
		m := &list.Members[i]
		pod := w.Kube.Pod(nameOf(m))
		switch {
		case pod == nil || pod.DeletionTimestamp != nil:
			return fmt.Errorf("member %s has no pod", nameOf(m))
		case !w.truth.isHealthy(m):
			return fmt.Errorf("member %s is not healthy", nameOf(m))
		case !w.truth.runsImage(pod) || manifests.NeedsImage(cluster, pod):
			return fmt.Errorf("member %s runs another version", nameOf(m))
		case manifests.NeedsReplacing(cluster, pod) || manifests.NeedsResources(cluster, pod):
			return fmt.Errorf("member %s has an old pod", nameOf(m))
		case pod.Labels[manifests.LabelServing] != "true":
			return fmt.Errorf("member %s is out of the client service", nameOf(m))
		}
	}
	if n := len(w.Members()); n != cluster.Spec.Size {
		return fmt.Errorf("%d pods, %d are asked for", n, cluster.Spec.Size)
	}
	return w.claimsAsAskedFor()
}

func (w *World) claimsAsAskedFor() error {
	cluster := w.Cluster()
	claims := w.Kube.All(kubemodel.Claims)
	if !manifests.HasVolumes(cluster) {
		return nil
	}
	own := 0
	want := cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage]
	for _, o := range claims {
		if !ownedBy(o, cluster.UID) {
			continue
		}
		own++
		have := o.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests[corev1.ResourceStorage]
		if have.Cmp(want) != 0 || o.GetDeletionTimestamp() != nil {
			return fmt.Errorf("claim %s is not as asked for", o.GetName())
		}
	}
	if own != cluster.Spec.Size {
		return fmt.Errorf("%d claims, %d are asked for", own, cluster.Spec.Size)
	}
	return nil
}

// Explain says what the status says.
func (w *World) Explain() string {
	cluster := w.Cluster()
	if cluster == nil {
		return "no cluster"
	}
	text := w.Summary()
	if err := w.asAskedFor(); err != nil {
		text = err.Error() + "; " + text
	}
	for _, c := range cluster.Status.Conditions {
		text += fmt.Sprintf("\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, pod := range w.Members() {
		text += fmt.Sprintf("\n  pod %s on %s phase %s ready %t deleting %t", pod.Name, pod.Spec.NodeName, pod.Status.Phase, kubemodel.Ready(pod), pod.DeletionTimestamp != nil)
		if p := w.Kube.ProcessOf(pod.Name); p != nil {
			text += fmt.Sprintf(" serving %t leader %t leading %t learner %t", p.IsServing(), p.HasLeader(), p.IsLeading(), p.IsLearner())
		}
	}
	return text
}
