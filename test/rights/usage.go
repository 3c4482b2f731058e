// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Home stands for the namespace of the operators: the same role in many namespaces is one role.
const Home = "operators"

// Installation is a namespace whose operators were given rights.
type Installation struct {
	// Namespace is that of the operators.
	Namespace string
	// Grants are their rights, with Home for the namespace.
	Grants Grants
	// Since is when they had them, and Until when somebody began to take the namespace away with all that is
	// in it, the rights among it. A zero Until means that nobody has.
	Since, Until time.Time
}

// knows tells whether a request was made under the rights of the installation.
func (i *Installation) knows(r Request) bool {
	namespace, _, ok := splitServiceAccount(r.User)
	return ok && namespace == i.Namespace && !r.Time.Before(i.Since) && (i.Until.IsZero() || r.Time.Before(i.Until))
}

// atHome is a request as if the namespace of the installation were Home.
func (i *Installation) atHome(r Request) Request {
	_, name, _ := splitServiceAccount(r.User)
	r.User = ServiceAccount(Home, name)
	if r.Namespace == i.Namespace {
		r.Namespace = Home
	}
	return r
}

// right is a right of a role, wherever it holds.
type right struct {
	role string
	Right
}

func (r right) String() string { return r.role + ": " + r.Right.String() }

// Usage is what the operators of some installations did with their rights.
type Usage struct {
	installations map[string][]*Installation
	// uses has every right, also those that nobody used.
	uses                        map[right]int
	forbidden, refused, foreign tally
	requests                    int
}

// NewUsage begins with the rights of the installations, none of which has been used.
func NewUsage(installations ...Installation) *Usage {
	u := &Usage{installations: map[string][]*Installation{}, uses: map[right]int{}, forbidden: tally{}, refused: tally{}, foreign: tally{}}
	for _, i := range installations {
		u.installations[i.Namespace] = append(u.installations[i.Namespace], &i)
		for _, grants := range i.Grants {
			for _, g := range grants {
				u.uses[right{g.Role, g.Right}] += 0
			}
		}
	}
	return u
}

// Count notes a request. Those of others than the operators are of no interest.
func (u *Usage) Count(r Request) {
	namespace, _, _ := splitServiceAccount(r.User)
	known, covered := false, false
	var asked Request
	for _, i := range u.installations[namespace] {
		if !i.knows(r) {
			continue
		}
		asked = i.atHome(r)
		grants, ours := i.Grants[asked.User]
		known = known || ours
		for _, g := range grants {
			if g.Covers(asked) {
				covered = true
				if r.Allowed {
					u.uses[right{g.Role, g.Right}]++
				}
			}
		}
	}
	if !known {
		return
	}
	u.requests++
	switch {
	case !r.Allowed && covered:
		u.refused.count(asked, r)
	case !r.Allowed:
		u.forbidden.count(asked, r)
	case !covered && !basic(r):
		u.foreign.count(asked, r)
	}
}

// tally counts requests that differ in names and times only, and keeps the first of each.
type tally map[string]*struct {
	first Request
	times int
}

func (t tally) count(asked, r Request) {
	_, account, _ := splitServiceAccount(asked.User)
	asked.Name = ""
	key := account + ": " + asked.String()
	if t[key] == nil {
		t[key] = &struct {
			first Request
			times int
		}{first: r}
	}
	t[key].times++
}

func (t tally) lines() []string {
	var lines []string
	for _, request := range slices.Sorted(maps.Keys(t)) {
		lines = append(lines, fmt.Sprintf("%s (%d times, first at %s: %s)", request, t[request].times, t[request].first.Time.UTC().Format(time.TimeOnly), t[request].first))
	}
	return lines
}

// basic tells whether Kubernetes lets everybody do this who is known to it (system:basic-user).
func basic(r Request) bool {
	return r.Verb == "create" && (r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io") && strings.HasPrefix(r.Resource, "selfsubject")
}

// Requests is how many requests of operators were counted.
func (u *Usage) Requests() int { return u.requests }

// Forbidden are the requests that the operators lacked the right for.
func (u *Usage) Forbidden() []string { return u.forbidden.lines() }

// Refused are the requests that the operators have the right for and that were forbidden all the same: an API server
// that has just been started forbids everything until its authorizer has read the roles.
func (u *Usage) Refused() []string { return u.refused.lines() }

// Foreign are the requests that none of the known rights covers, and that were allowed all the same: the
// operators have rights from elsewhere, and what was counted proves little.
func (u *Usage) Foreign() []string { return u.foreign.lines() }

// Unused are the rights that nobody used, except for those that are known to be needed rarely.
func (u *Usage) Unused(rarely map[string]string) []string {
	var lines []string
	for r, n := range u.uses {
		if _, known := rarely[r.String()]; n == 0 && !known {
			lines = append(lines, r.String())
		}
	}
	slices.Sort(lines)
	return lines
}

// Unknown are those among the rights that are known to be needed rarely which nobody has: the list is old.
func (u *Usage) Unknown(rarely map[string]string) []string {
	there := map[string]bool{}
	for r := range u.uses {
		there[r.String()] = true
	}
	var lines []string
	for _, r := range slices.Sorted(maps.Keys(rarely)) {
		if !there[r] {
			lines = append(lines, r)
		}
	}
	return lines
}
