// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/keyspace"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reach"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
)

type topOptions struct {
	depth, rows int
	sample      time.Duration
	output      string
}

// topResult is what `top` found. Its JSON form is part of what the plugin promises.
type topResult struct {
	Revision int64            `json:"revision"`
	Size     int64            `json:"size"`
	InUse    int64            `json:"inUse"`
	Quota    int64            `json:"quota,omitempty"`
	Sampled  float64          `json:"sampledSeconds"`
	Prefixes []keyspace.Usage `json:"prefixes"`
	Largest  []keyspace.Key   `json:"largest"`
	// GrowthPerDay is in bytes, and FullOn the day on which the quota is reached, where the kept backups tell.
	GrowthPerDay *float64   `json:"growthPerDay,omitempty"`
	FullOn       *time.Time `json:"fullOn,omitempty"`
}

func newTop(e *env) *cobra.Command {
	o := topOptions{}
	cmd := &cobra.Command{
		Use:     "top NAME",
		GroupID: groupSee,
		Short:   "Show what fills a cluster: keys, bytes and writes by prefix",
		Long: `Read all keys of one revision, page by page and without consensus, and count keys and
bytes by prefix; then watch for a while and count writes. Shown are the prefixes, the
largest keys, and, if regular backups tell how the data grows, the day on which the
quota is reached. Values are counted, not shown.

All data passes through the API server once: in a large cluster this takes a while.`,
		Example: `  kubectl etcd top example
  kubectl etcd top example --depth 3 --sample 1m`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(o.output); err != nil {
				return err
			}
			c, err := e.connect(e.flags)
			if err != nil {
				return err
			}
			cluster, err := c.cluster(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.top(cmd.Context(), c, cluster, o)
		},
	}
	addOutputFlag(cmd, &o.output)
	cmd.Flags().IntVar(&o.depth, "depth", 2, "How many parts of a key, between slashes, make a prefix")
	cmd.Flags().IntVar(&o.rows, "rows", 10, "How many prefixes and keys to show")
	cmd.Flags().DurationVar(&o.sample, "sample", 10*time.Second, "How long to watch writes; 0 for not at all")
	return cmd
}

func (e *env) top(ctx context.Context, c *clients, cluster *v1beta2.EtcdCluster, o topOptions) error {
	all, err := c.open(ctx, cluster)
	if err != nil {
		return err
	}
	defer all.Close()
	member := leastLoaded(all)
	survey := &keyspace.Survey{Depth: o.depth, Largest: o.rows}
	result := topResult{Size: member.Status.DbSize, InUse: member.Status.DbSizeInUse, Quota: member.Status.DbSizeQuota, Sampled: o.sample.Seconds()}
	if result.Revision, err = countKeys(ctx, member, survey); err != nil {
		return fmt.Errorf("reading keys from %s: %w", member.Name, reach.Plain(err))
	}
	if o.sample > 0 {
		if err := countWrites(ctx, member, survey, result.Revision+1, o.sample); err != nil {
			return fmt.Errorf("watching %s: %w", member.Name, reach.Plain(err))
		}
	}
	result.Prefixes, result.Largest = survey.Usages(), survey.LargestKeys()
	result.forecast(c.sizes(ctx, cluster), time.Now())
	if o.output != "" {
		return printAs(e.out, o.output, result)
	}
	e.showTop(result, o)
	return nil
}

// leastLoaded is a member that does not lead, if there is one.
func leastLoaded(all *reach.Cluster) *reach.Member {
	for _, m := range all.Members {
		if !m.IsLeader() && !m.Status.IsLearner {
			return m
		}
	}
	return all.Members[0]
}

// page is how many keys are read at once.
const page = 500

// countKeys reads all keys as they are at one revision. A member answers from its own data, so that nobody else is disturbed.
func countKeys(ctx context.Context, m *reach.Member, survey *keyspace.Survey) (revision int64, err error) {
	kv := pb.NewKVClient(m.Conn)
	request := &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}, Limit: page, Serializable: true}
	for {
		r, err := kv.Range(ctx, request)
		if err != nil {
			return 0, err
		}
		if request.Revision == 0 {
			request.Revision = r.Header.Revision
		}
		for _, pair := range r.Kvs {
			survey.Add(pair.Key, len(pair.Value), pair.Version)
		}
		if !r.More || len(r.Kvs) == 0 {
			return request.Revision, nil
		}
		request.Key = append(r.Kvs[len(r.Kvs)-1].Key, 0)
	}
}

