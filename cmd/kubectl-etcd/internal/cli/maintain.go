// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reach"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
)

// open connects to all members of a cluster that run.
func (c *clients) open(ctx context.Context, cluster *v1beta2.EtcdCluster) (*reach.Cluster, error) {
	names, err := c.runningMembers(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return (&reach.Members{Config: c.config, Kube: c.kube}).ConnectAll(ctx, cluster, names)
}

// revision is the newest revision that a member knows.
func (c *clients) revision(ctx context.Context, cluster *v1beta2.EtcdCluster) (int64, error) {
	if c.config == nil {
		return 0, errors.New("members cannot be asked")
	}
	all, err := c.open(ctx, cluster)
	if err != nil {
		return 0, err
	}
	defer all.Close()
	newest := int64(0)
	for _, m := range all.Members {
		newest = max(newest, m.Status.Header.Revision)
	}
	return newest, nil
}

// onMembers is the RunE of commands that talk to the members of the cluster that they are given.
func (e *env) onMembers(do func(context.Context, *v1beta2.EtcdCluster, *reach.Cluster) error) func(*cobra.Command, []string) error {
	return e.onCluster(func(ctx context.Context, c *clients, name string) error {
		cluster, err := c.cluster(ctx, name)
		if err != nil {
			return err
		}
		all, err := c.open(ctx, cluster)
		if err != nil {
			return err
		}
		defer all.Close()
		return do(ctx, cluster, all)
	})
}

func newMoveLeader(e *env) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:     "move-leader NAME",
		GroupID: groupDo,
		Short:   "Hand leadership to another member",
		Long: `Hand leadership to the member of --to, or to the voter that is the least behind.
Clients notice a pause of some milliseconds.`,
		Example: `  kubectl etcd move-leader example
  kubectl etcd move-leader example --to example-abc`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE: e.onMembers(func(ctx context.Context, _ *v1beta2.EtcdCluster, all *reach.Cluster) error {
			return e.moveLeader(ctx, all, to)
		}),
	}
	cmd.Flags().StringVar(&to, "to", "", "The member that is to lead")
	return cmd
}

func (e *env) moveLeader(ctx context.Context, all *reach.Cluster, to string) error {
	leader := all.Leader()
	if leader == nil {
		return withCode(exitNotServing, "none of the members that answer leads")
	}
	next, err := nextLeader(all, leader, to)
	if err != nil {
		return err
	}
	if next == leader {
		fmt.Fprintf(e.out, "%s leads already\n", to)
		return nil
	}
	if _, err := pb.NewMaintenanceClient(leader.Conn).MoveLeader(ctx, &pb.MoveLeaderRequest{TargetID: next.Status.Header.MemberId}); err != nil {
		return fmt.Errorf("handing leadership from %s to %s: %w", leader.Name, next.Name, reach.Plain(err))
	}
	fmt.Fprintf(e.out, "leader: %s, was %s\n", next.Name, leader.Name)
	return nil
}

// nextLeader is the member of that name, or the voter that is the least behind.
func nextLeader(all *reach.Cluster, leader *reach.Member, to string) (*reach.Member, error) {
	var best *reach.Member
	for _, m := range all.Members {
		switch {
		case to == m.Name && m.Status.IsLearner:
			return nil, fmt.Errorf("%s is a learner, which cannot lead", to)
		case to == m.Name:
			return m, nil
		case to != "" || m == leader || m.Status.IsLearner:
		case best == nil || m.Status.RaftAppliedIndex > best.Status.RaftAppliedIndex:
			best = m
		}
	}
	switch {
	case to != "":
		return nil, withCode(exitNotFound, "%s is no member that answers", to)
	case best == nil:
		return nil, errors.New("there is no other voter that answers")
	}
	return best, nil
}

type defragOptions struct{ compact, disarm, yes bool }

