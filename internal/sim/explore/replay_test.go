// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

var replay = flag.String("replay", "", "play what a failure named, with all that happens in it")

// String is what -replay takes: the scenario, the lag, and the fates of effects.
func (r crashRun) String() string {
	text := fmt.Sprintf("%s|%d", r.Name, r.lag)
	for _, number := range slices.Sorted(maps.Keys(r.fates)) {
		text += fmt.Sprintf("|%d=%d", number, r.fates[number])
	}
	return text
}

func parseRun(text string) (crashRun, error) {
	parts := strings.Split(text, "|")
	i := slices.IndexFunc(stories.Scenarios(), func(s stories.Scenario) bool { return s.Name == parts[0] })
	if i < 0 || len(parts) < 2 {
		return crashRun{}, fmt.Errorf("no scenario %q", parts[0])
	}
	s, err := tell(stories.Scenarios()[i])
	if err != nil {
		return crashRun{}, err
	}
	r := crashRun{story: s, fates: map[int]world.Fate{}}
	if r.lag, err = strconv.Atoi(parts[1]); err != nil {
		return r, err
	}
	for _, part := range parts[2:] {
		var number int
		var fate world.Fate
		if _, err := fmt.Sscanf(part, "%d=%d", &number, &fate); err != nil {
			return r, err
		}
		r.fates[number] = fate
	}
	return r, nil
}

// TestReplay plays one run again, with everything that happens in it:
//
//	go test ./internal/sim/explore -run TestReplay -v -replay 'scale up|0|12=2'
func TestReplay(t *testing.T) {
	if *replay == "" {
		return
	}
	r, err := parseRun(*replay)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.play(func(line string) { fmt.Println(line) }); err != nil {
		t.Fatal(err)
	}
}
