// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package manifests builds the Kubernetes objects of an etcd cluster. Its functions
// are pure: the same spec gives the same object.
package manifests

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// Labels, which users select on in Services of their own.
const (
	// LabelApp is "etcd" on whatever the operator creates for a cluster.
	LabelApp = "app"
	// LabelCluster is the name of the EtcdCluster.
	LabelCluster = "etcd_cluster"
	// LabelNode is the name of the member, which is that of its pod.
	LabelNode = "etcd_node"
	// LabelServing is on the pods that the client service sends clients to. It
	// is put on a member that has its vote, and taken off before the operator
	// interrupts a member, so that no client is connected to it when it stops.
	LabelServing = "etcd_serving"
	// LabelIncarnation is on the pods and claims of a cluster that was restored from a
	// snapshot: those of the object that have another one, or none, are of a
	// previous incarnation.
	LabelIncarnation = "etcd_incarnation"
)

// Annotations on pods.
const (
	// AnnotationVersion is the version of etcd that the pod was given, under the name that the original used.
	AnnotationVersion = "etcd.version"
	// AnnotationMemberID marks a member that has started once: from then on it
	// must never start without its data.
	AnnotationMemberID = "etcd.database.coreos.com/member-id"
	// AnnotationImage is the image that the pod was given. What Kubernetes stored may be another
	// one: admission may send it to a mirror, or turn its tag into a digest.
	AnnotationImage = "etcd.database.coreos.com/image"
	// AnnotationHelperImage is the image that the containers before etcd were given. Here too Kubernetes may have stored another one.
	AnnotationHelperImage = "etcd.database.coreos.com/helper-image"
	// AnnotationDefaults are the operator's defaults that the pod was given, because the spec says nothing.
	AnnotationDefaults = "etcd.database.coreos.com/defaults"
	// AnnotationPolicy is the fingerprint of the parts of the spec which a
	// running pod cannot change.
	AnnotationPolicy = "etcd.database.coreos.com/policy"
	// AnnotationApplied lists the labels and annotations that came from the
	// spec, so that those taken out of it can be taken off the pod.
	AnnotationApplied = "etcd.database.coreos.com/applied"
	// AnnotationRestarting is the id of the container that is about to be
	// replaced by one of another image: until it is, the old etcd still
	// answers and must not be taken for the new one.
	AnnotationRestarting = "etcd.database.coreos.com/restarting"
	// AnnotationRestarts is how often etcd had been restarted when it was last seen
	// well: only restarts after that are crashes in a row.
	AnnotationRestarts = "etcd.database.coreos.com/restarts"
	// AnnotationDrained says since when a pod is kept out of the client service.
	AnnotationDrained = "etcd.database.coreos.com/drained-since"
	// AnnotationStart is the operator's permission for the seed of a restored cluster to
	// start: nothing of the previous incarnation runs any more.
	AnnotationStart = "etcd.database.coreos.com/start"
)

// AnnotationStarted is on the volume claim of a first member whose etcd was seen running on it before
// anybody had heard of the cluster: from then on no cluster may be started there without that data.
const AnnotationStarted = "etcd.database.coreos.com/started"

// IsReservedLabel reports whether a label of pods is the operator's own: the spec has no say in it.
func IsReservedLabel(k string) bool {
	return k == LabelApp || k == LabelCluster || k == LabelNode || k == LabelServing || k == LabelIncarnation
}

// IsReservedAnnotation reports the same of an annotation of pods.
func IsReservedAnnotation(k string) bool {
	switch k {
	case AnnotationVersion, AnnotationImage, AnnotationHelperImage, AnnotationDefaults, AnnotationMemberID, AnnotationPolicy, AnnotationApplied,
		AnnotationDrained, AnnotationRestarting, AnnotationRestarts, AnnotationStart, AnnotationDefragment:
		return true
	}
	return false
}

// Annotations on the EtcdCluster.
const (
	// AnnotationBootstrapAgain is the user's consent to start a new, empty
	// cluster after the named seed was lost.
	AnnotationBootstrapAgain = "etcd.database.coreos.com/bootstrap-again"
)

// SchedulingGate holds the seed's pod back until the status says that this pod, and
// no other, starts the cluster.
const SchedulingGate = "etcd.database.coreos.com/bootstrap-recorded"

