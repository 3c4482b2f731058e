// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"testing"
	"time"
)

func TestNamesAreThoseOfTheOriginal(t *testing.T) {
	zone := time.FixedZone("x", 3600)
	got := Name{Series: "dir/etcd.backup", Revision: 4711, Time: time.Date(2026, 1, 2, 4, 5, 6, 0, zone)}.String()
	if want := "dir/etcd.backup_v4711_2026-01-02-03:05:06"; got != want {
		t.Errorf("name = %q, want %q", got, want)
	}
	n, ok := NameIn("dir/etcd.backup", got)
	if !ok || n.Revision != 4711 || !n.Time.Equal(time.Date(2026, 1, 2, 3, 5, 6, 0, time.UTC)) {
		t.Errorf("parsed = %+v, %t", n, ok)
	}
}

func TestNamesThatAreNotOursAreNotRead(t *testing.T) {
	for _, name := range []string{
		"etcd.backup", "etcd.backup_v", "etcd.backup_v1", "etcd.backup_v1_", "etcd.backup_vx_2026-01-02-03:04:05",
		"etcd.backup_v-1_2026-01-02-03:04:05", "etcd.backup_v01_2026-01-02-03:04:05", "etcd.backup_v1_2026-01-02-03:04:05.tmp",
		"etcd.backup_v1_2026-13-02-03:04:05", "etcd.backup_v1_2026-1-2-3:4:5", "etcd.backup2_v1_2026-01-02-03:04:05",
		"etcd.backup_v99999999999999999999_2026-01-02-03:04:05", "etcd.backup_v1_2026-01-02-03:04:05/x",
	} {
		if n, ok := NameIn("etcd.backup", name); ok {
			t.Errorf("%q was read as %+v", name, n)
		}
	}
}

func TestNamesOfASeriesAreRead(t *testing.T) {
	for key, want := range map[string]string{
		"etcd.backup_v51_2026-11-14-02:30:00":           "51 2026-11-14 02:30:00",
		"deep/er/etcd_v2.backup_v7_2026-11-14-02:30:00": "7 2026-11-14 02:30:00",
		"etcd.backup":                 "",
		"etcd_v51":                    "",
		"etcd_v51_yesterday":          "",
		"etcd_vx_2026-11-14-02:30:00": "",
	} {
		n, ok := ParseName(key)
		got := ""
		if ok {
			got = fmt.Sprintf("%d %s", n.Revision, n.Time.Format(time.DateTime))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
