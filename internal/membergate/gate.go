// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package membergate is the program of a member's init containers. As the gate, which
// every member has, it lets etcd start at the right moment, and only on the right data:
//
//   - A member that has its data is let through at once: after a power cut
//     nothing may stand between a member and its peers.
//   - A member that has joined its cluster before but has lost its data is not
//     let through. etcd would start it under its old identity with an empty log,
//     or as a second cluster. The operator sees the exit code and replaces it.
//   - A new member waits for its own DNS name (its peers look it up), for the names
//     of all members it has to know, and for those before it to answer: etcd asks
//     every peer when it joins, and waits seven seconds for one that listens but
//     does not answer, which is what two that join at the same moment do.
//   - A member that is created from a snapshot waits, with its data, until the operator
//     reports that nothing of the previous incarnation of its cluster runs any more. Its
//     gate is in the container of etcd, and becomes etcd.
//
// As Fetch and Restore it creates the data of such a member, and as Join it lets a member get
// its data from its leader.
package membergate

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ExitDataLost is the exit code for a member that has joined its cluster but has
// no data. The operator knows it.
const ExitDataLost = 77

// pause is the time between two questions. DNS and etcd's version have no
// events that could be waited for.
const pause = 100 * time.Millisecond

// Gate holds what one run has to check.
type Gate struct {
	// DataDir is etcd's data directory.
	DataDir string
	// AnnotationsFile shows the pod's annotations (a downward API volume).
	AnnotationsFile string
	// JoinedAnnotation is set by the operator on the pod of a member that has started once.
	JoinedAnnotation string
	// HasData says that the member has started once, where its pod cannot say so.
	HasData bool
	// StartAnnotation, where it is set, has to be on the pod before anything else.
	StartAnnotation string
	// Program, where it is set, is where a copy of this program is put; Self is where it is.
	Program, Self string
	// Name is the member's own DNS name.
	Name string
	// NameTimeout limits the wait for Name; zero waits for ever.
	NameTimeout time.Duration
	// Peers are the DNS names of all members the new one has to know.
	Peers []string
	// Before are the peer URLs of the members which have to answer first.
	Before []string
	// HoldTimeout limits the wait for Peers and for Before: when one of them
	// does not come back, etcd itself or the operator has to deal with it.
	HoldTimeout time.Duration

	// Resolve looks a name up.
	Resolve func(ctx context.Context, name string) error
	// HTTP asks for /version.
	HTTP *http.Client
	// Command, where it is set, is etcd's command line, and Become replaces this process by it.
	Command []string
	Become  func(command []string) error
	// Log gets a line for each thing waited for.
	Log io.Writer
}

// ErrDataLost is the error of a member that joined earlier and has lost its data.
var ErrDataLost = errors.New("this member has joined its cluster before, but its data directory is empty: it must not start again under its old identity, the operator has to replace it")

// Run returns when etcd may start, or becomes etcd.
func (g *Gate) Run(ctx context.Context) error {
	if err := g.wait(ctx); err != nil || len(g.Command) == 0 {
		return err
	}
	return g.Become(g.Command)
}

// wait returns when etcd may start.
func (g *Gate) wait(ctx context.Context) error {
	if g.Program != "" {
		if err := copyProgram(g.Self, g.Program); err != nil {
			return err
		}
	}
	if err := g.waitForStart(ctx); err != nil {
		return err
	}
	switch found, err := hasData(g.DataDir); {
	case err != nil:
		return err
	case found:
		g.logf("found the member's own data in %s: etcd may start", g.DataDir)
		return nil
	}
	joined, err := annotated(g.AnnotationsFile, g.JoinedAnnotation)
	if err != nil {
		return err
	}
	if joined || g.HasData {
		return ErrDataLost
	}
	if err := g.waitForName(ctx); err != nil {
		return err
	}
	g.waitForOthers(ctx)
	g.logf("etcd may start")
	return ctx.Err()
}

// waitForOthers waits for the members that the new one has to know.
func (g *Gate) waitForOthers(ctx context.Context) {
	held, cancel := context.WithTimeout(ctx, g.HoldTimeout)
	defer cancel()
	for _, name := range g.Peers {
		g.hold(held, "the name "+name, func(c context.Context) error { return g.Resolve(c, name) })
	}
	for _, url := range g.Before {
		g.hold(held, "an answer of "+url, func(c context.Context) error { return g.hasBegun(c, url) })
	}
}

// hasBegun reports whether a member is past the moment at which it listens without answering:
// it answers, or is known to the others by its name, which it publishes later than that.
func (g *Gate) hasBegun(ctx context.Context, peerURL string) error {
	err := g.askVersion(ctx, peerURL)
	if err == nil {
		return nil
	}
	for _, other := range g.Before {
		if other != peerURL && g.isNamed(ctx, peerURL, other) {
			return nil
		}
	}
	return err
}

