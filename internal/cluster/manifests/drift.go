// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
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
}

// Fingerprint identifies the parts of the spec that a running pod cannot change.
func Fingerprint(c *v1beta2.EtcdCluster) string {
	p := policyOf(c)
	content, err := json.Marshal(fixedParts{
		NodeSelector: p.NodeSelector, Affinity: p.Affinity, AntiAffinity: p.AntiAffinity,
		Tolerations: p.Tolerations, PriorityClassName: p.PriorityClassName, Env: p.EtcdEnv,
		SecurityContext: p.SecurityContext, Tmpfs: p.Tmpfs, TLS: c.Spec.TLS,
	})
	if err != nil {
		panic("manifests: API types always encode: " + err.Error())
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// appliedParts are the changeable parts of a pod that came from the spec.
type appliedParts struct {
	Labels      []string                    `json:"labels,omitempty"`
	Annotations []string                    `json:"annotations,omitempty"`
	Resources   corev1.ResourceRequirements `json:"resources,omitzero"`
}

func applied(p v1beta2.PodPolicy) string {
	keys := appliedParts{Resources: p.Resources}
	for k := range p.Labels {
		keys.Labels = append(keys.Labels, k)
	}
	for k := range p.Annotations {
		keys.Annotations = append(keys.Annotations, k)
	}
	slices.Sort(keys.Labels)
	slices.Sort(keys.Annotations)
	content, err := json.Marshal(keys)
	if err != nil {
		panic("manifests: API types always encode: " + err.Error())
	}
	return string(content)
}

// NeedsReplacing reports whether the pod was made for a spec that a running pod
// cannot be changed to. Pods of other operators carry no fingerprint; they are
// taken as they are when they are adopted.
func NeedsReplacing(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	made, ok := pod.Annotations[AnnotationPolicy]
	return ok && made != Fingerprint(c)
}

// NeedsNewSettings reports whether a change of the image alone is not enough: the
// version that the spec asks for does not know a setting that the pod was started with.
func NeedsNewSettings(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	old := etcdversion.Version{Major: 3, Minor: 5}.SkipPeerNameCheck()
	return c.Spec.TLS.IsSecurePeer() && version(c).AtLeast(3, 7) && hasEnv(pod, old)
}

// NeedsImage reports whether the pod's etcd was given another image than the spec's. Pods of
// other operators do not say what they were given.
func NeedsImage(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	given, ok := pod.Annotations[AnnotationImage]
	if !ok {
		given = PodImage(pod)
	}
	return given != Image(c)
}

// SetImage changes the pod to the spec's image.
func SetImage(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == ContainerEtcd {
			pod.Spec.Containers[i].Image = Image(c)
		}
	}
	setAnnotation(pod, AnnotationVersion, Version(c))
	setAnnotation(pod, AnnotationImage, Image(c))
	id := containerID(pod)
	if id == "" {
		return
	}
	if IsRestarting(pod) {
		id += takenBack
	}
	setAnnotation(pod, AnnotationRestarting, id)
}

// takenBack marks a change of the image that was made before the one before it took
// effect: perhaps the kubelet has nothing left to restart.
const takenBack = " taken back"

// IsRestarting reports whether the pod's etcd still has to be restarted with the image
// that the pod was given.
func IsRestarting(pod *corev1.Pod) bool {
	noted, ok := pod.Annotations[AnnotationRestarting]
	if !ok {
		return false
	}
	old, back := strings.CutSuffix(noted, takenBack)
	if old != containerID(pod) {
		return false
	}
	settled := pod.Status.ObservedGeneration >= pod.Generation && slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == ContainerEtcd && s.Ready
	})
	return !back || !settled
}

// ClearRestarted takes the note of a restart off a pod that has restarted.
func ClearRestarted(pod *corev1.Pod) {
	if !IsRestarting(pod) {
		delete(pod.Annotations, AnnotationRestarting)
	}
}

func containerID(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == ContainerEtcd {
			return s.ContainerID
		}
	}
	return ""
}

