// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// definitions are the operators and the CRD that each installs.
var definitions = map[string]string{
	"etcd-operator":         v1beta2.EtcdClusterCRDName,
	"etcd-backup-operator":  v1beta2.EtcdBackupCRDName,
	"etcd-restore-operator": v1beta2.EtcdRestoreCRDName,
}

func TestOperatorsWaitForTheirRightsAndThenCreateTheirCRDs(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string]string{"in all namespaces": "--service-account=default --cluster-wide", "in one namespace": "--service-account=default"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare := harness.StartServer(t)
			kubeconfig := bare.KubeconfigOfServiceAccount(t, "default", "default")
			var running []*harness.RunningOperator
			for name := range definitions {
				o := harness.StartOperator(t, harness.Operator{Name: name, Kubeconfig: kubeconfig, Namespace: "default"})
				o.AwaitAnswer(t, "/readyz", http.StatusInternalServerError, "is forbidden")
				o.AwaitAnswer(t, "/healthz", http.StatusOK, "ok")
				running = append(running, o)
			}

			grant := exec.CommandContext(t.Context(), "../../example/rbac/create_role.sh", strings.Fields(flag)...)
			grant.Env = append(os.Environ(), "KUBECONFIG="+bare.Kubeconfig(), "PATH="+bare.Artifacts.Bin+":"+os.Getenv("PATH"))
			if out, err := grant.CombinedOutput(); err != nil {
				t.Fatalf("create_role.sh: %v\n%s", err, out)
			}
			for _, o := range running {
				o.AwaitReady(t)
				if _, metrics, err := o.Get(t.Context(), "/metrics"); err != nil || !strings.Contains(metrics, "go_goroutines") {
					t.Errorf("/metrics of %s: %v, or no metrics in it", o.Name(), err)
				}
			}
			for name, definition := range definitions {
				get := exec.CommandContext(t.Context(), bare.Artifacts.Bin+"/kubectl", "--kubeconfig", bare.Kubeconfig(), "get", "crd", definition)
				if out, err := get.CombinedOutput(); err != nil {
					t.Errorf("%s is ready and its CRD is not there: %s", name, out)
				}
			}
			for _, o := range running {
				if code := o.Stop(t); code != 0 {
					t.Errorf("%s ended with exit code %d on SIGTERM, want 0", o.Name(), code)
				}
			}
		})
	}
}

func TestWithCreateCRDFalseAnOperatorWaitsUntilSomebodyElseInstalledIt(t *testing.T) {
	t.Parallel()
	bare := harness.StartServer(t)
	o := harness.StartOperator(t, harness.Operator{Name: "etcd-backup-operator", Kubeconfig: bare.Kubeconfig(), Namespace: "default", Pod: "p", Args: []string{"-create-crd=false"}})
	o.AwaitAnswer(t, "/readyz", http.StatusInternalServerError, v1beta2.EtcdBackupCRDName)

	// Another kind of the same group is not enough.
	for _, definition := range crd.All() {
		if definition.Name == v1beta2.EtcdBackupCRDName {
			o.AwaitAnswer(t, "/readyz", http.StatusInternalServerError, "does not serve it yet")
		}
		if err := crdinstall.Ensure(t.Context(), bare.RESTConfig(), definition, logr.Discard(), nil); err != nil {
			t.Fatal(err)
		}
	}
	o.AwaitReady(t)
}

func TestAnAPIServerThatIsAwayDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	kubeconfig := harness.KubeconfigFor(t, "http://"+port.Free(t))
	o := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: kubeconfig, Namespace: "default", Pod: "p"})
	o.AwaitAnswer(t, "/readyz", http.StatusInternalServerError, "connection refused")
	o.AwaitAnswer(t, "/healthz", http.StatusOK, "ok")
	if code := o.Stop(t); code != 0 {
		t.Errorf("exit code %d on SIGTERM, want 0", code)
	}
}

// leader is the pod that holds the lease of etcd-operator in a namespace.
func leader(ctx context.Context, client kubernetes.Interface, namespace string) (string, error) {
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, "etcd-operator", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return *lease.Spec.HolderIdentity, nil
}

func awaitLeader(t *testing.T, namespace, want string) {
	t.Helper()
	client := kube(t)
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		got, err := leader(ctx, client, namespace)
		if err == nil && got != want {
			err = fmt.Errorf("the leader is %q, want %q", got, want)
		}
		return err
	})
}

