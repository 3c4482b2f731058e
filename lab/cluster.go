// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

const (
	apiPatience  = 2 * time.Minute
	nodePatience = 4 * time.Minute
	dnsPatience  = 2 * time.Minute
)

// cluster is the lab as a client of its API server sees it.
type cluster struct {
	config *rest.Config
	client kubernetes.Interface
}

func (l *Lab) connect() (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the lab's kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the lab's API server: %w", err)
	}
	return &cluster{config: config, client: client}, nil
}

// nodeIdentity is whose certificate kubelet n has.
func nodeIdentity(n int) (pki.Identity, error) {
	address := net.ParseIP(network.Node(n))
	if address == nil {
		return pki.Identity{}, fmt.Errorf("address of %s: %q", node.Name(n), network.Node(n))
	}
	return pki.Identity{
		CommonName: "system:node:" + node.Name(n),
		Groups:     []string{"system:nodes"},
		DNSNames:   []string{node.Name(n)},
		IPs:        []net.IP{address},
	}, nil
}

func (c *cluster) waitForAPI(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, apiPatience)
	defer cancel()
	if err := apiserver.WaitReady(ctx, c.config); err != nil {
		return fmt.Errorf("%w: `lab logs kube-apiserver` may say why", err)
	}
	return nil
}

// waitForNode waits until a node is ready and has said so since it was switched on with this boot id.
func (c *cluster) waitForNode(ctx context.Context, name, bootID string) error {
	ctx, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	err := poll(ctx, func() error {
		n, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if n.Status.NodeInfo.BootID != bootID {
			return errors.New("it has not reported since it was switched on")
		}
		return ready(n)
	})
	if err != nil {
		return fmt.Errorf("%s did not become ready: %w: `lab logs %[1]s-kubelet` may say why", name, err)
	}
	return nil
}

// ready returns why a node is not ready.
func ready(n *corev1.Node) error {
	i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		return errors.New("it has not reported yet")
	}
	if condition := n.Status.Conditions[i]; condition.Status != corev1.ConditionTrue {
		return fmt.Errorf("%s: %s", condition.Reason, condition.Message)
	}
	return nil
}

// waitForDNS waits until the cluster's name server knows the API server's Service. That takes a pod, a Service and a node's
// rules, so it shows that pods run and are reached.
func (c *cluster) waitForDNS(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dnsPatience)
	defer cancel()
	resolver := &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialer := net.Dialer{Timeout: time.Second}
			return dialer.DialContext(ctx, "udp", net.JoinHostPort(network.DNS, "53"))
		},
	}
	err := poll(ctx, func() error {
		// A question that is not answered within a second was lost: the rules for the Service may be missing still.
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
		return err
	})
	if err != nil {
		return fmt.Errorf("the cluster's name server did not answer: %w: `kubectl -n kube-system describe pod` may say why", err)
	}
	return nil
}

// poll calls fn until it succeeds or ctx ends, and returns its last error then.
func poll(ctx context.Context, fn func() error) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	last := errors.New("no answer yet")
	for {
		err := fn()
		if err == nil {
			return nil
		}
		// An attempt that the end of ctx broke off says less than the one before it.
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", last, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
