// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package act carries out one step for an EtcdBackup. What takes long is done by jobs, apart from the controller's
// workers. Nothing in here chooses between steps.
package act

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// cleanTimeout is how long deleting the backups of an object may take.
const cleanTimeout = 5 * time.Minute

// ErrNotReady is the error of a step whose job cannot begin: the process has just started, or is about to end.
var ErrNotReady = errors.New("the process is not ready for jobs")

// Actor carries out steps.
type Actor struct {
	client  client.Client
	secrets client.Reader
	// otherNamespaces says that the operator serves other namespaces than its own.
	otherNamespaces bool
	jobs            *job.Runner[view.Outcome]
	process         string
	*maker
}

// Options are what an Actor needs.
type Options struct {
	Client client.Client
	// Secrets are read when they are needed, and never cached.
	Secrets client.Reader
	// OtherNamespaces says that the operator serves other namespaces than its own.
	OtherNamespaces bool
	// MaxConcurrent is how many backups are made at once, and MaxOfNamespace how many of one namespace.
	MaxConcurrent, MaxOfNamespace int
	// FileRoot is the folder of the stores of type File. Empty means that there are none.
	FileRoot string
	// Verify checks backups with verify: Restore.
	Verify Verifier
	// Permissions are what endpoints of objects may lead to, and what they may use.
	Permissions kind.Permissions
	// Transport carries requests to stores, and Dial opens connections to etcd; nil for the network.
	Transport http.RoundTripper
	Dial      etcd.Dialer
	// Process identifies this process among all that have ever worked on a backup. Empty means by chance.
	Process string
}

// New returns an Actor.
func New(o Options) *Actor {
	if o.Process == "" {
		o.Process = rand.Text()
	}
	return &Actor{
		process: o.Process, client: o.Client, secrets: o.Secrets, otherNamespaces: o.OtherNamespaces,
		jobs:  job.NewRunner[view.Outcome](job.NewSlots(o.MaxConcurrent, o.MaxOfNamespace), func() client.Object { return &v1beta2.EtcdBackup{} }),
		maker: &maker{fileRoot: o.FileRoot, permissions: o.Permissions, transport: o.Transport, dial: o.Dial, verify: o.Verify, origins: newOriginCache()},
	}
}

// Jobs are what is under way.
func (a *Actor) Jobs() *job.Runner[view.Outcome] { return a.jobs }

// Process identifies this process.
func (a *Actor) Process() string { return a.process }

// Observe returns what this process does or has done for an object, or nil.
func (a *Actor) Observe(b *v1beta2.EtcdBackup) *view.Job {
	s := a.jobs.Observe(b)
	if s == nil {
		return nil
	}
	j := &view.Job{
		Kind: s.Kind, ID: s.ID, Reported: s.Reported,
		Progress: view.Progress{Queued: s.Queued, Started: s.Started, Bytes: s.Done, OfBytes: s.Total},
	}
	if r := s.Result; r != nil {
		out := r.Outcome
		out.Ended = r.Ended
		if r.Err != nil {
			out.Problem = rules.Of(r.Err)
			out.UploadLeft = out.UploadLeft || errors.Is(r.Err, job.ErrDefect) // nobody knows how far it came
		}
		j.Outcome = &out
	}
	return j
}

