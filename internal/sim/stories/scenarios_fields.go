// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// fields are about values that the schema allows, and that package specs found to do harm.
func fields() []Scenario {
	return []Scenario{
		scenario("a tolerance that no clock can count", volumes, change("tolerance", func(s *v1beta2.ClusterSpec) {
			forEver := int64(math.MaxInt64)
			s.NodeLostToleranceSeconds = &forEver
		})),
		scenario("a quota for databases", volumes, quota("4Gi"), quota("6Gi")),
		scenario("a quota for databases without volumes", emptyDir, quota("4Gi")),
		scenario("an annotation of the operator's own in the spec", volumes, change("annotation", func(s *v1beta2.ClusterSpec) {
			podPolicy(s).Annotations = map[string]string{manifests.AnnotationMemberID: "1"}
		}), scale(4)),
	}
}

func quota(size string) Act {
	return change("quota "+size, func(s *v1beta2.ClusterSpec) {
		q := resource.MustParse(size)
		s.StorageQuota = &q
	})
}
