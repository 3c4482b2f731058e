// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// Names of the init containers that restore a member from a snapshot.
const (
	ContainerFetch   = "fetch"
	ContainerRestore = "restore"
)

const (
	volumeTools   = "tools"
	volumeTicket  = "restore-ticket"
	mountTools    = "/tools"
	mountTicket   = "/etc/etcd-restore"
	toolsGate     = mountTools + "/etcd-member-gate"
	snapshotFile  = mountData + "/restore.snapshot"
	annotationsIn = mountPod + "/annotations"
)

// AnnotationKept names, on a volume that a restore was asked to keep, the restore.
const AnnotationKept = "etcd.database.coreos.com/kept-by-restore"

// addRestore restores a member from a snapshot before it starts. Our own image fetches;
// the image of the cluster's etcd, in which only our program and etcd's run, restores.
// The gate then holds etcd back until the previous members are gone. From the moment on
// that it does not, the data may be more than the snapshot's: a member that has lost it
// then is not filled again. The gate is in the container of etcd: one of its own would take
// a second longer, as in addJoin.
func addRestore(c *v1beta2.EtcdCluster, s Start, pod *corev1.Pod) {
	pod.Spec.InitContainers = []corev1.Container{fetchContainer(c, s), restoreContainer(c, s)}
	pod.Spec.Volumes = append(pod.Spec.Volumes, toolsVolume())
	etcd := &pod.Spec.Containers[0]
	s.HasData = true // by the time etcd may start: without it, it would begin an empty cluster
	gate := append(gateArguments(c, s), "-start-annotation="+AnnotationStart)
	etcd.Command = slices.Concat([]string{toolsGate}, gate, []string{"--"}, etcd.Command)
	etcd.VolumeMounts = append(etcd.VolumeMounts,
		corev1.VolumeMount{Name: volumePod, MountPath: mountPod, ReadOnly: true},
		corev1.VolumeMount{Name: volumeTools, MountPath: mountTools, ReadOnly: true})
	if ticket := ticketVolume(c, s); ticket != nil {
		pod.Spec.Volumes = append(pod.Spec.Volumes, *ticket)
	}
}

func helperContainer(c *v1beta2.EtcdCluster, name, image string, command ...string) corev1.Container {
	policy := PolicyOf(c)
	return corev1.Container{
		Name: name, Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Command: command,
		Resources:                *policy.Resources.DeepCopy(),
		SecurityContext:          containerSecurity(policy),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func fetchContainer(c *v1beta2.EtcdCluster, s Start) corev1.Container {
	container := helperContainer(c, ContainerFetch, s.HelperImage,
		gateBinary, membergate.ProgramFetch,
		"-data-dir="+DataDir,
		"-annotations-file="+annotationsIn,
		"-joined-annotation="+AnnotationStart,
		"-snapshot="+snapshotFile,
		"-program="+toolsGate)
	container.VolumeMounts = []corev1.VolumeMount{
		{Name: volumeData, MountPath: mountData},
		{Name: volumePod, MountPath: mountPod, ReadOnly: true},
		{Name: volumeTools, MountPath: mountTools},
	}
	if from := s.Restore; from.Member != "" {
		container.Command = append(container.Command, "-member="+ClientURL(c, from.Member))
	} else {
		container.Command = append(container.Command, "-url="+from.URL, "-ticket="+mountTicket, "-size="+strconv.FormatInt(from.Size, 10), "-sha256="+from.SHA256)
	}
	if ticketVolume(c, s) != nil {
		if s.Restore.Member != "" {
			container.Command = append(container.Command, "-client-tls="+mountTicket)
		}
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumeTicket, MountPath: mountTicket, ReadOnly: true})
	}
	return container
}

