// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // the operator's image has no time zones of its own

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// isOpen reports whether one of the windows is open; without windows it always is. An error says which of them cannot be read.
func isOpen(windows []v1beta2.MaintenanceWindow, now time.Time) (bool, error) {
	open := len(windows) == 0
	for i := range windows {
		isNow, err := contains(&windows[i], now)
		if err != nil {
			return false, err
		}
		open = open || isNow
	}
	return open, nil
}

// contains reports whether a window that began today or yesterday, in its time zone, has not ended yet.
func contains(w *v1beta2.MaintenanceWindow, now time.Time) (bool, error) {
	zone, err := time.LoadLocation(w.TimeZone)
	// Local would be the zone of whatever node the operator runs on.
	if err != nil || w.TimeZone == "Local" {
		return false, fmt.Errorf("time zone %q is not known: use a name such as Europe/Berlin", w.TimeZone)
	}
	start, err := time.Parse("15:04", w.Start)
	if err != nil {
		return false, fmt.Errorf("start %q is not a time: use hours and minutes, such as 02:30", w.Start)
	}
	now = now.In(zone)
	for _, daysAgo := range []int{0, 1} {
		begin := time.Date(now.Year(), now.Month(), now.Day()-daysAgo, start.Hour(), start.Minute(), 0, 0, zone)
		isDay := len(w.Days) == 0 || slices.Contains(w.Days, v1beta2.Weekday(begin.Weekday().String()))
		if isDay && !now.Before(begin) && now.Before(begin.Add(time.Duration(w.DurationMinutes)*time.Minute)) {
			return true, nil
		}
	}
	return false, nil
}
