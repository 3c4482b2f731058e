// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func openAt(t *testing.T, dir string) *Lab {
	t.Helper()
	l, err := Open(Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOpenRefusesWhatNoLabCanBe(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		says    string
	}{
		{"too many nodes", Options{Nodes: 6}, "1 to 5 nodes"},
		{"fewer than no nodes", Options{Nodes: -1}, "1 to 5 nodes"},
		{"a relative folder", Options{StateDir: "lab"}, "absolute path"},
		{"the whole disk", Options{StateDir: "/"}, "absolute path"},
		{"the whole disk in other words", Options{StateDir: "/var/.."}, "absolute path"},
		{"an etcd that there is no image of", Options{EtcdImages: []string{"v2.3.8"}}, "v2.3.8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Open(tt.options); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want an error with %q", err, tt.says)
			}
		})
	}
}

func TestOpenTakesTheFolderFromTheEnvironment(t *testing.T) {
	t.Setenv(stateDirVariable, "/srv/lab")
	l := openAt(t, "")
	if want := "/srv/lab/pki/admin.kubeconfig"; l.Kubeconfig() != want {
		t.Errorf("kubeconfig %s, want %s", l.Kubeconfig(), want)
	}
	t.Setenv(stateDirVariable, "")
	if got := openAt(t, "").Kubeconfig(); !strings.HasPrefix(got, "/var/lib/etcd-operator-lab/") {
		t.Errorf("kubeconfig %s by default", got)
	}
}

func TestStateSurvivesBeingWritten(t *testing.T) {
	l := openAt(t, t.TempDir())
	if _, err := l.readState(); !errors.Is(err, errNoLab) {
		t.Fatalf("got %v for a folder without a lab", err)
	}
	if l.KubectlPath() != "" {
		t.Errorf("kubectl of no lab: %s", l.KubectlPath())
	}
	want := &state{
		Format: stateFormat, Kubernetes: artifacts.KubernetesVersion, Nodes: 3, Set: &artifacts.Set{Bin: "/cache/kubernetes"},
		CutNodes: []int{2}, CutPods: []CutPod{{Namespace: "a", Name: "b", UID: "u", Node: "node2", Port: "veth1"}},
	}
	if err := l.writeState(want); err != nil {
		t.Fatal(err)
	}
	got, err := l.readState()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l.KubectlPath() != "/cache/kubernetes/kubectl" {
		t.Errorf("kubectl: %s", l.KubectlPath())
	}
	if err := got.fits(); err != nil {
		t.Errorf("the state that was just written does not fit: %v", err)
	}
	got.Kubernetes = "v1.29.0"
	if err := got.fits(); err == nil || !strings.Contains(err.Error(), "v1.29.0") || !strings.Contains(err.Error(), "lab down") {
		t.Errorf("got %v, want the version and what to do", err)
	}
}

func TestDamagedStateIsAnErrorThatNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{StateDir: dir}); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "state.json")) {
		t.Errorf("got %v, want the name of the file", err)
	}
}

