// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/sim/invariants"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/storemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// BackupScenario is a story of backups and restores with a good end. It begins with a cluster that is there, and is played
// in a bubble of testing/synctest.
type BackupScenario struct {
	Name string
	Acts []BackupAct
}

// BackupAct is something that happens, and what is waited for afterwards.
type BackupAct struct {
	Name  string
	Do    func(sim *BackupSimulation)
	Until func(sim *BackupSimulation) bool
	Limit time.Duration
}

// BackupSimulation is a world with a store and with the operators of backups and restores in it.
type BackupSimulation struct {
	*Simulation
	*world.Beside
	Checked *invariants.Backups
	// sinceAct is what is waited for, counted from the beginning of the act.
	sinceAct func() bool
}

// partSize makes an upload of a snapshot one of three parts.
const partSize = 1024

// settledCluster is a cluster of three in its steady state, from which all these stories begin.
var settledCluster = sync.OnceValues(func() (*Simulation, error) {
	store.SmallParts(partSize)
	sim := New(world.Options{Seed: 1, Volumes: true})
	if err := sim.playAct(create()); err != nil {
		return nil, err
	}
	return sim, sim.Settle()
})

// PlayBackups plays a scenario with the given fates for the effects of all operators, and checks that it ends well. It is
// called in a bubble.
func (s BackupScenario) PlayBackups(seed uint64, lag int, fates map[int]world.Fate, trace func(string)) Result {
	sim, err := NewBackups(seed, lag, trace)
	if err != nil {
		return Result{Err: err}
	}
	defer sim.End()
	for number, fate := range fates {
		sim.Inject(number, fate)
	}
	begin := sim.Loop.Now()
	err = sim.playBackups(s)
	return Result{Effects: sim.Effects(), Steps: sim.Steps(), Took: sim.Loop.Now() - begin, Err: err}
}

// NewBackups returns a simulation with a cluster of three in its steady state. It is called in a bubble, and ends with End.
func NewBackups(seed uint64, lag int, trace func(string)) (*BackupSimulation, error) {
	from, err := settledCluster()
	if err != nil {
		return nil, err
	}
	sim := &BackupSimulation{Simulation: from.Clone(seed, lag, trace)}
	sim.Beside = sim.StartBeside(func(b *world.Beside) world.BesideChecker {
		sim.Checked = invariants.WatchBackups(sim.World, b)
		return sim.Checked
	})
	sim.createForeignObjects()
	return sim, nil
}

// createForeignObjects puts beside our backups what others have there: objects whose names look like ours, and uploads.
func (sim *BackupSimulation) createForeignObjects() {
	for _, key := range []string{"series_v3_2024-05-05-05:05:05", "series_v999999_2025-12-31-23:59:59", "series_vault", "series", "once-more"} {
		sim.Store.Write(world.Bucket, key, []byte("somebody else's"), map[string]string{"etcdbackupowner": "somebody-else"})
	}
	for _, key := range []string{"series_v1_2024-05-05-05:05:05", "once-more", "once/x"} {
		sim.Store.BeginUpload(world.Bucket, key)
	}
}

func (sim *BackupSimulation) playBackups(s BackupScenario) error {
	for _, act := range s.Acts {
		sim.Tracef("act: %s", act.Name)
		act.Do(sim)
		sim.sinceAct = nil
		act.Until(sim) // which remembers how the world is now
		limit := act.Limit
		if limit == 0 {
			limit = patience
		}
		if err := sim.RunUntil(sim.Loop.Now()+limit, func() bool { return act.Until(sim) }); err != nil {
			return fmt.Errorf("%s: %w", act.Name, err)
		}
		if !act.Until(sim) {
			return fmt.Errorf("%s: not done after %s: %s", act.Name, limit, sim.explainBackups())
		}
	}
	if err := sim.Held.CheckAll(); err != nil {
		return err
	}
	if err := sim.RunUntil(sim.Loop.Now()+patience, sim.nothingRuns); err != nil {
		return err
	}
	return sim.Checked.CheckStore()
}

// nothingRuns reports whether no backup is being made.
func (sim *BackupSimulation) nothingRuns() bool {
	for _, o := range sim.Kube.All(kubemodel.Backups) {
		if o.(*v1beta2.EtcdBackup).Status.Run != nil {
			return false
		}
	}
	return true
}

// backup is an EtcdBackup; nil where there is none.
func (sim *BackupSimulation) backup(name string) *v1beta2.EtcdBackup {
	b, _ := sim.Kube.Find(kubemodel.Backups, name).(*v1beta2.EtcdBackup)
	return b
}

func (sim *BackupSimulation) explainBackups() string {
	text := fmt.Sprint(sim.Explain(), " restores: ", sim.Checked.CheckRestores())
	for _, o := range sim.Kube.All(kubemodel.Backups) {
		b := o.(*v1beta2.EtcdBackup)
		text += fmt.Sprintf("\n  EtcdBackup %s finalizers %v run %v", b.Name, b.Finalizers, b.Status.Run)
		for _, c := range b.Status.Conditions {
			text += fmt.Sprintf("\n    %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, o := range sim.Kube.All(kubemodel.Restores) {
		r := o.(*v1beta2.EtcdRestore)
		text += fmt.Sprintf("\n  EtcdRestore %s phase %s", r.Name, r.Status.Phase)
		for _, c := range r.Status.Conditions {
			text += fmt.Sprintf("\n    %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, o := range sim.Store.Objects(world.Bucket) {
		text += fmt.Sprintf("\n  object %s of %s", o.Key, o.Metadata["etcdbackupowner"])
	}
	for _, u := range sim.Store.Uploads(world.Bucket) {
		text += fmt.Sprintf("\n  upload %s of %s", u.ID, u.Key)
	}
	return text
}

// isReadyBackup reports whether the status says that all is well with a backup.
func isReadyBackup(b *v1beta2.EtcdBackup) bool {
	if b == nil || b.Status.Run != nil {
		return false
	}
	for _, c := range b.Status.Conditions {
		if c.Type == kstatus.Ready {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

// own are the objects in the store that an EtcdBackup wrote.
func (sim *BackupSimulation) own(uid string) []*storemodel.Object {
	var list []*storemodel.Object
	for _, o := range sim.Store.Objects(world.Bucket) {
		if o.Metadata["etcdbackupowner"] == uid {
			list = append(list, o)
		}
	}
	return list
}
