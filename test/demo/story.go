// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
)

const (
	cluster   = "example-etcd-cluster"
	namespace = metav1.NamespaceDefault
	// next is the minor version after the one that the cluster begins with.
	next = "3.7.3"
	// longest is how long a step may take before it counts as failed. On a warm machine all of them together take less.
	longest = 3 * time.Minute
)

// volume is where backups go, and mount how it gets into an operator.
var (
	//go:embed volume.yaml
	volume string
	//go:embed mount.yaml
	mount string
)

// story is what the demo tells, and where it has come to.
type story struct {
	*terminal
	lab   string
	nodes int

	kube   kubernetes.Interface
	etcds  versioned.Interface
	client *clientv3.Client
	writer *writer
	rows   []row
}

// row is what the table at the end says of a step.
type row struct {
	step string
	took time.Duration
	tally
}

// tell tells the story from its beginning.
func tell(ctx context.Context, t *terminal, lab string, nodes int) error {
	s := &story{terminal: t, lab: lab, nodes: nodes}
	begin := time.Now()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"the leader is killed", s.killLeader},
		{"scaled from three to five", func(ctx context.Context) error { return s.scale(ctx, 5) }},
		{"and back to three", func(ctx context.Context) error { return s.scale(ctx, 3) }},
		{"upgraded to " + next, s.upgrade},
		{"a backup, verified", func(ctx context.Context) error { return s.backup(ctx, "while-writing") }},
		{"power cut of all nodes, and back", s.powerCut},
		{"everything wiped, and restored", s.wipeAndRestore},
	}
	for i, step := range steps {
		s.headline(fmt.Sprintf("%d of %d: %s", i+1, len(steps), step.name))
		limited, cancel := context.WithTimeout(ctx, longest)
		start := time.Now()
		err := step.do(limited)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		s.rows = append(s.rows, row{step.name, time.Since(start), s.writer.take()})
	}
	return s.conclude(ctx, time.Since(begin))
}

// prepare connects to the lab, adds the operators of backups and restores, and lets the client begin to write.
func (s *story) prepare(ctx context.Context) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	if s.kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if s.etcds, err = versioned.NewForConfig(config); err != nil {
		return err
	}
	s.headline("Backups need a place: a volume, and the two operators that use it")
	if err := s.apply(ctx, volume); err != nil {
		return err
	}
	for _, operator := range []string{"etcd-backup-operator", "etcd-restore-operator"} {
		deployment := "deployment/" + operator
		if err := s.run(ctx, "kubectl", "apply", "-f", "example/"+operator+"/deployment.yaml"); err != nil {
			return err
		}
		patch := strings.ReplaceAll(mount, "OPERATOR", operator)
		if err := s.execute(ctx, "", "kubectl", "patch", deployment, "--patch", patch); err != nil {
			return err
		}
		if err := s.run(ctx, "kubectl", "rollout", "status", deployment, "--timeout=3m"); err != nil {
			return err
		}
	}
	s.headline("A client that writes every " + pause.String() + ", from now on")
	if err := s.connect(ctx); err != nil {
		return err
	}
	s.writer = startWriter(ctx, s.client)
	return nil
}

