// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import "testing"

func TestAnAlarmIsAboutTheMemberThatItNames(t *testing.T) {
	for _, tc := range []struct {
		alarms []string
		want   bool
	}{
		{nil, false},
		{[]string{"memberID:7 alarm:NOSPACE "}, false},
		{[]string{"memberID:7 alarm:CORRUPT "}, true},
		{[]string{"memberID:7  alarm:CORRUPT"}, true},
		{[]string{"memberID:77 alarm:CORRUPT "}, false},
		{[]string{"memberID:77 alarm:CORRUPT ", "memberID:7 alarm:CORRUPT "}, true},
		{[]string{"alarm:CORRUPT "}, true}, // of nobody in particular
	} {
		if got := (Status{MemberID: 7, Errors: tc.alarms}).IsCorrupt(); got != tc.want {
			t.Errorf("%q: corrupt is %t, want %t", tc.alarms, got, tc.want)
		}
	}
}
