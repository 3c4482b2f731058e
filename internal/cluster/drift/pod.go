// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package drift compares live objects with what the spec wants, and brings them there where that can be done
// in place. Its functions are pure: each rule says for one part of the spec whether a pod or a claim differs.
package drift

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// NeedsReplacing reports whether the pod was made for a spec that a running pod
// cannot be changed to. Pods of other operators carry no fingerprint; they are
// taken as they are when they are adopted.
func NeedsReplacing(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	made, ok := pod.Annotations[manifests.AnnotationPolicy]
	return ok && made != manifests.Fingerprint(c)
}

// NeedsNewSettings reports whether a change of the image alone is not enough: the
// version that the spec asks for does not know a setting that the pod was started with.
func NeedsNewSettings(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	old := etcdversion.Version{Major: 3, Minor: 5}.SkipPeerNameCheck()
	return c.Spec.TLS.IsSecurePeer() && manifests.EtcdVersion(c).AtLeast(3, 7) && hasEnv(pod, old)
}

// NeedsImage reports whether the pod's etcd was given another image than the spec's, or got another one from somebody
// else since. Pods of other operators do not say what they were given. One from the operator's former default repository is
// as good, unless it cannot be pulled: another flag must not restart every etcd there is.
func NeedsImage(c *v1beta2.EtcdCluster, d manifests.Defaults, pod *corev1.Pod) bool {
	given, ok := pod.Annotations[manifests.AnnotationImage]
	if !ok {
		given = manifests.PodImage(pod)
	}
	isRight := given == d.Image(c) || (given == manifests.DefaultsOf(pod).Image(c) && !waitsForEtcd(pod))
	return !isRight || isOfOtherTag(given, manifests.PodImage(pod))
}

// waitsForEtcd reports whether a pod waits for the image of etcd, which also restores data.
func waitsForEtcd(pod *corev1.Pod) bool {
	return slices.ContainsFunc(containerStatuses(pod), func(s corev1.ContainerStatus) bool {
		return (s.Name == manifests.ContainerEtcd || s.Name == manifests.ContainerRestore) && waitsForImage(&s)
	})
}

func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// WaitsForOtherPullSecrets reports whether a pod waits for an image, and was given other Secrets to pull it with than it
// would get if it were created now, by the operator's defaults. Another spec is another fingerprint.
func WaitsForOtherPullSecrets(c *v1beta2.EtcdCluster, d manifests.Defaults, pod *corev1.Pod) bool {
	if len(manifests.PolicyOf(c).ImagePullSecrets) > 0 || slices.Equal(manifests.DefaultsOf(pod).PullSecrets, d.PullSecrets) {
		return false
	}
	return slices.ContainsFunc(containerStatuses(pod), func(s corev1.ContainerStatus) bool { return waitsForImage(&s) })
}

// isOfOtherTag reports whether an image is not what was given. Admission may have put a mirror in front, which keeps the
// tag, or a digest in the place of the tag, which says nothing.
func isOfOtherTag(given, image string) bool {
	was, is := tagOf(given), tagOf(image)
	return was != "" && is != "" && was != is
}

// tagOf is the tag of an image; empty where it has none, or a digest.
func tagOf(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, ok := strings.Cut(name, ":"); ok && !strings.Contains(name, "@") {
		return tag
	}
	return ""
}

// NeedsResources reports whether the spec's resources differ from those the pod
// was last given. It compares with the record rather than with the container,
// which the API server and LimitRanges fill in.
func NeedsResources(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	given, ok := manifests.AppliedTo(pod)
	return ok && !equality.Semantic.DeepEqual(given.Resources, manifests.PolicyOf(c).Resources)
}

// NeedsOtherPod reports whether a pod in which etcd does not run has to be recreated to become what the spec
// says. Its resources count here: they may be what keeps it from a node, and only a pod that runs is resized.
func NeedsOtherPod(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return NeedsReplacing(c, pod) || NeedsResources(c, pod)
}

// SetImage changes the pod to the spec's image.
func SetImage(c *v1beta2.EtcdCluster, d manifests.Defaults, pod *corev1.Pod) {
	isUnsettled := IsRestarting(pod) || isOfOtherTag(pod.Annotations[manifests.AnnotationImage], manifests.PodImage(pod))
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == manifests.ContainerEtcd {
			pod.Spec.Containers[i].Image = d.Image(c)
		}
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationVersion, manifests.Version(c))
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationImage, d.Image(c))
	d.NoteImage(c, pod)
	id := containerID(pod)
	if id == "" {
		return
	}
	if isUnsettled {
		id += reverted
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationRestarting, id)
}

// reverted marks a change of the image that was made before the previous one took effect, or after one that somebody else
// made: perhaps the kubelet has nothing left to restart. Its value is on pods of every release, and stays.
const reverted = " taken back"

// IsRestarting reports whether the pod's etcd still has to be restarted with the image
// that the pod was given.
func IsRestarting(pod *corev1.Pod) bool {
	noted, ok := pod.Annotations[manifests.AnnotationRestarting]
	if !ok {
		return false
	}
	old, isReverted := strings.CutSuffix(noted, reverted)
	if old != containerID(pod) {
		return false
	}
	settled := pod.Status.ObservedGeneration >= pod.Generation && slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == manifests.ContainerEtcd && s.Ready
	})
	return !isReverted || !settled
}

// ClearRestarted takes the note of a restart off a pod that has restarted.
func ClearRestarted(pod *corev1.Pod) {
	if !IsRestarting(pod) {
		delete(pod.Annotations, manifests.AnnotationRestarting)
	}
}

func containerID(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == manifests.ContainerEtcd {
			return s.ContainerID
		}
	}
	return ""
}

func hasEnv(pod *corev1.Pod, name string) bool {
	for _, c := range pod.Spec.Containers {
		if c.Name == manifests.ContainerEtcd && slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }) {
			return true
		}
	}
	return false
}
