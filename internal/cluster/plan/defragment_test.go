// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// sized gives members files of a size, so much of which holds data.
func (s *scene) sized(inUse, size int64, names ...string) {
	for _, name := range names {
		status := s.Etcd.Status[name]
		status.DBSize, status.DBSizeInUse = size, inUse
		s.Etcd.Status[name] = status
	}
}

// loose is a cluster that is to be defragmented, and whose files are nine tenths free.
func loose(s *scene) {
	s.Cluster.Spec.Maintenance = &v1beta2.MaintenancePolicy{Defragment: &v1beta2.DefragmentPolicy{}}
	for _, m := range s.Etcd.Membership.Members {
		s.sized(100<<20, 1000<<20, m.Name)
	}
}

func noted(s *scene, name string, d manifests.Defragmentation) { d.NoteOn(s.pod(name)) }

func begun(s *scene, name string, ago time.Duration) {
	drained(s, name, ago+time.Second)
	noted(s, name, manifests.Defragmentation{IsBegun: true, Since: noon.Add(-ago), Size: 1000 << 20})
}

func TestDefragmenting(t *testing.T) {
	window := func(w v1beta2.MaintenanceWindow) func(*scene) {
		return func(s *scene) {
			loose(s)
			s.Cluster.Spec.Maintenance.Defragment.Windows = []v1beta2.MaintenanceWindow{w}
		}
	}
	const first = "defragment: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"
	check(t, map[string]planCase{
		"nobody asks for it":            {change: func(s *scene) { loose(s); s.Cluster.Spec.Maintenance = nil }, want: "steady state"},
		"clients go elsewhere first":    {change: loose, want: first},
		"they get a moment":             {change: func(s *scene) { loose(s); drained(s, "c-b", 100*time.Millisecond) }, want: "wait: MovingClients"},
		"then a follower":               {change: func(s *scene) { loose(s); drained(s, "c-c", 2*time.Second) }, want: "defragment: defragment c-c"},
		"the one with the most to give": {change: func(s *scene) { loose(s); s.sized(10<<20, 1000<<20, "c-c") }, want: strings.ReplaceAll(first, "c-b", "c-c")},
		"the leader hands over first": {change: func(s *scene) {
			loose(s)
			s.sized(100<<20, 101<<20, "c-b", "c-c")
			drained(s, "c-a", 2*time.Second)
		}, want: "defragment: move leader from c-a to b"},
		"a single member": {scene: newScene("c-a"), change: loose, want: "defragment: defragment c-a"},
		"little is free":  {change: func(s *scene) { loose(s); s.sized(600<<20, 1000<<20, "c-a", "c-b", "c-c") }, want: "steady state"},
		"a small file":    {change: func(s *scene) { loose(s); s.sized(1<<20, 90<<20, "c-a", "c-b", "c-c") }, want: "steady state"},
		"a small file that is worth it": {change: func(s *scene) {
			loose(s)
			s.sized(1<<20, 90<<20, "c-b")
			s.sized(1<<20, 1<<20, "c-a", "c-c")
			s.Cluster.Spec.Maintenance.Defragment.MinFree = ptr.To(resource.MustParse("1Mi"))
		}, want: first},
		"less is free, and it is worth it": {change: func(s *scene) {
			loose(s)
			s.sized(600<<20, 1000<<20, "c-a", "c-b", "c-c")
			s.Cluster.Spec.Maintenance.Defragment.FreePercent = ptr.To(int32(40))
		}, want: first},
		"an etcd that does not say":    {change: func(s *scene) { loose(s); s.sized(0, 1000<<20, "c-a", "c-b", "c-c") }, want: "steady state"},
		"a sick member":                {change: func(s *scene) { loose(s); s.silence("c-c") }, want: "wait: MemberUnhealthy"},
		"a member that is far behind":  {change: func(s *scene) { loose(s); s.behind("c-c") }, want: "steady state"},
		"something else is to be done": {change: func(s *scene) { loose(s); s.Cluster.Spec.Version = "3.7.3" }, want: strings.Replace(first, "defragment", "roll", 1)},
		"it was done a moment ago": {change: func(s *scene) {
			loose(s)
			for _, n := range []string{"c-a", "c-b", "c-c"} {
				noted(s, n, manifests.Defragmentation{Since: noon.Add(-time.Minute)})
			}
		}, want: "steady state"},
		"it was done long ago":          {change: func(s *scene) { loose(s); noted(s, "c-b", manifests.Defragmentation{Since: noon.Add(-2 * time.Hour)}) }, want: first},
		"it lasts":                      {change: func(s *scene) { loose(s); begun(s, "c-b", 5*time.Second) }, want: "wait: Defragmenting"},
		"it lasts, and nobody wants it": {change: func(s *scene) { loose(s); begun(s, "c-b", 5*time.Second); s.Cluster.Spec.Maintenance = nil }, want: "wait: Defragmenting"},
		"it lasts long":                 {change: func(s *scene) { loose(s); begun(s, "c-b", time.Minute); s.unready("c-b") }, want: "wait: Defragmenting"},
		"its answer was lost":           {change: func(s *scene) { loose(s); begun(s, "c-b", 5*time.Second); s.sized(100<<20, 101<<20, "c-b") }, want: "defragment: patch Pod c-b (annotation defragment=done 2026-11-15T12:00:00Z)"},
		"the request was lost":          {change: func(s *scene) { loose(s); begun(s, "c-b", time.Minute) }, want: "defragment: defragment c-b"},
		"and again": {change: func(s *scene) {
			loose(s)
			begun(s, "c-b", time.Minute)
			noted(s, "c-b", manifests.Defragmentation{IsBegun: true, IsRepeated: true, Since: noon.Add(-time.Minute), Size: 1000 << 20})
		}, want: "defragment: patch Pod c-b (annotation defragment=done 2026-11-15T12:00:00Z)"},
		"it does not end":            {change: func(s *scene) { loose(s); begun(s, "c-b", time.Hour); s.unready("c-b") }, want: "defragment: patch Pod c-b (annotation defragment=done 2026-11-15T12:00:00Z)"},
		"nobody else is interrupted": {change: func(s *scene) { loose(s); begun(s, "c-b", 5*time.Second); s.Cluster.Spec.Version = "3.7.3" }, want: "wait: Defragmenting"},
		"its clients come back": {change: func(s *scene) {
			loose(s)
			drained(s, "c-b", time.Minute)
			s.sized(100<<20, 101<<20, "c-a", "c-b", "c-c")
		}, want: "sync-metadata: patch Pod c-b (+label etcd_serving=true -annotation drained-since)"},
		"in its window":            {change: window(v1beta2.MaintenanceWindow{Start: "11:30", DurationMinutes: 60}), want: first},
		"before its window":        {change: window(v1beta2.MaintenanceWindow{Start: "12:01", DurationMinutes: 60}), want: "steady state"},
		"a window nobody can read": {change: window(v1beta2.MaintenanceWindow{Start: "11:30", DurationMinutes: 60, TimeZone: "Mars/Olympus"}), want: "wait: MaintenanceInvalid"},
		"paused":                   {change: func(s *scene) { loose(s); s.Cluster.Spec.Paused = true }, want: "wait: Paused"},
	})
}

