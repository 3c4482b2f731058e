// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/test/chaos/history"
)

// at is an operation on the key k that takes from one second to another.
func at(start, end int, o history.Operation) history.Operation {
	o.Key, o.Start, o.End, o.Cluster = "k", time.Duration(start)*time.Second, time.Duration(end)*time.Second, 7
	return o
}

func write(value string, revision int64) history.Operation {
	return history.Operation{Kind: history.Write, Value: value, Revision: revision}
}

func read(value string, revision int64) history.Operation {
	return history.Operation{Kind: history.Read, Value: value, Revision: revision}
}

func swap(old, value string, swapped bool, revision int64) history.Operation {
	return history.Operation{Kind: history.Swap, Old: old, Value: value, Swapped: swapped, Revision: revision}
}

// missed is a swap that found another value than it asked for.
func missed(old, found, value string, revision int64) history.Operation {
	return history.Operation{Kind: history.Swap, Old: old, Found: found, Value: value, Revision: revision}
}

func unknown(o history.Operation) history.Operation {
	o.Unknown, o.Revision = true, 0
	return o
}

func TestLinearizable(t *testing.T) {
	for _, test := range []struct {
		name string
		ops  []history.Operation
		good bool
	}{
		{"one after the other", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, read("a", 2)), at(4, 5, swap("a", "b", true, 3)), at(6, 7, read("b", 3))}, true},
		{"at the same time, either may be first", []history.Operation{at(0, 5, write("a", 3)), at(0, 5, write("b", 2)), at(6, 7, read("a", 3))}, true},
		{"a write without an answer happened", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, unknown(write("b", 0))), at(4, 5, read("b", 3))}, true},
		{"a write without an answer never happened", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, unknown(write("b", 0))), at(4, 5, read("a", 2))}, true},
		{"a write without an answer happens late", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, unknown(write("b", 0))), at(4, 5, read("a", 2)), at(6, 7, read("b", 3))}, true},
		{"a swap without an answer", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, unknown(swap("a", "b", false, 0))), at(4, 5, swap("b", "c", true, 4))}, true},
		{"a stale read", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, write("b", 3)), at(4, 5, read("a", 2))}, false},
		{"a lost write", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, read("", 1))}, false},
		{"back and forth", []history.Operation{at(0, 9, write("a", 2)), at(0, 9, write("b", 3)), at(10, 11, read("a", 3)), at(12, 13, read("b", 3))}, false},
		{"two swaps of the same", []history.Operation{at(0, 1, write("a", 2)), at(2, 9, swap("a", "b", true, 3)), at(2, 9, swap("a", "c", true, 4))}, false},
		{"a swap that did not find what is there", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, missed("a", "a", "b", 2))}, false},
		{"a swap that found what was there before", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, write("b", 3)), at(4, 5, missed("c", "a", "d", 3))}, false},
		{"a swap that another one came before", []history.Operation{at(0, 1, write("a", 2)), at(2, 9, swap("a", "b", true, 3)), at(2, 9, missed("a", "b", "c", 3))}, true},
		{"a write without an answer is seen by a swap that missed", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, unknown(write("b", 0))), at(4, 5, missed("a", "b", "c", 3))}, true},
		{"one that was seen does not happen again", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, unknown(write("b", 0))), at(4, 5, read("b", 3)), at(6, 7, write("c", 4)), at(8, 9, read("b", 4))}, false},
		{"a swap without an answer was seen by one without an answer", []history.Operation{
			at(0, 1, write("a", 2)), at(2, 3, unknown(swap("a", "b", false, 0))), at(4, 5, unknown(swap("b", "c", false, 0))), at(6, 7, read("c", 4)),
		}, true},
		{"a swap without an answer did not find what it asked for", []history.Operation{
			at(0, 1, write("a", 2)), at(2, 3, write("b", 3)), at(4, 5, unknown(swap("a", "c", false, 0))), at(6, 7, read("c", 4)),
		}, false},
		{"a value is seen before it was asked to be written", []history.Operation{at(0, 1, read("a", 2)), at(2, 3, unknown(write("a", 0)))}, false},
		{"many writes without an answer", unanswered(2000), true},
	} {
		if err := history.Linearizable(test.ops); (err == nil) != test.good {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// unanswered is a history of writes two at a time, one in three of which has no answer and never happened.
func unanswered(n int) []history.Operation {
	var ops []history.Operation
	for i := range n {
		first, second := fmt.Sprint(i, " first"), fmt.Sprint(i, " second")
		ops = append(ops, at(3*i, 3*i+1, unknown(write(fmt.Sprint(i, " lost"), 0))), at(3*i, 3*i+1, write(first, int64(3*i))), at(3*i, 3*i+1, write(second, int64(3*i+1))),
			at(3*i+2, 3*i+2, read([]string{first, second}[i%2], int64(3*i+1))))
	}
	return ops
}

func TestOrdered(t *testing.T) {
	other := at(4, 5, read("a", 2))
	other.Cluster = 8
	for _, test := range []struct {
		name string
		ops  []history.Operation
		want string
	}{
		{"revisions follow the clock", []history.Operation{at(0, 1, write("a", 2)), at(2, 3, read("a", 2)), at(2, 4, write("b", 3))}, ""},
		{"at the same time in any order", []history.Operation{at(0, 5, write("a", 3)), at(1, 4, write("b", 2))}, ""},
		{"a revision goes back", []history.Operation{at(0, 1, write("a", 5)), at(2, 3, read("a", 4))}, "was answered before"},
		{"a write without a revision of its own", []history.Operation{at(0, 1, write("a", 5)), at(2, 3, write("b", 5))}, "was answered before"},
		{"two writes with one revision", []history.Operation{at(0, 3, write("a", 5)), at(1, 3, write("b", 5))}, "the same revision"},
		{"two clusters", []history.Operation{at(0, 1, write("a", 2)), other}, "two clusters"},
	} {
		err := history.Ordered(test.ops)
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestWatched(t *testing.T) {
	ops := []history.Operation{at(0, 1, write("a", 2)), at(2, 3, write("b", 4)), at(2, 3, unknown(write("c", 0))), at(4, 5, swap("x", "d", false, 4))}
	a, b, c := history.Event{Revision: 2, Key: "k", Value: "a"}, history.Event{Revision: 4, Key: "k", Value: "b"}, history.Event{Revision: 3, Key: "k", Value: "c"}
	for _, test := range []struct {
		name   string
		events []history.Event
		want   string
	}{
		{"all that was acknowledged", []history.Event{a, b}, ""},
		{"what got no answer may be there", []history.Event{a, c, b}, ""},
		{"a lost write", []history.Event{a, c}, "an acknowledged write is lost"},
		{"a lost write at the beginning", []history.Event{b}, "an acknowledged write is lost"},
		{"out of order", []history.Event{b, a}, "saw revision 2 after 4"},
		{"twice", []history.Event{a, a, b}, "saw revision 2 after 2"},
		{"what nobody wrote", []history.Event{a, b, {Revision: 5, Key: "k", Value: "z"}}, "nobody wrote"},
		{"another value", []history.Event{a, {Revision: 4, Key: "k", Value: "c"}}, "an acknowledged write is lost"},
	} {
		err := history.Watched(ops, test.events)
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestARecorderLeavesOutReadsWithoutAnAnswer(t *testing.T) {
	var r history.Recorder
	r.Add(at(2, 3, write("a", 2)))
	r.Add(at(0, 1, unknown(read("", 0))))
	r.Add(at(0, 1, unknown(write("b", 0))))
	if got := r.Operations(); len(got) != 2 || got[0].Value != "b" {
		t.Errorf("it holds %+v", got)
	}
}