// FinalizerSeed keeps a seed pod that never served visible while it is replaced.
const FinalizerSeed = "etcd.database.coreos.com/seed-never-served"

// FinalizerVolumes keeps an EtcdCluster with volumes until these carry what its deletionPolicy says.
const FinalizerVolumes = "etcd.database.coreos.com/volumes"

// Ports and names of containers and volumes.
const (
	ClientPort  = 2379
	PeerPort    = 2380
	MetricsPort = 2381

	ContainerEtcd = "etcd"
	ContainerGate = "check-dns"

	volumeData  = "etcd-data"
	volumePod   = "pod-info"
	mountData   = "/var/etcd"
	mountPod    = "/etc/etcd-member"
	DataDir     = "/var/etcd/data"
	gateBinary  = "/usr/local/bin/etcd-member-gate"
	MaxLearners = 7
)

// ClusterLabels are on everything that belongs to the cluster.
func ClusterLabels(cluster string) map[string]string {
	return map[string]string{LabelApp: "etcd", LabelCluster: cluster}
}

// ClientServiceName is the name of the service for clients.
func ClientServiceName(c *v1beta2.EtcdCluster) string {
	if c.Spec.Service != nil && c.Spec.Service.Name != "" {
		return c.Spec.Service.Name
	}
	return c.Name + "-client"
}

// MemberName makes a member's name of the cluster's and a random suffix.
func MemberName(cluster, suffix string) string {
	const longest = 63 - 1 - 10
	if len(cluster) > longest {
		cluster = cluster[:longest]
	}
	return cluster + "-" + suffix
}

// Host is a member's DNS name.
func Host(c *v1beta2.EtcdCluster, member string) string {
	domain := ""
	if c.Spec.Pod != nil {
		domain = c.Spec.Pod.ClusterDomain
	}
	if domain != "" && !strings.HasPrefix(domain, ".") {
		domain = "." + domain
	}
	return fmt.Sprintf("%s.%s.%s.svc%s", member, c.Name, c.Namespace, domain)
}

// PeerURL is where a member's peers reach it.
func PeerURL(c *v1beta2.EtcdCluster, member string) string {
	return fmt.Sprintf("%s://%s:%d", scheme(c.Spec.TLS.IsSecurePeer()), Host(c, member), PeerPort)
}

// ClientURL is where clients reach a member.
func ClientURL(c *v1beta2.EtcdCluster, member string) string {
	return fmt.Sprintf("%s://%s:%d", scheme(c.Spec.TLS.IsSecureClient()), Host(c, member), ClientPort)
}

// ClientServiceURL is where clients reach the cluster.
func ClientServiceURL(c *v1beta2.EtcdCluster) string {
	return fmt.Sprintf("%s://%s:%d", scheme(c.Spec.TLS.IsSecureClient()), ClientServiceHost(c), ClientPort)
}

// ClientServiceHost is the DNS name by which clients reach the cluster.
func ClientServiceHost(c *v1beta2.EtcdCluster) string {
	return fmt.Sprintf("%s.%s.svc", ClientServiceName(c), c.Namespace)
}

func scheme(secure bool) string {
	if secure {
		return "https"
	}
	return "http"
}

// Version is the version of etcd that the spec asks for, without a leading v.
func Version(c *v1beta2.EtcdCluster) string {
	if c.Spec.Version == "" {
		return v1beta2.DefaultEtcdVersion
	}
	return etcdversion.Normalize(c.Spec.Version)
}

// PodImage returns the image of a pod's etcd container.
func PodImage(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == ContainerEtcd {
			return c.Image
		}
	}
	return ""
}

// PolicyOf is what the spec says of pods; the zero value where it says nothing.
func PolicyOf(c *v1beta2.EtcdCluster) v1beta2.PodPolicy {
	if c.Spec.Pod == nil {
		return v1beta2.PodPolicy{}
	}
	return *c.Spec.Pod
}

// HasVolumes reports whether members keep their data in volumes of their own.
func HasVolumes(c *v1beta2.EtcdCluster) bool {
	return c.Spec.Pod != nil && c.Spec.Pod.PersistentVolumeClaimSpec != nil
}

func merged(base map[string]string, more ...map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}
