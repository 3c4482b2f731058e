// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act_test

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

func TestOnlyAnswersOfKubernetesAreRefusals(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("exceeded quota"))
	for name, tc := range map[string]struct {
		step plan.Step
		err  error
		want bool
	}{
		"a quota":                    {plan.CreateObject{}, fmt.Errorf("start member c-a: %w", forbidden), true},
		"a webhook that fails":       {plan.PatchObject{}, apierrors.NewInternalError(errors.New("failed calling webhook")), true},
		"an API server that is busy": {plan.CreateObject{}, apierrors.NewTooManyRequests("later", 1), false},
		"a lost connection":          {plan.CreateObject{}, errors.New("connection reset by peer"), false},
		"a record":                   {plan.RecordStatus{}, forbidden, false},
		"a change of members":        {plan.AddMember{}, forbidden, false},
		"no error":                   {plan.CreateObject{}, nil, false},
	} {
		if got := act.IsRefusal(tc.step, tc.err); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
