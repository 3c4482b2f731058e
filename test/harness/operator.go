// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
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

	"github.com/etcd-operator/etcd-operator/test/port"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// Binaries builds the programs of ./cmd as hack/images.sh does, and returns the folder they are in. Test
// packages share the folder, so that a program is linked only if it has changed. TEST_PROGRAMS names another one, for programs
// that are changed on purpose.
var Binaries = sync.OnceValues(func() (dir string, err error) {
	dir = cmp.Or(os.Getenv("TEST_PROGRAMS"), filepath.Join(repository.Root(), "_out", "test", "bin"))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("waiting for builds of other tests: %w", err)
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-tags", "disable_grpc_modules", "-o", dir+"/", "./cmd/...")
	build.Dir = repository.Root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the operators: %w\n%s", err, out)
	}
	return dir, nil
})

// Binary is the file of a program of ./cmd.
func Binary(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := Binaries()
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// Operator is how an operator is started.
type Operator struct {
	// Name of the program.
	Name string
	// Kubeconfig is the file that names the API server, and whom the operator acts as.
	Kubeconfig string
	// Namespace that the operator believes to run in.
	Namespace string
	// Pod that the operator believes to run in. Default: the name of the program with "-0" appended.
	Pod string
	// Args are further flags.
	Args []string
	// Env are further environment variables.
	Env []string
}

// RunningOperator is the process of an operator.
type RunningOperator struct {
	*Program
	// URL of its HTTP server, for metrics and health.
	URL string
	// MetricsURL is that of the second HTTP server of an etcd-backup-operator.
	MetricsURL string
	// BackupAddress is where an etcd-restore-operator serves backups.
	BackupAddress string
}

// OwnAddress is the address of this machine at which tests have their servers, and which operators of backups and restores
// are allowed to connect to. Its other addresses stay refused.
const OwnAddress = "127.0.0.1"

// StartOperator starts an operator on free ports.
func StartOperator(tb testing.TB, o Operator) *RunningOperator {
	tb.Helper()
	listen := port.Free(tb)
	args := []string{"-listen-addr", listen}
	running := &RunningOperator{URL: "http://" + listen}
	switch o.Name {
	case "etcd-operator":
		args = append(args, "-helper-image", "example.com/etcd-operator:dev") // there is no pod to read it from
	case "etcd-backup-operator":
		also := port.Free(tb)
		args = append(args, "-metrics-addr", also, "-allow-addresses", OwnAddress)
		running.MetricsURL = "http://" + also
	case "etcd-restore-operator":
		running.BackupAddress = port.Free(tb)
		args = append(args, "-serve-addr", running.BackupAddress, "-allow-addresses", OwnAddress)
	}
	pod := o.Pod
	if pod == "" {
		pod = o.Name + "-0"
	}
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), Binary(tb, o.Name), append(args, o.Args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+o.Kubeconfig, "MY_POD_NAMESPACE="+o.Namespace, "MY_POD_NAME="+pod)
	cmd.Env = append(cmd.Env, o.Env...)
	running.Program = Start(tb, cmd)
	return running
}

// Get requests a path of the operator's HTTP server.
func (o *RunningOperator) Get(ctx context.Context, path string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL+path, http.NoBody)
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

// CheckMetrics reports each line that /metrics lacks.
func (o *RunningOperator) CheckMetrics(tb testing.TB, lines ...string) {
	tb.Helper()
	status, body, err := o.Get(tb.Context(), "/metrics")
	if err != nil || status != http.StatusOK {
		tb.Fatalf("/metrics of %s: status %d, error %v", o.Name(), status, err)
	}
	for _, line := range lines {
		if !strings.Contains(body, line) {
			tb.Errorf("the metrics of %s lack %s", o.Name(), line)
		}
	}
}

// AwaitAnswer waits until a path is answered with a status, and with a text somewhere in the body.
func (o *RunningOperator) AwaitAnswer(tb testing.TB, path string, status int, text string) {
	tb.Helper()
	Eventually(tb, Patience, func(ctx context.Context) error {
		select {
		case <-o.Ended():
			tb.Fatalf("%s has ended with exit code %d", o.Name(), o.AwaitEnd(tb))
		default:
		}
		gotStatus, body, err := o.Get(ctx, path)
		if err == nil && (gotStatus != status || !strings.Contains(body, text)) {
			err = fmt.Errorf("%s of %s is %d %q, want %d with %q", path, o.Name(), gotStatus, body, status, text)
		}
		return err
	})
}

// AwaitReady waits until the operator is ready.
func (o *RunningOperator) AwaitReady(tb testing.TB) {
	tb.Helper()
	o.AwaitAnswer(tb, "/readyz", http.StatusOK, "ok")
}
