// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// An image that cannot be had stops the roll-out at the first member, and taking the
// change back heals it.
func TestABadUpgradeStopsAtTheFirstMemberAndCanBeReverted(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "bad", `{size: 3, version: "3.6.16"}`)
	before := c.uids()
	w := c.startWriter()
	c.patch(`{"version":"3.7.99"}`)
	c.awaitReason("ImageNotAvailable")
	changed := 0
	for _, pod := range c.pods() {
		if strings.HasSuffix(pod.Spec.Containers[0].Image, "v3.7.99") {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d members were given the bad image", changed)
	}
	c.patch(`{"version":"3.6.16"}`)
	c.awaitReady()
	w.finish()
	checkUpgraded(c, "3.6.16", before)

	for version, reason := range map[string]string{"3.8.0": "MinorVersionSkipped", "3.5.35": "DowngradeRefused"} {
		c.patch(`{"version":"` + version + `"}`)
		c.awaitReason(reason)
		if stalled := condition(c.get(), v1beta2.ClusterConditionStalled); stalled.Status != corev1.ConditionTrue {
			t.Errorf("%s: the cluster is not called stalled", reason)
		}
	}
	c.patch(`{"version":"3.6.16"}`)
	c.awaitReady()
	checkUpgraded(c, "3.6.16", before)
}

// Labels, annotations and resources change in the running pods; the environment by new
// ones, one after the other, with quorum all the time.
func TestAChangedPodPolicyReachesEveryMember(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{
		"volumes":  strings.Replace(withVolumes, "pod: {", "pod: {resources: {requests: {cpu: 10m}}, ", 1),
		"emptydir": `{size: 3, version: "3.6.16", pod: {resources: {requests: {cpu: 10m}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, name, spec)
			c.fill(20)
			before, members := c.uids(), c.etcdMembers()

			c.patch(`{"pod":{"labels":{"team":"db"},"annotations":{"note":"x"},"resources":{"requests":{"cpu":"11m"}}}}`)
			c.awaitReady()
			for name, pod := range c.pods() {
				cpu := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
				if pod.UID != before[name] || pod.Labels["team"] != "db" || pod.Annotations["note"] != "x" || cpu.String() != "11m" {
					t.Errorf("pod %s: uid %s (was %s), labels %v, cpu %s", name, pod.UID, before[name], pod.Labels, cpu.String())
				}
			}
			w := c.startWriter()
			c.patch(`{"pod":{"etcdEnv":[{"name":"ETCD_AUTO_COMPACTION_RETENTION","value":"1"}],"labels":{"team":null}}}`)
			c.awaitReady()
			w.finish()
			for name, pod := range c.pods() {
				if fmt.Sprint(pod.Spec.Containers[0].Env) == "" || !strings.Contains(fmt.Sprint(pod.Spec.Containers[0].Env), "ETCD_AUTO_COMPACTION_RETENTION") {
					t.Errorf("pod %s has the environment %v", name, pod.Spec.Containers[0].Env)
				}
				if _, there := pod.Labels["team"]; there || pod.UID == before[name] {
					t.Errorf("pod %s: labels %v, uid %s", name, pod.Labels, pod.UID)
				}
			}
			if after := c.etcdMembers(); name == "volumes" && fmt.Sprint(after) != fmt.Sprint(members) {
				t.Errorf("the members were %v and are %v", members, after)
			}
			c.mustHave(20)
		})
	}
}

// A larger volume is requested and provided, without a restart.
func TestVolumesGrow(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "grow", withVolumes)
	before := c.uids()
	c.patch(`{"pod":{"persistentVolumeClaimSpec":{"resources":{"requests":{"storage":"200Mi"}}}}}`)
	c.Eventually(patience, func(ctx context.Context) error {
		claims, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).List(ctx, metav1.ListOptions{})
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
	c.awaitReady()
	if after := c.uids(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the pods were replaced: %v, %v", before, after)
	}
}

// Paused, nothing is changed, and the status stays true.
func TestPause(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "pause", `{size: 3, version: "3.6.16"}`)
	c.patch(`{"paused":true}`)
	c.Eventually(patience, func(context.Context) error {
		if !c.get().Status.ControlPaused {
			return fmt.Errorf("the status does not say that it is paused")
		}
		return nil
	})
	target := names(c.pods())[0]
	c.kill(target)
	c.Eventually(patience, func(context.Context) error {
		for _, m := range c.get().Status.MemberStatuses {
			if m.Name == target && !m.Healthy {
				return nil
			}
		}
		return fmt.Errorf("the status does not show that %s is gone", target)
	})
	if members := c.etcdMembers(); len(members) != 3 || len(c.pods()) != 2 {
		t.Errorf("paused, and yet members are %v and pods %v", names(members), names(c.pods()))
	}
	c.patch(`{"paused":false}`)
	c.awaitReady()
}

// Deleting the object removes all that belongs to it; volumes too, unless they are to stay.
func TestDeletingTheObjectRemovesWhatBelongsToIt(t *testing.T) {
	t.Parallel()
	for policy, left := range map[string]int{"Delete": 0, "Retain": 3} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, "gone", strings.Replace(withVolumes, "{size: 3,", "{size: 3, deletionPolicy: "+policy+",", 1))
			c.Kubectl("delete", "etcd", "gone")
			c.Eventually(patience, func(ctx context.Context) error {
				for _, kind := range []string{"pods", "services", "poddisruptionbudgets"} {
					if out := c.Kubectl("get", kind, "-l", "etcd_cluster=gone", "-o", "name"); out != "" {
						return fmt.Errorf("left over: %s", out)
					}
				}
				claims, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).List(ctx, metav1.ListOptions{})
				if err != nil || len(claims.Items) != left {
					return fmt.Errorf("%d claims are left, want %d: %w", len(claims.Items), left, err)
				}
				return nil
			})
		})
	}
}

// A cluster in steady state causes no writes.
func TestAClusterInSteadyStateCausesNoWrites(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "rest", `{size: 3, version: "3.6.16"}`)
	versions := func() string {
		var list []string
		list = append(list, c.get().ResourceVersion)
		for _, kind := range []string{"services", "poddisruptionbudgets"} {
			list = append(list, c.Kubectl("get", kind, "-l", "etcd_cluster=rest", "-o", "jsonpath={.items[*].metadata.resourceVersion}"))
		}
		for _, name := range names(c.pods()) {
			list = append(list, c.pods()[name].ResourceVersion)
		}
		return strings.Join(list, " ")
	}
	var last string
	since := time.Now()
	c.Eventually(patience, func(context.Context) error {
		if now := versions(); now != last {
			last, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < 20*time.Second {
			return fmt.Errorf("something was written %s ago", quiet)
		}
		return nil
	})
}
