// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
)

// leaseFixture is a lease on a fake API server that counts writes.
type leaseFixture struct {
	*lease
	clock  *clocktesting.FakePassiveClock
	writes int
	fail   error    // returned by the next writes
	logged []string // lines of the log
}

func newLeaseFixture(t *testing.T) *leaseFixture {
	t.Helper()
	client := fake.NewClientset()
	f := &leaseFixture{clock: clocktesting.NewFakePassiveClock(time.Now())}
	client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		f.writes++
		return f.fail != nil, nil, f.fail
	})
	f.lease = &lease{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "ns", Name: "some-operator"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		clock:  f.clock,
		logger: funcr.New(func(_, args string) { f.logged = append(f.logged, args) }, funcr.Options{}),
	}
	if err := f.Create(t.Context(), held("me")); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *leaseFixture) advance(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

func held(by string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: by, LeaseDurationSeconds: 15}
}

func TestALeaderRenewsItsLeaseEveryTwoSecondsAndNotMoreOften(t *testing.T) {
	f := newLeaseFixture(t)
	const minute = time.Minute
	for at := time.Duration(0); at < minute; at += retryPeriod {
		f.advance(retryPeriod)
		if err := f.Update(t.Context(), held("me")); err != nil {
			t.Fatal(err)
		}
	}
	if want := int(minute / renewPeriod); f.writes != want {
		t.Errorf("%d writes in a minute of renewals, want %d", f.writes, want)
	}
}

func TestARenewalThatFailedIsTriedAgainAtOnce(t *testing.T) {
	f := newLeaseFixture(t)
	f.advance(renewPeriod)
	f.fail = errors.New("the API server is away")
	if err := f.Update(t.Context(), held("me")); !errors.Is(err, f.fail) {
		t.Fatalf("a failed renewal returns %v, want %v", err, f.fail)
	}
	f.fail = nil
	if err := f.Update(t.Context(), held("me")); err != nil {
		t.Fatal(err)
	}
	if f.writes != 2 {
		t.Errorf("%d writes, want the failed one and the one after it", f.writes)
	}
}

func TestAReleaseIsWrittenAtOnce(t *testing.T) {
	f := newLeaseFixture(t)
	if err := f.Update(t.Context(), held("")); err != nil {
		t.Fatal(err)
	}
	record, _, err := f.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if record.HolderIdentity != "" {
		t.Errorf("the lease is still held by %q", record.HolderIdentity)
	}
}

func TestAStandbySaysOnceForWhomItStandsBy(t *testing.T) {
	f := newLeaseFixture(t)
	for _, holder := range []string{"me", "other", "", "third", "me"} {
		f.advance(renewPeriod)
		if err := f.Update(t.Context(), held(holder)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, _, err := f.Get(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(f.logged) != 2 || !strings.Contains(f.logged[0], `"leader"="other" "lease"="ns/some-operator"`) || !strings.Contains(f.logged[1], `"leader"="third"`) {
		t.Errorf("it logs %q", f.logged)
	}
}

func TestTheLeaseIsNamedAsTheOperatorAndHeldByThePod(t *testing.T) {
	lock, err := newLease(&rest.Config{Host: "https://example.test"}, "ns", "some-operator", "some-operator-abc", logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lock.Describe(), "ns/some-operator"; got != want {
		t.Errorf("lease %s, want %s", got, want)
	}
	// Without a random part, or a restarted container would wait for its own lease to expire.
	if got, want := lock.Identity(), "some-operator-abc"; got != want {
		t.Errorf("identity %s, want %s", got, want)
	}
}

// A standby must not believe the lease expired while the leader, by its own belief, still holds it.
func TestTheLeaseOutlivesWhatItsHolderBelieves(t *testing.T) {
	if renewDeadline+renewPeriod >= leaseDuration {
		t.Errorf("a leader that gives up after %v, with a renewal up to %v older than it believes, overlaps the end of the lease after %v",
			renewDeadline, renewPeriod, leaseDuration)
	}
}
