// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-operator program serves EtcdCluster objects.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/chaos"
	"github.com/etcd-operator/etcd-operator/internal/cluster"
	"github.com/etcd-operator/etcd-operator/internal/process"
)

const name = "etcd-operator"

func main() {
	var gcIntervalGiven bool
	var helperImage string
	chaosLevel := chaos.Off
	process.Operator{
		Name:          name,
		Summary:       "etcd-operator creates, heals, scales and upgrades etcd clusters, one for each EtcdCluster object.",
		ListenAddr:    "0.0.0.0:8080",
		CRD:           crd.EtcdClusters(),
		Kind:          &v1beta2.EtcdCluster{},
		CacheByObject: cluster.CacheByObject(),
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&helperImage, "helper-image", "", "image of the members' init container; by default the image that this operator's own pod runs")
			fs.IntVar(&chaosLevel, "chaos-level", chaos.Off, "delete members' pods at random, to see clusters heal: 1 for one pod at a time, 2 for up to five, -1 for none")
			// Manifests in use carry this flag of the original, where it had no effect either.
			fs.Func("gc-interval", "deprecated and ignored: Kubernetes' own garbage collector removes what belongs to a deleted object",
				func(value string) error {
					gcIntervalGiven = true
					_, err := time.ParseDuration(value)
					return err
				})
		},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings process.Settings) error {
			if gcIntervalGiven {
				mgr.GetLogger().Info("-gc-interval is ignored: Kubernetes' own garbage collector removes what belongs to a deleted object")
			}
			monkey, err := chaos.New(mgr.GetClient(), chaosLevel, mgr.GetLogger())
			if err != nil {
				return err
			}
			if err := mgr.Add(monkey); err != nil {
				return fmt.Errorf("adding chaos: %w", err)
			}
			image := helperImage
			if image == "" {
				if image, err = ownImage(ctx, mgr, settings); err != nil {
					return err
				}
			}
			return cluster.SetupWithManager(ctx, mgr, cluster.Options{ClusterWide: settings.ClusterWide, HelperImage: image, PodName: settings.PodName})
		},
	}.Main()
}

// ownImage is the image that this process runs from: it holds the init container's
// program as well, so that no image from elsewhere is needed.
func ownImage(ctx context.Context, mgr ctrl.Manager, s process.Settings) (string, error) {
	var pod corev1.Pod
	if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.PodName}, &pod); err != nil {
		return "", fmt.Errorf("reading the operator's own pod %s/%s (MY_POD_NAMESPACE, MY_POD_NAME) in order to learn its image; outside of Kubernetes set -helper-image: %w",
			s.Namespace, s.PodName, err)
	}
	for _, c := range pod.Spec.Containers {
		if c.Name == name {
			return c.Image, nil
		}
	}
	return pod.Spec.Containers[0].Image, nil
}
