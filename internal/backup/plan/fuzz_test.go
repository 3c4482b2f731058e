// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Whatever a schedule says, it is refused, or the next time of it comes: later than now, and no sooner than a minute after the
// one before.
func FuzzSchedule(f *testing.F) {
	for _, cron := range []string{"30 2 * * *", "@every 1s", "@every 90s", "@daily", "*/5 0-23/2 * jan mon", "0 0 31 2 *"} {
		f.Add(cron, "Europe/Berlin", int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, cron, zone string, at int64) {
		table, err := parseSchedule(&v1beta2.BackupSchedule{Cron: cron, TimeZone: zone}, "seed")
		if err != nil {
			return
		}
		now := time.Unix(at%4_000_000_000, 0)
		first := table.next(now)
		if first.IsZero() { // a day that is too many years away
			return
		}
		if !first.After(now) {
			t.Errorf("%q: after %s comes %s", cron, now, first)
		}
		if second := table.next(first); !second.IsZero() && second.Sub(first) < time.Minute {
			t.Errorf("%q: %s after %s", cron, second.Sub(first), first)
		}
	})
}

func TestNoMoreThanABackupAMinuteAndThirtyTwoEndpoints(t *testing.T) {
	for cron, refused := range map[string]bool{"@every 1s": true, "@every 59s": true, "@every 1m": false, "* * * * *": false} {
		if _, err := parseSchedule(&v1beta2.BackupSchedule{Cron: cron}, ""); (err != nil) != refused {
			t.Errorf("%s: %v", cron, err)
		}
	}
	b := &v1beta2.EtcdBackup{}
	b.Spec.EtcdEndpoints = make([]string, 33)
	if err := check(b); err == nil || err.Error() != "etcdEndpoints has 33 URLs; 32 is the most" {
		t.Errorf("33 endpoints: %v", err)
	}
}
