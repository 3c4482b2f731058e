// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// maxLocations is how many locations an object remembers.
const maxLocations = 10

// Locations are where an object has written backups or is about to, the location of its spec first. The status
// has them before anything is written there.
func Locations(b *v1beta2.EtcdBackup) []v1beta2.BackupLocation {
	known := b.Status.Locations
	now, err := kind.LocationOf(b)
	if err != nil {
		return known
	}
	list := append([]v1beta2.BackupLocation{now}, filter(known, func(l v1beta2.BackupLocation) bool { return l != now })...)
	return list[:min(len(list), maxLocations)]
}

// checkLocation refuses one location more than can be remembered, where backups are to be deleted in all of them.
func checkLocation(b *v1beta2.EtcdBackup) error {
	now, err := kind.LocationOf(b)
	if err != nil {
		return err
	}
	if !deletesBackups(b) || len(b.Status.Locations) < maxLocations || slices.Contains(b.Status.Locations, now) {
		return nil
	}
	return fmt.Errorf("the spec names its %dth location, and deletionPolicy Delete holds for all of them; create another EtcdBackup, or set deletionPolicy to Keep", maxLocations+1)
}
