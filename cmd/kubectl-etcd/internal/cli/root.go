// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli has the commands of kubectl-etcd.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Exit codes, which scripts rely on.
const (
	exitWell       = 0
	exitDegraded   = 1
	exitNotServing = 2
	exitNotFound   = 3
	// exitFailed: nothing is known, because the question could not be asked.
	exitFailed = 4
)

// exitError ends the program with a code of its own. Its message, if any, is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// withCode makes an error end the program with this code.
func withCode(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

// env is what every command has: the streams, Kubernetes' own flags, and what they lead to.
type env struct {
	in       io.Reader
	out, err io.Writer
	flags    *genericclioptions.ConfigFlags
	// connect is replaced by tests.
	connect func(*genericclioptions.ConfigFlags) (*clients, error)
}

// Main runs the program with these arguments and returns its exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	if isEtcdctl() {
		runEtcdctl(args)
		return exitWell
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := &env{in: in, out: out, err: errOut, flags: genericclioptions.NewConfigFlags(true), connect: connect}
	return e.run(ctx, args)
}

// run is Main after what is the process's own.
func (e *env) run(ctx context.Context, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitWell
	}
	code := exitFailed
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if text := explainError(err); text != "" {
		fmt.Fprintln(e.err, "kubectl etcd: "+text)
	}
	return code
}

const rootLong = `Look after etcd clusters that the etcd-operator runs.

Commands take the name of an EtcdCluster, never that of a pod. They ask the API
server alone: no network path to the pods is needed. With the role "view" you see
everything but the live figures, which need the right to create pods/portforward.

Exit codes: 0 all is well; 1 the cluster serves but is not what its spec asks for;
2 it does not serve; 3 there is no such thing; 4 the question could not be asked.`

const rootExample = `  # What is the matter, and what to do about it
  kubectl etcd status example

  # All clusters that I may see
  kubectl etcd list -A

  # What the members have logged during the last ten minutes, in one stream
  kubectl etcd logs example --since 10m

  # etcdctl from this machine, with the right endpoints and certificates
  kubectl etcd etcdctl example -- member list -w table`

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-etcd",
		Short:         "Look after etcd clusters that the etcd-operator runs",
		Long:          rootLong,
		Example:       rootExample,
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl etcd"},
	}
	e.flags.AddFlags(root.PersistentFlags())
	root.AddGroup(&cobra.Group{ID: groupSee, Title: "See:"}, &cobra.Group{ID: groupDo, Title: "Do:"})
	root.AddCommand(newStatus(e), newList(e), newLogs(e), newTop(e), newExplain(e), newReport(e))
	root.AddCommand(newEtcdctl(e), newBackup(e), newRestore(e), newUpgrade(e), newPause(e), newResume(e), newMoveLeader(e), newDefrag(e))
	root.AddCommand(newVersion(e))
	_ = root.RegisterFlagCompletionFunc("namespace", e.completeNamespaces)
	return root
}

// The groups that the help shows.
const (
	groupSee = "see"
	groupDo  = "do"
)
