// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Restore is the program of the second init container of a member that is created from a
// snapshot. It runs in the image of the cluster's etcd, and lets the tool in there create
// the data directory: only that is sure to write what this version of etcd reads.
type Restore struct {
	// Identity is what the member is.
	Identity Identity
	// Snapshot is the file that Fetch has written.
	Snapshot string
	// Tools are the programs that can restore, best first: etcdutl, and etcdctl for
	// versions that have no etcdutl.
	Tools []string
	// Args say which member of which cluster it is to be.
	Args []string
	// BumpRevision is by how much the revision is raised.
	BumpRevision int64

	// Log gets a line for each thing that happens, and the output of the tool.
	Log io.Writer
}

// Restored is the result of Restore, which the operator reads as its container's termination message.
type Restored struct {
	// RevisionBumped is by how much the revision was raised.
	RevisionBumped int64 `json:"revisionBumped"`
}

// ParseRestored reads that message.
func ParseRestored(message string) (Restored, error) {
	var r Restored
	if err := json.Unmarshal([]byte(message), &r); err != nil {
		return r, fmt.Errorf("reading the result of the restore: %w", err)
	}
	return r, nil
}

// Run returns when the data directory is complete.
func (r *Restore) Run(ctx context.Context) (Restored, error) {
	note := r.Identity.DataDir + ".restored"
	filled, err := r.Identity.isFilled(r.Log)
	if err != nil {
		return Restored{}, err
	}
	if filled {
		return readNote(note), nil
	}
	tool, err := r.tool()
	if err != nil {
		return Restored{}, err
	}
	unfinished := r.Identity.DataDir + ".restoring"
	if err := errors.Join(os.RemoveAll(unfinished), os.RemoveAll(r.Identity.DataDir)); err != nil {
		return Restored{}, fmt.Errorf("making room for the data directory: %w", err)
	}
	done, err := r.restore(ctx, tool, unfinished)
	if err != nil {
		return Restored{}, err
	}
	if err := r.finish(note, unfinished, done); err != nil {
		return Restored{}, fmt.Errorf("putting the data directory into its place: %w", err)
	}
	logf(r.Log, "the data directory is complete; the revision was raised by %d", done.RevisionBumped)
	return done, nil
}

// finish gives the data directory its name: from then on it counts.
func (r *Restore) finish(note, unfinished string, done Restored) error {
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	for _, do := range []func() error{
		func() error { return os.WriteFile(note, text, 0o600) },
		func() error { return os.Rename(unfinished, r.Identity.DataDir) },
		func() error { return syncFolder(r.Identity.DataDir) },
		func() error { return os.Remove(r.Snapshot) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func readNote(path string) Restored {
	text, err := os.ReadFile(path)
	if err != nil {
		return Restored{}
	}
	done, _ := ParseRestored(string(text))
	return done
}

func (r *Restore) tool() (string, error) {
	for _, tool := range r.Tools {
		if path, err := exec.LookPath(tool); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the image of etcd has none of %s, which restore a snapshot: use another image", strings.Join(r.Tools, ", "))
}

// restore runs the tool.
func (r *Restore) restore(ctx context.Context, tool, into string) (Restored, error) {
	var done Restored
	args := append([]string{"snapshot", "restore", r.Snapshot, "--data-dir=" + into}, r.Args...)
	if r.BumpRevision > 0 {
		if r.canBump(ctx, tool) {
			args = append(args, "--bump-revision="+strconv.FormatInt(r.BumpRevision, 10), "--mark-compacted")
			done.RevisionBumped = r.BumpRevision
		} else {
			logf(r.Log, "%s of this version cannot raise the revision: it stays as it is in the snapshot", tool)
		}
	}
	logf(r.Log, "%s %s", tool, strings.Join(args, " "))
	var output bytes.Buffer
	command := r.command(ctx, tool, args...)
	command.Stdout, command.Stderr = r.Log, io.MultiWriter(r.Log, &output)
	if err := command.Run(); err != nil {
		return Restored{}, fmt.Errorf("etcd's own tool cannot restore the snapshot: %w: %s", err, lastLine(output.String()))
	}
	return done, nil
}

// canBump asks the tool itself: the flags came with patch releases.
func (r *Restore) canBump(ctx context.Context, tool string) bool {
	// Asked for help, tools of all versions explain themselves, though not all of them
	// call that a success.
	text, _ := r.command(ctx, tool, "snapshot", "restore", "--help").CombinedOutput()
	return bytes.Contains(text, []byte("--bump-revision")) && bytes.Contains(text, []byte("--mark-compacted"))
}

func (r *Restore) command(ctx context.Context, tool string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, tool, args...)
	// Before 3.4 etcdctl speaks the API of etcd 2 unless configured otherwise.
	command.Env = append(os.Environ(), "ETCDCTL_API=3")
	return command
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
