// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package view is what is seen of one EtcdBackup, as plain data: the object, and what this process does for it.
package view

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// Observation is all that a plan is made from.
type Observation struct {
	// Now is the time.
	Now time.Time
	// Backup is the object as the API server has it.
	Backup *v1beta2.EtcdBackup
	// Process identifies this process.
	Process string
	// Job is what this process is doing or has done for the object. nil after a restart.
	Job *Job
}

// Begun is the object with the spec that its run was begun with, as far as this process knows that.
func (o Observation) Begun() *v1beta2.EtcdBackup {
	run := o.Backup.Status.Run
	if run == nil || o.Job == nil || o.Job.ID != run.ID || o.Job.Outcome == nil || o.Job.Outcome.Spec == nil {
		return o.Backup
	}
	b := *o.Backup
	b.Spec = *o.Job.Outcome.Spec
	return &b
}

// Job is work for one object that takes long. A run is a chain of them.
type Job struct {
	Kind string
	// ID is that of the run.
	ID string
	// Progress is meaningful while Outcome is nil.
	Progress Progress
	// Outcome is nil while the job runs.
	Outcome *Outcome
	// Reported says that the outcome stands in the status already.
	Reported bool
}

// What a job does.
const (
	// LookJob looks for what a process that died left of a run.
	LookJob = "look"
	// MakeJob brings a snapshot into the store, and verifies it where asked.
	MakeJob = "make"
	// DiscardJob deletes objects of the run that were not verified.
	DiscardJob = "discard"
	// SweepJob removes what is left of the uploads of earlier runs.
	SweepJob = "sweep"
	// SurveyJob lists the backups of the series.
	SurveyJob = "survey"
	// PruneJob deletes backups that the retention does not keep.
	PruneJob = "prune"
	// CleanJob removes what a deleted object leaves in the store.
	CleanJob = "clean"
)

// Progress says how far a running job is.
type Progress struct {
	// Queued says that it waits for its turn.
	Queued         bool
	Started        time.Time
	Bytes, OfBytes int64
}

// Outcome is how far a run, or the cleaning up after an object, has come. Each job of a chain adds what it found to
// what those before it did.
type Outcome struct {
	// Problem is why the run fails. It is nil where nothing has failed so far.
	Problem *problem.Problem
	Ended   time.Time
	// Spec is what the run was begun with in this process. A change of the object's does not move a run.
	Spec *v1beta2.BackupSpec
	// Leftovers are objects in the store that this run wrote and nobody has verified.
	Leftovers []Leftover
	// UploadLeft says that something of the upload of this run may be left in the store, where the run fails.
	UploadLeft bool
	// SweepTried says that the uploads of earlier runs were looked for, and Swept are the ids of those that have left nothing
	// any more.
	SweepTried bool
	Swept      []string
	// Made is the backup, once it is in the store and, where asked, verified.
	Made *Made
	// Series are the backups of the object that are in the store, with the one that was just made. It is nil as long as
	// nobody has listed them.
	Series []Stored
	// Pruned are those that were deleted since, and RetentionProblem is why they could not be listed, or not all of them
	// deleted.
	Pruned           []string
	RetentionProblem *problem.Problem
}

// Leftover is an object that was to be verified and was not.
type Leftover struct {
	Key      string
	Revision int64
	// Rejected says that this process has tried to verify it. Otherwise a process that died wrote it.
	Rejected bool
	// Useless says that it was found to be good for nothing. Otherwise nobody knows.
	Useless bool
	// Stuck says that it could not be deleted.
	Stuck bool
}

// Made is a backup that was made.
type Made struct {
	Key, URL  string
	Version   string
	Revision  int64
	ClusterID string
	Size      int64
	SHA256    string
	Took      time.Duration
	// Verification is nil where nobody asked for it.
	Verification *v1beta2.BackupEvidence
}

// Stored is a backup of a series in the store that this object wrote, or has adopted.
type Stored struct {
	Key, URL string
	Revision int64
	// Named is the time in its name, and Modified that of the store.
	Named, Modified time.Time
	Size            int64
	// ClusterID is that of the etcd cluster that it is of. It is empty where nobody wrote it down.
	ClusterID string
}
