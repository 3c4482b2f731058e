// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package gitops_test asks kstatus itself, by which Flux and other tools tell whether an object is done, and the health checks for
// Argo CD about every status that the simulation produces.
package gitops_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/invariants"
	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

var schedules = flag.Uint64("schedules", 100, "how many random schedules to play")

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	invariants.Judge = judged.judge
	code := m.Run()
	fmt.Println("kstatus: " + judged.String())
	os.Exit(code)
}

// verdicts counts what kstatus made of the statuses.
type verdicts struct {
	sync.Mutex
	seen map[string]int
}

var judged = &verdicts{seen: map[string]int{}}

func (v *verdicts) String() string {
	v.Lock()
	defer v.Unlock()
	var parts []string
	for _, is := range slices.Sorted(maps.Keys(v.seen)) {
		parts = append(parts, fmt.Sprintf("%s %d", is, v.seen[is]))
	}
	return strings.Join(parts, ", ")
}

// judge holds what kstatus computes of an object to what its operator means by the conditions.
func (v *verdicts) judge(object client.Object) error {
	kind, ready, stalled, reason := conditionsOf(object)
	if ready == "" {
		return nil // facts, before anything is reported
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(v1beta2.SchemeGroupVersion.WithKind(kind))
	result, err := status.Compute(u)
	if err != nil {
		return fmt.Errorf("kstatus cannot tell: %w", err)
	}
	v.Lock()
	v.seen[kind+" "+result.Status.String()]++
	v.Unlock()
	if want := expected(object, ready, stalled); result.Status != want {
		return fmt.Errorf("kstatus takes it for %s (%s), and it is %s: Ready is %s with %s", result.Status, result.Message, want, ready, reason)
	}
	if err := argoAgrees(u, result.Status, reason); err != nil {
		return err
	}
	return seriesIsWhole(object, result.Status, reason)
}

// expected is what a tool has to make of an object.
func expected(object client.Object, ready string, stalled bool) status.Status {
	switch {
	case !object.GetDeletionTimestamp().IsZero():
		return status.TerminatingStatus
	case observed(object) != object.GetGeneration():
		return status.InProgressStatus // what is reported is of an earlier spec
	case stalled:
		return status.FailedStatus
	case ready == "True":
		return status.CurrentStatus
	}
	return status.InProgressStatus
}

// seriesIsWhole: a series of backups is broken by its spec alone. One that waits for its time is done.
func seriesIsWhole(object client.Object, is status.Status, reason string) error {
	b, ok := object.(*v1beta2.EtcdBackup)
	if !ok || b.Spec.BackupPolicy == nil || !b.DeletionTimestamp.IsZero() {
		return nil
	}
	switch {
	case is == status.FailedStatus && reason != "InvalidSpec":
		return fmt.Errorf("a run of the series failed with %s, and kstatus takes the object for broken", reason)
	case is != status.CurrentStatus && (reason == "Scheduled" || reason == "Suspended"):
		return fmt.Errorf("the series is %s, and kstatus takes it for %s", reason, is)
	}
	return nil
}

// conditionsOf reads what the rules are about. The kinds have conditions of different Go types.
func conditionsOf(object client.Object) (kind, ready string, stalled bool, reason string) {
	note := func(name, is, why string) {
		switch name {
		case "Ready":
			ready, reason = is, why
		case "Stalled":
			stalled = is == "True"
		}
	}
	switch o := object.(type) {
	case *v1beta2.EtcdCluster:
		kind = v1beta2.EtcdClusterResourceKind
		for _, c := range o.Status.Conditions {
			note(string(c.Type), string(c.Status), c.Reason)
		}
	case *v1beta2.EtcdBackup:
		kind = v1beta2.EtcdBackupResourceKind
		for _, c := range o.Status.Conditions {
			note(c.Type, string(c.Status), c.Reason)
		}
	case *v1beta2.EtcdRestore:
		kind = v1beta2.EtcdRestoreResourceKind
		for _, c := range o.Status.Conditions {
			note(c.Type, string(c.Status), c.Reason)
		}
	}
	return kind, ready, stalled, reason
}

func observed(object client.Object) int64 {
	switch o := object.(type) {
	case *v1beta2.EtcdCluster:
		return o.Status.ObservedGeneration
	case *v1beta2.EtcdBackup:
		return o.Status.ObservedGeneration
	case *v1beta2.EtcdRestore:
		return o.Status.ObservedGeneration
	}
	return 0
}

func TestEveryStatusOfAClusterIsUnderstood(t *testing.T) {
	for _, s := range stories.Scenarios() {
		o := s.Options
		o.Seed = 1
		if r := s.Play(o, nil); r.Err != nil {
			t.Errorf("%s: %v", s.Name, r.Err)
		}
	}
	for seed := range *schedules {
		if err := stories.RandomSchedule(seed + 1).Play(nil); err != nil {
			t.Errorf("seed %d: %v", seed+1, err)
		}
	}
}

func TestEveryStatusOfBackupsAndRestoresIsUnderstood(t *testing.T) {
	for _, s := range stories.BackupScenarios() {
		var r stories.Result
		synctest.Test(t, func(*testing.T) { r = s.PlayBackups(1, 0, map[int]world.Fate{}, nil) })
		if r.Err != nil {
			t.Errorf("%s: %v", s.Name, r.Err)
		}
	}
	for seed := range *schedules / 10 {
		var err error
		synctest.Test(t, func(*testing.T) { _, err = stories.PlayRandomBackups(seed+1, nil) })
		if err != nil {
			t.Errorf("seed %d: %v", seed+1, err)
		}
	}
}
