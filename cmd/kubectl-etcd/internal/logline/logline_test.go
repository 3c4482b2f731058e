// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package logline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/logline"
)

func at(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want logline.Line
	}{
		"etcd's form": {
			`2026-01-01T00:00:05Z {"level":"warn","ts":"x","caller":"a.go:1","msg":"slow fdatasync","took":"2s","expected-duration":"1s"}`,
			logline.Line{Time: at(5), Member: "m", Level: logline.Warn, Text: "slow fdatasync expected-duration=1s took=2s"},
		},
		"fields of other types": {
			`2026-01-01T00:00:05Z {"level":"info","msg":"x","n":3,"list":["a b"],"empty":""}`,
			logline.Line{Time: at(5), Member: "m", Level: logline.Info, Text: `x empty="" list=["a b"] n=3`},
		},
		"a fatal error": {`2026-01-01T00:00:05Z {"level":"fatal","msg":"x"}`, logline.Line{Time: at(5), Member: "m", Level: logline.Error, Text: "x"}},
		"a trace":       {"2026-01-01T00:00:05Z goroutine 1 [running]:\r\n", logline.Line{Time: at(5), Member: "m", Level: logline.Error, Text: "goroutine 1 [running]:"}},
		"without a time": {
			"unable to retrieve container logs", logline.Line{Member: "m", Level: logline.Error, Text: "unable to retrieve container logs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, logline.Parse("m", tc.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLogsOfSeveralMembersAreMergedByTime(t *testing.T) {
	var lines []logline.Line
	for member, text := range map[string]string{
		"a": "2026-01-01T00:00:01Z one\n2026-01-01T00:00:04Z four\nrest of four\n",
		"b": "2026-01-01T00:00:02Z two\n2026-01-01T00:00:05Z five\n",
		"c": "2026-01-01T00:00:03Z three\n",
	} {
		if err := logline.Read(strings.NewReader(text), member, func(l logline.Line) { lines = append(lines, l) }); err != nil {
			t.Fatal(err)
		}
	}
	logline.Merge(lines)
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.Member+" "+l.Text)
	}
	if diff := cmp.Diff([]string{"a one", "b two", "c three", "a four", "a rest of four", "b five"}, texts); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyNamesOfLevelsAreLevels(t *testing.T) {
	if level, err := logline.ParseLevel("WARN"); err != nil || level != logline.Warn {
		t.Error(level, err)
	}
	if _, err := logline.ParseLevel("loud"); err == nil {
		t.Error("loud is a level")
	}
}
