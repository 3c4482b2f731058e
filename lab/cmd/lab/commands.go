// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/lab"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

func upCommand() *cobra.Command {
	var o lab.Options
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring the lab up, whatever state it is in",
		Long: `Bring the lab up, whatever state it is in: make a new one, finish an interrupted up or
down, bring it back after a power cut, start killed nodes, heal what is cut off.
Returns when all nodes are ready and cluster DNS answers.

The first time on a machine it builds Kubernetes, which takes up to half an hour.
A new lab takes about half a minute after that.`,
		Example: "  lab up\n  lab up --nodes 5\n  lab up --nodes 1 --etcd-images v3.6.16,v3.7.3",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			o.Program = program
			l, err := open(cmd, o)
			if err != nil {
				return err
			}
			if err := l.Up(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The lab is up. Point kubectl at it with\n\n  export KUBECONFIG=%s PATH=%s:$PATH\n\n",
				l.Kubeconfig(), filepath.Dir(l.KubectlPath()))
			return nil
		},
	}
	cmd.Flags().IntVar(&o.Nodes, "nodes", 0, fmt.Sprintf("number of nodes, 1 to %d (default: as many as there are, or %d)", lab.MaxNodes, lab.DefaultNodes))
	cmd.Flags().StringSliceVar(&o.EtcdImages, "etcd-images", artifacts.EtcdVersions, "versions of etcd whose images the nodes have")
	return cmd
}

func downCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Take the lab away with everything in it",
		Long: `Take the lab away: its processes, namespaces, links, control groups and all that it
stored. Built programs and images stay in the cache.`,
		Args: cobra.NoArgs,
		RunE: onLab(func(ctx context.Context, l *lab.Lab, _ []string) error { return l.Down(ctx) }),
	}
}

func statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show nodes, components and faults in force",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := open(cmd, lab.Options{})
			if err != nil {
				return err
			}
			s, err := l.Status(cmd.Context())
			if err != nil {
				return err
			}
			return printStatus(cmd.OutOrStdout(), s)
		},
	}
}

func printStatus(out io.Writer, s lab.Status) error {
	sentence, ok := map[lab.Power]string{
		lab.Absent:  "There is no lab. Bring one up with `lab up`.",
		lab.Off:     "The lab in %s is switched off. Bring it back with `lab up`.",
		lab.Partial: "The lab in %s is partly up. Complete it with `lab up`.",
		lab.On:      "The lab in %s is up.",
	}[s.Power]
	if !ok {
		return fmt.Errorf("unknown state %q of the lab", s.Power)
	}
	fmt.Fprintln(out, strings.ReplaceAll(sentence, "%s", s.Dir))
	if s.Power == lab.Absent {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nNODE\tADDRESS\tZONE\tPOWER\tNETWORK\tKUBERNETES")
	for _, n := range s.Nodes {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", n.Name, n.Address, n.Zone, word(n.On, "on", "off"), word(n.Cut, "cut off", "connected"), n.Ready)
	}
	printComponents(table, s.Components)
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range s.CutPods {
		fmt.Fprintf(out, "\nThe pod %s/%s on %s is cut off from the network.\n", p.Namespace, p.Name, p.Node)
	}
	return nil
}

func printComponents(table io.Writer, components []lab.ComponentStatus) {
	if len(components) > 0 {
		fmt.Fprintln(table, "\nCOMPONENT\tPID\tRESTARTS")
	}
	for _, c := range components {
		pid := strconv.Itoa(c.PID)
		if c.PID == 0 {
			pid = "down"
		}
		restarts := strconv.Itoa(c.Restarts)
		if c.Exit != "" {
			restarts += " (last: " + c.Exit + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, pid, restarts)
	}
}

func word(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

func kubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path of the lab's kubeconfig",
		Example: "  export KUBECONFIG=$(lab kubeconfig)",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := open(cmd, lab.Options{})
			if err != nil {
				return err
			}
			if _, err := os.Stat(l.Kubeconfig()); err != nil {
				return fmt.Errorf("there is no lab on this machine: bring one up with `lab up` (%w)", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), l.Kubeconfig())
			return nil
		},
	}
}

func loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "load IMAGE_TAR",
		Short: "Load an image into every node",
		Long: `Load an image into every node, from a tar such as "make images" or "docker save" writes.
Nodes that are off or added later get it when they are started. Pods use it with
imagePullPolicy IfNotPresent or Never.`,
		Example: "  lab load _out/images/etcd-operator.tar",
		Args:    cobra.ExactArgs(1),
		RunE:    onLab(func(ctx context.Context, l *lab.Lab, args []string) error { return l.Load(ctx, args[0]) }),
	}
}

func logsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logs COMPONENT",
		Short: "Print the log of a component",
		Long: `Print the log of a component, such as kube-apiserver or node1-kubelet. The name of a
machine (switch, control-plane, node1) gives the log of what starts its components.
A name that does not exist is answered with the list of those that do.`,
		Example: "  lab logs node2-kubelet | tail",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			l, err := lab.Open(lab.Options{})
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return l.Components(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := open(cmd, lab.Options{})
			if err != nil {
				return err
			}
			return l.Logs(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
}

func nodeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "node", Short: "Cut a node off or kill it, and bring it back"}
	add := func(use, short, long string, do func(l *lab.Lab, ctx context.Context, n int) error) {
		cmd.AddCommand(&cobra.Command{
			Use: use + " N", Short: short, Long: long, Example: "  lab node " + use + " 2", Args: cobra.ExactArgs(1),
			RunE: onLab(func(ctx context.Context, l *lab.Lab, args []string) error {
				n, err := strconv.Atoi(strings.TrimPrefix(args[0], "node"))
				if err != nil {
					return fmt.Errorf("%q is no node: give its number, such as 2", args[0])
				}
				return do(l, ctx, n)
			}),
		})
	}
	add("cut", "Cut a node off from the network", `Cut a node off from the network: every packet from and to it is dropped silently. Its
processes keep running. Kubernetes takes 20 seconds to notice.`, (*lab.Lab).CutNode)
	add("heal", "Connect a node that was cut off", "", (*lab.Lab).HealNode)
	add("kill", "Switch a node off at once", `Switch a node off, as by pulling the plug: kubelet, kube-proxy, containerd and all its
containers end at once. Its disk stays as it is. node1 carries the cluster's name
server, and the way from this machine to ClusterIPs.`, (*lab.Lab).KillNode)
	add("start", "Switch a node on again", `Switch a node on again, with what is on its disk: images, volumes and the emptyDirs of
its pods. Returns when Kubernetes calls it ready, unless it is cut off.`, (*lab.Lab).StartNode)
	return cmd
}

func podCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "pod", Short: "Cut a pod off, and connect it again"}
	add := func(use, short, long string, do func(l *lab.Lab, ctx context.Context, namespace, name string) error) {
		cmd.AddCommand(&cobra.Command{
			Use: use + " NAMESPACE/POD", Short: short, Long: long, Example: "  lab pod " + use + " default/example-0", Args: cobra.ExactArgs(1),
			RunE: onLab(func(ctx context.Context, l *lab.Lab, args []string) error {
				namespace, name, ok := strings.Cut(args[0], "/")
				if !ok || namespace == "" || name == "" {
					return fmt.Errorf("%q is no pod: give its namespace and name, such as default/example-0", args[0])
				}
				return do(l, ctx, namespace, name)
			}),
		})
	}
	add("cut", "Cut a pod off from the network", `Cut a pod off from the network, its own node included: every packet from and to it is
dropped silently. Its containers keep running.`, (*lab.Lab).CutPod)
	add("heal", "Connect a pod that was cut off", "", (*lab.Lab).HealPod)
	return cmd
}

func powerCutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "power-cut",
		Short: "Switch everything off at once; `lab up` brings it back",
		Long: `Switch everything off at once, as by pulling every plug: all nodes and the control
plane. All disks stay as they are. "lab up" brings everything back.`,
		Args: cobra.NoArgs,
		RunE: onLab(func(ctx context.Context, l *lab.Lab, _ []string) error { return l.PowerCut(ctx) }),
	}
}
