// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdversion knows what differs between the releases of etcd: how a
// version is written, which change from one to another etcd supports, and
// which features a release has.
package etcdversion

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Default is the version of a cluster whose spec names none.
const Default = v1beta2.DefaultEtcdVersion

// Version is a released version of etcd.
type Version struct {
	Major, Minor, Patch int
}

// Parse reads a version with or without leading "v". What follows the patch
// number after a dash or plus (a vendor's suffix) is accepted and carries no
// meaning here.
func Parse(s string) (Version, error) {
	core := strings.TrimLeft(s, "v")
	core, _, _ = strings.Cut(core, "-")
	core, _, _ = strings.Cut(core, "+")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return Version{}, fmt.Errorf("version %q is not of the form major.minor.patch, such as %s", s, Default)
	}
	var numbers [3]int
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return Version{}, fmt.Errorf("version %q is not of the form major.minor.patch, such as %s", s, Default)
		}
		numbers[i] = n
	}
	return Version{numbers[0], numbers[1], numbers[2]}, nil
}

// Normalize strips the leading "v" characters which the API accepts.
func Normalize(s string) string { return strings.TrimLeft(s, "v") }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Compare returns -1, 0 or 1 as v is older than, equal to or newer than w.
func (v Version) Compare(w Version) int {
	for _, d := range []int{v.Major - w.Major, v.Minor - w.Minor, v.Patch - w.Patch} {
		if d < 0 {
			return -1
		}
		if d > 0 {
			return 1
		}
	}
	return 0
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || (v.Major == major && v.Minor >= minor)
}

// HasLearners reports whether members can join without a vote.
func (v Version) HasLearners() bool { return v.AtLeast(3, 4) }

// HasManyLearners reports whether the number of learners can be raised above
// the one that etcd allows by default.
func (v Version) HasManyLearners() bool { return v.AtLeast(3, 6) }

// AddsBesideSick reports whether etcd takes a new member while one of its members is not connected and the
// others are enough.
func (v Version) AddsBesideSick() bool {
	switch {
	case v.AtLeast(3, 7):
		return true
	case v.AtLeast(3, 6):
		return v.Patch >= 16
	case v.AtLeast(3, 5):
		return v.Patch >= 35
	}
	return false
}

// SkipPeerNameCheck is the environment variable by which members accept any name
// in a peer's certificate; a release refuses to start with that of another beside
// its own.
func (v Version) SkipPeerNameCheck() string {
	if v.AtLeast(3, 6) {
		return "ETCD_PEER_SKIP_CLIENT_SAN_VERIFICATION"
	}
	return "ETCD_EXPERIMENTAL_PEER_SKIP_CLIENT_SAN_VERIFICATION"
}

// KeepsLogUntil is about how long a log gets before etcd drops its beginning.
func (v Version) KeepsLogUntil() uint64 {
	if v.AtLeast(3, 6) {
		return 80 // at 100 it drops the first entry
	}
	return 100_000
}

// HasMetricsListener reports whether etcd can serve its health and metrics on
// a listener of their own, without client certificates.
func (v Version) HasMetricsListener() bool { return v.AtLeast(3, 3) }

// HasReadyz reports whether the metrics listener serves /readyz, which in
// contrast to /health is false for a learner.
func (v Version) HasReadyz() bool {
	switch {
	case v.AtLeast(3, 6):
		return true
	case v.Major == 3 && v.Minor == 5:
		return v.Patch >= 11
	case v.Major == 3 && v.Minor == 4:
		return v.Patch >= 29
	}
	return false
}

// RefusedChange says why etcd cannot go from one version to another.
type RefusedChange struct {
	// Reason is a short CamelCase name.
	Reason string
	// Message tells the user what to change.
	Message string
}

// The names of refused changes.
const (
	ReasonDowngrade    = "DowngradeRefused"
	ReasonSkippedMinor = "MinorVersionSkipped"
)

// CheckChange tells whether running members of version from may be replaced
// one by one by members of version to. It returns nil where they may.
func CheckChange(from, to Version) *RefusedChange {
	switch {
	case to.Major == from.Major && to.Minor == from.Minor:
		return nil // patch releases of a minor are exchangeable in both directions
	case to.Compare(from) < 0:
		return &RefusedChange{ReasonDowngrade, fmt.Sprintf(
			"etcd %s cannot take over the data of %s: set version back to %d.%d.x or newer", to, from, from.Major, from.Minor)}
	case to.Major != from.Major || to.Minor != from.Minor+1:
		return &RefusedChange{ReasonSkippedMinor, fmt.Sprintf(
			"etcd upgrades go one minor version at a time: from %s first to %d.%d.x, then on towards %s", from, from.Major, from.Minor+1, to)}
	}
	return nil
}
