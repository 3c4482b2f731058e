// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Judge is asked for every object that an operator writes a status of. It is for tests of another module, which know what
// tools of others make of it, and is set before anything is played.
var Judge func(object client.Object) error

// judge asks Judge for an object as it will be.
func judge(w *world.World, e kubemodel.Effect) {
	if Judge == nil {
		return
	}
	if err := Judge(e.Object); err != nil {
		w.Violate("%s: %v", e, err)
	}
}

// status checks every status that the operator writes.
func (i *Invariants) status(e kubemodel.Effect) {
	next, ok := e.Object.(*v1beta2.EtcdCluster)
	if !ok || e.Verb != "status" {
		return
	}
	i.Published("the status", next.Status.Reason)
	for _, c := range next.Status.Conditions {
		i.Published("a condition", c.Message)
		i.namesMissingImage(c.Message)
	}
	for _, m := range next.Status.MemberStatuses {
		i.Published("a member's status", m.Message)
	}
	current, ok := e.From.(*v1beta2.EtcdCluster)
	if !ok || current.ResourceVersion != next.ResourceVersion {
		return // the API server refuses it
	}
	judge(i.w, e)
	if err := CheckStatus(current, next); err != nil {
		i.w.Violate("the status %v breaks a rule: %v", next.Status.Conditions, err)
	}
}

// CheckStatus holds a status that replaces another one to the rules of kstatus: tools that
// know nothing of our kinds have to be able to tell from it whether an object is done.
func CheckStatus(current, next *v1beta2.EtcdCluster) error {
	reported := !slices.Equal(current.Status.Conditions, next.Status.Conditions)
	switch observed := next.Status.ObservedGeneration; {
	case len(next.Status.Conditions) == 0 && observed != 0:
		return fmt.Errorf("generation %d is observed, and no condition is reported", observed)
	case len(next.Status.Conditions) == 0:
		return nil // facts of a cluster of which nothing has been reported yet
	case observed > next.Generation:
		return fmt.Errorf("generation %d is observed, of %d", observed, next.Generation)
	case observed < current.Status.ObservedGeneration:
		return fmt.Errorf("generation %d is observed after %d", observed, current.Status.ObservedGeneration)
	case reported && observed != next.Generation:
		return fmt.Errorf("conditions are reported for generation %d, which is not the current %d", observed, next.Generation)
	}
	if next.Status.Phase == v1beta2.ClusterPhaseFailed && isTrue(next.Status.Conditions, v1beta2.ClusterConditionReady) {
		return fmt.Errorf("phase Failed (%s), and ready", next.Status.Reason)
	}
	return errors.Join(kstatus.Check(next.Status.Conditions, readCondition), checkTransitions(current, next))
}

func isTrue(conditions []v1beta2.ClusterCondition, kind v1beta2.ClusterConditionType) bool {
	return slices.ContainsFunc(conditions, func(c v1beta2.ClusterCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
}

func readCondition(c v1beta2.ClusterCondition) kstatus.Condition {
	return kstatus.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason}
}

// checkTransitions: the time of a condition's transition changes with its status, and only then.
func checkTransitions(current, next *v1beta2.EtcdCluster) error {
	for _, c := range next.Status.Conditions {
		n := slices.IndexFunc(current.Status.Conditions, func(o v1beta2.ClusterCondition) bool { return o.Type == c.Type })
		if n < 0 {
			continue
		}
		if old := current.Status.Conditions[n]; old.Status == c.Status && old.LastTransitionTime != c.LastTransitionTime {
			return fmt.Errorf("condition %s is still %s, and its transition time changes", c.Type, c.Status)
		}
	}
	return nil
}
