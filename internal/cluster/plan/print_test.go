// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// printPlan is a plan in one line: the decision, and what its step changes; or the first reason to wait.
//
//	grow: add member c-new as learner
//	hold-seed: patch Pod c-a (+finalizer seed-never-served)
//	wait: QuorumLost
func printPlan(v *view.View, p plan.Plan) string {
	if p.Step != nil {
		return p.Decision + ": " + printStep(v, p.Step)
	}
	if len(p.Waits) == 0 {
		return "steady state"
	}
	return "wait: " + string(p.Waits[0].Reason)
}

func printStep(v *view.View, step plan.Step) string {
	switch step := step.(type) {
	case plan.CreateObject:
		return "create " + nameOf(step.Object)
	case plan.PatchObject:
		return "patch " + nameOf(step.From) + " (" + diff(step.From, step.To) + ")"
	case plan.ResizePod:
		return "resize " + nameOf(step.From) + " (" + diff(step.From, step.To) + ")"
	case plan.DeleteObject:
		text := "delete " + nameOf(step.Object)
		if step.IfUnchanged {
			text += " if unchanged"
		}
		if step.LastVoter != nil {
			text += " after a commit of " + step.LastVoter.Ask
		}
		return text
	case plan.RecordStatus:
		return "record (" + diffStatus(v.Cluster.Status, step.Status) + ")"
	case plan.AddMember:
		if step.Learner {
			return "add member " + step.Member + " as learner"
		}
		return "add member " + step.Member
	case plan.PromoteMember:
		return "promote member " + step.Member
	case plan.RemoveMember:
		return "remove member " + step.Member
	case plan.Compact:
		return fmt.Sprintf("compact to %d", step.Revision)
	case plan.DisarmAlarm:
		return fmt.Sprintf("disarm %c", rune(step.ID))
	case plan.Defragment:
		return "defragment " + step.Member
	case plan.MoveLeader:
		return fmt.Sprintf("move leader from %s to %c", step.Ask, rune(step.To))
	}
	return fmt.Sprintf("unknown step %T", step)
}

func nameOf(o client.Object) string {
	return reflect.TypeOf(o).Elem().Name() + " " + o.GetName()
}

// diff lists what changes from one object to the other, by the words that people use for it.
func diff(from, to client.Object) string {
	a, b := treeOf(from), treeOf(to)
	list := slices.Concat(
		diffTrees("label ", nested(a, "metadata", "labels"), nested(b, "metadata", "labels")),
		diffTrees("annotation ", nested(a, "metadata", "annotations"), nested(b, "metadata", "annotations")),
		diffTrees("finalizer ", set(from.GetFinalizers()), set(to.GetFinalizers())),
		diffTrees("owner ", owners(from), owners(to)),
		diffTrees("", nested(a, "spec"), nested(b, "spec")))
	return strings.Join(list, " ")
}

func diffStatus(from, to v1beta2.ClusterStatus) string {
	return strings.Join(diffTrees("", treeOf(from), treeOf(to)), " ")
}

func set(list []string) map[string]any {
	out := map[string]any{}
	for _, s := range list {
		out[s] = true
	}
	return out
}

func owners(o client.Object) map[string]any {
	var names []string
	for _, owner := range o.GetOwnerReferences() {
		names = append(names, owner.Kind+" "+owner.Name)
	}
	return set(names)
}

// treeOf is an object as its JSON has it.
func treeOf(value any) map[string]any {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(content, &tree); err != nil {
		panic(err)
	}
	return tree
}

func nested(tree map[string]any, path ...string) map[string]any {
	for _, key := range path {
		tree, _ = tree[key].(map[string]any)
	}
	return tree
}

// diffTrees lists what is added, removed and changed. A part that is removed as a whole is one entry, and so is a
// large one that is added.
func diffTrees(prefix string, from, to map[string]any) []string {
	var list []string
	keys := maps.Clone(from)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, to)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		list = append(list, diffValues(prefix+strings.TrimPrefix(key, "etcd.database.coreos.com/"), from[key], to[key])...)
	}
	return list
}

func diffValues(name string, from, to any) []string {
	switch {
	case reflect.DeepEqual(from, to) || (isEmpty(from) && isEmpty(to)):
		return nil
	case isEmpty(to):
		return []string{"-" + name}
	case isEmpty(from):
		if small, ok := to.(map[string]any); ok && len(small) <= 5 {
			return diffTrees(name+".", nil, small)
		}
		return []string{"+" + name + label(to)}
	}
	switch to := to.(type) {
	case map[string]any:
		if from, ok := from.(map[string]any); ok {
			return diffTrees(name+".", from, to)
		}
	case []any:
		if from, ok := from.([]any); ok && len(from) == len(to) {
			var list []string
			for i := range to {
				list = append(list, diffValues(fmt.Sprintf("%s[%d]", name, i), from[i], to[i])...)
			}
			return list
		}
	}
	return []string{name + label(to)}
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// label is a value where it says something to a reader; of an object what identifies it.
func label(value any) string {
	switch value := value.(type) {
	case string:
		if len(value) > 40 {
			return "=…"
		}
		return "=" + value
	case float64:
		return "=" + strconv.FormatFloat(value, 'f', -1, 64)
	case map[string]any:
		for _, key := range []string{"uid", "seed", "name"} {
			if !isEmpty(value[key]) {
				return label(value[key])
			}
		}
	}
	return ""
}
