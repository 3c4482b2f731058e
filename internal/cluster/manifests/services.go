// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func objectMeta(c *v1beta2.EtcdCluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       c.Namespace,
		Labels:          ClusterLabels(c.Name),
		OwnerReferences: []metav1.OwnerReference{c.AsOwner()},
	}
}

func clientPort() corev1.ServicePort {
	return corev1.ServicePort{Name: "client", Port: ClientPort, TargetPort: intstr.FromInt32(ClientPort), Protocol: corev1.ProtocolTCP}
}

// PeerService gives members their names. It publishes them before they are ready:
// they have to find each other in order to become ready.
func PeerService(c *v1beta2.EtcdCluster) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: objectMeta(c, c.Name),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Selector:  ClusterLabels(c.Name),
			Ports: []corev1.ServicePort{
				clientPort(),
				{Name: "peer", Port: PeerPort, TargetPort: intstr.FromInt32(PeerPort), Protocol: corev1.ProtocolTCP},
			},
			PublishNotReadyAddresses: true,
		},
	}
}

// ClientService leads clients to the members that serve.
func ClientService(c *v1beta2.EtcdCluster) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: objectMeta(c, ClientServiceName(c)),
		Spec: corev1.ServiceSpec{
			Selector: merged(ClusterLabels(c.Name), map[string]string{LabelServing: "true"}),
			Ports:    []corev1.ServicePort{clientPort()},
		},
	}
	if policy := c.Spec.Service; policy != nil {
		if len(policy.Annotations) > 0 {
			s.Annotations = merged(policy.Annotations)
		}
		if len(policy.Selector) > 0 {
			s.Spec.Selector = merged(policy.Selector)
		}
	}
	return s
}

// WantsBudget reports whether the cluster has a PodDisruptionBudget, which it
// has unless the spec says no.
func WantsBudget(c *v1beta2.EtcdCluster) bool {
	return c.Spec.PodDisruptionBudget == nil || *c.Spec.PodDisruptionBudget
}

// MinAvailable is how many members of a cluster have to stay when nodes are drained:
// all but one, so that drains go node by node, and all where losing one loses quorum.
// It is anchored to the larger of the wanted size and the voters there are:
// otherwise each member that is drained would lower the bar for the next.
func MinAvailable(size, voters int) int {
	n := max(size, voters)
	if n < 3 {
		return n
	}
	return n - 1
}

// Budget limits voluntary disruptions, such as drains.
func Budget(c *v1beta2.EtcdCluster, minAvailable int) *policyv1.PodDisruptionBudget {
	least := intstr.FromInt32(int32(minAvailable))
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: objectMeta(c, c.Name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least,
			Selector:     &metav1.LabelSelector{MatchLabels: ClusterLabels(c.Name)},
		},
	}
}

// Claim is the volume of one member, under the member's name.
func Claim(c *v1beta2.EtcdCluster, member string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: objectMeta(c, member),
		Spec:       *PolicyOf(c).PersistentVolumeClaimSpec.DeepCopy(),
	}
	if len(claim.Spec.AccessModes) == 0 { // which Kubernetes refuses
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	mark(c, claim)
	if c.Spec.DeletionPolicy == v1beta2.DeletionPolicyRetain {
		claim.OwnerReferences = nil
		claim.Annotations = map[string]string{AnnotationClusterUID: string(c.UID)}
	}
	return claim
}

// AnnotationClusterUID is on claims without an owner: they outlive their cluster,
// and must not be taken for those of a later one of the same name.
const AnnotationClusterUID = "etcd.database.coreos.com/cluster-uid"
