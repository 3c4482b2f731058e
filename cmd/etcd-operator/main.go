// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-operator program serves EtcdCluster objects.
package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/poddeleter"
	"github.com/etcd-operator/etcd-operator/internal/process"
)

const name = "etcd-operator"

func main() {
	var gcIntervalGiven bool
	var helperImage string
	var defaults manifests.Defaults
	var openShift *bool
	chaosLevel := poddeleter.Off
	process.Operator{
		Name:          name,
		Summary:       "etcd-operator creates, heals, scales and upgrades etcd clusters as EtcdCluster objects specify.",
		ListenAddr:    "0.0.0.0:8080",
		CRD:           crd.EtcdClusters(),
		Kind:          &v1beta2.EtcdCluster{},
		CacheByObject: cluster.CacheByObject(),
		CoreEvents:    true,
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&helperImage, "helper-image", "", "image of the members' init container (default: the image of the operator's own pod)")
			cluster.DefaultsFlags(fs, &defaults)
			fs.BoolFunc("openshift", "create members' pods without a user and groups, which the platform assigns (default: if there is the API group security.openshift.io)",
				func(value string) error {
					is, err := strconv.ParseBool(value)
					openShift = &is
					return err
				})
			fs.IntVar(&chaosLevel, "chaos-level", poddeleter.Off, "delete members' pods at random, to watch clusters heal: 1 for one pod at a time, 2 for up to five; off below 1")
			// Manifests in use carry this flag of the original, where it had no effect either.
			fs.Func("gc-interval", "deprecated and ignored: the garbage collector of Kubernetes deletes what belongs to a deleted object",
				func(value string) error {
					gcIntervalGiven = true
					_, err := time.ParseDuration(value)
					return err
				})
		},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings process.Settings) error {
			if gcIntervalGiven {
				mgr.GetLogger().Info("-gc-interval is ignored: the garbage collector of Kubernetes deletes what belongs to a deleted object")
			}
			deleter, err := poddeleter.New(mgr.GetClient(), settings.Scope().Serves, chaosLevel, mgr.GetLogger())
			if err != nil {
				return err
			}
			if err := mgr.Add(deleter); err != nil {
				return fmt.Errorf("adding the deleter of random pods: %w", err)
			}
			options := cluster.Options{
				Scope: settings.Scope(), Namespaces: settings.Served(), HelperImage: helperImage, Defaults: defaults, PodName: settings.PodName, OpenShift: openShift,
			}
			switch pod, err := ownPod(ctx, mgr, settings); {
			case err == nil:
				options.Operators = manifests.OperatorPeers(pod.Namespace, pod.Labels)
				if helperImage == "" {
					options.HelperImage = imageOf(pod)
				}
			case helperImage == "":
				return fmt.Errorf("finding the image of the members' init container; outside of Kubernetes set -helper-image: %w", err)
			default:
				mgr.GetLogger().Info("the operator does not run as a pod: clusters with spec.networkPolicy have to name it among the clients", "reason", err.Error())
			}
			return cluster.SetupWithManager(ctx, mgr, options)
		},
	}.Main()
}

// ownPod is the pod that this process runs in.
func ownPod(ctx context.Context, mgr ctrl.Manager, s process.Settings) (*corev1.Pod, error) {
	var pod corev1.Pod
	if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.PodName}, &pod); err != nil {
		return nil, fmt.Errorf("reading the operator's own pod %s/%s (MY_POD_NAMESPACE, MY_POD_NAME): %w", s.Namespace, s.PodName, err)
	}
	return &pod, nil
}

// imageOf is the image that this process runs from: it holds the init container's
// program as well, so that no image from elsewhere is needed.
func imageOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == name {
			return c.Image
		}
	}
	return pod.Spec.Containers[0].Image
}
