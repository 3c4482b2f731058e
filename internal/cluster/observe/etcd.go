// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// askEtcd asks every member about itself, then one of them for the list that a
// quorum agrees on.
func (o *Observer) askEtcd(ctx context.Context, v *view.View) {
	v.Etcd = view.Etcd{Status: map[string]etcd.Status{}, Silent: map[string]string{}, Endpoints: map[string]etcd.Endpoint{}}
	identity, noIdentity := o.identity(ctx, v)
	asked := make([]*corev1.Pod, 0, len(v.Pods))
	for i := range v.Pods {
		pod := &v.Pods[i]
		// While TLS for clients is being added, a member serves it or not as its pod was made.
		secure := manifests.ServesTLS(v.Cluster, pod)
		switch {
		case secure && noIdentity != nil:
			v.Etcd.Silent[pod.Name] = noIdentity.Error()
		case !mayAnswer(pod):
			v.Etcd.Silent[pod.Name] = "etcd is not running in its pod"
		default:
			v.Etcd.Endpoints[pod.Name] = endpoint(v, pod, secure, identity)
			asked = append(asked, pod)
		}
	}
	statuses, errs := make([]etcd.Status, len(asked)), make([]error, len(asked))
	o.Together(len(asked), func(i int) {
		statuses[i], errs[i] = o.status(ctx, v.Etcd.Endpoints[asked[i].Name])
	})
	for i, pod := range asked {
		if errs[i] != nil {
			silent(v, pod.Name, "", errs[i])
			continue
		}
		v.Etcd.Status[pod.Name] = statuses[i]
	}
	v.Etcd.Membership = o.membership(ctx, v)
}

// mayAnswer reports whether the pod's etcd can be running. The kubelet tells of a
// started container up to a second late, so a pod that has an address is asked: where
// nothing listens yet, the answer is an immediate no.
func mayAnswer(pod *corev1.Pod) bool {
	return pod.Status.PodIP != "" && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

// silent notes why a member has not answered. One that asks for a user has: it runs.
func silent(v *view.View, name, what string, err error) {
	v.Etcd.Silent[name] = what + err.Error()
	if errors.Is(err, etcd.ErrAccessRefused) {
		v.Etcd.Refusing = append(v.Etcd.Refusing, name)
	}
}

func endpoint(v *view.View, pod *corev1.Pod, secure bool, identity *etcd.TLS) etcd.Endpoint {
	e := etcd.Endpoint{
		Address:    net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(manifests.ClientPort)),
		ServerName: manifests.Host(v.Cluster, pod.Name),
	}
	if secure {
		e.TLS = identity
	}
	return e
}

func (o *Observer) identity(ctx context.Context, v *view.View) (*etcd.TLS, error) {
	if !v.Cluster.Spec.TLS.IsSecureClient() {
		return nil, nil //nolint:nilnil // plain text has no identity
	}
	return o.Secrets.Identity(ctx, v.Cluster.Namespace, v.Cluster.Spec.TLS.Static.OperatorSecret)
}

func (o *Observer) status(ctx context.Context, e etcd.Endpoint) (etcd.Status, error) {
	c, err := o.Etcd.Connect(e)
	if err != nil {
		return etcd.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return c.Status(ctx)
}

// membership asks those that know a leader, furthest first: a member that was
// removed or cut off does not know that its view is old.
func (o *Observer) membership(ctx context.Context, v *view.View) *etcd.Membership {
	var names []string
	for name, status := range v.Etcd.Status {
		if status.Leader != 0 && !status.Learner {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := v.Etcd.Status[a], v.Etcd.Status[b]
		return cmp.Or(cmp.Compare(y.Term, x.Term), cmp.Compare(leads(y), leads(x)), cmp.Compare(a, b))
	})
	for _, name := range names {
		c, err := o.Etcd.Connect(v.Etcd.Endpoints[name])
		if err != nil {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, askTimeout)
		list, err := c.Members(limited)
		cancel()
		if err == nil {
			return &list
		}
		silent(v, name, "it does not return the member list: ", err)
	}
	return nil
}

func leads(s etcd.Status) int {
	if s.Leader == s.MemberID {
		return 1
	}
	return 0
}
