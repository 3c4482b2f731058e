// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// Disks that are full are why a majority is lost, and larger ones bring it back: they wait for nobody.
func TestVolumesGrowWithoutQuorum(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "full", withVolumes)
	c.awaitReady()
	cut := names(c.pods())[:2]
	for _, pod := range cut {
		if err := tenant.Lab().CutPod(t.Context(), n.Namespace, pod); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitReason("QuorumLost")
	c.patch(`{"pod":{"persistentVolumeClaimSpec":{"resources":{"requests":{"storage":"200Mi"}}}}}`)
	c.Eventually(atOnce, func(ctx context.Context) error {
		claims, err := n.Kube.CoreV1().PersistentVolumeClaims(n.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, claim := range claims.Items {
			if size := claim.Status.Capacity[corev1.ResourceStorage]; size.String() != "200Mi" {
				return fmt.Errorf("%s has %s", claim.Name, size.String())
			}
		}
		return nil
	})
	for _, pod := range cut {
		if err := tenant.Lab().HealPod(t.Context(), n.Namespace, pod); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitReady()
}

// awaitNoImage waits until a pod of the cluster waits for an image that cannot be had.
func (c *etcdCluster) awaitNoImage() {
	c.Helper()
	c.Eventually(patience, func(context.Context) error {
		for _, pod := range c.pods() {
			for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
				if s.State.Waiting != nil && slices.Contains([]string{"ErrImagePull", "ImagePullBackOff"}, s.State.Waiting.Reason) {
					return nil
				}
			}
		}
		return fmt.Errorf("no pod waits for an image")
	})
}

// The image of the check before etcd is named wrongly, and then rightly: the pod that waits for the wrong one gets
// the right one, whichever member's it is.
func TestACorrectedBusyboxImageReachesThePodThatWaitsForIt(t *testing.T) {
	t.Parallel()
	const wrong, right = `{"pod":{"busyboxImage":"busybox:none"}}`, `{"pod":{"busyboxImage":"busybox:1.28.0-glibc"}}`
	n := tenant.New(t)
	n.InstallOperator()
	for name, tc := range map[string]struct {
		spec string
		make func(c *etcdCluster)
	}{
		"first": {`{size: 1, version: "3.6.16", pod: {busyboxImage: "busybox:none", ClusterDomain: .cluster.local}}`, func(*etcdCluster) {}},
		"joining": {`{size: 1, version: "3.6.16", pod: {ClusterDomain: .cluster.local}}`, func(c *etcdCluster) {
			c.awaitReady()
			c.patch(wrong)
			c.patch(`{"size":2}`)
		}},
		"returning": {strings.NewReplacer("size: 3", "size: 1", "pod: {", "pod: {ClusterDomain: .cluster.local, ").Replace(withVolumes), func(c *etcdCluster) {
			c.awaitReady()
			c.patch(wrong)
			c.awaitReady()
			c.kill(names(c.pods())...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := *n
			mine.TB = t
			c := create(&mine, name, tc.spec)
			tc.make(c)
			c.awaitNoImage()
			c.patch(right)
			c.awaitReadyWithin(atOnce)
		})
	}
}

// The same for the operator's own image, of which the check is by default.
func TestACorrectedHelperImageReachesThePodThatWaitsForIt(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.CreateRole("--namespaced")
	operator := readDeployment(t, "deployment.yaml")
	operator.Spec.Template.Spec.Containers[0].Args = []string{"-helper-image=" + operatorImage + "-none"}
	if _, err := n.Kube.AppsV1().Deployments(n.Namespace).Create(t.Context(), operator, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitDeployment(operator.Name)
	c := create(n, "helper", `{size: 1, version: "3.6.16"}`)
	c.awaitNoImage()
	n.Kubectl("patch", "deployment", operator.Name, "--type=json", "-p", `[{"op":"remove","path":"/spec/template/spec/containers/0/args"}]`)
	n.AwaitDeployment(operator.Name)
	c.awaitReadyWithin(atOnce)
}

// A change makes an additional member that cannot run. It is taken back, and so is the member, at once: nobody asks
// for it any more.
func TestAMemberForAChangeThatWasTakenBackGoesAtOnce(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "mind", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	before, untouched := c.etcdMembers(), c.untouched()
	c.patch(`{"pod":{"resources":{"limits":{"memory":"8Mi"}}}}`)
	c.Eventually(patience, func(context.Context) error {
		for _, pod := range c.pods() {
			for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
				if s.RestartCount > 0 || (s.State.Waiting != nil && s.State.Waiting.Reason == "RunContainerError") {
					return nil
				}
			}
		}
		return fmt.Errorf("every member runs with 8 MiB: %v", names(c.pods()))
	})
	c.patch(`{"pod":{"resources":null}}`)
	c.Eventually(30*time.Second, untouched)
	c.awaitReady()
	if after := c.etcdMembers(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the members were %v and are %v", before, after)
	}
}

// What cannot be had is the image that the pod asks for now, not the one that its container ran last.
func TestTheMessageNamesTheImageThatCannotBeHad(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "image", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	c.patch(`{"version":"3.6.99"}`)
	const missing = "quay.io/coreos/etcd:v3.6.99"
	if found := c.awaitReason("ImageNotAvailable"); !strings.Contains(found.Message, "cannot get image "+missing) {
		t.Errorf("%s cannot be had, and the condition says %q", missing, found.Message)
	}
	c.patch(`{"version":"3.6.16"}`)
	c.awaitReady()
}
