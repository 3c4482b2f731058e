// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const joinedKey = "etcd.database.coreos.com/member-id"

// newGate is a gate in front of an empty data directory, in a pod without annotations.
func newGate(t *testing.T) *Gate {
	t.Helper()
	dir := t.TempDir()
	g := &Gate{
		DataDir: filepath.Join(dir, "data"), AnnotationsFile: filepath.Join(dir, "annotations"), JoinedAnnotation: joinedKey,
		Name: "m1.c.ns.svc", HoldTimeout: 5 * time.Second, HTTP: http.DefaultClient, Log: &bytes.Buffer{},
		Resolve: func(context.Context, string) error { return nil },
	}
	annotate(t, g, `etcd.version="3.6.16"`)
	return g
}

func annotate(t *testing.T, g *Gate, line string) {
	t.Helper()
	if err := os.WriteFile(g.AnnotationsFile, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func writeLog(t *testing.T, g *Gate) {
	t.Helper()
	dir := filepath.Join(g.DataDir, "member", "wal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "0000000000000000-0000000000000000.wal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAMemberWithDataIsNeverHeldBack(t *testing.T) {
	g := newGate(t)
	writeLog(t, g)
	annotate(t, g, joinedKey+`="8e9e05c52164694d"`)
	g.Peers, g.Before = []string{"gone"}, []string{"http://gone:2380"}
	g.Resolve = func(context.Context, string) error { return errors.New("DNS is down after the power cut") }
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAMemberThatLostItsDataDoesNotStart(t *testing.T) {
	g := newGate(t)
	annotate(t, g, joinedKey+`="8e9e05c52164694d"`)
	if err := g.Run(t.Context()); !errors.Is(err, ErrDataLost) {
		t.Fatalf("Run() = %v, want ErrDataLost", err)
	}
}

func TestAMemberThatIsKnownToHaveDataDoesNotStartWithoutIt(t *testing.T) {
	g := newGate(t)
	g.HasData = true
	if err := g.Run(t.Context()); !errors.Is(err, ErrDataLost) {
		t.Fatalf("Run() = %v, want ErrDataLost", err)
	}
	writeLog(t, g)
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestADataDirectoryWithoutALogIsNoData(t *testing.T) {
	g := newGate(t)
	annotate(t, g, joinedKey+`="8e9e05c52164694d"`)
	if err := os.MkdirAll(filepath.Join(g.DataDir, "member", "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := g.Run(t.Context()); !errors.Is(err, ErrDataLost) {
		t.Fatalf("Run() = %v, want ErrDataLost", err)
	}
}

func TestDataThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	g := newGate(t)
	g.HasData = true
	if err := os.MkdirAll(g.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	// No folder: reading what is in it fails, for root as well.
	if err := os.WriteFile(filepath.Join(g.DataDir, "member"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Run(t.Context()); err == nil || errors.Is(err, ErrDataLost) {
		t.Fatalf("Run() = %v, want an error that is not ErrDataLost", err)
	}
}

func TestDataOfAnotherUserIsData(t *testing.T) {
	for name, test := range map[string]struct {
		names []string
		err   error
		want  bool
	}{
		"a log":            {names: []string{"0.tmp", "0000000000000000-0000000000000000.wal"}, want: true},
		"no log yet":       {names: []string{"0.tmp"}},
		"nothing":          {err: &fs.PathError{Op: "open", Path: "wal", Err: syscall.ENOENT}},
		"of somebody else": {err: &fs.PathError{Op: "open", Path: "wal", Err: syscall.EACCES}, want: true},
	} {
		if got, err := isData(test.names, test.err); got != test.want || err != nil {
			t.Errorf("%s: isData() = %t, %v, want %t", name, got, err, test.want)
		}
	}
	if _, err := isData(nil, &fs.PathError{Op: "open", Path: "wal", Err: syscall.EIO}); err == nil {
		t.Error("a broken disk is taken for an empty one")
	}
}

func TestANewMemberWaitsForItsName(t *testing.T) {
	g := newGate(t)
	var asked atomic.Int32
	g.Resolve = func(context.Context, string) error {
		if asked.Add(1) < 3 {
			return errors.New("no such host")
		}
		return nil
	}
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 3 {
		t.Errorf("the name was asked for %d times, want 3", asked.Load())
	}
}

func TestANameThatNeverResolvesEndsInAnErrorThatSaysWhatToCheck(t *testing.T) {
	g := newGate(t)
	g.NameTimeout = 250 * time.Millisecond
	g.Resolve = func(context.Context, string) error { return errors.New("no such host") }
	err := g.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "spec.pod.ClusterDomain") || !strings.Contains(err.Error(), g.Name) {
		t.Fatalf("Run() = %v", err)
	}
}

func TestANewMemberWaitsForThoseBeforeIt(t *testing.T) {
	g := newGate(t)
	var asked atomic.Int32
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		if asked.Add(1) < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer peer.Close()
	g.Before = []string{peer.URL}
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 4 {
		t.Errorf("the peer was asked %d times, want 4", asked.Load())
	}
}

// One that joins by a snapshot is started twice, and does not answer in between.
func TestAMemberThatTheOthersKnowByNameHasBegun(t *testing.T) {
	g := newGate(t)
	const silent = "http://127.0.0.1:1"
	var named atomic.Bool
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/members" {
			name := ""
			if named.Swap(true) {
				name = "m0"
			}
			_, _ = fmt.Fprintf(w, `[{"id":1,"name":"first","peerURLs":["http://first:2380"]},{"id":2,"name":%q,"peerURLs":[%q]}]`, name, silent)
		}
	}))
	defer first.Close()
	g.Before = []string{first.URL, silent}
	start := time.Now()
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < pause || took >= g.HoldTimeout {
		t.Errorf("held for %s, want at least one more question, and less than %s", took, g.HoldTimeout)
	}
}

func TestAPeerThatIsGoneForGoodHoldsNobodyForEver(t *testing.T) {
	g := newGate(t)
	g.HoldTimeout = 300 * time.Millisecond
	g.Peers = []string{"gone.c.ns.svc"}
	g.Resolve = func(_ context.Context, name string) error {
		if name == g.Name {
			return nil
		}
		return errors.New("no such host")
	}
	start := time.Now()
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < g.HoldTimeout {
		t.Errorf("held for %s only", took)
	}
}

func TestMainTellsTheKubeletWhy(t *testing.T) {
	g := newGate(t)
	annotate(t, g, joinedKey+`="8e9e05c52164694d"`)
	termination := filepath.Join(t.TempDir(), "termination-log")
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{
		"-data-dir=" + g.DataDir, "-annotations-file=" + g.AnnotationsFile, "-joined-annotation=" + joinedKey, "-termination-log=" + termination,
	}, &stdout, &stderr)
	if code != ExitDataLost {
		t.Fatalf("exit code %d, want %d (%s)", code, ExitDataLost, stderr.String())
	}
	output, err := os.ReadFile(termination)
	if err != nil || !strings.Contains(string(output), "data directory is empty") {
		t.Fatalf("termination log %q, %v", output, err)
	}
}

func TestMainRefusesAnUnknownFlag(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Main(t.Context(), []string{"-no-such-flag", "-termination-log=/dev/null"}, &stdout, &stderr); code != 1 {
		t.Fatalf("exit code %d, want 1", code)
	}
}
