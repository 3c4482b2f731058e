// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package summary makes of a view what `kubectl etcd status` says. It is a pure function: the same view gives the same summary.
package summary

import (
	"time"
)

// Health is how a cluster is, in one word that programs can compare.
type Health string

// The states of health, and the exit codes that belong to them.
const (
	Well       Health = "Well"
	Degraded   Health = "Degraded"
	NotServing Health = "NotServing"
)

// ExitCode is what scripts get.
func (h Health) ExitCode() int {
	switch h {
	case Well:
		return 0
	case Degraded:
		return 1
	}
	return 2
}

// Summary is one cluster at one moment. Its JSON form is part of what the plugin promises.
type Summary struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Time      time.Time `json:"time"`
	Created   time.Time `json:"created"`
	Health    Health    `json:"health"`
	// State is a headline such as "Healthy" or "Scaling up".
	State string `json:"state"`
	// Version is what the cluster runs, TargetVersion what it is being upgraded to.
	Version       string `json:"version,omitempty"`
	TargetVersion string `json:"targetVersion,omitempty"`
	Quorum        Quorum `json:"quorum"`
	// Operator is what the operator does, or why it waits.
	Operator Operator `json:"operator"`
	// Next are the commands to type now, the best first.
	Next         []Command     `json:"next,omitempty"`
	Members      []Member      `json:"members"`
	Alarms       []string      `json:"alarms,omitempty"`
	Certificates []Certificate `json:"certificates,omitempty"`
	Backup       *Backup       `json:"backup,omitempty"`
	Restore      *Restore      `json:"restore,omitempty"`
	Events       []Event       `json:"events,omitempty"`
	// Notes say what is not shown, and why.
	Notes []string `json:"notes,omitempty"`
}

// Quorum is how many members agree.
type Quorum struct {
	// Size is spec.size.
	Size int `json:"size"`
	// Voters are the members that have a vote, Healthy those of them that answer, Needed how many have to.
	Voters  int `json:"voters"`
	Healthy int `json:"healthy"`
	Needed  int `json:"needed"`
}

// Margin is how many more voters may fail; below zero, how many are missing.
func (q Quorum) Margin() int { return q.Healthy - q.Needed }

// Operator is what the operator says.
type Operator struct {
	// Reason is that of the condition Ready.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when the cluster became ready, or ceased to be.
	Since *time.Time `json:"since,omitempty"`
	// Meaning is what the page of reasons has about the reason.
	Meaning string `json:"meaning,omitempty"`
	// NeedsYou says that waiting does not help.
	NeedsYou bool `json:"needsYou,omitempty"`
	// Doing are what is in progress: scaling, upgrading, recovering.
	Doing []string `json:"doing,omitempty"`
}

// Command is a command to type.
type Command struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// Member is one member.
type Member struct {
	Name    string `json:"name"`
	Role    string `json:"role,omitempty"`
	Healthy bool   `json:"healthy"`
	// State is the health in a word: ok, or what is the matter.
	State   string `json:"state"`
	Version string `json:"version,omitempty"`
	// Size, InUse and Quota are bytes. Size is from the status, rounded up, unless Live.
	Size  int64 `json:"size,omitempty"`
	InUse int64 `json:"inUse,omitempty"`
	Quota int64 `json:"quota,omitempty"`
	// Lag is how many entries of the log the member has not applied yet. It is known only if the member could be asked.
	Lag     *uint64 `json:"lag,omitempty"`
	Live    bool    `json:"live"`
	Node    string  `json:"node,omitempty"`
	Zone    string  `json:"zone,omitempty"`
	Message string  `json:"message,omitempty"`
}

// QuotaShare is the part of the quota that is used, from 0 to 1; -1 if it is not known.
func (m Member) QuotaShare() float64 {
	if m.Quota <= 0 || m.Size <= 0 {
		return -1
	}
	return float64(m.Size) / float64(m.Quota)
}

// Certificate is one that the spec names.
type Certificate struct {
	Use     string     `json:"use"`
	Secret  string     `json:"secret"`
	Expires *time.Time `json:"expires,omitempty"`
	Problem string     `json:"problem,omitempty"`
}

// Backup is the last good backup.
type Backup struct {
	// EtcdBackup is the object that made it.
	EtcdBackup string    `json:"etcdBackup"`
	Time       time.Time `json:"time,omitzero"`
	Revision   int64     `json:"revision,omitempty"`
	Size       int64     `json:"size,omitempty"`
	Verified   bool      `json:"verified,omitempty"`
	// Failure is why the last attempt failed.
	Failure string `json:"failure,omitempty"`
	// Progress is that of a backup that is being made, from 0 to 1.
	Progress *float64 `json:"progress,omitempty"`
}

// Restore is one that is in progress or has failed.
type Restore struct {
	EtcdRestore string `json:"etcdRestore"`
	Phase       string `json:"phase,omitempty"`
	Failure     string `json:"failure,omitempty"`
	Fetched     int64  `json:"fetched,omitempty"`
	Size        int64  `json:"size,omitempty"`
}

// Event is an event of the last time.
type Event struct {
	Time    time.Time `json:"time"`
	Warning bool      `json:"warning,omitempty"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	About   string    `json:"about,omitempty"`
	Count   int32     `json:"count,omitempty"`
}