// ticketVolume holds what the source is asked with: the ticket of the restore, or the
// operator's own certificate for a member; nil for one that asks for none.
func ticketVolume(c *v1beta2.EtcdCluster, s Start) *corev1.Volume {
	source := &corev1.SecretVolumeSource{SecretName: s.Restore.Secret, Items: []corev1.KeyToPath{
		{Key: v1beta2.RestoreTicketToken, Path: membergate.TicketToken},
		{Key: v1beta2.RestoreTicketCA, Path: membergate.TicketCA},
	}}
	if s.Restore.Member != "" {
		if !c.Spec.TLS.IsSecureClient() {
			return nil
		}
		name := c.Spec.TLS.Static.OperatorSecret
		var keys []string
		if s.SecretKeys != nil {
			keys = s.SecretKeys(name)
		}
		source = &corev1.SecretVolumeSource{SecretName: name, Items: tlsVolume{files: OperatorFiles}.items(keys)}
	}
	// When the pod's node is restarted long after the restore, the ticket is gone.
	source.Optional = ptr.To(true)
	return &corev1.Volume{Name: volumeTicket, VolumeSource: corev1.VolumeSource{Secret: source}}
}

func restoreContainer(c *v1beta2.EtcdCluster, s Start) corev1.Container {
	container := helperContainer(c, ContainerRestore, s.Defaults.Image(c),
		toolsGate, membergate.ProgramRestore,
		"-data-dir="+DataDir,
		"-annotations-file="+annotationsIn,
		"-joined-annotation="+AnnotationStart,
		"-snapshot="+snapshotFile,
		"-name="+s.Member,
		fmt.Sprintf("-initial-cluster=%s=%s", s.Member, PeerURL(c, s.Member)),
		"-initial-cluster-token="+s.Token,
		"-initial-advertise-peer-urls="+PeerURL(c, s.Member),
		"-bump-revision="+strconv.FormatInt(s.Restore.RevisionBump, 10))
	container.VolumeMounts = []corev1.VolumeMount{
		{Name: volumeData, MountPath: mountData},
		{Name: volumePod, MountPath: mountPod, ReadOnly: true},
		{Name: volumeTools, MountPath: mountTools, ReadOnly: true},
	}
	return container
}

// TicketsOf lists the secrets by which a restore that is asked for, or under way, gets
// its snapshot.
func TicketsOf(c *v1beta2.EtcdCluster) []string {
	var names []string
	if request, err := v1beta2.RestoreRequestOf(c); err == nil {
		names = append(names, request.Secret)
	}
	if b := c.Status.Bootstrap; b != nil && b.Restore != nil && b.Restore.Secret != "" && c.Status.ClusterID == "" {
		names = append(names, b.Restore.Secret)
	}
	return slices.Compact(names)
}

// RecoveryRestoreName is the name of the EtcdRestore by which a lost cluster is recovered.
func RecoveryRestoreName(c *v1beta2.EtcdCluster) string {
	sum := sha256.Sum256([]byte(c.Status.ClusterID))
	return c.Name + "-recovery-" + hex.EncodeToString(sum[:4])
}

// BootstrapRestoreName is the name of the EtcdRestore by which a cluster is created from a backup. Another object of the
// cluster's name has another one.
func BootstrapRestoreName(c *v1beta2.EtcdCluster) string {
	sum := sha256.Sum256([]byte(c.UID))
	return c.Name + "-bootstrap-" + hex.EncodeToString(sum[:4])
}

// MayStart reports whether a member that was restored from a snapshot has the operator's permission to
// start.
func MayStart(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[AnnotationStart]
	return ok
}

// LetStart gives it.
func LetStart(pod *corev1.Pod) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, AnnotationStart, "true")
}

// Incarnation is the label of an object's pod or claim that tells which of the clusters
// it has stood for the pod or claim is of.
func Incarnation(o metav1.Object) string { return o.GetLabels()[LabelIncarnation] }

// mark puts the label of the cluster's incarnation on a pod or a claim.
func mark(c *v1beta2.EtcdCluster, o metav1.Object) {
	if incarnation := c.Status.Incarnation(); incarnation != "" {
		o.SetLabels(merged(o.GetLabels(), map[string]string{LabelIncarnation: incarnation}))
	}
}

// Keep makes a volume nobody's: no operator takes it for one of its cluster's, and it
// does not go with the object. It tells which restore it was kept by.
func Keep(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) {
	claim.OwnerReferences = slices.DeleteFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == c.UID })
	for _, label := range []string{LabelApp, LabelCluster, LabelNode, LabelIncarnation} {
		delete(claim.Labels, label)
	}
	delete(claim.Annotations, AnnotationClusterUID)
	claim.Annotations = merged(claim.Annotations, map[string]string{AnnotationKept: c.Status.Bootstrap.Restore.Name})
}
