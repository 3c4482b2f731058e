// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
)

// clients are the ways to the API server.
type clients struct {
	config    *rest.Config
	kube      kubernetes.Interface
	etcd      versioned.Interface
	namespace string
}

func connect(flags *genericclioptions.ConfigFlags) (*clients, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	// One command asks a few dozen questions at the most; a limit would only make it slow.
	config.QPS = -1
	c := &clients{config: config}
	if c.namespace, _, err = flags.ToRawKubeConfigLoader().Namespace(); err != nil {
		return nil, err
	}
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	c.etcd, err = versioned.NewForConfig(config)
	return c, err
}

// cluster reads the EtcdCluster of that name.
func (c *clients) cluster(ctx context.Context, name string) (*v1beta2.EtcdCluster, error) {
	cluster, err := c.etcd.EtcdV1beta2().EtcdClusters(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isMissingKind(err) {
		return nil, withCode(exitNotFound, `there is no EtcdCluster %q in namespace %q; "kubectl etcd list -A" shows those that you may see`, name, c.namespace)
	}
	return cluster, err
}

// oneCluster is the Args of commands that need the name of a cluster.
func oneCluster(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one EtcdCluster: kubectl etcd %s NAME", cmd.Name())
	}
	return nil
}

// onCluster is the RunE of commands that take the name of a cluster.
func (e *env) onCluster(do func(ctx context.Context, c *clients, name string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := e.connect(e.flags)
		if err != nil {
			return err
		}
		return do(cmd.Context(), c, args[0])
	}
}

// stamp is a time as a part of names.
func stamp(at time.Time) string { return at.UTC().Format("20060102-150405") }

// completeClusters completes the name of a cluster, as the first argument.
func (e *env) completeClusters(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return e.complete(func(c *clients) (runtime.Object, error) {
		return c.etcd.EtcdV1beta2().EtcdClusters(c.namespace).List(cmd.Context(), metav1.ListOptions{})
	})
}

// completeNamespaces completes the value of -n.
func (e *env) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return e.complete(func(c *clients) (runtime.Object, error) {
		return c.kube.CoreV1().Namespaces().List(cmd.Context(), metav1.ListOptions{})
	})
}

// complete completes with the names of the objects in a list.
func (e *env) complete(list func(*clients) (runtime.Object, error)) ([]string, cobra.ShellCompDirective) {
	c, err := e.connect(e.flags)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	objects, err := list(c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := []string{}
	err = meta.EachListItem(objects, func(o runtime.Object) error {
		named, err := meta.Accessor(o)
		if err == nil {
			names = append(names, named.GetName())
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
