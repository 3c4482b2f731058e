// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

func TestEarlierLocationsAreRemembered(t *testing.T) {
	b := backuptest.Object()
	paths := func() string {
		var all []string
		for _, l := range b.Status.Locations {
			all = append(all, l.Path)
		}
		return strings.Join(all, " ")
	}
	for i, path := range []string{"b/1", "b/1", "b/2", "b/3", "b/1"} {
		b.Spec.S3.Path = path
		b.Status.Locations = Locations(b)
		if want := []string{"b/1", "b/1", "b/2 b/1", "b/3 b/2 b/1", "b/1 b/3 b/2"}[i]; paths() != want {
			t.Errorf("after change %d: %s, want %s", i, paths(), want)
		}
	}
	b.Spec.S3.Endpoint = "https://elsewhere"
	if list := Locations(b); len(list) != 4 || list[0].Endpoint != "https://elsewhere" || list[1].Endpoint != "" {
		t.Errorf("another service with the same path: %v", list)
	}
	for i := range 20 {
		b.Spec.S3.Path = fmt.Sprintf("b/%d", 100+i)
		b.Status.Locations = Locations(b)
	}
	if len(b.Status.Locations) != maxLocations || b.Status.Locations[0].Path != "b/119" {
		t.Errorf("after many changes: %s", paths())
	}
}

// What would be forgotten could not be deleted.
func TestNoMoreLocationsThanCanBeDeleted(t *testing.T) {
	b := backuptest.Object()
	for i := range maxLocations {
		b.Status.Locations = append(b.Status.Locations, v1beta2.BackupLocation{StorageType: "S3", Path: fmt.Sprintf("b/%d", i)})
	}
	b.Spec.S3.Path = "b/new"
	b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyKeep
	o := view.Observation{Now: backuptest.T0, Backup: b}
	if got := say(o, Plan(o)); !strings.HasPrefix(got, "begin-backup: ") {
		t.Errorf("with Keep: %s", got)
	}
	b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete
	if got := say(o, Plan(o)); got != "refuse-spec: wait, InvalidSpec, stalled" {
		t.Errorf("with Delete: %s", got)
	}
}
