// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"
)

// limitAgain is how soon an etcd that was started again finds its disk as full as before.
const limitAgain = 100 * time.Millisecond

// fillDisk leaves a member's disk without room for a while: no file of its etcd may grow, whoever starts it again.
func fillDisk(ctx context.Context, in *injector, c *cluster) error {
	pod, err := in.pod(ctx, c)
	if err != nil {
		return err
	}
	if _, err := pidOf(pod.Name); err != nil {
		return err
	}
	full, hasRoom := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	if !in.breaks(fmt.Sprintf("disk %s %s", c.name, pod.Name), in.between(2*time.Second, 10*time.Second), func(context.Context) error {
		hasRoom()
		<-ended
		return nil
	}) {
		hasRoom()
		return errNotNow
	}
	go func() {
		defer close(ended)
		for full.Err() == nil {
			limitFiles(pod.Name, 0)
			select {
			case <-full.Done():
			case <-time.After(limitAgain):
			}
		}
		limitFiles(pod.Name, unix.RLIM_INFINITY)
	}()
	return nil
}

// limitFiles limits how large the files of a member's etcd may grow. An etcd that does not run cannot grow any.
func limitFiles(member string, most uint64) {
	if pid, err := pidOf(member); err == nil {
		_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}, nil)
	}
}

// exceedSpaceQuota lets etcd refuse what would need space, as it does when its database has reached its quota.
func exceedSpaceQuota(ctx context.Context, in *injector, c *cluster) error {
	client := in.clients[c.name]
	if !in.breaks("space "+c.name, in.between(2*time.Second, 6*time.Second), func(ctx context.Context) error { return alarm(ctx, client, pb.AlarmRequest_DEACTIVATE) }) {
		return errNotNow
	}
	return alarm(ctx, client, pb.AlarmRequest_ACTIVATE)
}

// alarm raises or ends the alarm that there is no space, on behalf of whichever member answers.
func alarm(ctx context.Context, client *clientv3.Client, action pb.AlarmRequest_AlarmAction) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	raised, err := client.AlarmList(ctx)
	if err != nil {
		return err
	}
	maintenance := pb.NewMaintenanceClient(client.ActiveConnection())
	if action == pb.AlarmRequest_ACTIVATE {
		_, err := maintenance.Alarm(ctx, &pb.AlarmRequest{Action: action, MemberID: raised.Header.MemberId, Alarm: pb.AlarmType_NOSPACE})
		return err
	}
	for _, a := range raised.Alarms {
		if _, err := maintenance.Alarm(ctx, &pb.AlarmRequest{Action: action, MemberID: a.MemberID, Alarm: a.Alarm}); err != nil {
			return err
		}
	}
	return nil
}