// isNamed asks a member whether it knows the name of another one.
func (g *Gate) isNamed(ctx context.Context, peerURL, asked string) bool {
	var members []struct {
		Name     string   `json:"name"`
		PeerURLs []string `json:"peerURLs"`
	}
	if err := g.get(ctx, asked+"/members", func(body io.Reader) error { return json.NewDecoder(body).Decode(&members) }); err != nil {
		return false
	}
	for _, m := range members {
		if m.Name != "" && slices.Contains(m.PeerURLs, peerURL) {
			return true
		}
	}
	return false
}

// hasData reports whether etcd has written its log here before.
func hasData(dir string) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "member", "wal"))
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return isData(names, err)
}

// isData judges what was found in the folder of the log. That a member has no data lets it be given up, and its
// volume be deleted: what cannot be read does not count as nothing. What belongs to another user is there: etcd
// creates its folder so that nobody but its own user sees what is in it, and may run as another one than this
// program does.
func isData(names []string, err error) (bool, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, fs.ErrPermission):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("looking for the member's data: %w", err)
	}
	return slices.ContainsFunc(names, func(name string) bool { return filepath.Ext(name) == ".wal" }), nil
}

// waitForStart waits for the operator's permission, for as long as it takes: without it the
// previous incarnation of the cluster may be running.
func (g *Gate) waitForStart(ctx context.Context) error {
	if g.StartAnnotation == "" {
		return nil
	}
	return g.poll(ctx, "the operator to let this member start", func(context.Context) error {
		ok, err := annotated(g.AnnotationsFile, g.StartAnnotation)
		if err == nil && !ok {
			err = errors.New("members of the previous incarnation are still running, or may be")
		}
		return err
	})
}

// annotated reads the annotations as the downward API writes them, key="value" lines, and
// reports whether the one is among them.
func annotated(file, annotation string) (bool, error) {
	if file == "" {
		return false, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("reading the pod's annotations: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, annotation+"=") {
			return true, nil
		}
	}
	return false, nil
}

func (g *Gate) waitForName(ctx context.Context) error {
	if g.Name == "" {
		return nil
	}
	if g.NameTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.NameTimeout)
		defer cancel()
	}
	err := g.poll(ctx, "the member's own name "+g.Name, func(c context.Context) error { return g.Resolve(c, g.Name) })
	if err != nil {
		return fmt.Errorf("the member's own DNS name %s does not resolve: check the cluster's DNS, its headless service and spec.pod.ClusterDomain: %w", g.Name, err)
	}
	return nil
}

// hold waits, but lets the member through when the time is up.
func (g *Gate) hold(ctx context.Context, what string, ask func(context.Context) error) {
	if err := g.poll(ctx, what, ask); err != nil {
		g.logf("no longer waiting for %s: %v", what, err)
	}
}

func (g *Gate) poll(ctx context.Context, what string, ask func(context.Context) error) error {
	var logged string
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := ask(attempt)
		cancel()
		if err == nil {
			return nil
		}
		if logged != err.Error() {
			logged = err.Error()
			g.logf("waiting for %s: %v", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (last answer: %w)", ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

func (g *Gate) askVersion(ctx context.Context, peerURL string) error {
	return g.get(ctx, peerURL+"/version", func(io.Reader) error { return nil })
}

func (g *Gate) get(ctx context.Context, url string, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := g.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return read(response.Body)
}

func (g *Gate) logf(format string, args ...any) { logf(g.Log, format, args...) }

func logf(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, time.Now().UTC().Format("15:04:05.000 ")+format+"\n", args...)
}

// Names of the programs besides the gate, as the first argument.
const (
	ProgramFetch   = "fetch"
	ProgramRestore = "restore"
	ProgramJoin    = "join"
)

// Main runs the program and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	terminationLog := "/dev/termination-log"
	message, err := run(ctx, args, &terminationLog, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "etcd-member-gate:", err)
		message = err.Error()
	}
	if message != "" {
		// The kubelet shows this file's content in the pod's status.
		_ = os.WriteFile(terminationLog, []byte(message), 0o644) //nolint:gosec // read by the kubelet
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrDataLost):
		return ExitDataLost
	}
	return 1
}

// run runs the program that the first argument names; its message is for the operator.
func run(ctx context.Context, args []string, terminationLog *string, stdout, stderr io.Writer) (message string, err error) {
	program := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		program, args = args[0], args[1:]
	}
	switch program {
	case "":
		gate, err := parseGate(args, terminationLog, stdout, stderr)
		if err != nil {
			return "", err
		}
		return "", gate.Run(ctx)
	case ProgramFetch:
		fetch, err := parseFetch(args, terminationLog, stdout, stderr)
		if err != nil {
			return "", err
		}
		return "", fetch.Run(ctx)
	case ProgramJoin:
		join, err := parseJoin(args, terminationLog, stdout, stderr)
		if err != nil {
			return "", err
		}
		return "", join.Run(ctx)
	case ProgramRestore:
		restore, err := parseRestore(args, terminationLog, stdout, stderr)
		if err != nil {
			return "", err
		}
		done, err := restore.Run(ctx)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(done)
		return string(text), err
	}
	return "", fmt.Errorf("unknown program %q: use %s, %s or %s, or none for the gate", program, ProgramFetch, ProgramRestore, ProgramJoin)
}
