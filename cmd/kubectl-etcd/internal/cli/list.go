// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
)

type listOptions struct {
	everywhere bool
	output     string
}

func newList(e *env) *cobra.Command {
	o := listOptions{}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		GroupID: groupSee,
		Short:   "List clusters with their health",
		Long: `List the clusters of the namespace, or of all namespaces, one line each: how they
are, how many voters may still fail, their version, and why the operator waits.

The exit code is that of the cluster that is worst off.`,
		Example: `  kubectl etcd list
  kubectl etcd list -A
  kubectl etcd list -A -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(o.output); err != nil {
				return err
			}
			c, err := e.connect(e.flags)
			if err != nil {
				return err
			}
			namespace := c.namespace
			if o.everywhere {
				namespace = metav1.NamespaceAll
			}
			list, err := c.etcd.EtcdV1beta2().EtcdClusters(namespace).List(cmd.Context(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			return e.showList(cmd.Context(), c, list.Items, o)
		},
	}
	addOutputFlag(cmd, &o.output)
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "Clusters of all namespaces")
	return cmd
}

// showList shows clusters as the API server knows them. Members are not asked: there may be hundreds.
func (e *env) showList(ctx context.Context, c *clients, clusters []v1beta2.EtcdCluster, o listOptions) error {
	list := make([]*summary.Summary, 0, len(clusters))
	worst := summary.Well
	source := &view.Source{Kube: c.kube, Etcd: c.etcd, Now: time.Now, Brief: true}
	for i := range clusters {
		v, err := source.Gather(ctx, &clusters[i])
		if err != nil {
			return err
		}
		s := summary.Of(v)
		list = append(list, s)
		if s.Health.ExitCode() > worst.ExitCode() {
			worst = s.Health
		}
	}
	switch {
	case o.output != "":
		if err := printAs(e.out, o.output, list); err != nil {
			return err
		}
	case len(list) == 0 && o.everywhere:
		fmt.Fprintln(e.err, "There are no EtcdClusters.")
	case len(list) == 0:
		fmt.Fprintf(e.err, "There are no EtcdClusters in namespace %q.\n", c.namespace)
	default:
		screen.Of(e.out).List(e.out, list, o.everywhere, time.Now())
	}
	return healthCode(worst)
}
