// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/lab"
	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/internal/machine"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
	"github.com/etcd-operator/etcd-operator/lab/volumes"
)

// The commands in this file are the lab's long-lived processes. The lab starts them itself, from its own copy of this program.

func machineCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "machine NAME",
		Short:  "Be the first process of a machine of the lab",
		Hidden: true,
		Args:   cobra.ExactArgs(1), // the name is for people who look at the list of processes
		RunE:   func(*cobra.Command, []string) error { return machine.Run() },
	}
}

func volumesCommand() *cobra.Command {
	return clientCommand("volumes", "Serve volume claims", func(ctx context.Context, l *lab.Lab, config *rest.Config) error {
		return volumes.Run(ctx, config, l.NodeDir)
	})
}

func waitForAPICommand() *cobra.Command {
	return clientCommand("wait-for-api", "Wait until the API server is ready", func(ctx context.Context, _ *lab.Lab, config *rest.Config) error {
		return apiserver.WaitReady(ctx, config)
	})
}

// clientCommand is a hidden command that is a client of the lab's API server.
func clientCommand(use, short string, run func(context.Context, *lab.Lab, *rest.Config) error) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    use,
		Short:  short,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := open(cmd, lab.Options{StateDir: dir})
			if err != nil {
				return err
			}
			config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
			if err != nil {
				return fmt.Errorf("read the lab's kubeconfig: %w", err)
			}
			return run(cmd.Context(), l, config)
		},
	}
	cmd.Flags().StringVar(&dir, "state-dir", "", "the lab's folder")
	return cmd
}

func importImagesCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "import-images FILE",
		Short:  "Import the images of a node that it does not have",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read which images to import: %w", err)
			}
			var wanted node.Wanted
			if err := json.Unmarshal(content, &wanted); err != nil {
				return fmt.Errorf("read which images to import: %s: %w", args[0], err)
			}
			return wanted.Store.Import(cmd.Context(), wanted.Tars, cmd.OutOrStdout())
		},
	}
}
