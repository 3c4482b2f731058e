// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// Step is one thing to do. It is data: package act carries it out and chooses nothing. It is one of the
// structs of this file.
type Step interface {
	// Kind names what the step does, for logs and metrics.
	Kind() string
	// Describe is what logs and events report of the step.
	Describe() About

	isStep()
}

// About is what every step has: what logs and events report of it.
type About struct {
	// Member is the name of the member concerned, if any.
	Member string
	// Why is a sentence for logs and events.
	Why string
	// Event is the reason of the event that the user gets; empty for none.
	Event string
	// Warning marks the event as one.
	Warning bool
}

// Describe implements Step.
func (a About) Describe() About { return a }

func (About) isStep() {}

// CreateObject creates an object. That it exists already counts as done.
type CreateObject struct {
	About
	Object client.Object
}

// PatchObject changes an object from what was seen to what it shall be, only if it still is as it was seen.
type PatchObject struct {
	About
	From, To client.Object
}

// ResizePod changes the resources of a running pod in place, only if the pod still is as it was seen.
type ResizePod struct {
	About
	From, To *corev1.Pod
}

// DeleteObject deletes an object, only if it still is the one that was seen.
type DeleteObject struct {
	About
	Object client.Object
	// IfUnchanged demands more: that the object has not changed since it was seen.
	IfUnchanged bool
	// LastVoter is set where the pod of a removed member is deleted and one voter is left.
	LastVoter *LastVoter
	// Grace is how long a pod has to end; zero leaves that to the pod.
	Grace time.Duration
}

// LastVoter is the only voter that is left after a removal. It has to commit an entry to its log before the
// removed member is deleted: up to 3.6 etcd keeps only in memory that the removal was agreed, until the next
// entry. Killed before that, it would wait for the vote of the removed member for ever.
type LastVoter struct {
	// Ask is the name of its pod.
	Ask  string
	Self etcd.Member
}

// RecordStatus writes the whole status, which the next steps rest on, onto the object as it was seen.
type RecordStatus struct {
	About
	Status v1beta2.ClusterStatus
}

// AddMember adds a member to etcd's list, which its pod joins as later.
type AddMember struct {
	About
	// Ask is the name of the pod whose etcd is asked.
	Ask string
	// PeerURL is where the new member will be.
	PeerURL string
	// Learner adds the member without a vote.
	Learner bool
}

// PromoteMember gives a learner its vote.
type PromoteMember struct {
	About
	Ask string
	ID  uint64
}

// RemoveMember takes a member off etcd's list.
type RemoveMember struct {
	About
	Ask string
	ID  uint64
}

// MoveLeader transfers leadership from the member that is asked to another.
type MoveLeader struct {
	About
	Ask string
	To  uint64
}

// Defragment defragments the database of the member whose pod this is, with a note on the pod before and after.
type Defragment struct {
	About
	From *corev1.Pod
	// Begun and Done are the notes.
	Begun, Done manifests.Defragmentation
}

// Compact drops the history of keys before a revision, and writes down that it was dropped.
type Compact struct {
	About
	Ask      string
	Revision int64
	// Status is what is written.
	Status v1beta2.ClusterStatus
}

// DisarmAlarm disarms the alarm NOSPACE of a member.
type DisarmAlarm struct {
	About
	Ask string
	ID  uint64
}

// Kind implements Step.
func (Compact) Kind() string { return "Compact" }

// Kind implements Step.
func (DisarmAlarm) Kind() string { return "DisarmAlarm" }

// Kind implements Step.
func (Defragment) Kind() string { return "Defragment" }

// Kind implements Step.
func (CreateObject) Kind() string { return "Create" }

// Kind implements Step.
func (PatchObject) Kind() string { return "Change" }

// Kind implements Step.
func (ResizePod) Kind() string { return "Resize" }

// Kind implements Step.
func (DeleteObject) Kind() string { return "Delete" }

// Kind implements Step.
func (RecordStatus) Kind() string { return "Record" }

// Kind implements Step.
func (AddMember) Kind() string { return "AddMember" }

// Kind implements Step.
func (PromoteMember) Kind() string { return "Promote" }

// Kind implements Step.
func (RemoveMember) Kind() string { return "Remove" }

// Kind implements Step.
func (MoveLeader) Kind() string { return "MoveLeader" }
