// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// EnvMemoryLimit is where Go reads how much memory a program shall use.
const EnvMemoryLimit = "GOMEMLIMIT"

// smallestMemoryLimit is the least limit of a container that is passed on to etcd: what etcd needs at least is more
// than nine tenths of anything less, and it would do nothing but collect garbage.
const smallestMemoryLimit = 64 << 20

// memoryLimit tells etcd of the memory limit of its container, so that it collects garbage near it rather than be killed
// at it. A tenth is left for what Go does not count. A limit that the user tells etcd has precedence.
func memoryLimit(policy v1beta2.PodPolicy) []corev1.EnvVar {
	limit := policy.Resources.Limits.Memory().Value()
	if limit < smallestMemoryLimit || SetsMemoryLimit(policy) {
		return nil
	}
	return []corev1.EnvVar{{Name: EnvMemoryLimit, Value: strconv.FormatInt(limit/10*9, 10)}}
}

// SetsMemoryLimit reports whether the user tells etcd how much memory it shall use.
func SetsMemoryLimit(policy v1beta2.PodPolicy) bool {
	return slices.ContainsFunc(policy.EtcdEnv, func(e corev1.EnvVar) bool { return e.Name == EnvMemoryLimit })
}