func TestAStandbyIsReadyAndTakesOverSoonAfterACleanEnd(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	first := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: server.Kubeconfig(), Namespace: namespace, Pod: "first"})
	awaitLeader(t, namespace, "first")
	second := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: server.Kubeconfig(), Namespace: namespace, Pod: "second"})
	second.AwaitReady(t)
	if got, err := leader(t.Context(), kube(t), namespace); err != nil || got != "first" {
		t.Fatalf("with a standby the leader is %q (%v), want still the first", got, err)
	}

	if code := first.Stop(t); code != 0 {
		t.Errorf("exit code %d on SIGTERM, want 0", code)
	}
	ended := time.Now()
	awaitLeader(t, namespace, "second")
	// A standby looks every 0.5 to 1.1 s. Without a release it would have to wait for 15 s.
	if took := time.Since(ended); took > 3*time.Second {
		t.Errorf("the standby took over after %v, want about a second", took)
	}

	if code := second.Stop(t); code != 0 {
		t.Errorf("exit code %d on SIGTERM, want 0", code)
	}
	if got, err := leader(t.Context(), kube(t), namespace); err != nil || got != "" {
		t.Errorf("after the end of all the lease is held by %q (%v), want nobody", got, err)
	}
}

func TestAContainerThatCrashedLeadsAgainWithoutWaitingForItsLease(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	pod := harness.Operator{Name: "etcd-operator", Kubeconfig: server.Kubeconfig(), Namespace: namespace, Pod: "p"}
	crashed := harness.StartOperator(t, pod)
	awaitLeader(t, namespace, "p")
	crashed.Kill()

	begin := time.Now()
	restarted := harness.StartOperator(t, pod)
	harness.Eventually(t, harness.Patience, func(context.Context) error {
		if !strings.Contains(restarted.Output(), "Successfully acquired lease") {
			return fmt.Errorf("the restarted process does not lead")
		}
		return nil
	})
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it leads after %v: it waited for the lease of its own pod", took)
	}
}

func TestALeaderThatLosesItsLeaseExits(t *testing.T) {
	t.Parallel()
	namespace := server.NewNamespace(t)
	o := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: server.Kubeconfig(), Namespace: namespace, Pod: "p"})
	awaitLeader(t, namespace, "p")
	steal := func(ctx context.Context) error {
		leases := kube(t).CoordinationV1().Leases(namespace)
		lease, err := leases.Get(ctx, "etcd-operator", metav1.GetOptions{})
		if err != nil {
			return err
		}
		thief, now, forLong := "thief", metav1.NowMicro(), int32(3600)
		lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &thief, &now, &forLong
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	}
	harness.Eventually(t, harness.Patience, steal) // the leader writes, too
	if code := o.AwaitEnd(t); code == 0 {
		t.Error("exit code 0: it looks like a clean end")
	}
	if !strings.Contains(o.Output(), "leader election lost") {
		t.Error("the log does not say why it ended")
	}
}

func TestEachObjectIsServedByTheOperatorOfItsScope(t *testing.T) {
	t.Parallel()
	scoped := func(name, scope string) string {
		annotated := fmt.Sprintf("name: %s, annotations: {etcd.database.coreos.com/scope: %s}", name, scope)
		return strings.Replace(clusterManifest(name, "size: 3"), "name: "+name, annotated, 1)
	}
	bare := harness.StartServer(t)
	namespaced := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: bare.Kubeconfig(), Namespace: "default", Pod: "namespaced"})
	namespaced.AwaitReady(t)
	clusterWide := func() *harness.RunningOperator {
		return harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: bare.Kubeconfig(), Namespace: "kube-system", Pod: "wide", Args: []string{"-cluster-wide"}})
	}

	anyKind, err := dynamic.NewForConfig(bare.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	api := anyKind.Resource(clusters).Namespace("default")
	for _, manifest := range []string{
		clusterManifest("plain", "size: 3"),
		scoped("wide", "clusterwide"),
		scoped("mistyped", "cluster-wide"),
	} {
		if _, err := api.Create(t.Context(), object(t, manifest), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	phase := func(ctx context.Context, name string) (string, error) {
		got, err := api.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		status, _ := got.Object["status"].(map[string]any)
		phase, _ := status["phase"].(string)
		return phase, nil
	}
	awaitCreating := func(name string) {
		t.Helper()
		harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
			got, err := phase(ctx, name)
			if err == nil && got != string(v1beta2.ClusterPhaseCreating) {
				err = fmt.Errorf("EtcdCluster %s has phase %q, want Creating", name, got)
			}
			return err
		})
	}

	awaitCreating("plain")
	if got, err := phase(t.Context(), "wide"); err != nil || got != "" {
		t.Errorf("the operator of the namespace gave an object of the cluster-wide one the phase %q (%v)", got, err)
	}
	clusterWide().AwaitReady(t)
	awaitCreating("wide")

	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		var events corev1.EventList
		if err := bare.Client.List(ctx, &events, client.InNamespace("default")); err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason == "UnknownScope" && event.InvolvedObject.Name == "mistyped" && strings.Contains(event.Message, `"cluster-wide"`) {
				return nil
			}
		}
		return errors.New("no event reports the unknown scope")
	})
	if got, err := phase(t.Context(), "mistyped"); err != nil || got != "" {
		t.Errorf("an object of an unknown scope has the phase %q (%v)", got, err)
	}
}

