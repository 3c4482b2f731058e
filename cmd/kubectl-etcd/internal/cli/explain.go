// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reasons"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
)

func newExplain(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [REASON]",
		GroupID: groupSee,
		Short:   "Explain a reason why the operator waits",
		Long: `Explain a reason that a condition, an event or "kubectl etcd status" has named:
what it means, and what to do. Without a reason, list them all. It works without
a connection to Kubernetes.`,
		Example: `  kubectl etcd explain QuorumLost
  kubectl etcd explain`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return reasons.Like(""), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, r := range reasons.All() {
					fmt.Fprintln(e.out, r.Name)
				}
				return nil
			}
			return e.explain(args[0])
		},
	}
}

func (e *env) explain(name string) error {
	reason, ok := reasons.Find(name)
	if !ok {
		if near := reasons.Like(name); len(near) > 0 {
			return withCode(exitNotFound, "there is no reason %q; do you mean %s?", name, strings.Join(near, " or "))
		}
		return withCode(exitNotFound, `there is no reason %q; "kubectl etcd explain" lists them all`, name)
	}
	terminal := screen.Of(e.out)
	terminal.Explain(e.out, reason)
	return nil
}