// Execute carries out a step. What the step says of the status has been written before.
func (a *Actor) Execute(ctx context.Context, o view.Observation, step plan.Step) error {
	b := o.Backup
	switch s := step.(type) {
	case plan.Watch:
		return nil
	case plan.Begin:
		return a.begin(ctx, o, &s.Run, view.MakeJob, a.make)
	case plan.Resume:
		log.FromContext(ctx).Info("resuming a backup that was begun before", "run", b.Status.Run.ID)
		return a.begin(ctx, o, b.Status.Run, view.LookJob, a.look)
	case plan.Make:
		return a.begin(ctx, o, b.Status.Run, view.MakeJob, a.make)
	case plan.Discard:
		return a.begin(ctx, o, b.Status.Run, view.DiscardJob, func(ctx context.Context, r request) (view.Outcome, error) { return a.discard(ctx, r, s.Keys) })
	case plan.Sweep:
		return a.begin(ctx, o, b.Status.Run, view.SweepJob, func(ctx context.Context, r request) (view.Outcome, error) { return a.sweep(ctx, r, s.Runs) })
	case plan.Survey:
		return a.begin(ctx, o, b.Status.Run, view.SurveyJob, a.survey)
	case plan.Prune:
		return a.begin(ctx, o, b.Status.Run, view.PruneJob, func(ctx context.Context, r request) (view.Outcome, error) { return a.prune(ctx, r, s.Keys) })
	case plan.Conclude:
		a.jobs.Reported(b)
		return nil
	case plan.Cancel:
		a.jobs.Cancel(client.ObjectKeyFromObject(b))
		return nil
	case plan.Clean:
		return a.clean(o, s)
	case plan.AddFinalizer:
		return a.setFinalizer(ctx, b, controllerutil.AddFinalizer)
	case plan.RemoveFinalizer:
		return a.setFinalizer(ctx, b, controllerutil.RemoveFinalizer)
	case plan.Expire:
		log.FromContext(ctx).Info("deleting a finished EtcdBackup, as ttlSecondsAfterFinished asks")
		return a.client.Delete(ctx, b, client.Preconditions{UID: &b.UID, ResourceVersion: &b.ResourceVersion})
	}
	return fmt.Errorf("unknown step %T", step)
}

// request is one job of a run.
type request struct {
	// backup is the object, with the spec that the run was begun with.
	backup  *v1beta2.EtcdBackup
	run     v1beta2.BackupRun
	secrets secrets
	// prior is what the jobs before this one found.
	prior view.Outcome
	// track says how far the job is.
	track func(done func() int64, total int64)
}

// begin starts a job of a run.
func (a *Actor) begin(ctx context.Context, o view.Observation, run *v1beta2.BackupRun, what string, do func(context.Context, request) (view.Outcome, error)) error {
	r := request{backup: o.Begun().DeepCopy(), run: *run, secrets: a.secretsOf(o.Backup)}
	if o.Job != nil && o.Job.ID == run.ID && o.Job.Outcome != nil {
		r.prior = *o.Job.Outcome
	}
	r.prior.Spec = &r.backup.Spec
	timeout := plan.Timeout(r.backup)
	if what == view.DiscardJob {
		timeout = 0 // what the time was up for is deleted all the same, see discardPatience
	}
	logger := log.FromContext(ctx)
	return a.start(o.Backup, job.Work[view.Outcome]{
		Kind: what, ID: run.ID, Timeout: timeout, Light: what != view.MakeJob,
		Do: func(ctx context.Context, p *job.Progress) (view.Outcome, error) {
			r.track = p.Track
			out, err := do(log.IntoContext(ctx, logger), r)
			return out, timedOut(ctx, r.backup, err)
		},
	})
}

func (a *Actor) secretsOf(b *v1beta2.EtcdBackup) secrets {
	return secrets{reader: a.secrets, namespace: b.Namespace, elsewhere: a.otherNamespaces}
}

func (a *Actor) start(b *v1beta2.EtcdBackup, w job.Work[view.Outcome]) error {
	if !a.jobs.Begin(b, w) {
		return ErrNotReady
	}
	return nil
}

// clean removes what a deleted object leaves behind.
func (a *Actor) clean(o view.Observation, s plan.Clean) error {
	object := o.Backup.DeepCopy()
	return a.start(object, job.Work[view.Outcome]{
		Kind: view.CleanJob, ID: fmt.Sprintf("clean/%d", o.Now.Unix()), Timeout: cleanTimeout,
		Do: func(ctx context.Context, _ *job.Progress) (view.Outcome, error) {
			return view.Outcome{}, a.removeAll(ctx, a.secretsOf(object), object, s.Backups)
		},
	})
}

// setFinalizer adds or removes the finalizer of this copy of the object, and of no newer one.
func (a *Actor) setFinalizer(ctx context.Context, b *v1beta2.EtcdBackup, change func(client.Object, string) bool) error {
	changed := b.DeepCopy()
	change(changed, v1beta2.BackupFinalizer)
	return a.client.Patch(ctx, changed, client.MergeFromWithOptions(b, client.MergeFromWithOptimisticLock{}))
}