// An object whose label changes is left as it is: the operator neither serves it nor takes it for deleted.
func TestALabelSaysWhichOperatorServesAnObject(t *testing.T) {
	t.Parallel()
	bare := harness.StartServer(t)
	harness.StartOperator(t, harness.Operator{
		Name: "etcd-operator", Kubeconfig: bare.Kubeconfig(), Namespace: "kube-system", Args: []string{"-watch-namespaces=default", "-selector=team=a"},
	}).AwaitReady(t)
	ours, err := versioned.NewForConfig(bare.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	api := ours.EtcdV1beta2().EtcdClusters("default")
	create := func(name, team string) {
		t.Helper()
		c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}, Spec: v1beta2.ClusterSpec{Size: 3}}
		if _, err := api.Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch := func(name, text string) {
		t.Helper()
		if _, err := api.Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	status := func(name string) v1beta2.ClusterStatus {
		t.Helper()
		c, err := api.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Status
	}
	awaitServed := func(name string) {
		t.Helper()
		harness.Eventually(t, harness.Patience, func(context.Context) error {
			if phase := status(name).Phase; phase != v1beta2.ClusterPhaseCreating {
				return fmt.Errorf("EtcdCluster %s has phase %q, want Creating", name, phase)
			}
			return nil
		})
	}

	create("of-b", "b")
	create("of-a", "a")
	awaitServed("of-a")
	if got := status("of-b").Phase; got != "" {
		t.Errorf("an object that the selector does not match has the phase %q", got)
	}
	patch("of-b", `{"metadata": {"labels": {"team": "a"}}}`)
	awaitServed("of-b")

	before := status("of-a")
	patch("of-a", `{"metadata": {"labels": {"team": null}}, "spec": {"paused": true}}`)
	create("last", "a")
	awaitServed("last") // everything before it has been seen
	if diff := cmp.Diff(before, status("of-a")); diff != "" {
		t.Errorf("an object without the label is served (-before +after):\n%s", diff)
	}
	var pods corev1.PodList
	if err := bare.Client.List(t.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{"etcd_cluster": "of-a"}); err != nil || len(pods.Items) != 1 {
		t.Errorf("it has %d pods, want the one that it had (%v)", len(pods.Items), err)
	}
}

func TestTheProgramsExplainThemselves(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	taken := listener.Addr().String()
	complete := []string{"MY_POD_NAMESPACE=default", "MY_POD_NAME=p", "KUBECONFIG=" + server.Kubeconfig()}

	for name, tc := range map[string]struct {
		env  []string
		args []string
		code int
		want string
	}{
		"help":                    {nil, []string{"-h"}, 0, "-cluster-wide"},
		"version":                 {nil, []string{"-version"}, 0, " Version: "},
		"an unknown flag":         {nil, []string{"-size=3"}, 2, "-size"},
		"no environment":          {nil, nil, 2, "set the environment variable MY_POD_NAMESPACE"},
		"no API server":           {complete[:2], nil, 2, "set KUBECONFIG"},
		"an address that is used": {complete, []string{"-listen-addr", taken}, 1, "-listen-addr " + taken},
	} {
		for program := range definitions {
			t.Run(program+"/"+name, func(t *testing.T) {
				t.Parallel()
				testExplanation(t, program, tc.env, tc.args, tc.code, tc.want)
			})
		}
	}
	t.Run("etcd-operator/the original's flags", func(t *testing.T) {
		t.Parallel()
		args := []string{"-gc-interval=10m", "-create-crd=true", "-cluster-wide=false", "-listen-addr=0.0.0.0:8080", "-version"}
		testExplanation(t, "etcd-operator", nil, args, 0, "etcd-operator Version: ")
	})
}

// Flags that come and go without the page that lists them would be found by nobody.
func TestEveryFlagIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/installing.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `-([a-z-]+)`").FindAllStringSubmatch(string(page), -1) {
		documented[match[1]] = false
	}
	for name := range definitions {
		help, err := exec.CommandContext(t.Context(), harness.Binary(t, name), "-h").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile("(?m)^  -([a-z-]+)").FindAllStringSubmatch(string(help), -1) {
			if _, there := documented[match[1]]; !there {
				t.Errorf("docs/installing.md does not list -%s of %s", match[1], name)
			}
			documented[match[1]] = true
		}
	}
	for flag, exists := range documented {
		if !exists {
			t.Errorf("docs/installing.md lists -%s, which no program has", flag)
		}
	}
}

func testExplanation(t *testing.T, name string, env, args []string, code int, want string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Binary(t, name), args...)
	cmd.Env = append([]string{}, env...) // not nil: that would be the environment of the test
	output, _ := cmd.CombinedOutput()    // the exit code is in ProcessState
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if !strings.Contains(string(output), want) {
		t.Errorf("the output does not contain %q:\n%s", want, output)
	}
}
