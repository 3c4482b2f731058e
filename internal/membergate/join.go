// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Join is what a member begins with that gets its data as a snapshot of its leader's. It runs in the
// container of etcd, lets etcd run until it has that data, and then becomes etcd itself.
//
// A new member publishes its name to its cluster before it serves anybody, and waits until it finds
// that request in the log. Where it gets a snapshot, the request is mostly in there: the leader
// of a cluster that has nothing else to do sends the snapshot because of it. Such a member waits
// in vain until it asks again, seven seconds later. One that is started again, with its data,
// finds its request in the log at once.
type Join struct {
	// Gate holds the members that have to be there first. It waits for them here, not in a container
	// before this one: two members that get snapshots are in nobody's way but for a moment.
	Gate *Gate
	// Metrics is the URL of etcd's metrics.
	Metrics string
	// Command is etcd's command line.
	Command []string
	// Patience is how long etcd may take to end when it is asked to.
	Patience time.Duration
	// Become replaces this process by the command line.
	Become func(command []string) error

	// Log gets a line for each thing that happens; Output is etcd's own.
	Log, Output io.Writer
}

// metricApplied is the index that a member has reached.
const metricApplied = "etcd_server_proposals_applied_total"

// Run becomes etcd when the member has data.
func (j *Join) Run(ctx context.Context) error {
	if len(j.Command) == 0 {
		return errors.New("no command line of etcd after --")
	}
	found, err := hasData(j.Gate.DataDir)
	switch {
	case err != nil:
		return err
	case found:
		logf(j.Log, "found the member's own data in %s", j.Gate.DataDir)
	default:
		if err := j.getData(ctx); err != nil {
			return err
		}
	}
	return j.Become(j.Command)
}

// getData returns when the member has data of its cluster's, or has ended by itself: it will report
// again what is wrong then.
func (j *Join) getData(ctx context.Context) error {
	j.Gate.waitForOthers(ctx)
	started := time.Now()
	command := exec.Command(j.Command[0], j.Command[1:]...) //nolint:noctx // it is asked to end, not killed
	command.Stdout, command.Stderr = j.Output, j.Output
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	ticker := time.NewTicker(pause / 2)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			logf(j.Log, "etcd has ended by itself: %v", err)
			return nil
		case <-ctx.Done():
			return errors.Join(ctx.Err(), j.end(command, ended))
		case <-ticker.C:
		}
		if j.hasApplied(ctx) {
			logf(j.Log, "the member has the cluster's data after %s", time.Since(started).Round(time.Millisecond))
			return j.end(command, ended)
		}
	}
}

// end lets etcd end as it does when its pod goes.
func (j *Join) end(command *exec.Cmd, ended <-chan error) error {
	if err := command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("asking etcd to end: %w", err)
	}
	select {
	case <-ended:
	case <-time.After(j.Patience):
		logf(j.Log, "etcd has not ended within %s: killing it", j.Patience)
		_ = command.Process.Kill()
		<-ended
	}
	return nil
}

// hasApplied reports whether etcd has applied anything of its cluster's log or data.
func (j *Join) hasApplied(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, j.Metrics, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false // it does not listen yet
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), metricApplied+" "); found {
			return value != "0"
		}
	}
	return false
}