// countWrites watches all keys for a while, which begins when etcd has begun to watch.
func countWrites(ctx context.Context, m *reach.Member, survey *keyspace.Survey, from int64, sample time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewWatchClient(m.Conn).Watch(ctx)
	if err != nil {
		return err
	}
	create := &pb.WatchCreateRequest{Key: []byte{0}, RangeEnd: []byte{0}, StartRevision: from, Fragment: true}
	if err := stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}); err != nil {
		return err
	}
	for {
		r, err := stream.Recv()
		switch {
		case ctx.Err() != nil:
			return nil // the time is over
		case err != nil:
			return err
		case r.Canceled:
			return fmt.Errorf("etcd ended the watch: %s", r.CancelReason)
		case r.Created:
			defer time.AfterFunc(sample, cancel).Stop()
		}
		for _, event := range r.Events {
			survey.Wrote(event.Kv.Key, len(event.Kv.Value))
		}
	}
}

// sizes are those of the backups that are kept of the cluster, if they are stored as they are.
func (c *clients) sizes(ctx context.Context, cluster *v1beta2.EtcdCluster) []keyspace.Point {
	list, err := c.etcd.EtcdV1beta2().EtcdBackups(cluster.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var best []keyspace.Point
	for i := range list.Items {
		b := &list.Items[i]
		if !view.BacksUp(b, cluster) || b.Spec.Compression == v1beta2.BackupCompressionZstd {
			continue
		}
		var points []keyspace.Point
		for _, kept := range b.Status.Backups {
			if kept.ClusterID == cluster.Status.ClusterID && kept.Size > 0 {
				points = append(points, keyspace.Point{Time: kept.Time.Time, Bytes: kept.Size})
			}
		}
		if len(points) > len(best) {
			best = points
		}
	}
	return best
}

func (r *topResult) forecast(points []keyspace.Point, now time.Time) {
	perDay, ok := keyspace.Growth(points)
	if !ok {
		return
	}
	r.GrowthPerDay = &perDay
	if day, ok := keyspace.Full(now, r.Size, r.Quota, perDay); ok {
		r.FullOn = &day
	}
}

func (e *env) showTop(r topResult, o topOptions) {
	s := screen.Of(e.out)
	quota := ""
	if r.Quota > 0 {
		quota = fmt.Sprintf(", quota %s (%.0f%% used)", screen.Bytes(r.Quota), 100*float64(r.Size)/float64(r.Quota))
	}
	fmt.Fprintf(e.out, "Revision %d, database %s, %s of it in use%s\n\n", r.Revision, screen.Bytes(r.Size), screen.Bytes(r.InUse), quota)
	var rows [][]screen.Cell
	for _, u := range r.Prefixes[:min(len(r.Prefixes), o.rows)] {
		rate, bytes := screen.Unknown, screen.Unknown
		if r.Sampled > 0 {
			rate = fmt.Sprintf("%.1f", float64(u.Writes)/r.Sampled)
			bytes = screen.Bytes(int64(float64(u.Written) / r.Sampled))
		}
		rows = append(rows, []screen.Cell{{Text: u.Prefix}, {Text: fmt.Sprint(u.Keys)}, {Text: screen.Bytes(u.Bytes)}, {Text: rate}, {Text: bytes}})
	}
	s.Table(e.out, []screen.Column{{Title: "PREFIX"}, {Title: "KEYS"}, {Title: "BYTES"}, {Title: "WRITES/S", Optional: 1}, {Title: "WRITTEN/S", Optional: 2}}, rows)
	if more := len(r.Prefixes) - len(rows); more > 0 {
		fmt.Fprintf(e.out, "… and %d more prefixes\n", more)
	}
	fmt.Fprintln(e.out)
	rows = nil
	for _, k := range r.Largest {
		rows = append(rows, []screen.Cell{{Text: fmt.Sprintf("%q", k.Key)}, {Text: screen.Bytes(k.Bytes)}, {Text: fmt.Sprint(k.Versions)}})
	}
	s.Table(e.out, []screen.Column{{Title: "LARGEST KEYS"}, {Title: "BYTES"}, {Title: "VERSIONS", Optional: 1}}, rows)
	fmt.Fprintln(e.out)
	switch {
	case r.GrowthPerDay == nil:
		fmt.Fprintln(e.out, "Growth is not known: it takes two uncompressed backups of this cluster, an hour apart.")
	case r.FullOn != nil:
		fmt.Fprintf(e.out, "It grows by %s a day; the quota is reached on %s.\n", screen.Bytes(int64(*r.GrowthPerDay)), r.FullOn.UTC().Format(time.DateOnly))
	default:
		fmt.Fprintln(e.out, "It does not grow, as far as its backups tell.")
	}
}
