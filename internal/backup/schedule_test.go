// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Where clocks are put forward there are times that do not exist, and where they are put back, times that come twice.
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
