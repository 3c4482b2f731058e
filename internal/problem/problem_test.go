// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package problem

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

type answer struct{ reason, text string }

func (a answer) Error() string  { return a.text }
func (a answer) Reason() string { return a.reason }

func TestAnErrorBecomesAReason(t *testing.T) {
	passing, lasting := errors.New("it passes"), errors.New("it lasts")
	rules := Rules{
		Causes:       []Cause{{Err: passing, Reason: "Passing"}, {Err: lasting, Reason: "Lasting", Final: true}},
		FinalAnswers: []string{"NotThere"},
	}
	full := answer{"Full", "the store is full"}
	for name, test := range map[string]struct {
		err  error
		want Problem
	}{
		"anything":                                  {errors.New("x"), Problem{Failed, "x", false}},
		"a reason":                                  {fmt.Errorf("doing: %w", Because("R", errors.New("x"))), Problem{"R", "doing: x", false}},
		"a final reason":                            {fmt.Errorf("doing: %w", Final("R", errors.New("x"))), Problem{"R", "doing: x", true}},
		"an answer, without what is around it":      {fmt.Errorf("doing: %w", full), Problem{"Full", "the store is full", false}},
		"an answer that is final":                   {answer{"NotThere", "it is not there"}, Problem{"NotThere", "it is not there", true}},
		"an answer lies deeper than a reason":       {Because("R", fmt.Errorf("doing: %w", full)), Problem{"Full", "the store is full", false}},
		"a final reason counts more than an answer": {Final("R", fmt.Errorf("doing: %w", full)), Problem{"R", "doing: the store is full", true}},
		"the time is up":                            {Because("R", context.DeadlineExceeded), Problem{TimedOut, "context deadline exceeded", false}},
		"a cause":                                   {fmt.Errorf("doing: %w", passing), Problem{"Passing", "doing: it passes", false}},
		"a cause that is final":                     {fmt.Errorf("doing: %w", lasting), Problem{"Lasting", "doing: it lasts", true}},
		"the first of two causes":                   {errors.Join(lasting, passing), Problem{"Passing", "it lasts\nit passes", false}},
		"a reason counts more than a cause":         {Because("R", lasting), Problem{"R", "it lasts", false}},
	} {
		if diff := cmp.Diff(test.want, *rules.Of(test.err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOnlyAProblemThatLastsStalls(t *testing.T) {
	for stalled, want := range map[bool]kstatus.Verdict{
		false: {Reason: "R", Message: "m", Working: true},
		true:  {Reason: "R", Message: "m", Stalled: true},
	} {
		if diff := cmp.Diff(want, (&Problem{Reason: "R", Message: "m", Stalled: stalled}).Verdict()); diff != "" {
			t.Error(diff)
		}
	}
}
