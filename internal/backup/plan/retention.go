// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

// MaxListed is how many backups the status names.
const MaxListed = 100

// dated is a backup in the store, with when it was made as far as that is known.
type dated struct {
	view.Stored
	made time.Time
}

func (d dated) kept() v1beta2.KeptBackup {
	return v1beta2.KeptBackup{Name: d.Key, Time: metav1.NewTime(d.made), EtcdRevision: d.Revision, ClusterID: d.ClusterID, Size: d.Size}
}

func keysOf(all []dated) []string {
	var keys []string
	for _, d := range all {
		keys = append(keys, d.Key)
	}
	return keys
}

// date finds out when the backups were made. It is the time in their names, but a name from after the beginning
// of the run is from a clock that was ahead: the store's own time counts then, and where that is no better, nobody knows
// more than that the backup is younger than its EtcdBackup.
func date(all []view.Stored, b *v1beta2.EtcdBackup, run v1beta2.BackupRun) []dated {
	list := make([]dated, len(all))
	for i, o := range all {
		list[i] = dated{Stored: o, made: b.CreationTimestamp.Time}
		for _, at := range []time.Time{o.Named, o.Modified} {
			if !at.After(run.StartTime.Time) {
				list[i].made = at
				break
			}
		}
	}
	return list
}

// newestFirst orders backups by when they were made. Revisions are numbers, and decide only where the times are
// equal.
func newestFirst(a, b dated) int {
	return cmp.Or(b.made.Compare(a.made), cmp.Compare(b.Revision, a.Revision))
}

// expired divides the backups of an object into those to keep and those to delete. most is how many to
// keep; 0 means all. latest is the key of the one that was just made, and is kept whatever the times say.
func expired(all []dated, most int, latest string) (keep, remove []dated) {
	all = slices.Clone(all)
	slices.SortFunc(all, newestFirst)
	if most <= 0 || len(all) <= most {
		return all, nil
	}
	if i := slices.IndexFunc(all, func(d dated) bool { return d.Key == latest }); i >= most {
		made := all[i]
		all = slices.Insert(slices.Delete(all, i, i+1), 0, made)
	}
	return all[:most], all[most:]
}

// spare takes those that are worth it from the backups that are to be deleted. They are more than the policy keeps.
func spare(keep, remove []dated, worth func(dated) bool) (_, _ []dated) {
	spared := filter(remove, worth)
	if len(spared) == 0 {
		return keep, remove
	}
	keep = slices.Concat(keep, spared)
	slices.SortFunc(keep, newestFirst)
	return keep, filter(remove, func(d dated) bool { return !worth(d) })
}

// sparePrevious spares the last backup of the previous cluster. Where a cluster was lost and recreated, empty, under
// the same name, that is the last with data in it, and each new backup would bring it nearer to its end. It is no more
// than one: that with the highest revision of the cluster which was backed up last before the one with this id. A backup
// without an id is of no other cluster.
func sparePrevious(keep, remove []dated, clusterID string) (_, _ []dated) {
	others := filter(slices.Concat(keep, remove), func(d dated) bool { return isOfAnother(d, clusterID) })
	if len(others) == 0 {
		return keep, remove
	}
	previous := slices.MinFunc(others, newestFirst).ClusterID
	highest := highestOf(others, func(d dated) bool { return d.ClusterID == previous })
	return spare(keep, remove, func(d dated) bool { return d.Key == highest.Key })
}

// spareNewer spares every backup of the same cluster with a higher revision than the one that was just made. A member
// that was left behind gives snapshots too: they are newer by the clock only, and without this they would push out all
// that there is of what was written since.
func spareNewer(keep, remove []dated, out *view.Outcome) (_, _ []dated) {
	made := madeRevision(out)
	return spare(keep, remove, func(d dated) bool { return d.Revision > made && !isOfAnother(d, out.Made.ClusterID) })
}

// madeRevision is the revision of the backup that was just made. Where its metadata was lost, its name has it.
func madeRevision(out *view.Outcome) int64 {
	revision := out.Made.Revision
	for _, o := range out.Series {
		if o.Key == out.Made.Key {
			revision = max(revision, o.Revision)
		}
	}
	return revision
}

