// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

// Where clocks are put forward there are times that do not exist, and where they are put back, times that come twice.
func TestAPathThatNoStoreAcceptsIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		path   string
		series bool
		good   bool
	}{
		"dots":                    {"bucket/../key", false, false},
		"a long key":              {"bucket/" + strings.Repeat("k", 1025), false, false},
		"the longest key":         {"bucket/" + strings.Repeat("k", 1024), false, true},
		"too long for a series":   {"bucket/" + strings.Repeat("k", 984), true, false},
		"the longest of a series": {"bucket/" + strings.Repeat("k", 983), true, true},
	} {
		b := backuptest.Object()
		if test.series {
			b = backuptest.Object(backuptest.Interval(60))
		}
		b.Spec.S3.Path = test.path
		if v := Plan(view.Observation{Now: backuptest.T0, Backup: b}); (v.Decision != "refuse-spec") != test.good {
			t.Errorf("%s: %s", name, v.Decision)
		}
	}
}

// Above it, the time of the next backup would be in the past.
func TestAnIntervalThatNoClockCanCountIsRefused(t *testing.T) {
	for seconds, good := range map[int64]bool{60: true, 3_153_600_000: true, 3_153_600_001: false, 9_223_372_037: false, math.MaxInt64: false} {
		b := backuptest.Object(backuptest.Interval(seconds))
		o := view.Observation{Now: backuptest.T0.Add(time.Second), Backup: b}
		v := Plan(o)
		if refused := v.Decision == "refuse-spec"; refused == good {
			t.Errorf("an interval of %d s: %s", seconds, v.Decision)
		}
		if v.Step != nil {
			t.Errorf("an interval of %d s: a backup begins at once", seconds)
		}
	}
}

func TestASchedulesTimeComesAlsoWhenTheClockIsPutForwardOverIt(t *testing.T) {
	const berlin, newYork = "Europe/Berlin", "America/New_York"
	for name, test := range map[string]struct {
		cron, zone string
		// from is in UTC, and so is what comes.
		from string
		want []string
	}{
		"every night in spring": {"30 2 * * *", berlin, "2027-03-26 12:00", []string{"03-27 01:30", "03-28 01:30", "03-29 00:30"}},
		"every night in autumn": {"30 2 * * *", berlin, "2027-10-30 12:00", []string{"10-31 00:30", "10-31 01:30", "11-01 01:30"}},
		"the example in spring": {"30 3 * * *", berlin, "2027-03-26 12:00", []string{"03-27 02:30", "03-28 01:30", "03-29 01:30"}},
		"the example in autumn": {"30 3 * * *", berlin, "2027-10-29 12:00", []string{"10-30 01:30", "10-31 02:30", "11-01 02:30"}},
		"the first moment":      {"0 2 * * *", berlin, "2027-03-27 12:00", []string{"03-28 01:00", "03-29 00:00"}},
		"the moment after":      {"0 3 * * *", berlin, "2027-03-27 12:00", []string{"03-28 01:00", "03-29 01:00"}},
		"every hour in spring":  {"30 * * * *", berlin, "2027-03-27 23:40", []string{"03-28 00:30", "03-28 01:30", "03-28 02:30"}},
		"every hour in autumn":  {"30 * * * *", berlin, "2027-10-30 23:40", []string{"10-31 00:30", "10-31 01:30", "10-31 02:30"}},
		"often":                 {"*/20 * * * *", berlin, "2027-03-28 00:35", []string{"03-28 00:40", "03-28 01:00", "03-28 01:20"}},
		"once a year":           {"30 2 28 3 *", berlin, "2026-03-28 12:00", []string{"03-28 01:30", "03-28 00:30"}},
		"another day":           {"30 2 29 3 *", berlin, "2026-06-01 12:00", []string{"03-29 00:30"}},
		"west of Greenwich":     {"30 2 * * *", newYork, "2027-03-13 00:00", []string{"03-13 07:30", "03-14 07:30", "03-15 06:30"}},
		"an interval":           {"@every 90m", berlin, "2027-03-28 00:15", []string{"03-28 01:45", "03-28 03:15"}},
		"UTC":                   {"30 2 * * *", "", "2027-03-27 12:00", []string{"03-28 02:30", "03-29 02:30"}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := parseSchedule(&v1beta2.BackupSchedule{Cron: test.cron, TimeZone: test.zone}, "uid")
			if err != nil {
				t.Fatal(err)
			}
			last, err := time.Parse("2006-01-02 15:04", test.from)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range test.want {
				scheduled, begins := due(table, last, last)
				if !begins.Equal(scheduled) || !scheduled.After(last) {
					t.Fatalf("after %s comes %s and begins at %s", last, scheduled, begins)
				}
				got = append(got, scheduled.UTC().Format("01-02 15:04"))
				last = scheduled
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("times in UTC (-want +got)\n%s", diff)
			}
		})
	}
}

// As long as a snapshot is read, the member that gives it cannot reuse the space of what is overwritten.
func TestEveryBackupHasALongestTime(t *testing.T) {
	for seconds, want := range map[int64]time.Duration{
		0: time.Minute, -1: time.Minute, 600: 10 * time.Minute, 86_400: 24 * time.Hour, 86_401: 24 * time.Hour, math.MaxInt64: 24 * time.Hour, 9_300_000_000: 24 * time.Hour,
	} {
		b := backuptest.Object()
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutInSecond: seconds}
		if got := Timeout(b); got != want {
			t.Errorf("timeoutInSecond %d: %s, want %s", seconds, got, want)
		}
	}
}
