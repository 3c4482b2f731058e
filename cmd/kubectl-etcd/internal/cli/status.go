// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reach"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
)

type statusOptions struct {
	output   string
	watch    bool
	interval time.Duration
	offline  bool
}

func newStatus(e *env) *cobra.Command {
	o := statusOptions{}
	cmd := &cobra.Command{
		Use:     "status [NAME]",
		GroupID: groupSee,
		Short:   "Show how a cluster is, why, and what to type next",
		Long: `Show one cluster on one screen: its members, what the operator is doing and why it
waits, the next command to type, alarms, certificates, the last good backup and
recent events. Without a name it shows the only cluster of the namespace, or lists
them all.

Everything but the live figures is read from the API server. Live figures (raft
lag, exact sizes, the quota) come from the members, through the API server's
port-forward; without the right to that, they are shown as "–".

Exit codes: 0 all is well; 1 the cluster serves but is not what its spec asks for;
2 it does not serve; 3 there is no such cluster; 4 the question could not be asked.`,
		Example: `  kubectl etcd status example
  kubectl etcd status example --watch
  kubectl etcd status example -o json | jq .operator.reason
  kubectl etcd status example >/dev/null || echo "look at example"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: e.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(o.output); err != nil {
				return err
			}
			c, err := e.connect(e.flags)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if args, err = e.onlyCluster(cmd.Context(), c, o); len(args) == 0 {
					return err
				}
			}
			return e.status(cmd.Context(), c, args[0], o)
		},
	}
	addOutputFlag(cmd, &o.output)
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "Redraw until interrupted")
	cmd.Flags().DurationVar(&o.interval, "interval", 2*time.Second, "How often to redraw")
	cmd.Flags().BoolVar(&o.offline, "offline", false, "Do not ask the members: only what the API server knows")
	return cmd
}

// onlyCluster is the name of the namespace's only cluster. Where there are several, it lists them instead.
func (e *env) onlyCluster(ctx context.Context, c *clients, o statusOptions) ([]string, error) {
	list, err := c.etcd.EtcdV1beta2().EtcdClusters(c.namespace).List(ctx, metav1.ListOptions{})
	switch {
	case err != nil:
		return nil, err
	case len(list.Items) == 0:
		return nil, withCode(exitNotFound, `there is no EtcdCluster in namespace %q; "kubectl etcd list -A" shows those that you may see`, c.namespace)
	case len(list.Items) == 1:
		return []string{list.Items[0].Name}, nil
	}
	return nil, e.showList(ctx, c, list.Items, listOptions{output: o.output})
}

// source reads views with the user's rights.
func (c *clients) source(offline bool) *view.Source {
	source := &view.Source{Kube: c.kube, Etcd: c.etcd, Now: time.Now}
	if !offline && c.config != nil {
		source.Ask = (&reach.Members{Config: c.config, Kube: c.kube}).Ask
	}
	return source
}

// summary reads and summarizes one cluster.
func (c *clients) summary(ctx context.Context, name string, offline bool) (*summary.Summary, error) {
	cluster, err := c.cluster(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := c.source(offline).Gather(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return summary.Of(v), nil
}

func (e *env) status(ctx context.Context, c *clients, name string, o statusOptions) error {
	if o.watch {
		return e.watchStatus(ctx, c, name, o)
	}
	s, err := c.summary(ctx, name, o.offline)
	if err != nil {
		return err
	}
	if o.output != "" {
		if err := printAs(e.out, o.output, s); err != nil {
			return err
		}
	} else {
		screen.Of(e.out).Status(e.out, s)
	}
	return healthCode(s.Health)
}

// healthCode ends the program with the exit code of a state of health.
func healthCode(h summary.Health) error {
	if code := h.ExitCode(); code != exitWell {
		return &exitError{code: code}
	}
	return nil
}

// watchStatus redraws in place on a terminal; elsewhere it writes a block whenever something has changed.
func (e *env) watchStatus(ctx context.Context, c *clients, name string, o statusOptions) error {
	if o.output != "" {
		return fmt.Errorf("--watch draws for people: use it without --output")
	}
	painter := screen.NewPainter(e.out)
	defer painter.Close()
	for {
		s, err := c.summary(ctx, name, o.offline)
		if ctx.Err() != nil {
			return nil
		}
		var block bytes.Buffer
		if err != nil {
			fmt.Fprintln(&block, explainError(err))
		} else {
			painter.Screen().Status(&block, s)
		}
		painter.Draw(block.String())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.interval):
		}
	}
}
