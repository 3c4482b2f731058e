// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

func TestWhatARestoreThatHasEndedLeavesBehindGoes(t *testing.T) {
	decides(t, map[string]seen{
		"afterwards the ticket goes": {restore: restore(scene.Succeeded, scene.WithTicket), cluster: cluster(), want: "clean-up: delete Secret t"},
		"and the request, even when it comes back": {
			restore: restore(scene.Succeeded), cluster: cluster(scene.WithRequest(restore(scene.Accepted))),
			want: "withdraw-request: remove the restore request from EtcdCluster c",
		},
		"then nothing more":                                {restore: restore(scene.Succeeded), cluster: cluster(), want: "expire: wait (the restore has ended)"},
		"whatever the spec says by then":                   {restore: restore(scene.Succeeded, scene.Edited), cluster: cluster(), want: "expire: wait (the restore has ended)"},
		"until its time is up":                             {restore: restore(scene.Succeeded, scene.Expiring), cluster: cluster(), want: "expire: wait 1m0s (the restore has ended and is kept until its time is up)"},
		"when its time is up":                              {restore: restore(scene.Succeeded, scene.Expiring), cluster: cluster(), after: time.Minute, want: "expire: delete EtcdRestore r"},
		"one that was refused goes as well":                {restore: restore(scene.Refused, scene.Expiring), cluster: cluster(), after: time.Minute, want: "expire: delete EtcdRestore r"},
		"one that was refused stays so":                    {restore: restore(scene.Refused), cluster: cluster(), want: "expire: wait (the restore has ended)"},
		"until its spec is corrected":                      {restore: restore(scene.Refused, scene.Edited), cluster: cluster(), want: "begin: record the start of the restore"},
		"the original operator succeeded":                  {restore: restore(func(r *v1beta2.EtcdRestore) { r.Status.Succeeded = true }), cluster: cluster(), want: "expire: wait (the restore has ended)"},
		"the original operator failed":                     {restore: restore(func(r *v1beta2.EtcdRestore) { r.Status.Reason = "no" }), cluster: cluster(), want: "expire: wait (the restore has ended)"},
		"an object that is being deleted is left in peace": {restore: restore(scene.Deleting), cluster: cluster(), want: "leave-alone: wait (the EtcdRestore is being deleted)"},
		"what the check found is forgotten":                {restore: restore(scene.Succeeded), cluster: cluster(), check: checked("1/0", intact), want: "drop-check: drop the check of the backup"},
	})
}

// A request is withdrawn where its very object has been deleted, and only there: the name may have been
// given to another one, and the cache may not know it yet.
func TestOnlyTheRequestOfADeletedRestoreIsWithdrawn(t *testing.T) {
	const (
		withdrawn = "withdraw-orphaned-request: remove the restore request from EtcdCluster other"
		untouched = "leave-alone: wait (the EtcdRestore has been deleted)"
	)
	requestOf := func(name string, uid types.UID) *v1beta2.EtcdCluster {
		return cluster(scene.WithRequest(restore(scene.Accepted, scene.Named(name, uid, 0))), func(c *v1beta2.EtcdCluster) { c.Name = "other" })
	}
	uid := func(uid types.UID) func(*v1beta2.EtcdRestore) { return scene.Named("r", uid, 0) }
	decides(t, map[string]seen{
		"its object exists":                          {requested: requestOf("r", "uid-1"), restore: restore(scene.Succeeded, uid("uid-1")), want: "expire: wait (the restore has ended)"},
		"its object has been deleted":                {requested: requestOf("r", "uid-1"), want: withdrawn},
		"another one has its name":                   {requested: requestOf("r", "uid-1"), restore: restore(scene.Succeeded, uid("uid-2")), want: withdrawn},
		"another one that is not in the cache yet":   {requested: requestOf("r", "uid-1"), live: "uid-2", want: withdrawn},
		"it is of one that is not in the cache yet":  {requested: requestOf("r", "uid-2"), live: "uid-2", want: untouched},
		"which has the name of one that was deleted": {requested: requestOf("r", "uid-2"), restore: restore(scene.Succeeded, uid("uid-1")), live: "uid-2", want: "expire: wait (the restore has ended)"},
		"its object is only in a stale cache":        {requested: requestOf("r", "uid-1"), restore: restore(scene.Succeeded, uid("uid-1")), live: "uid-2", want: "expire: wait (the restore has ended)"},
		"it is of another name":                      {requested: requestOf("other", "uid-3"), want: untouched},
		"its object is being deleted":                {requested: requestOf("r", "uid-1"), restore: restore(scene.Requested, uid("uid-1"), scene.Deleting), want: "leave-alone: wait (the EtcdRestore is being deleted)"},
		"nothing is left":                            {want: untouched},
	})
}

func TestARestoreOfAnotherOperatorIsLeftAlone(t *testing.T) {
	v := seen{restore: restore(), cluster: cluster()}.view()
	v.Served = false
	if got, want := describe(plan.Next(v)), "leave-alone: wait (another operator serves the EtcdRestore)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
