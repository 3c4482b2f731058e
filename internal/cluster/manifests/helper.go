// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

// HelperImage is the image of the containers before etcd: the operator's own, which alone can restore data, or the one that
// the spec names for the check of the member's name.
func HelperImage(c *v1beta2.EtcdCluster, operators string, isRestored bool) string {
	if image := PolicyOf(c).BusyboxImage; image != "" && !isRestored {
		return image
	}
	return operators
}
