// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/test/process"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// agent puts the network policies of a namespace into force, as a network plugin does: by rules in the networks of the pods that they
// select, which end with the pods. It knows what our policies use: who may connect, by labels, and to which ports.
//
// Nodes may always connect, for the sake of probes. The lab's kube-proxy lets whoever comes through a Service come from a node, so
// that what is shown by this agent is about connections to the pods' own addresses.
type agent struct {
	*tenant.Tenant
	nodes   string            // their addresses
	inForce map[string]string // rules, by the pod's UID
}

// enforcePolicies puts the policies of a namespace into force until the test ends.
func enforcePolicies(n *tenant.Tenant) {
	n.Helper()
	nodes := n.Kubectl("get", "nodes", "-o", `jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}`)
	a := &agent{Tenant: n, nodes: strings.Join(strings.Fields(nodes), ", "), inForce: map[string]string{}}
	ctx, stop := context.WithCancel(n.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var last string
		for ctx.Err() == nil {
			if err := a.look(ctx); err != nil && ctx.Err() == nil && err.Error() != last {
				last = err.Error()
				n.Logf("the agent tries again: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	}()
	n.Cleanup(func() { stop(); <-done })
}

// look brings the rules of all pods up to date.
func (a *agent) look(ctx context.Context) error {
	policies, err := a.Kube.NetworkingV1().NetworkPolicies(a.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := a.Kube.CoreV1().Pods(a.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	processes := process.OfPods()
	for _, pod := range pods.Items {
		pid, found := processes[string(pod.UID)]
		if !found || pod.Status.PodIP == "" {
			continue
		}
		rules, err := a.rules(ctx, &pod, policies.Items)
		if err != nil {
			return err
		}
		if before, known := a.inForce[string(pod.UID)]; before == rules || !known && rules == noRules {
			continue
		}
		if err := runIn(ctx, pid, rules); err != nil {
			return fmt.Errorf("the rules of %s: %w", pod.Name, err)
		}
		a.inForce[string(pod.UID)] = rules
	}
	return nil
}

// noRules takes away what is there, if anything is.
const noRules = "table inet wall\ndelete table inet wall\n"

// rules are what nft is told in a pod's network.
func (a *agent) rules(ctx context.Context, pod *corev1.Pod, policies []networkingv1.NetworkPolicy) (string, error) {
	var accept []string
	selected := false
	for i := range policies {
		spec := policies[i].Spec
		selector, err := metav1.LabelSelectorAsSelector(&spec.PodSelector)
		if err != nil {
			return "", err
		}
		if !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		selected = true
		for _, rule := range spec.Ingress {
			lines, err := a.accept(ctx, rule)
			if err != nil {
				return "", err
			}
			accept = append(accept, lines...)
		}
	}
	if !selected {
		return noRules, nil
	}
	// The pod's own node is the first address of its network.
	node := pod.Status.PodIP[:strings.LastIndex(pod.Status.PodIP, ".")] + ".1"
	return noRules + "table inet wall {\nchain in {\ntype filter hook input priority 0; policy accept;\n" +
		"iif lo accept\nct state established,related accept\nip saddr { " + node + ", " + a.nodes + " } accept\n" +
		strings.Join(accept, "") + "tcp flags & (syn|ack) == syn reject with tcp reset\n}\n}\n", nil
}

// accept is what one rule of a policy lets in.
func (a *agent) accept(ctx context.Context, rule networkingv1.NetworkPolicyIngressRule) ([]string, error) {
	from := ""
	if len(rule.From) > 0 {
		var addresses []string
		for _, peer := range rule.From {
			found, err := a.addresses(ctx, peer)
			if err != nil {
				return nil, err
			}
			addresses = append(addresses, found...)
		}
		if len(addresses) == 0 {
			return nil, nil
		}
		slices.Sort(addresses)
		from = "ip saddr { " + strings.Join(slices.Compact(addresses), ", ") + " } "
	}
	if len(rule.Ports) == 0 {
		return []string{from + "accept\n"}, nil
	}
	var lines []string
	for _, port := range rule.Ports {
		lines = append(lines, fmt.Sprintf("%stcp dport %d accept\n", from, port.Port.IntValue()))
	}
	return lines, nil
}

// addresses are those of the pods that a peer of a policy stands for.
func (a *agent) addresses(ctx context.Context, peer networkingv1.NetworkPolicyPeer) ([]string, error) {
	places := []string{a.Namespace}
	if peer.NamespaceSelector != nil {
		found, err := a.Kube.CoreV1().Namespaces().List(ctx, selecting(peer.NamespaceSelector))
		if err != nil {
			return nil, err
		}
		places = nil
		for _, namespace := range found.Items {
			places = append(places, namespace.Name)
		}
	}
	var all []string
	for _, place := range places {
		found, err := a.Kube.CoreV1().Pods(place).List(ctx, selecting(peer.PodSelector))
		if err != nil {
			return nil, err
		}
		for _, pod := range found.Items {
			if pod.Status.PodIP != "" && (pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodPending) {
				all = append(all, pod.Status.PodIP)
			}
		}
	}
	return all, nil
}

// selecting is what a selector selects; none selects all.
func selecting(s *metav1.LabelSelector) metav1.ListOptions {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return metav1.ListOptions{}
	}
	return metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(s)}
}

// runIn tells nft rules for the network of a process.
func runIn(ctx context.Context, pid int, rules string) error {
	cmd := exec.CommandContext(ctx, "nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", pid), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
