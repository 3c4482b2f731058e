// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// patience is how long a member may take to say how it is.
const patience = 5 * time.Second

// Members reaches the members of clusters.
type Members struct {
	Config *rest.Config
	Kube   kubernetes.Interface
	// dial is dialPod, unless a test has something else.
	dial func(ctx context.Context, namespace, pod string, port int) (net.Conn, error)
}

// Dial opens a connection to a port of a member's pod.
func (m *Members) Dial(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	if m.dial != nil {
		return m.dial(ctx, namespace, pod, port)
	}
	return m.dialPod(ctx, namespace, pod, port)
}

// Identity is the TLS configuration that the operator uses for a cluster; nil where clients use none.
func (m *Members) Identity(ctx context.Context, c *v1beta2.EtcdCluster) (*tls.Config, error) {
	if !c.Spec.TLS.IsSecureClient() {
		return nil, nil //nolint:nilnil // plain text has no identity
	}
	name := c.Spec.TLS.Static.OperatorSecret
	secret, err := m.Kube.CoreV1().Secrets(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the client certificate for etcd: %w", err)
	}
	return etcd.ClientTLS(name, secret.Data, false)
}

// Connect prepares a connection to one member. identity is nil for plain text.
func (m *Members) Connect(c *v1beta2.EtcdCluster, member string, identity *tls.Config, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if identity != nil {
		identity = identity.Clone()
		identity.ServerName = manifests.Host(c, member)
		creds = credentials.NewTLS(identity)
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return m.Dial(ctx, c.Namespace, member, manifests.ClientPort)
	}
	return grpc.NewClient("passthrough:///"+member, append([]grpc.DialOption{
		grpc.WithTransportCredentials(creds), grpc.WithContextDialer(dial), grpc.WithNoProxy(),
	}, options...)...)
}

// Ask asks all members how they are, at the same time.
func (m *Members) Ask(ctx context.Context, c *v1beta2.EtcdCluster, pods []corev1.Pod) (map[string]view.Live, []string) {
	identity, err := m.Identity(ctx, c)
	if err != nil {
		return nil, []string{why(err)}
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		live  = map[string]view.Live{}
		notes []string
	)
	for i := range pods {
		if !IsRunning(&pods[i]) {
			continue
		}
		wg.Go(func() {
			answer, err := m.askOne(ctx, c, pods[i].Name, identity)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				notes = append(notes, why(err))
				return
			}
			live[pods[i].Name] = answer
		})
	}
	wg.Wait()
	slices.Sort(notes)
	return live, slices.Compact(notes)
}

// IsRunning reports whether a pod's etcd may answer.
func IsRunning(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning
}

// why is a note for people about members that could not be asked.
func why(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("Live figures are missing: %v.", err)
	case errors.Is(err, context.DeadlineExceeded):
		return "Some live figures are missing: not every member answers."
	}
	return fmt.Sprintf("Some live figures are missing: %v.", err)
}

func (m *Members) askOne(ctx context.Context, c *v1beta2.EtcdCluster, member string, identity *tls.Config) (view.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := m.Connect(c, member, identity)
	if err != nil {
		return view.Live{}, err
	}
	defer func() { _ = conn.Close() }()
	s, err := pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return view.Live{}, fmt.Errorf("asking %s: %w", member, plain(err))
	}
	slices.Sort(s.Errors)
	return view.Live{
		MemberID: s.Header.MemberId, Leader: s.Leader, Version: s.Version, Size: s.DbSize, InUse: s.DbSizeInUse, Quota: s.DbSizeQuota,
		RaftIndex: s.RaftIndex, AppliedIndex: s.RaftAppliedIndex, Learner: s.IsLearner, Alarms: s.Errors,
	}, nil
}
