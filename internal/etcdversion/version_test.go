// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdversion

import "testing"

func TestParseReadsWhatTheAPIAccepts(t *testing.T) {
	for in, want := range map[string]string{
		"3.2.13":            "3.2.13",
		"v3.6.16":           "3.6.16",
		"3.5.21-eks":        "3.5.21",
		"3.6.0+vendor.1":    "3.6.0",
		"vv3.4.23":          "3.4.23",
		"":                  "",
		"3.6":               "",
		"latest":            "",
		"3.6.x":             "",
		"3.-1.0":            "",
		"3.6.16.1":          "",
		"sha256:0123456789": "",
	} {
		got, err := Parse(in)
		if want == "" {
			if err == nil {
				t.Errorf("Parse(%q) = %v, want an error", in, got)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("Parse(%q) = %v, %v, want %s", in, got, err, want)
		}
	}
}

func TestCheckChangeAllowsOneMinorUpAndAnyPatch(t *testing.T) {
	for _, c := range []struct{ from, to, reason string }{
		{"3.6.10", "3.6.16", ""},
		{"3.6.16", "3.6.10", ""},
		{"3.5.35", "3.6.16", ""},
		{"3.4.23", "3.5.21", ""},
		{"3.6.16", "3.7.3", ""},
		{"3.4.23", "3.6.16", ReasonSkippedMinor},
		{"3.6.16", "4.0.0", ReasonSkippedMinor},
		{"3.6.16", "3.5.35", ReasonDowngrade},
		{"3.6.16", "2.3.8", ReasonDowngrade},
	} {
		from, _ := Parse(c.from)
		to, _ := Parse(c.to)
		refused := CheckChange(from, to)
		got := ""
		if refused != nil {
			got = refused.Reason
		}
		if got != c.reason {
			t.Errorf("CheckChange(%s, %s) = %q, want %q", c.from, c.to, got, c.reason)
		}
	}
}

func TestFeaturesByVersion(t *testing.T) {
	for _, c := range []struct {
		version                              string
		learners, manyLearners, readyz, metr bool
	}{
		{"3.2.13", false, false, false, false},
		{"3.3.27", false, false, false, true},
		{"3.4.23", true, false, false, true},
		{"3.4.29", true, false, true, true},
		{"3.5.10", true, false, false, true},
		{"3.5.35", true, false, true, true},
		{"3.6.0", true, true, true, true},
		{"3.7.3", true, true, true, true},
	} {
		v, err := Parse(c.version)
		if err != nil {
			t.Fatal(err)
		}
		if v.HasLearners() != c.learners || v.HasManyLearners() != c.manyLearners || v.HasReadyz() != c.readyz || v.HasMetricsListener() != c.metr {
			t.Errorf("%s: learners %v, many %v, readyz %v, metrics %v", c.version, v.HasLearners(), v.HasManyLearners(), v.HasReadyz(), v.HasMetricsListener())
		}
	}
}
