// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Recovery takes the newest of the list: what was just made has to be there, also when the store gave no list.
func TestABackupThatWasMadeIsKnownAlthoughTheStoreCannotBeListed(t *testing.T) {
	b := object(interval(60))
	b.Status.Backups = []v1beta2.KeptBackup{{Name: "old"}}
	b.Status.Run = &v1beta2.BackupRun{StartTime: at(0), Scheduled: &metav1.Time{Time: t0}}
	conclude(b, Outcome{Key: "new", Revision: 7, Ended: t0.Add(time.Second)})
	if got := b.Status.Backups; len(got) != 2 || got[0].Name != "new" || got[0].EtcdRevision != 7 || !got[0].Time.Time.Equal(t0) {
		t.Errorf("status.backups = %+v, want the new one first", got)
	}
}

// Where listing is never permitted, each backup adds one: an object must not grow without bounds.
func TestTheStatusNamesNoMoreBackupsThanItsLimit(t *testing.T) {
	b := object(interval(60))
	for i := range 2 * listed {
		b.Status.Run = &v1beta2.BackupRun{StartTime: at(0), Scheduled: &metav1.Time{Time: t0}}
		conclude(b, Outcome{Key: "new", Revision: int64(i), Ended: t0})
	}
	if got := b.Status.Backups; len(got) != 100 || got[0].EtcdRevision != 2*listed-1 {
		t.Errorf("status.backups has %d, the first of revision %d; want the newest 100", len(got), got[0].EtcdRevision)
	}
}
