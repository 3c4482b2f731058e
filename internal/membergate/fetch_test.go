// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

const startKey = "etcd.database.coreos.com/start"

// pod is the folder of a pod whose member is made of a snapshot, and what its first
// container is told.
type pod struct {
	*testing.T
	dir  string
	args []string
}

func newPod(t *testing.T) *pod {
	t.Helper()
	p := &pod{T: t, dir: t.TempDir()}
	p.write("annotations", `etcd.version="3.6.16"`)
	p.args = []string{
		"-data-dir=" + p.path("data"), "-annotations-file=" + p.path("annotations"), "-joined-annotation=" + startKey,
		"-snapshot=" + p.path("snapshot"), "-termination-log=" + p.path("output"),
	}
	return p
}

func (p *pod) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pod) write(name, content string) {
	p.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(p.path(name)), 0o700), os.WriteFile(p.path(name), []byte(content), 0o700)); err != nil {
		p.Fatal(err)
	}
}

func (p *pod) read(name string) string {
	p.Helper()
	content, err := os.ReadFile(p.path(name))
	if err != nil {
		p.Fatal(err)
	}
	return string(content)
}

func (p *pod) has(name string) bool {
	_, err := os.Stat(p.path(name))
	return err == nil
}

// run runs one of the programs and returns its exit code and what it leaves for the kubelet.
func (p *pod) run(program string, args ...string) (code int, output string) {
	p.Helper()
	_ = os.Remove(p.path("output"))
	var out bytes.Buffer
	code = Main(p.Context(), append(append([]string{program}, p.args...), args...), &out, &out)
	p.Log(out.String())
	if p.has("output") {
		output = p.read("output")
	}
	return code, output
}

// server gives the content to whoever has the token, as the restore operator does.
func (p *pod) server(content string, answer func(w http.ResponseWriter, turn int) bool) []string {
	p.Helper()
	var turn atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, "this restore has another token", http.StatusForbidden)
			return
		}
		if answer == nil || !answer(w, int(turn.Add(1))) {
			_, _ = w.Write([]byte(content))
		}
	}))
	p.Cleanup(server.Close)
	p.write("ticket/"+TicketToken, "s3cret\n")
	p.write("ticket/"+TicketCA, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	sum := sha256.Sum256([]byte(content))
	return []string{
		"-program=" + p.path("gate"), "-url=" + server.URL + "/r1", "-ticket=" + p.path("ticket"), "-patience=5s",
		fmt.Sprintf("-size=%d", len(content)), "-sha256=" + hex.EncodeToString(sum[:]),
	}
}

// newAuthority is the certificate of an authority that has signed nothing. It is generated each time, because all
// servers of httptest have the same certificate.
func (p *pod) newAuthority() string {
	p.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody else"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	if err != nil {
		p.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTheSnapshotIsFetchedWithTheTicketAndTheProgramIsLeftForTheNext(t *testing.T) {
	p := newPod(t)
	if code, output := p.run(ProgramFetch, p.server("a snapshot", nil)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, output)
	}
	if got := p.read("snapshot"); got != "a snapshot" {
		t.Errorf("the snapshot is %q", got)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(p.path("gate")); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("the copy of the program: %v, %v", info, err)
	} else if own, err := os.Stat(self); err != nil || own.Size() != info.Size() {
		t.Errorf("the copy of the program has %d bytes, %v", info.Size(), err)
	}
	// A second run, after a restart of the node, asks nobody.
	args := p.server("a snapshot", func(http.ResponseWriter, int) bool { t.Error("asked again"); return false })
	if code, output := p.run(ProgramFetch, args...); code != 0 {
		t.Fatalf("again: exit code %d: %s", code, output)
	}
}

func TestWhatIsNotTheSnapshotIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(p *pod, args []string) []string
		want   string
	}{
		"another sum": {func(_ *pod, args []string) []string {
			return append(args, "-sha256="+strings.Repeat("0", 64), "-patience=0s")
		}, "SHA-256"},
		"another size":  {func(_ *pod, args []string) []string { return append(args, "-size=3", "-patience=0s") }, "10 bytes, 3 were promised"},
		"a wrong token": {func(p *pod, args []string) []string { p.write("ticket/token", "guess"); return args }, "this restore has another token"},
		"no ticket":     {func(p *pod, args []string) []string { _ = os.Remove(p.path("ticket/token")); return args }, "reading the ticket"},
		"a server that somebody else signed": {func(p *pod, args []string) []string {
			p.write("ticket/"+TicketCA, p.newAuthority())
			return append(args, "-patience=0s")
		}, "unknown authority"},
		"an authority that is none": {func(p *pod, args []string) []string {
			p.write("ticket/"+TicketCA, "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
			return append(args, "-patience=0s")
		}, "no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			code, output := p.run(ProgramFetch, tc.change(p, p.server("a snapshot", nil))...)
			if code != 1 || !strings.Contains(output, tc.want) {
				t.Errorf("exit code %d: %s", code, output)
			}
			if p.has("snapshot") {
				t.Error("a snapshot is left that is none")
			}
			if strings.Contains(output, "s3cret") {
				t.Error("the token is revealed")
			}
		})
	}
}