// AdjustMetadata brings a pod's labels and annotations to what the spec says, and
// reports whether that changed anything. Pods of other operators get what marks
// them as ours.
func AdjustMetadata(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	labels, annotations := maps.Clone(pod.Labels), maps.Clone(pod.Annotations)
	policy := policyOf(c)
	var previous appliedParts
	if recorded, ok := pod.Annotations[AnnotationApplied]; ok {
		// Unreadable means that someone else wrote it: nothing is taken off then.
		_ = json.Unmarshal([]byte(recorded), &previous)
	}
	for _, k := range previous.Labels {
		if _, wanted := policy.Labels[k]; !wanted && !reservedLabel(k) {
			delete(pod.Labels, k)
		}
	}
	for _, k := range previous.Annotations {
		if _, wanted := policy.Annotations[k]; !wanted && !reservedAnnotation(k) {
			delete(pod.Annotations, k)
		}
	}
	for k, v := range policy.Labels {
		if !reservedLabel(k) {
			setLabel(pod, k, v)
		}
	}
	for k, v := range policy.Annotations {
		if !reservedAnnotation(k) {
			setAnnotation(pod, k, v)
		}
	}
	if pod.Annotations[AnnotationApplied] != "" {
		policy.Resources = previous.Resources // these are changed by a step of their own
	}
	setAnnotation(pod, AnnotationApplied, applied(policy))
	if _, ok := pod.Annotations[AnnotationPolicy]; !ok {
		setAnnotation(pod, AnnotationPolicy, Fingerprint(c))
	}
	return !maps.Equal(labels, pod.Labels) || !maps.Equal(annotations, pod.Annotations)
}

func reservedLabel(k string) bool {
	return k == LabelApp || k == LabelCluster || k == LabelNode || k == LabelServing || k == LabelIncarnation
}

func reservedAnnotation(k string) bool {
	switch k {
	case AnnotationVersion, AnnotationImage, AnnotationMemberID, AnnotationPolicy, AnnotationApplied, AnnotationDrained, AnnotationRestarting, AnnotationRestarts, AnnotationStart:
		return true
	}
	return false
}

func setLabel(pod *corev1.Pod, k, v string) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[k] = v
}

func setAnnotation(pod *corev1.Pod, k, v string) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[k] = v
}

// NeedsResources reports whether the spec's resources differ from those the pod
// was last given. It compares with the record rather than with the container,
// which the API server and LimitRanges fill in.
func NeedsResources(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	var record appliedParts
	recorded, ok := pod.Annotations[AnnotationApplied]
	if !ok || json.Unmarshal([]byte(recorded), &record) != nil {
		return false
	}
	return !equality.Semantic.DeepEqual(record.Resources, policyOf(c).Resources)
}

// NeedsOtherPod reports whether a pod in which etcd does not run has to be made anew to become what the spec
// says. Its resources count here: they may be what keeps it from a node, and only a pod that runs is resized.
func NeedsOtherPod(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return NeedsReplacing(c, pod) || NeedsResources(c, pod)
}

// CanResize reports whether the pod's resources can become the spec's while it runs.
// Kubernetes refuses a resize that changes the pod's quality of service, that takes a
// request or a limit away, or that is of anything but CPU and memory.
func CanResize(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	changed := pod.DeepCopy()
	SetResources(c, changed)
	if quality(pod) != quality(changed) {
		return false
	}
	for i := range pod.Spec.Containers {
		before, after := pod.Spec.Containers[i].Resources, changed.Spec.Containers[i].Resources
		if losesAny(before.Requests, after.Requests) || losesAny(before.Limits, after.Limits) || !equality.Semantic.DeepEqual(fixedResources(before), fixedResources(after)) {
			return false
		}
	}
	return true
}

// fixedResources are those that no resize changes.
func fixedResources(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	fixed := *r.DeepCopy()
	for _, list := range []corev1.ResourceList{fixed.Requests, fixed.Limits} {
		delete(list, corev1.ResourceCPU)
		delete(list, corev1.ResourceMemory)
	}
	return fixed
}

func losesAny(before, after corev1.ResourceList) bool {
	for name := range before {
		if _, kept := after[name]; !kept {
			return true
		}
	}
	return false
}

// quality is the pod's quality of service class, by Kubernetes' rules: guaranteed where
// every container's limits are set and are its requests, best effort where nothing is set.
func quality(pod *corev1.Pod) corev1.PodQOSClass {
	guaranteed, anything := true, false
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := c.Resources.Limits[name]
			request, requested := c.Resources.Requests[name]
			anything = anything || limited || requested
			guaranteed = guaranteed && limited && (!requested || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !anything:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// SetResources changes the etcd container's resources to the spec's.
func SetResources(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	policy := policyOf(c)
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == ContainerEtcd {
			pod.Spec.Containers[i].Resources = *policy.Resources.DeepCopy()
		}
	}
}

// RecordApplied notes on the pod what it was given.
func RecordApplied(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	setAnnotation(pod, AnnotationApplied, applied(policyOf(c)))
}
