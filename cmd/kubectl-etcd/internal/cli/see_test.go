// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8stesting "k8s.io/client-go/testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
)

func TestExitCodesOfStatus(t *testing.T) {
	podsGone := func(objects []runtime.Object) []runtime.Object { return objects[:2] }
	for name, tc := range map[string]struct {
		objects []runtime.Object
		code    int
		says    string
	}{
		"well":                         {clusterOf("c"), exitWell, "✔ Healthy"},
		"degraded":                     {clusterOf("c", notReady("MemberUnhealthy", "Member c-b does not answer")), exitDegraded, "▲ Member unhealthy"},
		"not serving":                  {clusterOf("c", notReady("QuorumLost", "1 of 3 answer"), notServing), exitNotServing, "kubectl -n db get etcdbackups"},
		"no operator has looked":       {clusterOf("c", func(c *v1beta2.EtcdCluster) { c.Status = v1beta2.ClusterStatus{} }), exitNotServing, "kubectl get pods -A -l name=etcd-operator"},
		"the spec was changed":         {clusterOf("c", func(c *v1beta2.EtcdCluster) { c.Generation = 2 }), exitDegraded, "has not seen the last change"},
		"the status is older than the": {podsGone(clusterOf("c")), exitNotServing, "too few pods are ready"},
		"no such cluster":              {nil, exitNotFound, `there is no EtcdCluster "c" in namespace "db"`},
	} {
		t.Run(name, func(t *testing.T) { contains(t, newBench(t, tc.objects...).must(tc.code, "status", "c"), tc.says) })
	}
}

func TestStatusWithoutANameShowsTheOnlyClusterOrAllOfThem(t *testing.T) {
	contains(t, newBench(t, clusterOf("one")...).must(exitWell, "status"), "✔ Healthy  db/one")
	both := newBench(t, append(clusterOf("one"), clusterOf("two", notReady("NoLeader", ""), notServing)...)...)
	contains(t, both.must(exitNotServing, "status"), "one ", "two ", "NoLeader", "MAY FAIL")
	contains(t, newBench(t).must(exitNotFound, "status"), "there is no EtcdCluster in namespace")
}

func TestStatusForPrograms(t *testing.T) {
	b := newBench(t, clusterOf("c")...)
	var s summary.Summary
	if err := json.Unmarshal([]byte(b.must(exitWell, "status", "c", "-o", "json")), &s); err != nil || s.Health != summary.Well || len(s.Members) != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	contains(t, b.must(exitWell, "status", "c", "-o", "yaml"), "health: Well\n", "reason: AsSpecified\n")
	contains(t, b.must(exitFailed, "status", "c", "-o", "xml"), `json or yaml, not "xml"`)
}

func TestTheListCoversAllNamespacesIfAskedTo(t *testing.T) {
	other := clusterOf("elsewhere")
	other[0].(*v1beta2.EtcdCluster).Namespace = "other"
	b := newBench(t, append(clusterOf("here"), other[0])...)
	if out := b.must(exitWell, "list"); strings.Contains(out, "elsewhere") {
		t.Error(out)
	}
	contains(t, b.must(exitNotServing, "list", "-A"), "NAMESPACE", "db ", "other ", "elsewhere")
	contains(t, newBench(t).must(exitWell, "list"), `no EtcdClusters in namespace "db"`)
}

func TestAViewerGetsAllButTheLiveFigures(t *testing.T) {
	b := newBench(t, append(clusterOf("c"), backupOf("nightly", "c"))...)
	for _, resource := range []string{"nodes", "secrets"} {
		b.kube.PrependReactor("get", resource, func(k8stesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "x", errors.New("no"))
		})
	}
	contains(t, b.must(exitWell, "status", "c"), "Healthy", "c-a", "nightly: none yet", "You may not read nodes")
}

