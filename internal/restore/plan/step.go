// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// Step is what to do next: one of the types below. It is data. Package act executes it, and package report
// records what it means for the status. Its text says what changes.
type Step interface {
	fmt.Stringer
	step()
}

// WithdrawRequest removes the request for a restore from a cluster. As long as the first member has not got
// its data, the etcd-operator then leaves the cluster as it is.
type WithdrawRequest struct{ Cluster *v1beta2.EtcdCluster }

// DropCheck stops reading the backup and forgets what is known of it.
type DropCheck struct{}

// DeleteTicket deletes the Secret by which the first member fetched the backup.
type DeleteTicket struct{ Secret string }

// DeleteRestore deletes the EtcdRestore itself.
type DeleteRestore struct{ Restore *v1beta2.EtcdRestore }

// RecordStart records that the backup is going to be read. The time after which that is given up is measured
// from here.
type RecordStart struct{}

// StartCheck starts to read the backup to its end.
type StartCheck struct{ ID string }

// ReportCheck reports how far the reading is.
type ReportCheck struct {
	Queued bool
	Bytes  int64
}

// AcceptBackup records what the backup is, and how it is going to be restored.
type AcceptBackup struct {
	Backup       v1beta2.RestoredBackup
	RevisionBump int64
	TicketSecret string
}

// RetryLater records that the check, or the request that follows it, failed and will be repeated.
type RetryLater struct{ Problem problem.Problem }

// AnnotateCluster asks the etcd-operator to restore a cluster that exists. It is for this copy of the
// cluster, on which the refusals were decided, and for no newer one.
type AnnotateCluster struct {
	Cluster *v1beta2.EtcdCluster
	Request v1beta2.RestoreRequest
}

// CreateCluster creates a cluster that carries the request.
type CreateCluster struct {
	// Cluster is what to create. The API server's answer is read into it.
	Cluster *v1beta2.EtcdCluster
	Request v1beta2.RestoreRequest
}

// Follow reports how far the etcd-operator is.
type Follow struct {
	Progress Progress
	// KeepTicket says that the first member may still have to fetch the backup, so that its ticket, and the
	// Service that leads it here, have to be as they should be.
	KeepTicket bool
}

// Succeed records the end of a restore that succeeded.
type Succeed struct{ Progress Progress }

// Fail records the end of a restore that failed or was refused.
type Fail struct{ Problem problem.Problem }

func (WithdrawRequest) step() {}
func (DropCheck) step()       {}
func (DeleteTicket) step()    {}
func (DeleteRestore) step()   {}
func (RecordStart) step()     {}
func (StartCheck) step()      {}
func (ReportCheck) step()     {}
func (AcceptBackup) step()    {}
func (RetryLater) step()      {}
func (AnnotateCluster) step() {}
func (CreateCluster) step()   {}
func (Follow) step()          {}
func (Succeed) step()         {}
func (Fail) step()            {}

func (s WithdrawRequest) String() string {
	return fmt.Sprintf("remove the restore request from EtcdCluster %s", s.Cluster.Name)
}

func (DropCheck) String() string { return "drop the check of the backup" }

func (s DeleteTicket) String() string { return "delete Secret " + s.Secret }

func (s DeleteRestore) String() string { return "delete EtcdRestore " + s.Restore.Name }

func (RecordStart) String() string { return "record the start of the restore" }

func (s StartCheck) String() string { return "start check " + s.ID }

func (s ReportCheck) String() string {
	if s.Queued {
		return "report that the check is queued"
	}
	return fmt.Sprintf("report %d bytes read", s.Bytes)
}

func (s AcceptBackup) String() string {
	made := "at an unknown time"
	if s.Backup.Time != nil {
		made = s.Backup.Time.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("accept backup %s (%d bytes, made %s, revision raised by %d)", s.Backup.URL, s.Backup.Size, made, s.RevisionBump)
}

func (s RetryLater) String() string {
	return fmt.Sprintf("retry after %s: %s", s.Problem.Reason, s.Problem.Message)
}

func (s AnnotateCluster) String() string {
	return fmt.Sprintf("annotate EtcdCluster %s (%s)", s.Cluster.Name, summary(s.Request))
}

func (s CreateCluster) String() string {
	return fmt.Sprintf("create EtcdCluster %s of size %d (%s)", s.Cluster.Name, s.Cluster.Spec.Size, summary(s.Request))
}

// summary is what a request asks for, in short.
func summary(r v1beta2.RestoreRequest) string {
	text := fmt.Sprintf("restore %s, %d bytes, revision raised by %d", r.Name, r.Size, r.RevisionBump)
	if r.KeepVolumes {
		text += ", volumes kept"
	}
	return text
}

func (s Follow) String() string {
	text := fmt.Sprintf("report phase %s", s.Progress.Phase)
	if s.KeepTicket {
		text += ", keep the ticket"
	}
	return text
}

func (s Succeed) String() string { return "succeed with etcd cluster " + s.Progress.ClusterID }

func (s Fail) String() string {
	return fmt.Sprintf("fail with %s: %s", s.Problem.Reason, s.Problem.Message)
}
