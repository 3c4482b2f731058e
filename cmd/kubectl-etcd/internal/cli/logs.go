// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/logline"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

type logOptions struct {
	since            time.Duration
	tail             int64
	follow, previous bool
	level            string
}

func newLogs(e *env) *cobra.Command {
	o := logOptions{}
	cmd := &cobra.Command{
		Use:     "logs NAME",
		GroupID: groupSee,
		Short:   "Show the logs of all members, merged by time",
		Long: `Show what all members of a cluster have logged, as one stream in the order of time.
Lines that etcd writes in another form, such as the trace of a panic, are shown
whatever the level.`,
		Example: `  kubectl etcd logs example --since 10m
  kubectl etcd logs example --level warn -f
  kubectl etcd logs example --previous`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			level, err := logline.ParseLevel(o.level)
			if err != nil {
				return err
			}
			c, err := e.connect(e.flags)
			if err != nil {
				return err
			}
			return e.logs(cmd.Context(), c, args[0], level, o)
		},
	}
	cmd.Flags().DurationVar(&o.since, "since", 0, "Only lines that are no older than this, such as 10m")
	cmd.Flags().Int64Var(&o.tail, "tail", -1, "Only so many last lines of each member")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "Go on with what is logged from now on")
	cmd.Flags().BoolVarP(&o.previous, "previous", "p", false, "What the containers before the last restart have logged")
	cmd.Flags().StringVar(&o.level, "level", "info", "The least level: debug, info, warn or error")
	_ = cmd.RegisterFlagCompletionFunc("level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (e *env) logs(ctx context.Context, c *clients, name string, level logline.Level, o logOptions) error {
	cluster, err := c.cluster(ctx, name)
	if err != nil {
		return err
	}
	selector := labels.SelectorFromSet(manifests.ClusterLabels(name)).String()
	pods, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return err
	}
	var names []string
	for i := range pods.Items {
		if metav1.IsControlledBy(&pods.Items[i], cluster) {
			names = append(names, pods.Items[i].Name)
		}
	}
	if len(names) == 0 {
		return withCode(exitNotFound, `%s has no pods; "kubectl etcd status %[1]s" says why`, name)
	}
	slices.Sort(names)
	printer := &logPrinter{screen: screen.Of(e.out), names: names, level: level, print: func(text string) { fmt.Fprintln(e.out, text) }}
	if o.follow {
		return e.followLogs(ctx, c, names, printer, o)
	}
	lines, err := c.readLogs(ctx, names, o, nil)
	printer.all(lines)
	return err
}

func (o logOptions) request(follow bool) *corev1.PodLogOptions {
	request := &corev1.PodLogOptions{Container: manifests.ContainerEtcd, Timestamps: true, Follow: follow, Previous: o.previous}
	if o.since > 0 {
		request.SinceSeconds = ptr.To(max(int64(o.since.Seconds()), 1))
	}
	if o.tail >= 0 {
		request.TailLines = &o.tail
	}
	return request
}

// readLogs reads the logs of all members at the same time. Those that have none do not keep the others from being read.
// With send, lines go there as they come.
func (c *clients) readLogs(ctx context.Context, names []string, o logOptions, send func(logline.Line)) ([]logline.Line, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		lines []logline.Line
		errs  []error
	)
	collect := send
	if collect == nil {
		collect = func(l logline.Line) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, l)
		}
	}
	for _, name := range names {
		wg.Go(func() {
			stream, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(name, o.request(o.follow)).Stream(ctx)
			if err == nil {
				defer func() { _ = stream.Close() }()
				err = logline.Read(stream, name, collect)
			}
			if err != nil && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("reading the log of %s: %w", name, err))
			}
		})
	}
	wg.Wait()
	logline.Merge(lines)
	return lines, errors.Join(errs...)
}

// settle is how long lines are held back while following, so that those of another member that are older can overtake them.
const settle = 300 * time.Millisecond

func (e *env) followLogs(ctx context.Context, c *clients, names []string, printer *logPrinter, o logOptions) error {
	incoming := make(chan logline.Line, 1024)
	done := make(chan error, 1)
	go func() {
		_, err := c.readLogs(ctx, names, o, func(l logline.Line) { incoming <- l })
		done <- err
	}()
	var held []logline.Line
	tick := time.NewTicker(settle)
	defer tick.Stop()
	fresh := 0
	for {
		select {
		case l := <-incoming:
			held = append(held, l)
		case <-tick.C: // what was here at the last tick has waited long enough
			logline.Merge(held[:fresh])
			printer.all(held[:fresh])
			held = held[fresh:]
			fresh = len(held)
		case err := <-done:
			for len(incoming) > 0 {
				held = append(held, <-incoming)
			}
			logline.Merge(held)
			printer.all(held)
			return err
		}
	}
}

// logPrinter writes lines for people.
type logPrinter struct {
	screen screen.Screen
	names  []string
	level  logline.Level
	print  func(string)
}

func (p *logPrinter) all(lines []logline.Line) {
	for _, l := range lines {
		if l.Level >= p.level {
			p.print(p.format(l))
		}
	}
}

func (p *logPrinter) format(l logline.Line) string {
	style := map[logline.Level]screen.Style{logline.Debug: screen.Dim, logline.Warn: screen.Yellow, logline.Error: screen.Red}[l.Level]
	palette := []screen.Style{screen.Cyan, screen.Green, screen.Bold}
	member := palette[slices.Index(p.names, l.Member)%len(palette)]
	return fmt.Sprintf("%s %s %s %s", l.Time.UTC().Format("2006-01-02T15:04:05.000Z"), p.screen.Paint(member, l.Member),
		p.screen.Paint(style, fmt.Sprintf("%-5s", l.Level)), l.Text)
}
