// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcd is the little of etcd's own API that the operator needs, behind
// interfaces of our own: the types of etcd's client change between releases,
// and the simulation has to stand in for them.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Member is an entry of etcd's member list.
type Member struct {
	ID uint64
	// Name is empty until the member has started for the first time.
	Name       string
	PeerURLs   []string
	ClientURLs []string
	Learner    bool
}

// Membership is etcd's member list, and the cluster that gave it.
type Membership struct {
	ClusterID uint64
	Members   []Member
}

// Status is what one member says about itself.
type Status struct {
	ClusterID uint64
	MemberID  uint64
	Version   string
	// DBSize is the size of the database file in bytes.
	DBSize int64
	// DBSizeInUse is how much of it holds data; the rest is free for new data, or for a defragmentation to give back.
	DBSizeInUse int64
	// DBQuota is how large the database may become. It is 0 where the member does not say: before 3.6.
	DBQuota int64
	// Leader is 0 while the member knows of none.
	Leader uint64
	// Revision is that of the last write that the member has applied.
	Revision     int64
	Term         uint64
	RaftIndex    uint64
	AppliedIndex uint64
	Learner      bool
	// Errors are the alarms and complaints the member reports, such as NOSPACE, in order. Alarms are
	// the cluster's: every member reports those of all.
	Errors []string
}

// IsCorrupt reports whether an alarm says that the member's own data is corrupt.
func (s Status) IsCorrupt() bool { return IsCorrupt(s.Errors, s.MemberID) }

var alarmOf = regexp.MustCompile(`memberID:\s*(\d+)`)

// IsCorrupt reports whether one of the alarms that a status lists is about corrupt data of the member of
// that id. One that names no member is about all of them.
func IsCorrupt(alarms []string, id uint64) bool {
	return slices.ContainsFunc(alarms, func(alarm string) bool {
		if !strings.Contains(alarm, "CORRUPT") {
			return false
		}
		found := alarmOf.FindStringSubmatch(alarm)
		return found == nil || found[1] == strconv.FormatUint(id, 10)
	})
}

// SpaceAlarm is the id of the member whose database has reached its quota, by an alarm that a status lists; not ok for other alarms.
func SpaceAlarm(alarm string) (id uint64, ok bool) {
	if !strings.Contains(alarm, "NOSPACE") {
		return 0, false
	}
	if found := alarmOf.FindStringSubmatch(alarm); found != nil {
		id, _ = strconv.ParseUint(found[1], 10, 64)
	}
	return id, true
}

// Endpoint is where one member can be reached.
type Endpoint struct {
	// Address is host:port.
	Address string
	// ServerName is the name that the member's certificate has to carry;
	// it is dialled by address, so that a stale DNS answer cannot mislead.
	ServerName string
	// TLS is nil for plain text.
	TLS *TLS
}

// TLS is the identity that the operator shows to etcd.
type TLS struct {
	// Generation distinguishes rotated credentials: connections made with
	// an older one are not used again.
	Generation string
	Config     *tls.Config
}

// Client talks to one member.
type Client interface {
	// Status asks the member about itself; it needs no quorum.
	Status(ctx context.Context) (Status, error)
	// Members returns the member list as agreed by a quorum.
	Members(ctx context.Context) (Membership, error)
	// AddMember adds a member that has not started yet.
	AddMember(ctx context.Context, peerURL string, learner bool) (Member, error)
	// Promote gives a learner its vote.
	Promote(ctx context.Context, id uint64) error
	// Remove takes a member out of the cluster.
	Remove(ctx context.Context, id uint64) error
	// CommitNoop commits an entry of the log that changes nothing. self is the member's own
	// entry of the list. Up to 3.6 etcd writes what was agreed to its disk only with the
	// entry that follows.
	CommitNoop(ctx context.Context, self Member) error
	// MoveLeader hands leadership to the given member. It has to be asked
	// of the leader.
	MoveLeader(ctx context.Context, to uint64) error
	// Defragment gives the free space in the member's file back. The member goes on with it when nobody waits any longer.
	Defragment(ctx context.Context) error
	// Compact drops the history of keys before a revision.
	Compact(ctx context.Context, revision int64) error
	// DisarmSpaceAlarm ends the alarm of a member that had reached its quota.
	DisarmSpaceAlarm(ctx context.Context, id uint64) error
}

// Connector gives a Client for an endpoint. It keeps connections.
type Connector interface {
	Connect(e Endpoint) (Client, error)
}

// Errors that etcd answers with and the operator treats as facts rather than faults.
var (
	// ErrNotInSync: the learner is too far behind its leader to be promoted.
	ErrNotInSync = errors.New("the learner is not in sync with the leader yet")
	// ErrUnhealthy: etcd refuses to change its membership because voters
	// are not connected, or have not been for long enough.
	ErrUnhealthy = errors.New("etcd refuses the change until all its voters are started and have been connected for a while")
	// ErrTooManyLearners: etcd has as many learners as it allows.
	ErrTooManyLearners = errors.New("etcd does not allow a further learner now")
	// ErrNotFound: etcd knows no member of that id.
	ErrNotFound = errors.New("etcd knows no such member")
	// ErrExists: a member with that peer URL is there already.
	ErrExists = errors.New("a member with this peer URL exists already")
	// ErrAccessRefused: etcd's authentication is on, and the operator is no user who may do that.
	ErrAccessRefused = errors.New("etcd asks for a user with the role root")
	// ErrCompacted: the history before that revision was dropped already.
	ErrCompacted = errors.New("the history before this revision has been dropped already")
	// ErrAlreadyVoter: the member has its vote already.
	ErrAlreadyVoter = errors.New("the member is no learner")
)
