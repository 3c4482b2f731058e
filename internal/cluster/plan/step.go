// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// Kind names what a step does.
type Kind string

// The kinds of steps.
const (
	// Create creates Object. That it is there already counts as done.
	Create Kind = "Create"
	// Change patches From into Object, only if From is still current.
	Change Kind = "Change"
	// Resize changes the resources of a running pod in place.
	Resize Kind = "Resize"
	// Delete deletes From, only if it is still the object that was seen and,
	// where Unchanged is set, has not changed since.
	Delete Kind = "Delete"
	// Record writes facts into the status that the next steps rest on.
	Record Kind = "Record"
	// AddMember tells etcd of a member to come.
	AddMember Kind = "AddMember"
	// Promote gives a learner its vote.
	Promote Kind = "Promote"
	// Remove takes a member out of etcd.
	Remove Kind = "Remove"
	// MoveLeader hands leadership to another member.
	MoveLeader Kind = "MoveLeader"
)

// Step is one thing to do. It is data: package act carries it out and knows no more.
type Step struct {
	Kind Kind
	// Why is a sentence for logs and events.
	Why string
	// Event is the reason of the event that tells the user; empty for none.
	Event string
	// Warning marks the event as one.
	Warning bool

	// Member is the name of the member concerned, if any.
	Member string

	// Object is created, or is what From is changed to.
	Object client.Object
	// From is the object as it was seen.
	From client.Object
	// Unchanged makes Delete fail if From has changed since it was seen.
	Unchanged bool

	// Alone is the only voter that is left, where Delete takes away another: before
	// that it has to write down that it is alone.
	Alone *etcd.Member

	// Facts are what Record writes.
	Facts *Facts

	// Ask is the name of the pod whose etcd is asked for a membership change.
	Ask string
	// MemberID is the member that is promoted, removed or made leader.
	MemberID uint64
	// PeerURL is where the new member will be.
	PeerURL string
	// Learner adds the member without a vote.
	Learner bool

	// Beside are steps of which none depends on another, or on this one: all can be taken
	// before the next look. If only some of them are, the next look asks for the others.
	Beside []*Step
}

// Facts are parts of the status that steps depend on. They are written in a step of
// their own, and only onto the object as it was seen.
type Facts struct {
	Bootstrap *v1beta2.BootstrapStatus
	ClusterID string
	// Again is the cluster that the object stands for again.
	Again *v1beta2.PreviousCluster
}

// Wait is a reason for not doing more.
type Wait struct {
	Reason Reason
	// Message tells the user what is waited for, or what to change.
	Message string
}

// Plan is what to do now.
type Plan struct {
	// Step is nil when there is nothing to do now.
	Step *Step
	// Waits say why no more is done, most important first. Without a step
	// and without waits the cluster is as it should be.
	Waits []Wait
	// LookAgain is when to look again without an event; zero leaves that to
	// the health check.
	LookAgain time.Duration
}

// Is reports whether the plan waits for this reason.
func (p *Plan) Is(r Reason) bool {
	for _, w := range p.Waits {
		if w.Reason == r {
			return true
		}
	}
	return false
}