// connect connects to the client Service.
func (s *story) connect(ctx context.Context) error {
	service, err := s.kube.CoreV1().Services(namespace).Get(ctx, cluster+"-client", metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.client, err = connect(service.Spec.ClusterIP + ":2379")
	return err
}

// awaitReady waits until the cluster is as its spec asks for, and is without some member.
func (s *story) awaitReady(ctx context.Context, without string) error {
	var last error
	for {
		c, err := s.etcds.EtcdV1beta2().EtcdClusters(namespace).Get(ctx, cluster, metav1.GetOptions{})
		switch {
		case err != nil:
			last = err // the API server is on its way back, perhaps
		case isReady(c) && len(c.Status.Members.Ready) == c.Spec.Size && !slices.Contains(c.Status.Members.Ready, without):
			return s.execute(ctx, "", "kubectl", "get", "etcd", cluster)
		default:
			last = errors.New("it is not ready")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", cluster, last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func isReady(c *v1beta2.EtcdCluster) bool {
	return slices.ContainsFunc(c.Status.Conditions, func(condition v1beta2.ClusterCondition) bool {
		return condition.Type == "Ready" && condition.Status == "True" && c.Status.ObservedGeneration == c.Generation
	})
}

func (s *story) killLeader(ctx context.Context) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	if err := s.run(ctx, "kubectl", "delete", "pod", leader, "--now"); err != nil {
		return err
	}
	return s.awaitReady(ctx, leader)
}

// leader is the name of the pod that leads.
func (s *story) leader(ctx context.Context) (string, error) {
	status, err := s.client.Status(ctx, s.client.Endpoints()[0])
	if err != nil {
		return "", err
	}
	members, err := s.client.MemberList(ctx)
	if err != nil {
		return "", err
	}
	for _, m := range members.Members {
		if m.ID == status.Leader {
			return m.Name, nil
		}
	}
	return "", errors.New("etcd has no leader")
}

const nobody = "nobody"

func (s *story) scale(ctx context.Context, size int) error {
	if err := s.run(ctx, "kubectl", "scale", "etcd/"+cluster, "--replicas="+strconv.Itoa(size)); err != nil {
		return err
	}
	return s.awaitReady(ctx, nobody)
}

func (s *story) upgrade(ctx context.Context) error {
	if err := s.run(ctx, "kubectl", "patch", "etcd", cluster, "--type=merge", "-p", `{"spec":{"version":"`+next+`"}}`); err != nil {
		return err
	}
	return s.awaitReady(ctx, nobody)
}

func (s *story) backup(ctx context.Context, name string) error {
	// What an earlier demo has left would be a backup that is made already.
	if err := s.execute(ctx, "", "kubectl", "delete", "etcdbackup", name, "--ignore-not-found"); err != nil {
		return err
	}
	if err := s.apply(ctx, fmt.Sprintf(`apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata:
  name: %s
spec:
  etcdClusterRef:
    name: %s
  storageType: File
  file:
    path: demo/%[1]s
  verify: Restore
`, name, cluster)); err != nil {
		return err
	}
	return s.run(ctx, "kubectl", "wait", "--for=condition=Ready", "etcdbackup/"+name, "--timeout=2m")
}

func (s *story) powerCut(ctx context.Context) error {
	if err := s.run(ctx, s.lab, "power-cut"); err != nil {
		return err
	}
	s.say("$ %s up --nodes %d", s.lab, s.nodes)
	quiet := &terminal{out: io.Discard} // how to point kubectl at it was said before
	if err := quiet.execute(ctx, "", s.lab, "up", "--nodes", strconv.Itoa(s.nodes)); err != nil {
		return err
	}
	// The status is from before, until the operator has written it.
	if err := s.awaitWrite(ctx); err != nil {
		return err
	}
	return s.awaitReady(ctx, nobody)
}

// awaitWrite waits until a write of the client is acknowledged.
func (s *story) awaitWrite(ctx context.Context) error {
	s.writer.mu.Lock()
	before := len(s.writer.acked)
	s.writer.mu.Unlock()
	for {
		s.writer.mu.Lock()
		now := len(s.writer.acked)
		s.writer.mu.Unlock()
		if now > before {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("no write is acknowledged")
		case <-time.After(pause):
		}
	}
}

// wipeAndRestore backs up what the client has written, deletes the cluster with all its members, and restores it.
func (s *story) wipeAndRestore(ctx context.Context) error {
	s.say("The client pauses for the last backup: what is written after a backup is not in it.")
	s.writer.finish()
	if err := s.backup(ctx, "before-the-end"); err != nil {
		return err
	}
	if err := s.run(ctx, "kubectl", "delete", "etcd", cluster); err != nil {
		return err
	}
	if err := s.run(ctx, "kubectl", "wait", "--for=delete", "pod", "-l", "etcd_cluster="+cluster, "--timeout=2m"); err != nil {
		return err
	}
	if err := s.execute(ctx, "", "kubectl", "delete", "etcdrestore", cluster, "--ignore-not-found"); err != nil {
		return err
	}
	if err := s.apply(ctx, fmt.Sprintf(`apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata:
  name: %[1]s
spec:
  etcdCluster:
    name: %[1]s
  backupStorageType: File
  file:
    path: demo/before-the-end
`, cluster)); err != nil {
		return err
	}
	return s.awaitReady(ctx, nobody)
}

// conclude counts what is lost, and shows the table.
func (s *story) conclude(ctx context.Context, took time.Duration) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	lost, err := s.writer.lost(ctx, s.client)
	if err != nil {
		return err
	}
	s.headline("What happened")
	table := tabwriter.NewWriter(s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "took\twrites\tfailed\tlongest gap\t  ")
	var all tally
	for _, r := range s.rows {
		gap := "paused"
		if r.acked > 0 {
			gap = fmt.Sprintf("%.2f s", r.gap.Seconds())
		}
		fmt.Fprintf(table, "%.1f s\t%d\t%d\t%s\t  %s\n", r.took.Seconds(), r.acked, r.failed, gap, r.step)
		all.acked, all.failed = all.acked+r.acked, all.failed+r.failed
	}
	fmt.Fprintf(table, "%.0f s\t%d\t%d\t\t  all in all\n", took.Seconds(), all.acked, all.failed)
	if err := table.Flush(); err != nil {
		return err
	}
	s.say("\nOf %d acknowledged writes %d are lost.", len(s.writer.acked), lost)
	if lost > 0 {
		return fmt.Errorf("%d acknowledged writes are lost", lost)
	}
	return nil
}
