// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"

	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// rules say which problems of reading a backup do not pass by themselves: an object that is not there, or
// is not what it should be, or that shows a defect of our own.
var rules = problem.Rules{
	Causes: []problem.Cause{
		{Err: snapshot.ErrKeys, Reason: problem.Secret},
		{Err: snapshot.ErrBroken, Reason: problem.Broken, Final: true},
		{Err: job.ErrDefect, Reason: problem.Failed, Final: true},
	},
	FinalAnswers: []string{string(store.NoObject), string(store.NoBucket), string(store.BadConfig)},
}

// ProblemOf is why a backup could not be read.
func ProblemOf(err error) *problem.Problem { return rules.Of(err) }

// BrokenAt refuses a backup that is not an intact snapshot. Other errors are passed on as they are.
func BrokenAt(url string, err error) error {
	if !errors.Is(err, snapshot.ErrBroken) {
		return err
	}
	return problem.Final(problem.Broken, fmt.Errorf("%s is not an intact etcd snapshot (%w); name another backup", url, err))
}

// badSecret says that an error is about a secret, which somebody may correct any moment.
func badSecret(err error) error { return problem.Because(problem.Secret, err) }
