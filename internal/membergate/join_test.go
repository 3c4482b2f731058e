// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// member plays an etcd: a process that runs until it is told to end, and its metrics.
func member(t *testing.T) (j *Join, applied *atomic.Int64, output *bytes.Buffer) {
	t.Helper()
	applied, output = &atomic.Int64{}, &bytes.Buffer{}
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "# TYPE %[1]s gauge\n%[1]s_other 7\n%[1]s %[2]d\n", metricApplied, applied.Load())
	}))
	t.Cleanup(metrics.Close)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	become := func(command []string) error {
		_, _ = fmt.Fprintln(output, "becoming", command[0])
		return nil
	}
	return &Join{Become: become, Gate: &Gate{DataDir: t.TempDir(), Log: output}, Metrics: metrics.URL, Command: []string{sleep, "3600"}, Patience: 10 * time.Second, Log: output, Output: io.Discard}, applied, output
}

func TestJoinEndsEtcdWhenItHasTheData(t *testing.T) {
	t.Parallel()
	j, applied, output := member(t)
	done := make(chan error, 1)
	go func() { done <- j.Run(t.Context()) }()
	select {
	case err := <-done:
		t.Fatalf("ended before the member had anything: %v\n%s", err, output)
	case <-time.After(4 * pause):
	}
	applied.Store(12)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text := output.String(); !strings.Contains(text, "has the cluster's data") || !strings.Contains(text, "becoming "+j.Command[0]) {
		t.Errorf("output:\n%s", output)
	}
}

func TestJoinDoesNothingForAMemberWithData(t *testing.T) {
	t.Parallel()
	j, _, output := member(t)
	j.Command = []string{filepath.Join(t.TempDir(), "must not be started before")}
	wal := filepath.Join(j.Gate.DataDir, "member", "wal")
	if err := errors.Join(os.MkdirAll(wal, 0o750), os.WriteFile(filepath.Join(wal, "0.wal"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(output.String(), "becoming "+j.Command[0]) {
		t.Errorf("output:\n%s", output)
	}
}

func TestJoinLetsEtcdTellWhatIsWrong(t *testing.T) {
	t.Parallel()
	j, _, output := member(t)
	j.Command = []string{"/bin/false"}
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := output.String(); !strings.Contains(text, "ended by itself: exit status 1") || !strings.Contains(text, "becoming /bin/false") {
		t.Errorf("output:\n%s", output)
	}
}

func TestJoinEndsEtcdWithThePod(t *testing.T) {
	t.Parallel()
	j, _, output := member(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*pause)
	defer cancel()
	if err := j.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the context is over", err)
	}
	if strings.Contains(output.String(), "becoming") {
		t.Errorf("output:\n%s", output)
	}
}

func TestJoinKillsAnEtcdThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	j, applied, output := member(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	j.Output, j.Patience = writer, 2*pause
	j.Command = []string{"/bin/sh", "-c", `trap "" TERM; echo deaf; while :; do sleep 0.1; done`}
	go func() {
		_, _ = reader.Read(make([]byte, 4)) // now it does not hear
		applied.Store(1)
	}()
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(output.String(), "killing it") {
		t.Errorf("output:\n%s", output)
	}
}

func TestJoinWantsACommand(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := Main(t.Context(), []string{ProgramJoin, "-data-dir=" + t.TempDir(), "-termination-log=/dev/null"}, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(stderr.String(), "after --") {
		t.Errorf("output: %s", stderr.String())
	}
}
