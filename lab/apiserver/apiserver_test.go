// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

// parentDir is set in a process that only starts a server and waits to be killed.
const parentDir = "APISERVER_TEST_PARENT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDir); dir != "" {
		beParent(dir)
	}
	os.Exit(m.Run())
}

// beParent starts a server, prints the pids of its processes and waits.
func beParent(dir string) {
	ctx := context.Background()
	set, err := artifacts.Ensure(ctx, artifacts.Request{ControlPlane: true}, os.Stderr)
	if err == nil {
		var s *Server
		if s, err = Start(ctx, Config{Dir: dir, Set: set}); err == nil {
			fmt.Println(s.etcd.cmd.Process.Pid, s.apiserver.cmd.Process.Pid)
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func programs(t *testing.T) *artifacts.Set {
	t.Helper()
	set, err := artifacts.Ensure(t.Context(), artifacts.Request{ControlPlane: true}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func startServer(t *testing.T, c Config) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestServerServesAndKeepsItsObjectsOverARestart(t *testing.T) {
	c := Config{Dir: filepath.Join(t.TempDir(), "made"), Set: programs(t)}
	first := startServer(t, c)
	client, err := kubernetes.NewForConfig(first.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	// A pod, since those need the most of an API server's defaults.
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Errorf("stopping it again: %v", err)
	}

	second := startServer(t, c)
	kubectl := exec.CommandContext(t.Context(), filepath.Join(c.Set.Bin, "kubectl"), "--kubeconfig", second.Kubeconfig(),
		"get", "pod", "p", "-o", "name")
	if out, err := kubectl.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "pod/p" {
		t.Errorf("kubectl: %v\n%s", err, out)
	}
	etcdctl := exec.CommandContext(t.Context(), filepath.Join(c.Set.Etcd[artifacts.ControlPlaneEtcd], "etcdctl"),
		"--endpoints", second.EtcdEndpoint(), "get", "/registry/pods/default/p", "--keys-only")
	if out, err := etcdctl.CombinedOutput(); err != nil || !strings.Contains(string(out), "/registry/pods/default/p") {
		t.Errorf("etcdctl: %v\n%s", err, out)
	}
}

func TestServersRunSideBySide(t *testing.T) {
	set := programs(t)
	one, two := startServer(t, Config{Dir: t.TempDir(), Set: set}), startServer(t, Config{Dir: t.TempDir(), Set: set})
	if one.RESTConfig().Host == two.RESTConfig().Host || one.EtcdEndpoint() == two.EtcdEndpoint() {
		t.Errorf("both at %s with the store %s", one.RESTConfig().Host, one.EtcdEndpoint())
	}
	// Neither trusts the other's administrator.
	cfg := one.RESTConfig()
	cfg.Host = two.RESTConfig().Host
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("one server accepted the certificates of the other")
	}
}

func TestFailureShowsTheEndOfTheLog(t *testing.T) {
	_, err := Start(t.Context(), Config{Dir: t.TempDir(), Set: programs(t), Extra: []string{"--no-such-flag"}})
	if err == nil {
		t.Fatal("a server with an unknown flag started")
	}
	for _, want := range []string{"kube-apiserver ended early", "kube-apiserver.log", "unknown flag: --no-such-flag"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	set := programs(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, Config{Dir: t.TempDir(), Set: set})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want that the deadline is exceeded", err)
	}
	if !strings.Contains(err.Error(), "did not become ready") {
		t.Errorf("the error does not say what was waited for: %v", err)
	}
}

func TestProcessesEndWhenTheirParentIsKilled(t *testing.T) {
	programs(t)
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), parentDir+"="+t.TempDir())
	parent.Stderr = t.Output()
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for field := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 {
		t.Fatalf("the parent reported %q", line)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	deadline := time.Now().Add(20 * time.Second)
	for _, pid := range pids {
		for running(t, pid) {
			if time.Now().After(deadline) {
				t.Errorf("process %d outlived its parent", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// running tells whether a process is there and not merely waiting for someone to take its exit status.
func running(t *testing.T, pid int) bool {
	t.Helper()
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
