// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// blindOperator keeps the operator from reaching any member, while all of them serve and it reaches the API server.
func blindOperator(ctx context.Context, in *injector, _ *cluster) error {
	pod, err := in.operator(ctx)
	if err != nil {
		return err
	}
	pid, err := pidOfOperator(pod.Name)
	if err != nil {
		return err
	}
	if !in.breaks("operator", in.between(3*time.Second, 20*time.Second), func(ctx context.Context) error {
		if now, err := pidOfOperator(pod.Name); err != nil || now != pid {
			return nil //nolint:nilerr // its network went with its pod
		}
		return inNetworkOf(ctx, pid, "delete table inet chaos")
	}) {
		return errNotNow
	}
	err = inNetworkOf(ctx, pid, "table inet chaos { chain out { type filter hook output priority 0; tcp dport 2379 drop; }; }")
	if err != nil {
		in.forget("operator")
	}
	return err
}

// operator is the pod of the operator that works.
func (in *injector) operator(ctx context.Context) (*corev1.Pod, error) {
	pods, err := in.tenant.Kube.CoreV1().Pods(in.tenant.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "name=etcd-operator"})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil && isReady(pod) {
			return pod, nil
		}
	}
	return nil, errNotNow
}

// inNetworkOf gives commands to nft in the network of a process.
func inNetworkOf(ctx context.Context, pid int, commands string) error {
	out, err := exec.CommandContext(ctx, "nsenter", "--target", strconv.Itoa(pid), "--net", "nft", commands).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nft %s: %w: %s", commands, err, out)
	}
	return nil
}
