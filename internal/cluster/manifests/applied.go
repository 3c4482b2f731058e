// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// fixedParts are the parts of the spec that a running pod cannot change. What the
// operator adds by itself is left out on purpose: a new release of the operator
// must not restart every etcd there is.
type fixedParts struct {
	NodeSelector      map[string]string          `json:"nodeSelector,omitempty"`
	Affinity          *corev1.Affinity           `json:"affinity,omitempty"`
	AntiAffinity      bool                       `json:"antiAffinity,omitempty"`
	Tolerations       []corev1.Toleration        `json:"tolerations,omitempty"`
	PriorityClassName string                     `json:"priorityClassName,omitempty"`
	Env               []corev1.EnvVar            `json:"env,omitempty"`
	SecurityContext   *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	Tmpfs             bool                       `json:"tmpfs,omitempty"`
	TLS               *v1beta2.TLSPolicy         `json:"tls,omitempty"`

	ImagePullSecrets              []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	ServiceAccountName            string                        `json:"serviceAccountName,omitempty"`
	RuntimeClassName              string                        `json:"runtimeClassName,omitempty"`
	TerminationGracePeriodSeconds *int64                        `json:"terminationGracePeriodSeconds,omitempty"`
	HostAliases                   []corev1.HostAlias            `json:"hostAliases,omitempty"`

	// StorageQuota is that of the spec alone: one that follows from the volume reaches pods that are created later.
	StorageQuota              int64                             `json:"storageQuota,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// Fingerprint identifies the parts of the spec that a running pod cannot change. A pod carries the one
// that it was made for.
func Fingerprint(c *v1beta2.EtcdCluster) string {
	p := PolicyOf(c)
	var quota int64
	if c.Spec.StorageQuota != nil {
		quota = c.Spec.StorageQuota.Value()
	}
	content, err := json.Marshal(fixedParts{
		NodeSelector: p.NodeSelector, Affinity: p.Affinity, AntiAffinity: p.AntiAffinity,
		Tolerations: p.Tolerations, PriorityClassName: p.PriorityClassName, Env: p.EtcdEnv,
		SecurityContext: p.SecurityContext, Tmpfs: p.Tmpfs, TLS: c.Spec.TLS,
		ImagePullSecrets: p.ImagePullSecrets, ServiceAccountName: p.ServiceAccountName, RuntimeClassName: p.RuntimeClassName,
		TerminationGracePeriodSeconds: p.TerminationGracePeriodSeconds, HostAliases: p.HostAliases, TopologySpreadConstraints: p.TopologySpreadConstraints,
		StorageQuota: quota,
	})
	if err != nil {
		panic("manifests: API types always encode: " + err.Error())
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// Applied are the changeable parts of a pod that came from the spec. A pod carries them in an annotation,
// so that what was taken out of the spec can be told from what somebody else has added.
type Applied struct {
	Labels      []string                    `json:"labels,omitempty"`
	Annotations []string                    `json:"annotations,omitempty"`
	Resources   corev1.ResourceRequirements `json:"resources,omitzero"`
}

// AppliedBy is what a policy asks for.
func AppliedBy(p v1beta2.PodPolicy) Applied {
	return Applied{
		Labels: slices.Sorted(maps.Keys(p.Labels)), Annotations: slices.Sorted(maps.Keys(p.Annotations)), Resources: p.Resources,
	}
}

// AppliedTo is what a pod was given; not ok where it does not say, or somebody else wrote that.
func AppliedTo(pod *corev1.Pod) (applied Applied, ok bool) {
	recorded, found := pod.Annotations[AnnotationApplied]
	if !found || json.Unmarshal([]byte(recorded), &applied) != nil {
		return Applied{}, false
	}
	return applied, true
}

// String is what the annotation holds.
func (a Applied) String() string {
	content, err := json.Marshal(a)
	if err != nil {
		panic("manifests: API types always encode: " + err.Error())
	}
	return string(content)
}
