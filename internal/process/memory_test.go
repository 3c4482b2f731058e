// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"

	"github.com/go-logr/logr"
)

const mib = 1 << 20

func cgroup(path, content string) fstest.MapFS {
	return fstest.MapFS{path: {Data: []byte(content)}}
}

func TestTheContainersMemoryLimitIsFound(t *testing.T) {
	const v1, v2 = "sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory.max"
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want int64
	}{
		"cgroup v2":              {cgroup(v2, "83886080\n"), 80 * mib},
		"cgroup v2 without one":  {cgroup(v2, "max\n"), 0},
		"cgroup v1":              {cgroup(v1, "83886080\n"), 80 * mib},
		"cgroup v1 without one":  {cgroup(v1, "9223372036854771712\n"), 0},
		"no cgroup":              {fstest.MapFS{}, 0},
		"something unreadable":   {cgroup(v2, "many"), 0},
		"a limit that is absurd": {cgroup(v2, "-1"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := containerMemoryLimit(tc.root); got != tc.want {
				t.Errorf("limit %d, want %d", got, tc.want)
			}
		})
	}
}

func TestTheUsersOwnMemorySettingsWin(t *testing.T) {
	limited := cgroup("sys/fs/cgroup/memory.max", "83886080")
	for name, tc := range map[string]struct {
		env         map[string]string
		root        fstest.MapFS
		wantLimit   int64
		wantPercent int
	}{
		"nothing set":        {nil, limited, 80 * mib / 10 * 9, limitedGCPercent},
		"GOMEMLIMIT set":     {map[string]string{"GOMEMLIMIT": "1GiB"}, limited, math.MaxInt64, limitedGCPercent},
		"GOGC set":           {map[string]string{"GOGC": "200"}, limited, 80 * mib / 10 * 9, 100},
		"no limit to follow": {nil, fstest.MapFS{}, math.MaxInt64, 100},
	} {
		t.Run(name, func(t *testing.T) {
			limit, percent := debug.SetMemoryLimit(math.MaxInt64), debug.SetGCPercent(100)
			limitMemory(logr.Discard(), tc.root, environment(tc.env))
			gotLimit, gotPercent := debug.SetMemoryLimit(limit), debug.SetGCPercent(percent)
			if gotLimit != tc.wantLimit || gotPercent != tc.wantPercent {
				t.Errorf("soft limit %d and GC percent %d, want %d and %d", gotLimit, gotPercent, tc.wantLimit, tc.wantPercent)
			}
		})
	}
}