func TestTheTokenIsGivenToNobodyElse(t *testing.T) {
	p := newPod(t)
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer other.Close()
	args := p.server("a snapshot", func(w http.ResponseWriter, _ int) bool {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(http.StatusFound)
		return true
	})
	if code, output := p.run(ProgramFetch, args...); code != 1 || !strings.Contains(output, "302") {
		t.Errorf("exit code %d: %s", code, output)
	}
}

func TestATransferThatBreaksOffIsTriedAgain(t *testing.T) {
	p := newPod(t)
	args := p.server("a snapshot", func(w http.ResponseWriter, turn int) bool {
		switch turn {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2: // cut off in the middle
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("a sna"))
		default:
			return false
		}
		return true
	})
	if code, output := p.run(ProgramFetch, args...); code != 0 || p.read("snapshot") != "a snapshot" {
		t.Errorf("exit code %d: %s", code, output)
	}
}

func TestARestoreOperatorThatFallsSilentIsGivenUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("half of "))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	_, err := overHTTPS(server.Client(), server.URL, "token", 50*time.Millisecond)(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "sent nothing for 50ms") {
		t.Errorf("the error is %v", err)
	}
}

func TestAMemberWithDataIsNotFilledAgain(t *testing.T) {
	p := newPod(t)
	p.write("data/member/wal/0-0.wal", "")
	p.write("annotations", startKey+`="true"`)
	// The ticket is gone long since.
	if code, output := p.run(ProgramFetch, "-program="+p.path("gate"), "-url=https://gone", "-ticket="+p.path("gone")); code != 0 {
		t.Fatalf("fetch: exit code %d: %s", code, output)
	}
	if code, output := p.run(ProgramRestore); code != 0 {
		t.Fatalf("restore: exit code %d: %s", code, output)
	}
}

func TestAMemberThatWasStartedAndLostItsDataIsNotFilledAgain(t *testing.T) {
	p := newPod(t)
	p.write("annotations", startKey+`="true"`)
	for program, args := range map[string][]string{ProgramFetch: p.server("a snapshot", nil), ProgramRestore: nil} {
		if code, output := p.run(program, args...); code != ExitDataLost {
			t.Errorf("%s: exit code %d: %s", program, code, output)
		}
	}
	if p.has("data") || p.has("snapshot") {
		t.Error("it was filled")
	}
}

// survivor is an etcd that gives a snapshot in two parts, and may break off between them.
type survivor struct {
	pb.UnimplementedMaintenanceServer
	breaks bool
}

func (s *survivor) Snapshot(_ *pb.SnapshotRequest, stream pb.Maintenance_SnapshotServer) error {
	if err := stream.Send(&pb.SnapshotResponse{Blob: []byte("a member's ")}); err != nil {
		return err
	}
	if s.breaks {
		s.breaks = false
		return errors.New("it crashed")
	}
	return stream.Send(&pb.SnapshotResponse{Blob: []byte("data")})
}

func TestTheDataOfASurvivorIsFetchedFromIt(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterMaintenanceServer(server, &survivor{breaks: true})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	p := newPod(t)
	code, output := p.run(ProgramFetch, "-program="+p.path("gate"), "-member=http://"+listener.Addr().String(), "-patience=5s")
	if code != 0 || p.read("snapshot") != "a member's data" {
		t.Errorf("exit code %d: %s", code, output)
	}
}

// tool writes a stand-in for etcd's own tool, which knows these flags.
func (p *pod) tool(flags, then string) *Restore {
	p.Helper()
	p.write("etcdutl", `#!/bin/sh
echo "API $ETCDCTL_API: $*" >>`+p.path("calls")+`
case "$*" in *--help*) echo "`+flags+`"; exit 2;; esac
for a in "$@"; do case $a in --data-dir=*) d=${a#--data-dir=};; esac; done
`+then)
	p.write("snapshot", "a snapshot")
	return &Restore{
		Identity: Identity{DataDir: p.path("data"), AnnotationsFile: p.path("annotations"), JoinedAnnotation: startKey},
		Snapshot: p.path("snapshot"), Tools: []string{p.path("none"), p.path("etcdutl")}, Args: []string{"--name=m"}, BumpRevision: 1000, Log: p.Output(),
	}
}