func TestErrorsSayWhatToDo(t *testing.T) {
	clusters := schema.GroupResource{Group: v1beta2.GroupName, Resource: "etcdclusters"}
	for name, tc := range map[string]struct {
		err  error
		says string
	}{
		"the CRD is missing": {&apierrors.StatusError{ErrStatus: metav1.Status{
			Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
		}}, "the etcd-operator, which creates their CRDs when it starts, is not installed here"},
		"a right is missing":  {apierrors.NewForbidden(clusters, "c", errors.New("no")), "example/rbac/user-roles.yaml"},
		"nobody is logged in": {apierrors.NewUnauthorized("no"), "log in again"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.etcd.PrependReactor("*", "etcdclusters", func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			contains(t, b.must(exitFailed, "status", "c"), tc.says)
		})
	}
}

func TestNamesOfClustersAreCompleted(t *testing.T) {
	b := newBench(t, append(clusterOf("one"), clusterOf("two")...)...)
	for _, command := range []string{"status", "logs", "etcdctl", "backup", "restore", "upgrade", "pause", "resume", "top", "defrag", "move-leader", "report"} {
		contains(t, b.must(exitWell, "__complete", command, ""), "one\n", "two\n")
	}
	contains(t, b.must(exitWell, "__complete", "explain", ""), "QuorumLost\n")
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	root := newRoot(&env{flags: newBenchFlags()})
	for _, cmd := range root.Commands() {
		if slices.Contains([]string{"version", "completion", "help"}, cmd.Name()) {
			continue
		}
		if cmd.Long == "" || cmd.Short == "" || !strings.Contains(cmd.Example, "kubectl etcd "+cmd.Name()) {
			t.Errorf("%s has no help with examples", cmd.Name())
		}
	}
}

func TestEveryCommandHasASectionInTheDocuments(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/kubectl-etcd.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range newRoot(&env{flags: newBenchFlags()}).Commands() {
		if !strings.Contains(string(text), "\n    kubectl etcd "+cmd.Name()) {
			t.Errorf("docs/kubectl-etcd.md does not show %s", cmd.Name())
		}
	}
}

func TestLogsOfAllMembersAreShownOnce(t *testing.T) {
	out := newBench(t, clusterOf("c")...).must(exitWell, "logs", "c")
	for _, member := range []string{"c-a", "c-b", "c-c"} {
		if strings.Count(out, member) != 1 {
			t.Errorf("%s is not there once:\n%s", member, out)
		}
	}
	contains(t, newBench(t, clusterOf("c")[:1]...).must(exitNotFound, "logs", "c"), "c has no pods")
	contains(t, newBench(t).must(exitFailed, "logs", "c", "--level", "loud"), "--level must be one of")
}

func TestEventsOfPodsAreShownIfTheyWarn(t *testing.T) {
	event := func(name, kind, object, kindOfEvent string) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, InvolvedObject: corev1.ObjectReference{Kind: kind, Name: object},
			Type: kindOfEvent, Reason: "Because" + name, Message: "it happened",
		}
	}
	b := newBench(t, append(clusterOf("c"), event("1", "EtcdCluster", "c", "Normal"), event("2", "Pod", "c-a", "Warning"), event("3", "Pod", "c-a", "Normal"))...)
	// The fake API server knows no field selectors.
	b.kube.PrependReactor("list", "events", func(action k8stesting.Action) (bool, runtime.Object, error) {
		list := &corev1.EventList{}
		want := action.(k8stesting.ListAction).GetListRestrictions().Fields
		all, err := b.kube.Tracker().List(corev1.SchemeGroupVersion.WithResource("events"), corev1.SchemeGroupVersion.WithKind("Event"), namespace)
		if err != nil {
			return true, nil, err
		}
		for _, e := range all.(*corev1.EventList).Items {
			kind, _ := want.RequiresExactMatch("involvedObject.kind")
			name, _ := want.RequiresExactMatch("involvedObject.name")
			if e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name {
				list.Items = append(list.Items, e)
			}
		}
		return true, list, nil
	})
	out := b.must(exitWell, "status", "c")
	contains(t, out, "Because1: it happened", "Because2 c-a: it happened")
	if strings.Contains(out, "Because3") {
		t.Error(out)
	}
}