// highestOf is the backup with the highest revision of those that are wanted, and the newest of several. There is one.
func highestOf(all []dated, wanted func(dated) bool) dated {
	return slices.MaxFunc(filter(all, wanted), func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), newestFirst(b, a))
	})
}

// isOfAnother reports whether a backup is known to be of another cluster than the one with this id.
func isOfAnother(d dated, clusterID string) bool {
	return clusterID != "" && d.ClusterID != "" && d.ClusterID != clusterID
}

// neverVerified divides the backups of an object into those that count and those that runs which failed left
// behind before they were verified. It is asked after a backup was made, latest: where that was verified, nothing is
// lost with them. They are named in the status, and nothing else will do: a status that went back in time, with the
// API server's own data, knows nothing of backups that were made and verified since.
func neverVerified(all []dated, b *v1beta2.EtcdBackup, latest string) (count, failed []dated) {
	if b.Spec.Verify != v1beta2.BackupVerificationRestore {
		return all, nil
	}
	for _, d := range all {
		if d.Key != latest && slices.Contains(b.Status.Unverified, d.Key) {
			failed = append(failed, d)
		} else {
			count = append(count, d)
		}
	}
	return count, failed
}

// retain divides the backups of an object, of which one was just made, into those to keep and those to delete: the
// oldest where there are more than the policy keeps, and those that were to be verified and never were.
func retain(b *v1beta2.EtcdBackup, out *view.Outcome) (keep, remove []dated) {
	count, failed := neverVerified(date(out.Series, b, *b.Status.Run), b, out.Made.Key)
	keep, remove = expired(count, b.Spec.BackupPolicy.MaxBackups, out.Made.Key)
	keep, remove = sparePrevious(keep, remove, out.Made.ClusterID)
	keep, remove = spareNewer(keep, remove, out)
	return keep, append(failed, remove...)
}

// left are the backups of an object that are in the store after those to delete were deleted, or as many of them as
// could be.
func left(b *v1beta2.EtcdBackup, out *view.Outcome) []dated {
	keep, remove := retain(b, out)
	stuck := filter(remove, func(d dated) bool { return !slices.Contains(out.Pruned, d.Key) })
	if len(stuck) == 0 {
		return keep
	}
	keep = append(slices.Clone(keep), stuck...)
	slices.SortFunc(keep, newestFirst)
	return keep
}

// newerThanMade is the backup of the same cluster with the highest revision, where that is higher than the one of the
// backup that was just made. Otherwise it is empty.
func newerThanMade(kept []dated, out *view.Outcome) view.Stored {
	same := filter(kept, func(d dated) bool { return !isOfAnother(d, out.Made.ClusterID) })
	if len(same) == 0 {
		return view.Stored{}
	}
	highest := highestOf(same, func(dated) bool { return true })
	if highest.Revision <= madeRevision(out) {
		return view.Stored{}
	}
	return highest.Stored
}

// listed are those of the backups in the store that the status names: the newest, and in place of the last of them the
// one with a higher revision than all, which is what a recovery looks for.
func listed(kept []dated, highest view.Stored) []v1beta2.KeptBackup {
	var list []v1beta2.KeptBackup
	for i, k := range kept {
		if i < MaxListed {
			list = append(list, k.kept())
		} else if k.Key == highest.Key {
			list[MaxListed-1] = k.kept()
		}
	}
	return list
}

// previousCluster is the address of the last backup before the one that was just made, where it is of another cluster.
func previousCluster(b *v1beta2.EtcdBackup, out *view.Outcome) string {
	count, _ := neverVerified(date(out.Series, b, *b.Status.Run), b, out.Made.Key)
	before := filter(count, func(d dated) bool { return d.Key != out.Made.Key })
	if len(before) == 0 {
		return ""
	}
	last := slices.MinFunc(before, newestFirst)
	if !isOfAnother(last, out.Made.ClusterID) {
		return ""
	}
	return last.URL
}