func TestCutsAreNotedOnce(t *testing.T) {
	var s state
	for _, n := range []int{3, 2, 3} {
		s.setCut(n, true)
	}
	if diff := cmp.Diff([]int{2, 3}, s.CutNodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.setCut(3, false)
	s.setCut(1, false)
	if diff := cmp.Diff([]int{2}, s.CutNodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	old, renewed, other := CutPod{Namespace: "a", Name: "b", UID: "1"}, CutPod{Namespace: "a", Name: "b", UID: "2"}, CutPod{Namespace: "c", Name: "b", UID: "3"}
	for _, p := range []CutPod{old, other, renewed} {
		s.setPodCut(p)
	}
	if diff := cmp.Diff([]CutPod{other, renewed}, s.CutPods); diff != "" {
		t.Errorf("a later pod of the same name did not take the place of the earlier one (-want +got):\n%s", diff)
	}
	s.forgetPod("a", "b")
	if diff := cmp.Diff([]CutPod{other}, s.CutPods); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestANodeIsReadyOnlyByWhatItSaidSinceItWasSwitchedOn(t *testing.T) {
	node := func(bootID string, status corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node1"},
			Status: corev1.NodeStatus{
				NodeInfo: corev1.NodeSystemInfo{BootID: bootID},
				Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
					{Type: corev1.NodeReady, Status: status, Reason: "Because"},
				},
			},
		}
	}
	tests := []struct {
		name string
		node *corev1.Node
		says string
	}{
		{"ready", node("now", corev1.ConditionTrue), ""},
		{"ready before it was switched off", node("before", corev1.ConditionTrue), "since it was switched on"},
		{"not ready", node("now", corev1.ConditionFalse), "Because"},
		{"given up by the controller manager", node("now", corev1.ConditionUnknown), "Because"},
		{"no word", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{BootID: "now"}}}, "not reported yet"},
		{"not there", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, "not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			err := (&cluster{client: fake.NewClientset(tt.node)}).waitForNode(ctx, "node1", "now")
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestPortOfAPodIsFoundByItsUIDAndPresentAddress(t *testing.T) {
	s := &session{Lab: openAt(t, t.TempDir())}
	results := filepath.Join(s.NodeDir("node2"), "var-lib", "cni", "results")
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(results, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	attachmentOf := func(uid, address, port string) string {
		return `{"kind":"cniCacheV1","cniArgs":[["IgnoreUnknown","1"],["K8S_POD_UID","` + uid + `"]],"result":{"interfaces":[{"name":"cni0"},{"name":"` + port +
			`"},{"name":"eth0","sandbox":"/var/run/netns/cni-1"}],"ips":[{"address":"` + address + `/24","interface":2}]}}`
	}
	write("cni-loopback-1-lo", `{"kind":"cniCacheV1","cniArgs":null,"result":{"interfaces":[{"name":"lo","sandbox":"/x"}]}}`)
	write("lab-1-eth0", attachmentOf("u1", "10.244.2.2", "veth-old"))
	write("lab-2-eth0", attachmentOf("u1", "10.244.2.22", "veth-new"))
	write("lab-3-eth0", attachmentOf("u2", "10.244.2.3", "veth-other"))
	for _, tt := range []struct{ uid, address, port string }{
		{"u1", "10.244.2.22", "veth-new"}, {"u1", "10.244.2.2", "veth-old"}, {"u2", "10.244.2.3", "veth-other"},
	} {
		if port, err := s.portOf("node2", tt.uid, tt.address); err != nil || port != tt.port {
			t.Errorf("%s at %s: %s, %v; want %s", tt.uid, tt.address, port, err, tt.port)
		}
	}
	for _, tt := range []struct{ node, uid, address string }{{"node2", "u2", "10.244.2.2"}, {"node2", "u3", "10.244.2.3"}, {"node1", "u1", "10.244.2.2"}} {
		if port, err := s.portOf(tt.node, tt.uid, tt.address); err == nil {
			t.Errorf("%v: found %s, want nothing", tt, port)
		}
	}
}

func TestMountsBelowFindsWhatIsInTheFolderAndNothingElse(t *testing.T) {
	const mountinfo = `21 1 254:0 / / rw - ext4 /dev/vda rw
22 21 0:5 / /var/lib/lab rw - ext4 /dev/vdb rw
23 21 0:5 / /var/lib/lab/nodes/a\040b rw - tmpfs none rw
24 21 0:5 / /var/lib/laboratory/x rw - tmpfs none rw
`
	if diff := cmp.Diff([]string{"/var/lib/lab/nodes/a b"}, parseMountsBelow(mountinfo, "/var/lib/lab")); diff != "" {
		t.Errorf("a folder that is a mount itself is fine, one below it is not (-want +got):\n%s", diff)
	}
}

func TestCoreDNSManifest(t *testing.T) {
	got, err := renderCoreDNS()
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/coredns.yaml"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; if that is right, run go test . -update (-want +got):\n%s", path, diff)
	}
}

func TestLogsOfAnUnknownComponentListsTheKnownOnes(t *testing.T) {
	l := openAt(t, t.TempDir())
	var out bytes.Buffer
	if err := l.Logs(context.Background(), "etcd", &out); !errors.Is(err, errNoLab) {
		t.Errorf("got %v without a lab", err)
	}
	if err := os.MkdirAll(l.path("logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd", "node1-kubelet"} {
		if err := os.WriteFile(l.path("logs", name+".log"), []byte("said by "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err := l.Logs(context.Background(), "../state", &out)
	if err == nil || !strings.Contains(err.Error(), "etcd, node1-kubelet") {
		t.Errorf("got %v, want the names that there are", err)
	}
	if err := l.Logs(context.Background(), "node1-kubelet", &out); err != nil || out.String() != "said by node1-kubelet\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestPollReturnsTheLastReasonAndNotItsOwnEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	err := poll(ctx, func() error {
		calls++
		if calls == 2 {
			cancel()
			return ctx.Err()
		}
		return errors.New("the kubelet is stopped")
	})
	if err == nil || !strings.Contains(err.Error(), "the kubelet is stopped") {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, which does not say that it was cancelled", err)
	}
}
