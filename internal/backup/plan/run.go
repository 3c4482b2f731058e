// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

// resumeRun resumes a run that a process which died had begun.
func resumeRun(o view.Observation) Verdict {
	if o.Job != nil && o.Job.ID == o.Backup.Status.Run.ID {
		return Verdict{}
	}
	return doJob(Resume{})
}

// awaitConclusion waits where the status was written, and this is a stale copy of it.
func awaitConclusion(o view.Observation) Verdict {
	if !o.Job.Reported {
		return Verdict{}
	}
	return waitFor(cachePatience, BeingMade(o))
}

// watchJob reports how far the job is, from time to time.
func watchJob(o view.Observation) Verdict {
	if o.Job.Outcome != nil {
		return Verdict{}
	}
	if since := o.Now.Sub(lastReported(o.Backup.Status.Run)); since < ProgressEvery {
		return Verdict{Stop: true, LookAgain: ProgressEvery - since}
	}
	return doJob(Watch{})
}

// lastReported is when the status was last written for the run.
func lastReported(run *v1beta2.BackupRun) time.Time {
	if run.Progress != nil {
		return run.Progress.Time.Time
	}
	return run.StartTime.Time
}

// discardUnverified deletes objects of the run that nobody has verified and that must not stay.
func discardUnverified(o view.Observation) Verdict {
	if !hasRun(o) || o.Job == nil || o.Job.Outcome == nil {
		return Verdict{}
	}
	if keys := toDiscard(o.Begun(), o.Job.Outcome); len(keys) > 0 {
		return doJob(Discard{Keys: keys})
	}
	return Verdict{}
}

// toDiscard are the keys of the leftovers that must not stay.
//
//   - After the backup was made all of them: it has taken their place.
//   - After it failed those that this process could not verify. In a series nothing that nobody has verified may push a
//     good backup out of the retention. But a one-shot has replaced what was under its name: where nobody knows that it is
//     bad, it is better than nothing. What a process that died left stays as well, until the next backup is verified.
//   - Before it is made all but the newest. Where it is the verification that kills the process, each one leaves another
//     object, and they must not fill the store.
func toDiscard(b *v1beta2.EtcdBackup, out *view.Outcome) []string {
	var chosen []view.Leftover
	switch {
	case out.Problem != nil:
		chosen = filter(out.Leftovers, func(l view.Leftover) bool { return l.Rejected && (l.Useless || IsSeries(b)) })
	case out.Made != nil:
		chosen = filter(out.Leftovers, func(l view.Leftover) bool { return l.Key != out.Made.Key })
	case len(out.Leftovers) > 1:
		newest := slices.MaxFunc(out.Leftovers, func(a, b view.Leftover) int { return cmp.Compare(a.Revision, b.Revision) })
		chosen = filter(out.Leftovers, func(l view.Leftover) bool { return l.Key != newest.Key })
	}
	var keys []string
	for _, l := range chosen {
		if !l.Stuck {
			keys = append(keys, l.Key)
		}
	}
	return keys
}

func filter[T any](list []T, wanted func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return !wanted(x) })
}

// makeBackup makes the backup of a run that was resumed and has left none.
func makeBackup(o view.Observation) Verdict {
	if out := o.Job.Outcome; out.Problem != nil || out.Made != nil {
		return Verdict{}
	}
	return doJob(Make{})
}

// surveySeries finds out which backups there are.
func surveySeries(o view.Observation) Verdict {
	out := o.Job.Outcome
	if out.Problem != nil || !IsSeries(o.Begun()) || out.Series != nil || out.RetentionProblem != nil {
		return Verdict{}
	}
	return doJob(Survey{})
}

// pruneSeries deletes what the retention does not keep.
func pruneSeries(o view.Observation) Verdict {
	out := o.Job.Outcome
	if out.Problem != nil || out.Series == nil || len(out.Pruned) > 0 || out.RetentionProblem != nil {
		return Verdict{}
	}
	_, remove := retain(o.Begun(), out)
	if len(remove) == 0 {
		return Verdict{}
	}
	// The oldest goes first: whatever ends this, what is left is the newest.
	slices.SortFunc(remove, func(a, b dated) int { return newestFirst(b, a) })
	return doJob(Prune{Keys: keysOf(remove)})
}

// concludeRun records how the run went.
func concludeRun(o view.Observation) Verdict {
	out := o.Job.Outcome
	c := Conclude{Outcome: *out, MadeFor: MadeFor(o.Begun()), Abandoned: abandoned(o.Backup, out)}
	switch {
	case !IsSeries(o.Begun()):
	case out.Problem != nil:
		for _, l := range out.Leftovers {
			c.Unverified = append(c.Unverified, l.Key)
		}
	case out.Series == nil:
		c.Unverified = o.Backup.Status.Unverified
	default:
		kept := left(o.Begun(), out)
		c.Newer = newerThanMade(kept, out)
		c.Kept = listed(kept, c.Newer)
		c.Unverified = filter(o.Backup.Status.Unverified, func(key string) bool {
			return slices.ContainsFunc(kept, func(k dated) bool { return k.Key == key })
		})
		c.Previous = previousCluster(o.Begun(), out)
	}
	return do(c)
}
