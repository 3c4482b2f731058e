// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseStatFindsStateAndStartWhateverTheProgramIsCalled(t *testing.T) {
	const rest = " 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"
	tests := []struct {
		name    string
		content string
		want    stat
		fails   bool
	}{
		{name: "plain", content: "7 (sleep) S" + rest, want: stat{'S', 4711}},
		{name: "spaces and brackets", content: "7 (a) R 9 (b)) Z" + rest, want: stat{'Z', 4711}},
		{name: "no brackets", content: "7 sleep S" + rest, fails: true},
		{name: "cut short", content: "7 (sleep) S 1 7", fails: true},
		{name: "start is no number", content: "7 (sleep) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 x 0 0", fails: true},
		{name: "empty", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.content))
			if (err != nil) != tt.fails || got != tt.want {
				t.Errorf("got %v, %v; want %v, failure %t", got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestIdentityIsNotAliveForAnotherProcessWithTheSamePID(t *testing.T) {
	self, err := Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !self.Alive() {
		t.Error("this process is not alive")
	}
	for name, other := range map[string]Identity{
		"started at another time":   {PID: self.PID, Start: self.Start + 1, Boot: self.Boot},
		"before the machine's boot": {PID: self.PID, Start: self.Start, Boot: "another"},
		"never recorded":            {},
	} {
		if other.Alive() {
			t.Errorf("%s: alive", name)
		}
		if err := other.Kill(context.Background()); err != nil {
			t.Errorf("%s: kill of a process that is gone: %v", name, err)
		}
	}
}

func TestKillEndsTheProcessBeforeItReturnsEvenIfNobodyReapsIt(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range 2 { // the second time there is only a zombie
		if err := id.Kill(ctx); err != nil {
			t.Fatal(err)
		}
		if id.Alive() {
			t.Fatal("alive after Kill")
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("sleep ended by itself")
	}
}
