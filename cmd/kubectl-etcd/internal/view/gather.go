// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
)

// Source reads views.
type Source struct {
	Kube kubernetes.Interface
	Etcd versioned.Interface
	// Ask asks the members; nil to leave them alone. The notes say why some could not be asked.
	Ask func(ctx context.Context, cluster *v1beta2.EtcdCluster, pods []corev1.Pod) (live map[string]Live, notes []string)
	Now func() time.Time
	// Brief leaves out what a list of clusters does not show.
	Brief bool
}

// Gather reads everything about a cluster that the user may read. Only what a view cannot do without is an error; what
// else is missing is noted.
func (s *Source) Gather(ctx context.Context, cluster *v1beta2.EtcdCluster) (*View, error) {
	v := &View{Now: s.Now(), Cluster: cluster}
	selector := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(manifests.ClusterLabels(cluster.Name)).String()}
	pods, err := s.Kube.CoreV1().Pods(cluster.Namespace).List(ctx, selector)
	if err != nil {
		return nil, fmt.Errorf("reading the members' pods: %w", err)
	}
	for i := range pods.Items {
		if metav1.IsControlledBy(&pods.Items[i], cluster) {
			v.Pods = append(v.Pods, pods.Items[i])
		}
	}
	s.readBackups(ctx, v)
	if s.Brief {
		return v, nil
	}
	if claims, err := s.Kube.CoreV1().PersistentVolumeClaims(cluster.Namespace).List(ctx, selector); err != nil {
		v.note("volume claims", err)
	} else {
		v.Claims = claims.Items
	}
	s.readEvents(ctx, v)
	s.readZones(ctx, v)
	s.readCertificates(ctx, v)
	if s.Ask != nil {
		var notes []string
		v.Live, notes = s.Ask(ctx, cluster, v.Pods)
		v.Notes = append(v.Notes, notes...)
	}
	return v, nil
}

// note says that something could not be read.
func (v *View) note(what string, err error) {
	switch {
	case apierrors.IsForbidden(err):
		v.Notes = append(v.Notes, fmt.Sprintf("You may not read %s.", what))
	case apierrors.IsNotFound(err):
		v.Notes = append(v.Notes, fmt.Sprintf("This Kubernetes has no %s.", what))
	default:
		v.Notes = append(v.Notes, fmt.Sprintf("Reading %s failed: %v.", what, err))
	}
}

func (s *Source) readBackups(ctx context.Context, v *View) {
	c := v.Cluster
	if backups, err := s.Etcd.EtcdV1beta2().EtcdBackups(c.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
		for i := range backups.Items {
			if BacksUp(&backups.Items[i], c) {
				v.Backups = append(v.Backups, backups.Items[i])
			}
		}
	} else if !apierrors.IsNotFound(err) { // without its operator there are no backups, which is said anyway
		v.note("EtcdBackups", err)
	}
	restores, err := s.Etcd.EtcdV1beta2().EtcdRestores(c.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		if !apierrors.IsNotFound(err) {
			v.note("EtcdRestores", err)
		}
		return
	}
	for i := range restores.Items {
		if restores.Items[i].Spec.EtcdCluster.Name == c.Name {
			v.Restores = append(v.Restores, restores.Items[i])
		}
	}
}

func (s *Source) readEvents(ctx context.Context, v *View) {
	// All events of the namespace may be many; those of one object are few.
	about := func(kind, name string) []corev1.Event {
		selector := fields.Set{"involvedObject.kind": kind, "involvedObject.name": name}.AsSelector().String()
		list, err := s.Kube.CoreV1().Events(v.Cluster.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			if kind == v1beta2.EtcdClusterResourceKind {
				v.note("events", err)
			}
			return nil
		}
		return list.Items
	}
	for _, e := range about(v1beta2.EtcdClusterResourceKind, v.Cluster.Name) {
		v.Events = append(v.Events, eventOf(&e, ""))
	}
	for i := range v.Pods {
		for _, e := range about("Pod", v.Pods[i].Name) {
			if e.Type == corev1.EventTypeWarning {
				v.Events = append(v.Events, eventOf(&e, v.Pods[i].Name))
			}
		}
	}
	slices.SortStableFunc(v.Events, func(a, b Event) int { return b.Time.Compare(a.Time) })
}

func eventOf(e *corev1.Event, about string) Event {
	at := cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time, e.CreationTimestamp.Time)
	if e.Series != nil {
		at = e.Series.LastObservedTime.Time
	}
	return Event{
		Time: at, Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason, Message: strings.TrimSpace(e.Message), About: about, Count: max(e.Count, 1),
	}
}

// readZones takes zones from the pods' own labels, which newer releases of Kubernetes put there, and else from the nodes,
// which the role view may not read.
func (s *Source) readZones(ctx context.Context, v *View) {
	v.Zones = map[string]string{}
	for i := range v.Pods {
		node := v.Pods[i].Spec.NodeName
		if zone := v.Pods[i].Labels[corev1.LabelTopologyZone]; zone != "" {
			v.Zones[node] = zone
		}
		if _, known := v.Zones[node]; known || node == "" {
			continue
		}
		object, err := s.Kube.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if apierrors.IsForbidden(err) {
			v.note("nodes, which have the zones", err)
			return
		}
		if err == nil {
			v.Zones[node] = object.Labels[corev1.LabelTopologyZone]
		}
	}
}
