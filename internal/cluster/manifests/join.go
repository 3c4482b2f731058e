// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// addJoin lets a member get its data before it is started for good; membergate.Join tells why. The
// gate, which is of our own image, brings the program that does so into the container of etcd. A
// container of its own for it would take a second longer: that is how often the kubelet looks
// whether one has ended.
func addJoin(c *v1beta2.EtcdCluster, s Start, pod *corev1.Pod) {
	gate, etcd := &pod.Spec.InitContainers[0], &pod.Spec.Containers[0]
	gate.Command = append(gate.Command, "-program="+toolsGate)
	gate.VolumeMounts = append(gate.VolumeMounts, corev1.VolumeMount{Name: volumeTools, MountPath: mountTools})

	command := etcd.Command
	etcd.Command = []string{toolsGate, membergate.ProgramJoin, "-data-dir=" + DataDir, fmt.Sprintf("-metrics=http://localhost:%d/metrics", MetricsPort)}
	waitForOthers(c, s, etcd)
	etcd.Command = append(append(etcd.Command, "--"), command...)
	etcd.VolumeMounts = append(etcd.VolumeMounts, corev1.VolumeMount{Name: volumeTools, MountPath: mountTools, ReadOnly: true})
	pod.Spec.Volumes = append(pod.Spec.Volumes, toolsVolume())
}

// toolsVolume brings our program into containers of etcd's image.
func toolsVolume() corev1.Volume {
	return corev1.Volume{Name: volumeTools, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}
