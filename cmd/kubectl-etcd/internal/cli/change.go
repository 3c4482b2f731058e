// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// patchSpec changes fields of the spec.
func (c *clients) patchSpec(ctx context.Context, cluster *v1beta2.EtcdCluster, fields map[string]any) (*v1beta2.EtcdCluster, error) {
	patch, err := json.Marshal(map[string]any{"spec": fields})
	if err != nil {
		return nil, err
	}
	return c.etcd.EtcdV1beta2().EtcdClusters(cluster.Namespace).Patch(ctx, cluster.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-etcd"})
}

func newPause(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "pause NAME",
		GroupID: groupDo,
		Short:   "Stop the operator from changing a cluster",
		Long: `Set spec.paused. The operator then changes nothing: no member is added, replaced,
upgraded or repaired. Status and health are kept up to date.`,
		Example:           "  kubectl etcd pause example",
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE:              e.setPaused(true),
	}
}

func newResume(e *env) *cobra.Command {
	return &cobra.Command{
		Use:               "resume NAME",
		GroupID:           groupDo,
		Short:             "Let the operator change a paused cluster again",
		Long:              "Remove spec.paused. The operator then makes the cluster what its spec asks for.",
		Example:           "  kubectl etcd resume example",
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE:              e.setPaused(false),
	}
}

func (e *env) setPaused(paused bool) func(*cobra.Command, []string) error {
	return e.onCluster(func(ctx context.Context, c *clients, name string) error {
		cluster, err := c.cluster(ctx, name)
		if err != nil {
			return err
		}
		word := map[bool]string{true: "paused", false: "resumed"}[paused]
		if cluster.Spec.Paused == paused {
			fmt.Fprintf(e.out, "etcdcluster/%s is %s already\n", name, word)
			return nil
		}
		if _, err := c.patchSpec(ctx, cluster, map[string]any{"paused": paused}); err != nil {
			return err
		}
		fmt.Fprintf(e.out, "etcdcluster/%s %s\n", name, word)
		return nil
	})
}

type upgradeOptions struct {
	followOptions
	yes, force bool
}

func newUpgrade(e *env) *cobra.Command {
	o := upgradeOptions{}
	cmd := &cobra.Command{
		Use:     "upgrade NAME VERSION",
		GroupID: groupDo,
		Short:   "Change the version of etcd, and follow until all members run it",
		Long: `Set spec.version and wait until all members run it. The way from the version that
runs now is checked first: etcd skips no minor version and does not go back to one.
Nothing is changed unless the cluster is healthy, because an upgrade interrupts one
member after the other.`,
		Example: `  kubectl etcd upgrade example 3.6.17
  kubectl etcd upgrade example 3.7.3 --yes --no-wait`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("name one EtcdCluster and a version: kubectl etcd upgrade NAME %s", etcdversion.Default)
			}
			return nil
		},
		ValidArgsFunction: e.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.connect(e.flags)
			if err != nil {
				return err
			}
			return e.upgrade(cmd.Context(), c, args[0], args[1], o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	cmd.Flags().BoolVar(&o.force, "force", false, "Also if the cluster is not healthy")
	return cmd
}

func (e *env) upgrade(ctx context.Context, c *clients, name, wanted string, o upgradeOptions) error {
	cluster, err := c.cluster(ctx, name)
	if err != nil {
		return err
	}
	running := cluster.Status.CurrentVersion
	if running == "" {
		running = manifests.Version(cluster)
	}
	from, err := etcdversion.Parse(running)
	if err != nil {
		return err
	}
	to, err := etcdversion.Parse(wanted)
	if err != nil {
		return err
	}
	if refused := etcdversion.CheckChange(from, to); refused != nil {
		return fmt.Errorf("%s: %s", refused.Reason, refused.Message)
	}
	if err := e.mayUpgrade(ctx, c, name, from, to, o); err != nil {
		return err
	}
	if cluster, err = c.patchSpec(ctx, cluster, map[string]any{"version": etcdversion.Normalize(wanted)}); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "etcdcluster/%s: version %s, was %s\n", name, to, from)
	if o.noWait {
		return nil
	}
	return e.follow(ctx, o.followOptions, func(ctx context.Context) (string, bool, error) {
		now, err := c.cluster(ctx, name)
		if err != nil {
			return "", false, err
		}
		return upgradeState(now, cluster.Generation, etcdversion.Normalize(wanted))
	})
}

// mayUpgrade checks that the cluster can do without a member for a moment, and asks where there is no way back.
func (e *env) mayUpgrade(ctx context.Context, c *clients, name string, from, to etcdversion.Version, o upgradeOptions) error {
	s, err := c.summary(ctx, name, true)
	if err != nil {
		return err
	}
	if s.Health != summary.Well && !o.force {
		return fmt.Errorf("%s is not healthy (%s: %s); an upgrade would interrupt a member. Repair it first, or use --force", name, s.State, s.Operator.Message)
	}
	if from.Major == to.Major && from.Minor == to.Minor {
		return nil
	}
	consequences := []string{fmt.Sprintf("etcd %d.%d does not go back to %d.%d: only a restore of a backup does.", to.Major, to.Minor, from.Major, from.Minor)}
	if s.Backup == nil || s.Backup.Time.IsZero() {
		consequences = append(consequences, "No backup of this cluster is known: kubectl etcd backup "+name)
	}
	return e.confirm(consequences, name, o.yes)
}

// upgradeState says how many members run a version.
func upgradeState(c *v1beta2.EtcdCluster, generation int64, version string) (text string, done bool, err error) {
	done = c.Status.ObservedGeneration >= generation
	upgraded := 0
	for _, m := range c.Status.MemberStatuses {
		if m.Version == version && m.Healthy {
			upgraded++
		}
	}
	text = fmt.Sprintf("%d of %d members run %s", upgraded, len(c.Status.MemberStatuses), version)
	ready := false
	for _, condition := range c.Status.Conditions {
		switch {
		case condition.Type == v1beta2.ClusterConditionReady && condition.Status == "True":
			ready = true
		case condition.Type == v1beta2.ClusterConditionReady && condition.Message != "":
			text += ": " + condition.Message
		case condition.Type == v1beta2.ClusterConditionStalled && condition.Status == "True" && done:
			return text, false, fmt.Errorf("the operator does not go on (%s): %s", condition.Reason, condition.Message)
		}
	}
	return text, done && ready && upgraded > 0 && upgraded == len(c.Status.MemberStatuses), nil
}
