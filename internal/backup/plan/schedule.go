// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	_ "time/tzdata" // the operator's image has no time zones of its own

	"github.com/robfig/cron/v3"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// timetable says when backups are due. A nil timetable is that of a one-shot.
type timetable interface {
	// next is the first due time after t.
	next(t time.Time) time.Time
}

// maxInterval is the longest interval in seconds. A time.Duration holds no more than three times as much: what is longer
// would be over before it began.
const maxInterval = 100 * 365 * 24 * 60 * 60

// timetableOf reads the policy of a backup. The error says what to change in the spec.
func timetableOf(b *v1beta2.EtcdBackup) (timetable, error) {
	p := b.Spec.BackupPolicy
	switch {
	case p == nil:
		return nil, nil
	case p.BackupIntervalInSecond < 0:
		return nil, fmt.Errorf("backupPolicy.backupIntervalInSecond is %d; it must be 0 or more", p.BackupIntervalInSecond)
	case p.BackupIntervalInSecond > maxInterval:
		return nil, fmt.Errorf("backupPolicy.backupIntervalInSecond is %d; it must be %d, a hundred years, or less", p.BackupIntervalInSecond, int64(maxInterval))
	case p.Schedule != nil && p.BackupIntervalInSecond > 0:
		return nil, fmt.Errorf("backupPolicy has both a schedule and backupIntervalInSecond; remove one")
	case p.Schedule != nil:
		return parseSchedule(p.Schedule, string(b.UID))
	case p.BackupIntervalInSecond > 0:
		return every(time.Duration(p.BackupIntervalInSecond) * time.Second), nil
	}
	return nil, nil
}

// every is a timetable of equal intervals.
type every time.Duration

func (e every) next(t time.Time) time.Time { return t.Add(time.Duration(e)) }

// calendar is a timetable of a cron line.
type calendar struct {
	line   cron.Schedule
	zone   *time.Location
	jitter time.Duration
	seed   string
}

func parseSchedule(s *v1beta2.BackupSchedule, seed string) (timetable, error) {
	zone := time.UTC
	if s.TimeZone != "" {
		// Local would be the zone of whatever node the operator runs on.
		loaded, err := time.LoadLocation(s.TimeZone)
		if err != nil || s.TimeZone == "Local" {
			return nil, fmt.Errorf("backupPolicy.schedule.timeZone %q is not the name of a time zone, such as Europe/Berlin", s.TimeZone)
		}
		zone = loaded
	}
	if strings.Contains(s.Cron, "TZ=") {
		return nil, fmt.Errorf("backupPolicy.schedule.cron %q holds a time zone; put that into timeZone", s.Cron)
	}
	line, err := cron.ParseStandard(s.Cron)
	if err != nil {
		return nil, fmt.Errorf("backupPolicy.schedule.cron %q cannot be read: %w", s.Cron, err)
	}
	if e, ok := line.(cron.ConstantDelaySchedule); ok && e.Delay < time.Minute {
		return nil, fmt.Errorf("backupPolicy.schedule.cron %q is more often than once a minute", s.Cron)
	}
	if line.Next(time.Unix(0, 0).In(zone)).IsZero() {
		return nil, fmt.Errorf("backupPolicy.schedule.cron %q never comes", s.Cron)
	}
	return calendar{line: line, zone: zone, jitter: time.Duration(s.JitterInSecond) * time.Second, seed: seed}, nil
}

// next leaves no time out because the clock was put forward over it: it comes when it would have come had the clock
// not been touched, which is as much later by the new one.
func (c calendar) next(t time.Time) time.Time {
	t = t.In(c.zone)
	next := c.line.Next(t)
	for {
		_, change := t.ZoneBounds()
		if change.IsZero() || !change.Before(next) {
			return next
		}
		_, before := t.Zone()
		_, after := change.Zone()
		untouched := c.line.Next(change.Add(-time.Second).In(time.FixedZone("", before)))
		leftOut := untouched.Before(change.Add(time.Duration(after-before) * time.Second))
		if leftOut && untouched.Before(next) {
			return untouched.In(c.zone)
		}
		t = change
	}
}

// delay spreads the backups of many objects. It is the same each time it is asked for the same due
// time, so that a restart of the operator does not move a backup.
func (c calendar) delay(due time.Time) time.Duration {
	if c.jitter < time.Second {
		return 0
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", c.seed, due.Unix())
	return time.Duration(h.Sum64()%uint64(c.jitter/time.Second)) * time.Second
}

// due is the time that the next backup is for, and when it begins. last is the time that the previous
// one was for, or when the object was created. Of several times that were missed the latest counts:
// one backup makes up for all of them.
func due(t timetable, last, now time.Time) (scheduled, begins time.Time) {
	scheduled = t.next(last)
	if c, ok := t.(calendar); ok {
		for i := 0; i < maxMissed; i++ {
			later := t.next(scheduled)
			if later.Add(c.delay(later)).After(now) {
				break
			}
			scheduled = later
		}
		return scheduled, scheduled.Add(c.delay(scheduled))
	}
	return scheduled, scheduled
}

// maxMissed bounds the work after a very long pause; the next backups catch up.
const maxMissed = 10000