const makesData = `mkdir -p $d/member/wal && : >$d/member/wal/0-0.wal`

func TestEtcdsOwnToolMakesTheData(t *testing.T) {
	p := newPod(t)
	r := p.tool("--bump-revision --mark-compacted", makesData)
	p.write("data.restoring/half", "of an earlier run")
	p.write("data/lost+found/x", "")
	for range 2 { // init containers run again
		done, err := r.Run(t.Context())
		if err != nil || done.RevisionBumped != 1000 {
			t.Fatalf("restored %+v, %v", done, err)
		}
	}
	if found, _ := hasData(p.path("data")); !found || p.has("snapshot") || p.has("data.restoring") {
		t.Error("the data is not in its place, or something else is left")
	}
	want := fmt.Sprintf("API 3: snapshot restore --help\nAPI 3: snapshot restore %s --data-dir=%s --name=m --bump-revision=1000 --mark-compacted\n", p.path("snapshot"), p.path("data.restoring"))
	if got := p.read("calls"); got != want {
		t.Errorf("the tool was called with\n%s, not\n%s", got, want)
	}
}

func TestARevisionThatTheToolCannotRaiseStays(t *testing.T) {
	p := newPod(t)
	done, err := p.tool("--skip-hash-check", makesData).Run(t.Context())
	if err != nil || done.RevisionBumped != 0 || strings.Contains(p.read("calls"), "--bump-revision") {
		t.Errorf("restored %+v, %v", done, err)
	}
}

func TestAToolThatFailsLeavesNothingThatCouldBeStarted(t *testing.T) {
	p := newPod(t)
	_, err := p.tool("", makesData+"; echo 'Error: expected sha256 [1], got [2]' >&2; exit 1").Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "expected sha256 [1], got [2]") {
		t.Errorf("the error is %v", err)
	}
	if found, _ := hasData(p.path("data")); found || !p.has("snapshot") {
		t.Error("the data is in place although it was not made, or the snapshot is gone")
	}
}

func TestAnImageWithoutAToolSaysSo(t *testing.T) {
	p := newPod(t)
	r := p.tool("", "")
	r.Tools = []string{p.path("none")}
	if _, err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "use another image") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheOperatorReadsWhatTheRestoreSaid(t *testing.T) {
	p := newPod(t)
	p.write("data/member/wal/0-0.wal", "")
	p.write("data.restored", `{"revisionBumped":5}`)
	code, output := p.run(ProgramRestore)
	if done, err := ParseRestored(output); code != 0 || err != nil || done.RevisionBumped != 5 {
		t.Errorf("exit code %d: %s: %+v, %v", code, output, done, err)
	}
}

func TestARestoredMemberStartsOnlyWhenTheOperatorSaysSo(t *testing.T) {
	g := newGate(t)
	writeLog(t, g)
	g.StartAnnotation = startKey
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := g.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("without the annotation Run() = %v", err)
	}
	result := make(chan error, 1)
	go func() { result <- g.Run(t.Context()) }()
	annotate(t, g, startKey+`="true"`)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
}

func TestAGateInEtcdsContainerBecomesEtcd(t *testing.T) {
	g := newGate(t)
	var became []string
	g.Command, g.Become = []string{"etcd", "--name=m1"}, func(command []string) error { became = command; return nil }
	g.HasData = true
	if err := g.Run(t.Context()); !errors.Is(err, ErrDataLost) || became != nil {
		t.Fatalf("without data Run() = %v and it became %q", err, became)
	}
	writeLog(t, g)
	if err := g.Run(t.Context()); err != nil || !slices.Equal(became, g.Command) {
		t.Fatalf("with data Run() = %v and it became %q", err, became)
	}
}

func TestTheCommandOfEtcdFollowsTheFlagsOfTheGate(t *testing.T) {
	var log string
	g, err := parseGate([]string{"-data-dir=/data", "-has-data", "--", "etcd", "--data-dir=/data"}, &log, io.Discard, io.Discard)
	if err != nil || !slices.Equal(g.Command, []string{"etcd", "--data-dir=/data"}) || !g.HasData {
		t.Fatalf("parseGate() = %+v, %v", g, err)
	}
}