func newDefrag(e *env) *cobra.Command {
	o := defragOptions{}
	cmd := &cobra.Command{
		Use:     "defrag NAME",
		GroupID: groupDo,
		Short:   "Defragment all members, one at a time, the leader last",
		Long: `Defragment the members' databases, which gives back to the disk, and to the quota, what
compaction has freed. A member does not answer while it is defragmented, so that
it is done one member at a time, the leader last and after handing leadership over,
and only if all members answer.

--compact first drops the history of all keys up to now. Values stay, but watches and
reads of older revisions fail. --disarm ends the alarm NOSPACE afterwards, so that
etcd takes writes again.`,
		Example: `  kubectl etcd defrag example
  kubectl etcd defrag example --compact --disarm`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE: e.onMembers(func(ctx context.Context, cluster *v1beta2.EtcdCluster, all *reach.Cluster) error {
			if missing := cluster.Spec.Size - len(all.Members); missing > 0 || len(all.Silent) > 0 {
				return fmt.Errorf("%d of %d members answer: defragmenting one more could cost the quorum. %w", len(all.Members), cluster.Spec.Size, errors.Join(all.Silent...))
			}
			return e.defrag(ctx, all, cluster.Name, o)
		}),
	}
	cmd.Flags().BoolVar(&o.compact, "compact", false, "Drop the history of all keys first")
	cmd.Flags().BoolVar(&o.disarm, "disarm", false, "End the alarm NOSPACE afterwards")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	return cmd
}

func (e *env) defrag(ctx context.Context, all *reach.Cluster, name string, o defragOptions) error {
	if o.compact {
		if err := e.compact(ctx, all, name, o.yes); err != nil {
			return err
		}
	}
	slices.SortStableFunc(all.Members, func(a, b *reach.Member) int { return rank(a) - rank(b) })
	for _, m := range all.Members {
		if err := m.Look(ctx); err != nil {
			return fmt.Errorf("%w; the others were left alone", err)
		}
		if m.IsLeader() && len(all.Members) > 1 {
			if err := e.moveLeader(ctx, all, ""); err != nil {
				return err
			}
		}
		before := m.Status.DbSize
		if _, err := pb.NewMaintenanceClient(m.Conn).Defragment(ctx, &pb.DefragmentRequest{}); err != nil {
			return fmt.Errorf("defragmenting %s: %w", m.Name, reach.Plain(err))
		}
		if err := m.Look(ctx); err != nil {
			return err
		}
		fmt.Fprintf(e.out, "%s: %s, was %s\n", m.Name, screen.Bytes(m.Status.DbSize), screen.Bytes(before))
	}
	if o.disarm {
		return e.disarm(ctx, all)
	}
	for _, m := range all.Members {
		if slices.ContainsFunc(m.Status.Errors, func(alarm string) bool { return strings.Contains(alarm, "NOSPACE") }) {
			fmt.Fprintf(e.err, "The alarm NOSPACE is still on, and etcd refuses writes: kubectl etcd etcdctl %s -- alarm disarm\n", name)
			break
		}
	}
	return nil
}

// rank puts the leader last.
func rank(m *reach.Member) int {
	if m.IsLeader() {
		return 1
	}
	return 0
}

func (e *env) compact(ctx context.Context, all *reach.Cluster, name string, yes bool) error {
	revision := int64(0)
	for _, m := range all.Members {
		revision = max(revision, m.Status.Header.Revision)
	}
	consequence := fmt.Sprintf("The history of all keys up to revision %d is dropped. Values stay; reads and watches of older revisions fail.", revision)
	if err := e.confirm([]string{consequence}, name, yes); err != nil {
		return err
	}
	_, err := pb.NewKVClient(all.Members[0].Conn).Compact(ctx, &pb.CompactionRequest{Revision: revision, Physical: true})
	switch {
	case err == nil:
		fmt.Fprintf(e.out, "compacted up to revision %d\n", revision)
	case strings.Contains(err.Error(), "has been compacted"): // there is no history to drop
	default:
		return fmt.Errorf("compacting: %w", reach.Plain(err))
	}
	return nil
}

func (e *env) disarm(ctx context.Context, all *reach.Cluster) error {
	request := &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, Alarm: pb.AlarmType_NOSPACE}
	for _, m := range all.Members {
		request.MemberID = m.Status.Header.MemberId
		if _, err := pb.NewMaintenanceClient(all.Members[0].Conn).Alarm(ctx, request); err != nil {
			return fmt.Errorf("disarming NOSPACE of %s: %w", m.Name, reach.Plain(err))
		}
	}
	fmt.Fprintln(e.out, "the alarm NOSPACE is off")
	return nil
}
