// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command lab runs a real Kubernetes on one Linux machine. See package lab.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/etcd-operator/etcd-operator/lab"
)

func main() {
	// An interrupted command stops at its next step. What it has done so far is in the journal, as after a crash.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "A real Kubernetes on one Linux machine, whose nodes can be cut off, killed and brought back",
		Long: `A real Kubernetes on one Linux machine, for trying things out and for tests.

Kubernetes and etcd are compiled from their Go modules and cached; containerd, runc
and the CNI plugins are Debian's. Each node is a set of namespaces with a containerd,
a kubelet and a kube-proxy of its own. There is one lab per machine. Its state is in
/var/lib/etcd-operator-lab, or where ETCD_OPERATOR_LAB_STATE says. It needs root.`,
		Example: `  lab up                                    # three nodes
  export KUBECONFIG=$(lab kubeconfig)
  lab load _out/images/etcd-operator.tar    # there is no registry to pull from
  lab node cut 2                            # node2 is cut off from the network ...
  lab node heal 2                           # ... and connected again
  lab power-cut && lab up                   # everything off at once, and back
  lab down                                  # leaves nothing behind`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		upCommand(), downCommand(), statusCommand(), kubeconfigCommand(), loadCommand(), logsCommand(),
		nodeCommand(), podCommand(), powerCutCommand(),
		machineCommand(), waitForAPICommand(), volumesCommand(), importImagesCommand(),
	)
	return root
}

// open opens the lab for a command that a person called.
func open(cmd *cobra.Command, o lab.Options) (*lab.Lab, error) {
	o.Progress = cmd.ErrOrStderr()
	return lab.Open(o)
}

// onLab returns the RunE of a command that does one thing to the lab.
func onLab(do func(ctx context.Context, l *lab.Lab, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		l, err := open(cmd, lab.Options{})
		if err != nil {
			return err
		}
		return do(cmd.Context(), l, args)
	}
}
