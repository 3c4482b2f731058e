// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
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
	for name, flag := range map[string]string{"in all namespaces": "", "in one namespace": "--namespaced"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare, bin := bareServer(t)
			id := identity{kubeconfig: asServiceAccount(t, bare, "default", "default"), namespace: "default", pod: "p"}
			var running []*operator
			for name := range definitions {
				o := start(t, name, id)
				o.awaitAnswer(t, "/readyz", http.StatusInternalServerError, "is forbidden")
				o.awaitAnswer(t, "/healthz", http.StatusOK, "ok")
				running = append(running, o)
			}

			grant := exec.CommandContext(t.Context(), "../../example/rbac/create_role.sh", strings.Fields(flag)...)
			grant.Env = append(os.Environ(), "KUBECONFIG="+bare.Kubeconfig(), "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := grant.CombinedOutput(); err != nil {
				t.Fatalf("create_role.sh: %v\n%s", err, out)
			}
			for _, o := range running {
				o.awaitReady(t)
				if _, metrics, err := o.get(t.Context(), "/metrics"); err != nil || !strings.Contains(metrics, "go_goroutines") {
					t.Errorf("/metrics of %s: %v, or no metrics in it", o.name, err)
				}
			}
			for name, definition := range definitions {
				get := exec.CommandContext(t.Context(), bin+"/kubectl", "--kubeconfig", bare.Kubeconfig(), "get", "crd", definition)
				if out, err := get.CombinedOutput(); err != nil {
					t.Errorf("%s is ready and its CRD is not there: %s", name, out)
				}
			}
			for _, o := range running {
				if code := o.stop(t); code != 0 {
					t.Errorf("%s ended with exit code %d on SIGTERM, want 0", o.name, code)
				}
			}
		})
	}
}

func TestWithCreateCRDFalseAnOperatorWaitsUntilSomebodyElseInstalledIt(t *testing.T) {
	t.Parallel()
	bare, _ := bareServer(t)
	o := start(t, "etcd-backup-operator", identity{bare.Kubeconfig(), "default", "p"}, "-create-crd=false")
	o.awaitAnswer(t, "/readyz", http.StatusInternalServerError, v1beta2.EtcdBackupCRDName)

	// Another kind of the same group is not enough.
	for _, definition := range crd.All() {
		if definition.Name == v1beta2.EtcdBackupCRDName {
			o.awaitAnswer(t, "/readyz", http.StatusInternalServerError, "does not serve it yet")
		}
		if err := crdinstall.Ensure(t.Context(), bare.RESTConfig(), definition, logr.Discard(), nil); err != nil {
			t.Fatal(err)
		}
	}
	o.awaitReady(t)
}

func TestAnAPIServerThatIsAwayDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	kubeconfig := t.TempDir() + "/kubeconfig"
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}],
		clusters: [{name: c, cluster: {server: "http://%s"}}], users: [{name: u, user: {}}]}`, port.Free(t))
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := start(t, "etcd-operator", identity{kubeconfig, "default", "p"})
	o.awaitAnswer(t, "/readyz", http.StatusInternalServerError, "connection refused")
	o.awaitAnswer(t, "/healthz", http.StatusOK, "ok")
	if code := o.stop(t); code != 0 {
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
	eventually(t, func(ctx context.Context) error {
		got, err := leader(ctx, client, namespace)
		if err == nil && got != want {
			err = fmt.Errorf("the leader is %q, want %q", got, want)
		}
		return err
	})
}

func TestAStandbyIsReadyAndTakesOverSoonAfterACleanEnd(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	first := start(t, "etcd-operator", identity{server.Kubeconfig(), namespace, "first"})
	awaitLeader(t, namespace, "first")
	second := start(t, "etcd-operator", identity{server.Kubeconfig(), namespace, "second"})
	second.awaitReady(t)
	if got, err := leader(t.Context(), kube(t), namespace); err != nil || got != "first" {
		t.Fatalf("with a standby the leader is %q (%v), want still the first", got, err)
	}

	if code := first.stop(t); code != 0 {
		t.Errorf("exit code %d on SIGTERM, want 0", code)
	}
	ended := time.Now()
	awaitLeader(t, namespace, "second")
	// A standby looks every 0.5 to 1.1 s. Without a release it would have to wait for 15 s.
	if took := time.Since(ended); took > 3*time.Second {
		t.Errorf("the standby took over after %v, want about a second", took)
	}

	if code := second.stop(t); code != 0 {
		t.Errorf("exit code %d on SIGTERM, want 0", code)
	}
	if got, err := leader(t.Context(), kube(t), namespace); err != nil || got != "" {
		t.Errorf("after the end of all the lease is held by %q (%v), want nobody", got, err)
	}
}

func TestAContainerThatCrashedLeadsAgainWithoutWaitingForItsLease(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	id := identity{server.Kubeconfig(), namespace, "p"}
	crashed := start(t, "etcd-operator", id)
	awaitLeader(t, namespace, "p")
	crashed.kill()

	begin := time.Now()
	restarted := start(t, "etcd-operator", id)
	eventually(t, func(context.Context) error {
		if !strings.Contains(restarted.output.String(), "Successfully acquired lease") {
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
	namespace := newNamespace(t)
	o := start(t, "etcd-operator", identity{server.Kubeconfig(), namespace, "p"})
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
	eventually(t, steal) // the leader writes, too
	if code := o.awaitEnd(t); code == 0 {
		t.Error("exit code 0: it looks like a clean end")
	}
	if !strings.Contains(o.output.String(), "leader election lost") {
		t.Error("the log does not say why it ended")
	}
}

func TestEachObjectIsServedByTheOperatorOfItsScope(t *testing.T) {
	t.Parallel()
	bare, _ := bareServer(t)
	namespaced := start(t, "etcd-operator", identity{bare.Kubeconfig(), "default", "namespaced"})
	namespaced.awaitReady(t)
	clusterWide := func() *operator {
		return start(t, "etcd-operator", identity{bare.Kubeconfig(), "kube-system", "wide"}, "-cluster-wide")
	}

	client, err := dynamic.NewForConfig(bare.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	api := client.Resource(clusters).Namespace("default")
	for _, manifest := range []string{
		clusterManifest("plain", "size: 3"),
		strings.Replace(clusterManifest("wide", "size: 3"), "name: wide", "name: wide, annotations: {etcd.database.coreos.com/scope: clusterwide}", 1),
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
		eventually(t, func(ctx context.Context) error {
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
	clusterWide().awaitReady(t)
	awaitCreating("wide")
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
		help, err := program(t, name, nil, "-h").Output()
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
	cmd := program(t, name, env, args...)
	var output logBuffer
	cmd.Stdout, cmd.Stderr = &output, &output
	_ = cmd.Run() // the exit code is in ProcessState
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if !strings.Contains(output.String(), want) {
		t.Errorf("the output does not say %q:\n%s", want, output.String())
	}
}
