// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// patience is how long anything here may take on a machine that is busy with other tests.
const patience = 60 * time.Second

// programs builds the operators as users run them and returns the folder they are in.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../../_out/test/bin")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/...")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the operators: %w\n%s", err, out)
	}
	return dir, nil
})

// operator is a running operator process.
type operator struct {
	name, url string
	cmd       *exec.Cmd
	output    logBuffer
	ended     chan struct{} // closed when the process has ended
}

// logBuffer is a buffer for a process to write to while a test reads.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// identity is whom a process takes itself for and which API server it talks to.
type identity struct {
	kubeconfig, namespace, pod string
}

// program prepares an operator to run.
func program(t *testing.T, name string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(dir, name), args...)
	cmd.Env = env
	return cmd
}

// start starts an operator on a free port. At the end of the test it is killed, and its log is shown if the test failed.
func start(t *testing.T, name string, id identity, args ...string) *operator {
	t.Helper()
	addr := port.Free(t)
	env := []string{"KUBECONFIG=" + id.kubeconfig, "MY_POD_NAMESPACE=" + id.namespace, "MY_POD_NAME=" + id.pod}
	o := &operator{name: name, url: "http://" + addr, ended: make(chan struct{})}
	args = append(args, "-listen-addr", addr)
	if name == "etcd-operator" {
		args = append(args, "-helper-image", "example.com/etcd-operator:dev") // there is no pod to read it from
	}
	if name == "etcd-restore-operator" {
		args = append(args, "-serve-addr", "127.0.0.1:0") // several run on this machine
	}
	o.cmd = program(t, name, env, args...)
	o.cmd.Stdout, o.cmd.Stderr = &o.output, &o.output
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = o.cmd.Wait() // the exit code is in ProcessState
		close(o.ended)
	}()
	t.Cleanup(func() {
		o.kill()
		if t.Failed() {
			t.Logf("log of %s as pod %s:\n%s", name, id.pod, o.output.String())
		}
	})
	return o
}

// kill ends the process without giving it a chance to say goodbye.
func (o *operator) kill() {
	_ = o.cmd.Process.Kill() // it may have ended already
	<-o.ended
}

// stop asks the process to end, as the kubelet does, and returns its exit code.
func (o *operator) stop(t *testing.T) int {
	t.Helper()
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("sending SIGTERM to %s: %v", o.name, err)
	}
	return o.awaitEnd(t)
}

// awaitEnd waits for the process to end and returns its exit code.
func (o *operator) awaitEnd(t *testing.T) int {
	t.Helper()
	select {
	case <-o.ended:
		return o.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("%s has not ended", o.name)
		return -1
	}
}

// get asks the process over HTTP.
func (o *operator) get(ctx context.Context, path string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+path, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// awaitAnswer waits until path is answered with the status and, somewhere in the body, the words.
func (o *operator) awaitAnswer(t *testing.T, path string, status int, words string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		select {
		case <-o.ended:
			t.Fatalf("%s has ended with exit code %d", o.name, o.cmd.ProcessState.ExitCode())
		default:
		}
		gotStatus, body, err := o.get(ctx, path)
		if err == nil && (gotStatus != status || !strings.Contains(body, words)) {
			err = fmt.Errorf("%s of %s is %d %q, want %d with %q", path, o.name, gotStatus, body, status, words)
		}
		return err
	})
}

func (o *operator) awaitReady(t *testing.T) {
	t.Helper()
	o.awaitAnswer(t, "/readyz", http.StatusOK, "ok")
}

// eventually waits until check finds nothing to complain about.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("after %v: %v", patience, last)
	}
}

// bareServer is an API server of the test's own, without our kinds, and the folder with its kubectl.
func bareServer(t *testing.T) (bare *apiserver.Server, bin string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	set, err := artifacts.Ensure(ctx, artifacts.Request{ControlPlane: true}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	bare, err = apiserver.Start(ctx, apiserver.Config{Dir: t.TempDir(), Set: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bare.Stop(); err != nil {
			t.Error(err)
		}
	})
	return bare, set.Bin
}

// asServiceAccount is a kubeconfig with the rights of a service account, not of an administrator.
func asServiceAccount(t *testing.T, of *apiserver.Server, namespace, name string) (path string) {
	t.Helper()
	kubeconfig, err := clientcmd.LoadFromFile(of.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range kubeconfig.AuthInfos {
		user.Impersonate = fmt.Sprintf("system:serviceaccount:%s:%s", namespace, name)
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	}
	path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		t.Fatal(err)
	}
	return path
}
