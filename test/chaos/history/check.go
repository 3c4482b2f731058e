// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// register is a key of etcd: what it says to an operation, and what it holds after it.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		o, holds := input.(Operation), state.(string)
		switch {
		case o.Kind == Read:
			return o.Value == holds, holds
		case o.Kind == Write:
			return true, o.Value
		case o.Swapped:
			return o.Old == holds, o.Value
		}
		return o.Found == holds && o.Old != holds, holds
	},
}

// checkWithin is how long one key may take. A check that does not end proves nothing.
const checkWithin = time.Minute

// Linearizable checks that each key was one register: every operation took effect at one
// moment between question and answer, or, where no answer came, at any time later or never.
func Linearizable(operations []Operation) error {
	settled, err := settle(operations)
	errs := []error{err}
	keys := map[string][]porcupine.Operation{}
	for _, o := range settled {
		keys[o.Key] = append(keys[o.Key], porcupine.Operation{ClientId: o.Client, Input: o, Call: int64(o.Start), Return: int64(o.End)})
	}
	for key, list := range keys {
		switch porcupine.CheckOperationsTimeout(register, list, checkWithin) {
		case porcupine.Illegal:
			errs = append(errs, fmt.Errorf("no order of the %d operations on %s explains their answers:\n%s", len(list), key, show(operations, key)))
		case porcupine.Unknown:
			errs = append(errs, fmt.Errorf("%d operations on %s could not be checked in %s", len(list), key, checkWithin))
		case porcupine.Ok:
		}
	}
	return errors.Join(errs...)
}

// settle gives each write without an answer the end that the answers of others give it. Whoever saw its value, which
// nobody else wrote, was answered after it had happened. One whose value nobody saw explains no answer: with or without it
// the others have the same order, and it is left out. Otherwise each of them could be anywhere until the end of
// time, and checks of long histories would not end.
func settle(operations []Operation) ([]Operation, error) {
	seen := sightings(operations)
	var settled []Operation
	for _, o := range operations {
		if o.Unknown {
			end, isSeen := seen[written{o.Key, o.Value}]
			if !isSeen {
				continue
			}
			if end < o.Start {
				return nil, fmt.Errorf("the value of %+v was seen at %s, before it was asked to be written", o, end)
			}
			o.Swapped, o.End = o.Kind == Swap, end
		}
		settled = append(settled, o)
	}
	return settled, nil
}

// written is a value that was to be written to a key.
type written struct{ key, value string }

// sightings are when the first answer came that has seen each value. A swap without an answer whose own value was seen
// has found the one that it asked for, so that each of them may tell of another one.
func sightings(operations []Operation) map[written]time.Duration {
	seen := map[written]time.Duration{}
	for more := true; more; {
		more = false
		for _, o := range operations {
			value, end := o.saw(), o.End
			if o.Unknown {
				own, isSeen := seen[written{o.Key, o.Value}]
				if !isSeen {
					continue
				}
				end = own
			}
			of := written{o.Key, value}
			if before, ok := seen[of]; value != "" && (!ok || end < before) {
				seen[of], more = end, true
			}
		}
	}
	return seen
}

// saw is the value that an operation has found, if it happened.
func (o Operation) saw() string {
	switch {
	case o.Kind == Read:
		return o.Value
	case o.Kind == Swap && (o.Swapped || o.Unknown):
		return o.Old
	case o.Kind == Swap:
		return o.Found
	}
	return ""
}

func show(operations []Operation, key string) string {
	var lines []string
	for _, o := range operations {
		if o.Key == key {
			lines = append(lines, fmt.Sprintf("  %s-%s client %d %s %q old %q found %q swapped %t unknown %t revision %d",
				o.Start.Round(time.Microsecond), o.End.Round(time.Microsecond), o.Client, o.Kind, o.Value, o.Old, o.Found, o.Swapped, o.Unknown, o.Revision))
		}
	}
	return strings.Join(lines, "\n")
}

// Ordered checks that all answers came from one cluster, and that its revisions follow the
// clock: whoever asks after an answer was given sees at least that revision, and a write
// gets one of its own. It holds across keys, where Linearizable looks at one at a time.
func Ordered(operations []Operation) error {
	var answered []Operation
	for _, o := range operations {
		if !o.Unknown {
			answered = append(answered, o)
		}
	}
	byEnd := slices.Clone(answered)
	slices.SortFunc(byEnd, func(a, b Operation) int { return int(a.End - b.End) })
	slices.SortFunc(answered, func(a, b Operation) int { return int(a.Start - b.Start) })
	written := map[int64]Operation{}
	var before Operation // the highest revision of all that ended before
	next := 0
	for _, o := range answered {
		if o.Cluster != answered[0].Cluster {
			return fmt.Errorf("two clusters: %x answered %+v and %x answered %+v", answered[0].Cluster, answered[0], o.Cluster, o)
		}
		for ; next < len(byEnd) && byEnd[next].End < o.Start; next++ {
			if byEnd[next].Revision > before.Revision {
				before = byEnd[next]
			}
		}
		if o.Revision < before.Revision || (o.Wrote() && o.Revision == before.Revision) {
			return fmt.Errorf("%+v was answered before %+v was asked, which saw revision %d", before, o, o.Revision)
		}
		if o.Wrote() {
			if other, taken := written[o.Revision]; taken {
				return fmt.Errorf("%+v and %+v were written with the same revision", other, o)
			}
			written[o.Revision] = o
		}
	}
	return nil
}

// Watched checks what a watch saw from the beginning: one change after the other, nothing
// that nobody wrote, and every acknowledged write.
func Watched(operations []Operation, events []Event) error {
	tried := map[string]bool{}
	for _, o := range operations {
		if o.Kind != Read {
			tried[o.Key+"="+o.Value] = true
		}
	}
	seen := map[int64]Event{}
	last := int64(0)
	for _, e := range events {
		if e.Revision <= last {
			return fmt.Errorf("the watch saw revision %d after %d", e.Revision, last)
		}
		if !tried[e.Key+"="+e.Value] {
			return fmt.Errorf("the watch saw %+v, which nobody wrote", e)
		}
		last = e.Revision
		seen[e.Revision] = e
	}
	for _, o := range operations {
		if !o.Wrote() {
			continue
		}
		if e, ok := seen[o.Revision]; !ok || e.Key != o.Key || e.Value != o.Value {
			return fmt.Errorf("an acknowledged write is lost: %+v; at this revision the watch saw %+v", o, e)
		}
	}
	return nil
}
