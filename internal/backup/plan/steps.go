// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

// Step is what to do next. It is one of the types below.
type Step interface{ step() }

// Begin records in the status that a run begins, and then makes the backup.
type Begin struct{ Run v1beta2.BackupRun }

// Resume looks for what is left of a run that the status knows of and this process does not.
type Resume struct{}

// Make makes the backup of a run that was resumed.
type Make struct{}

// Watch reports how far the running backup is.
type Watch struct{}

// Discard deletes objects of the run that were not verified.
type Discard struct{ Keys []string }

// Sweep removes what is left of the uploads of earlier runs.
type Sweep struct{ Runs []v1beta2.BackupRun }

// Survey lists the backups of the series.
type Survey struct{}

// Prune deletes backups of the series, in this order.
type Prune struct{ Keys []string }

// Conclude records how the run went.
type Conclude struct {
	Outcome view.Outcome
	// MadeFor is the fingerprint of what the spec of the run asked for.
	MadeFor string
	// Kept are the backups of the series that are in the store now, the newest first. It is nil where that is not known.
	Kept []v1beta2.KeptBackup
	// Unverified are objects in the store that were to be verified and were not: those of this run where it failed, and
	// otherwise all that the status named and that are still there.
	Unverified []string
	// Abandoned are the runs that may have left an upload in the store.
	Abandoned []v1beta2.BackupRun
	// Previous is the address of the last backup before this one, where that is of another cluster.
	Previous string
	// Newer is the backup of the same cluster with the highest revision, where that is higher than the one of the backup
	// that was just made. Otherwise it is empty.
	Newer view.Stored
}

// AddFinalizer holds the object while there is something in the store to clean up.
type AddFinalizer struct{}

// Cancel ends the run of an object that is being deleted.
type Cancel struct{}

// Clean removes what is left in the store of an object that is being deleted. Backups says whether its backups go as
// well.
type Clean struct{ Backups bool }

// RemoveFinalizer lets the object go.
type RemoveFinalizer struct{}

// Expire deletes the object itself.
type Expire struct{}

func (Begin) step()           {}
func (Resume) step()          {}
func (Make) step()            {}
func (Watch) step()           {}
func (Discard) step()         {}
func (Sweep) step()           {}
func (Survey) step()          {}
func (Prune) step()           {}
func (Conclude) step()        {}
func (AddFinalizer) step()    {}
func (Cancel) step()          {}
func (Clean) step()           {}
func (RemoveFinalizer) step() {}
func (Expire) step()          {}
