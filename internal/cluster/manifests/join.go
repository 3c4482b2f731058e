// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// ContainerJoin is the name of the init container in which a member gets its data from its
// cluster. Why that takes a start of etcd of its own, membergate.Join tells.
const ContainerJoin = "join"

// addJoin lets a member get its data before it starts. The gate, which is of our own image, brings
// the program; the image of the cluster's etcd runs it.
func addJoin(c *v1beta2.EtcdCluster, s Start, pod *corev1.Pod) {
	gate, etcd := &pod.Spec.InitContainers[0], &pod.Spec.Containers[0]
	gate.Command = append(gate.Command, "-program="+toolsGate)
	gate.VolumeMounts = append(gate.VolumeMounts, corev1.VolumeMount{Name: volumeTools, MountPath: mountTools})

	join := helperContainer(c, ContainerJoin, etcd.Image,
		toolsGate, membergate.ProgramJoin, "-data-dir="+DataDir, fmt.Sprintf("-metrics=http://localhost:%d/metrics", MetricsPort))
	join.Env = append(join.Env, etcd.Env...)
	join.VolumeMounts = append(join.VolumeMounts, etcd.VolumeMounts...)
	join.VolumeMounts = append(join.VolumeMounts, corev1.VolumeMount{Name: volumeTools, MountPath: mountTools, ReadOnly: true})
	waitForOthers(c, s, &join)
	join.Command = append(join.Command, "--")
	join.Command = append(join.Command, etcd.Command...)
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, join)
	pod.Spec.Volumes = append(pod.Spec.Volumes, toolsVolume())
}

// toolsVolume brings our program into containers of etcd's image.
func toolsVolume() corev1.Volume {
	return corev1.Volume{Name: volumeTools, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}
