// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/lab"
)

// program is the lab program, built from what is tested unless one is given.
var program string

func init() {
	flag.StringVar(&program, "program", "", "the lab program to test; it is built if none is given")
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	if os.Geteuid() != 0 {
		return 0, errors.New("these tests bring a lab up and down: run them as root")
	}
	if program == "" {
		dir, err := os.MkdirTemp("", "labtest-")
		if err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if program, err = build(dir); err != nil {
			return 0, err
		}
	}
	code := m.Run()
	l, err := lab.Open(lab.Options{})
	if err != nil {
		return code, err
	}
	status, err := l.Status(context.Background())
	if err != nil {
		return code, err
	}
	fmt.Printf("labtest: the lab in %s is %s; its kubeconfig is %s\n", status.Dir, status.Power, l.Kubeconfig())
	return code, nil
}

func build(dir string) (string, error) {
	// One test runs the program as somebody else.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "lab")
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "github.com/etcd-operator/etcd-operator/lab/cmd/lab").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the lab program: %w\n%s", err, out)
	}
	return path, nil
}

// logged writes what the lab says into the test's log.
type logged struct{ t *testing.T }

func (w logged) Write(p []byte) (int, error) {
	w.t.Helper()
	w.t.Log(string(bytes.TrimRight(p, "\n")))
	return len(p), nil
}

func open(t *testing.T, o lab.Options) *lab.Lab {
	t.Helper()
	o.Program, o.Progress = program, logged{t}
	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// whole brings up a lab of three nodes, if it is not up already, and returns it with a client.
func whole(t *testing.T) (*lab.Lab, kubernetes.Interface) {
	t.Helper()
	l := open(t, lab.Options{Nodes: 3})
	if err := l.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l, client(t, l)
}

func client(t *testing.T, l *lab.Lab) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.Timeout = 10 * time.Second
	config.QPS = -1 // the tests poll
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func down(t *testing.T) {
	t.Helper()
	if err := open(t, lab.Options{}).Down(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until fn returns nil.
func eventually(t *testing.T, within time.Duration, what string, fn func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	began := time.Now()
	last := errors.New("not tried")
	for {
		err := fn(ctx)
		if err == nil {
			t.Logf("%s after %.1fs", what, time.Since(began).Seconds())
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v: %v", what, within, last)
		case <-ticker.C:
		}
	}
}

// deleteOptions end a pod at once.
func deleteOptions() metav1.DeleteOptions {
	var now int64
	return metav1.DeleteOptions{GracePeriodSeconds: &now}
}
