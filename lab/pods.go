// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/lab/internal/network"
)

// CutPod cuts a pod off from the network, its own node included: every packet from and to it is dropped silently.
// Its containers go on running, and a container that is restarted stays cut off. A later pod of the same name is not.
func (l *Lab) CutPod(ctx context.Context, namespace, name string) error {
	return l.changeExisting(ctx, func(s *session) error {
		c, err := s.connect()
		if err != nil {
			return err
		}
		pod, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("there is no pod %s/%s", namespace, name)
		} else if err != nil {
			return fmt.Errorf("look for the pod %s/%s: %w", namespace, name, err)
		}
		if pod.Spec.HostNetwork {
			return fmt.Errorf("the pod %s/%s has no network of its own: cut its node off instead", namespace, name)
		}
		id, on := s.running(pod.Spec.NodeName)
		if pod.Status.PodIP == "" || !on {
			return fmt.Errorf("the pod %s/%s does not run: it is %s", namespace, name, pod.Status.Phase)
		}
		port, err := s.portOf(pod.Spec.NodeName, string(pod.UID), pod.Status.PodIP)
		if err != nil {
			return fmt.Errorf("find the link of the pod %s/%s: %w", namespace, name, err)
		}
		s.state.setPodCut(CutPod{Namespace: namespace, Name: name, UID: string(pod.UID), Node: pod.Spec.NodeName, Port: port})
		if err := s.writeState(s.state); err != nil {
			return err
		}
		t := newStopwatch(s.say)
		if err := network.SetPort(ctx, id.PID, port, false); err != nil {
			return err
		}
		t.note("the pod %s/%s is cut off", namespace, name)
		return nil
	})
}

// HealPod connects a pod that was cut off to the network again.
func (l *Lab) HealPod(ctx context.Context, namespace, name string) error {
	return l.changeExisting(ctx, func(s *session) error {
		i := slices.IndexFunc(s.state.CutPods, func(p CutPod) bool { return p.named(namespace, name) })
		if i < 0 {
			return fmt.Errorf("the pod %s/%s is not cut off", namespace, name)
		}
		return s.healPod(ctx, s.state.CutPods[i])
	})
}

func (s *session) healPod(ctx context.Context, p CutPod) error {
	t := newStopwatch(s.say)
	if id, on := s.running(p.Node); on {
		cut, err := network.Swallowing(ctx, id.PID)
		if err != nil {
			return err
		}
		// If its port is gone, so is the pod.
		if slices.Contains(cut, p.Port) {
			if err := network.SetPort(ctx, id.PID, p.Port, true); err != nil {
				return err
			}
		}
	}
	t.note("the pod %s/%s is connected", p.Namespace, p.Name)
	s.state.forgetPod(p.Namespace, p.Name)
	return s.writeState(s.state)
}

// forgetPodsOf drops the notes about pods of a node that is off: their network is gone.
func (s *session) forgetPodsOf(nodeName string) error {
	before := len(s.state.CutPods)
	s.state.CutPods = slices.DeleteFunc(s.state.CutPods, func(p CutPod) bool { return p.Node == nodeName })
	if len(s.state.CutPods) == before {
		return nil
	}
	return s.writeState(s.state)
}

// attachment is what the CNI library keeps about a pod's network, as far as it matters here.
type attachment struct {
	Arguments [][2]string `json:"cniArgs"`
	Result    struct {
		Interfaces []struct {
			Name    string `json:"name"`
			Sandbox string `json:"sandbox"`
		} `json:"interfaces"`
		IPs []podAddress `json:"ips"`
	} `json:"result"`
}

// podAddress is an address with the length of its range, such as 10.244.1.7/24.
type podAddress struct {
	Address string `json:"address"`
}

// portOf finds the port of its node's bridge that a pod is plugged into.
func (s *session) portOf(nodeName, uid, address string) (string, error) {
	files, err := filepath.Glob(filepath.Join(s.NodeDir(nodeName), "var-lib", "cni", "results", "*"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // the pod was removed meanwhile
		} else if err != nil {
			return "", err
		}
		var a attachment
		if err := json.Unmarshal(content, &a); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		if port, ok := a.port(uid, address); ok {
			return port, nil
		}
	}
	return "", fmt.Errorf("%s keeps no note about it", nodeName)
}

// port returns the end of the pod's link that is outside of it, if this is the attachment of that pod with that address.
func (a attachment) port(uid, address string) (string, bool) {
	if !slices.Contains(a.Arguments, [2]string{"K8S_POD_UID", uid}) {
		return "", false
	}
	// After a restart of its node a pod has another attachment, with another address.
	has := func(a podAddress) bool { return strings.HasPrefix(a.Address, address+"/") }
	if !slices.ContainsFunc(a.Result.IPs, has) {
		return "", false
	}
	for _, i := range a.Result.Interfaces {
		if i.Sandbox == "" && i.Name != network.PodBridge {
			return i.Name, true
		}
	}
	return "", false
}