// behind lets a member be far behind.
func (s *scene) behind(name string) {
	status := s.Etcd.Status[name]
	status.AppliedIndex = 100
	s.Etcd.Status[name] = status
}

func TestMaintenanceWindows(t *testing.T) {
	for name, tc := range map[string]struct {
		window v1beta2.MaintenanceWindow
		at     string
		want   bool
	}{
		"begins":                        {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30}, "2026-11-15T02:30:00Z", true},
		"has ended":                     {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30}, "2026-11-15T03:00:00Z", false},
		"since yesterday":               {v1beta2.MaintenanceWindow{Start: "23:00", DurationMinutes: 120}, "2026-11-15T00:30:00Z", true},
		"a day that is one":             {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30, Days: []v1beta2.Weekday{"Saturday", "Sunday"}}, "2026-11-15T02:45:00Z", true},
		"a day that is not":             {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30, Days: []v1beta2.Weekday{"Monday"}}, "2026-11-15T02:45:00Z", false},
		"the day that it began":         {v1beta2.MaintenanceWindow{Start: "23:00", DurationMinutes: 120, Days: []v1beta2.Weekday{"Saturday"}}, "2026-11-15T00:30:00Z", true},
		"another zone":                  {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30, TimeZone: "Europe/Berlin"}, "2026-11-15T01:45:00Z", true},
		"another zone in summer":        {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30, TimeZone: "Europe/Berlin"}, "2026-07-15T00:45:00Z", true},
		"the zone of the operator":      {v1beta2.MaintenanceWindow{Start: "02:30", DurationMinutes: 30, TimeZone: "Local"}, "2026-11-15T02:45:00Z", false},
		"the weekday of the other zone": {v1beta2.MaintenanceWindow{Start: "00:30", DurationMinutes: 30, TimeZone: "Asia/Tokyo", Days: []v1beta2.Weekday{"Sunday"}}, "2026-11-14T15:45:00Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, tc.at)
			if err != nil {
				t.Fatal(err)
			}
			s := three()
			loose(s)
			s.Now = now
			s.Cluster.Spec.Maintenance.Defragment.Windows = []v1beta2.MaintenanceWindow{tc.window}
			if got := plan.Next(s.guarded().View).Step != nil; got != tc.want {
				t.Errorf("a defragmentation begins: %t", got)
			}
		})
	}
}
