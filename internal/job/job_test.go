// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func object(name string, uid types.UID) client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: uid}}
}

// start runs a Runner until the end of the test, or until end is called. It is to be called in a bubble.
func start(t *testing.T, limit int) (r *Runner[string], end func()) {
	t.Helper()
	r = NewRunner[string](NewSlots(limit, limit), func() client.Object { return &corev1.ConfigMap{} })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Start(ctx)
	}()
	synctest.Wait()
	end = func() {
		cancel()
		<-done
	}
	t.Cleanup(end)
	return r, end
}

// sleep is work that takes a time.
func sleep(id string, d time.Duration) Work[string] {
	return Work[string]{Kind: "sleep", ID: id, Do: func(ctx context.Context, _ *Progress) (string, error) {
		select {
		case <-time.After(d):
			return "slept " + id, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}
}

func TestAJobIsDoneAndItsObjectNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		a := object("a", "1")
		if r.Observe(a) != nil {
			t.Error("there is a job before any was begun")
		}
		began := time.Now()
		if !r.Begin(a, sleep("x", time.Minute)) {
			t.Fatal("it was not begun")
		}
		synctest.Wait()
		if s := r.Observe(a); s == nil || s.Queued || s.Result != nil || !s.Started.Equal(began) || r.Running() != 1 {
			t.Errorf("while it runs: %+v", s)
		}
		notice := <-r.Ended()
		if notice.Object.GetName() != "a" || notice.Object.GetNamespace() != "ns" {
			t.Errorf("notified: %v", notice.Object)
		}
		s := r.Observe(a)
		if s == nil || s.Result == nil || s.Result.Outcome != "slept x" || s.Result.Err != nil || s.Result.Ended.Sub(began) != time.Minute || s.Reported {
			t.Errorf("after its end: %+v", s)
		}
		r.Reported(a)
		if !r.Observe(a).Reported {
			t.Error("that it was reported is not known")
		}
	})
}

func TestOnlySoManyJobsRunAtOnceAndTheirTimeBeginsWithTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 2)
		objects := []client.Object{object("a", "1"), object("b", "2"), object("c", "3")}
		for i, o := range objects {
			w := sleep(o.GetName(), 40*time.Second)
			w.Timeout = time.Minute // the last one waits for 40 seconds before it begins
			r.Begin(o, w)
			synctest.Wait()
			if queued := r.Observe(o).Queued; queued != (i == 2) {
				t.Errorf("%s waits for its turn: %t", o.GetName(), queued)
			}
		}
		if r.Running() != 2 {
			t.Errorf("%d run", r.Running())
		}
		for range objects {
			<-r.Ended()
		}
		for _, o := range objects {
			if s := r.Observe(o); s.Result.Err != nil {
				t.Errorf("%s: %v", o.GetName(), s.Result.Err)
			}
		}
	})
}

func TestLightWorkDoesNotWaitForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		r.Begin(object("a", "1"), sleep("x", time.Hour))
		synctest.Wait()
		w := sleep("y", time.Second)
		w.Light = true
		r.Begin(object("b", "2"), w)
		<-r.Ended()
		if s := r.Observe(object("b", "2")); s.Result == nil || s.Result.Err != nil || r.Running() != 1 {
			t.Errorf("%+v, %d run", s, r.Running())
		}
	})
}

func TestAJobThatTakesTooLongIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		w := sleep("x", time.Hour)
		w.Timeout = time.Minute
		r.Begin(object("a", "1"), w)
		<-r.Ended()
		if s := r.Observe(object("a", "1")); !errors.Is(s.Result.Err, context.DeadlineExceeded) || s.Result.Ended.Sub(s.Started) != time.Minute {
			t.Errorf("%+v", s.Result)
		}
	})
}

func TestAPanicEndsOneJobAndFreesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		r.Begin(object("a", "1"), Work[string]{Do: func(context.Context, *Progress) (string, error) { panic("at the disco") }})
		<-r.Ended()
		if s := r.Observe(object("a", "1")); !errors.Is(s.Result.Err, ErrDefect) {
			t.Errorf("%+v", s.Result)
		}
		r.Begin(object("b", "2"), sleep("x", time.Second))
		<-r.Ended()
		if s := r.Observe(object("b", "2")); s.Result == nil || s.Result.Err != nil {
			t.Errorf("the next job: %+v", s)
		}
	})
}

func TestTheSameWorkIsBegunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 2)
		a := object("a", "1")
		begun := 0
		w := sleep("x", time.Minute)
		do := w.Do
		w.Do = func(ctx context.Context, p *Progress) (string, error) {
			begun++
			return do(ctx, p)
		}
		for range 3 {
			r.Begin(a, w)
			synctest.Wait()
		}
		if begun != 1 {
			t.Errorf("it was begun %d times", begun)
		}
		r.Begin(a, sleep("y", time.Second))
		synctest.Wait()
		if s := r.Observe(a); s.ID != "y" || s.Result != nil {
			t.Errorf("other work did not take its place: %+v", s)
		}
		time.Sleep(2 * time.Second)
		if s := r.Observe(a); s.Result == nil || s.Result.Outcome != "slept y" {
			t.Errorf("the work that was replaced is in the way: %+v", s)
		}
		r.Begin(a, sleep("y", time.Second))
		synctest.Wait()
		if s := r.Observe(a); s.Result != nil {
			t.Errorf("work that has ended cannot be begun again: %+v", s)
		}
	})
}

func TestTheJobOfAPreviousObjectOfTheNameIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		r.Begin(object("a", "1"), sleep("x", time.Hour))
		synctest.Wait()
		if s := r.Observe(object("a", "2")); s != nil {
			t.Errorf("the new object has the job of the old one: %+v", s)
		}
		synctest.Wait()
		if r.Running() != 0 {
			t.Error("the job of the old object runs on")
		}
	})
}

func TestACancelledJobCanBeObservedAndAForgottenOneCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		for name, queued := range map[string]bool{"running": false, "queued": true} {
			if queued {
				r.Begin(object("first", "0"), sleep("x", time.Hour))
				synctest.Wait()
			}
			o := object(name, types.UID(name))
			r.Begin(o, sleep("x", time.Hour))
			synctest.Wait()
			r.Cancel(client.ObjectKeyFromObject(o))
			synctest.Wait()
			if s := r.Observe(o); s == nil || s.Result == nil || !errors.Is(s.Result.Err, context.Canceled) {
				t.Errorf("%s: %+v", name, s)
			}
			r.Forget(client.ObjectKeyFromObject(o))
			if s := r.Observe(o); s != nil {
				t.Errorf("%s, forgotten: %+v", name, s)
			}
			r.Forget(types.NamespacedName{Namespace: "ns", Name: "first"})
			synctest.Wait()
		}
	})
}

func TestNothingIsBegunBeforeTheStartOrAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := NewRunner[string](NewSlots(1, 1), func() client.Object { return &corev1.ConfigMap{} })
		if idle.Begin(object("a", "1"), sleep("x", time.Second)) {
			t.Error("a job was begun before the start")
		}
		r, end := start(t, 1)
		undone := false
		r.Begin(object("a", "1"), Work[string]{Do: func(ctx context.Context, _ *Progress) (string, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			undone = true
			return "", ctx.Err()
		}})
		synctest.Wait()
		end()
		if !undone {
			t.Error("the process did not wait for a job to undo what it had begun")
		}
		if s := r.Observe(object("a", "1")); s.Result != nil {
			t.Errorf("the end of the process counts as a failure: %+v", s.Result)
		}
		if r.Begin(object("b", "1"), sleep("x", time.Second)) {
			t.Error("a job was begun after the end")
		}
	})
}

func TestProgressIsSeenWhileAJobRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := start(t, 1)
		r.Begin(object("a", "1"), Work[string]{Do: func(_ context.Context, p *Progress) (string, error) {
			p.Track(func() int64 { return 7 }, 10)
			time.Sleep(time.Minute)
			return "", nil
		}})
		synctest.Wait()
		if s := r.Observe(object("a", "1")); s.Done != 7 || s.Total != 10 {
			t.Errorf("%d of %d bytes", s.Done, s.Total)
		}
		<-r.Ended()
		if s := r.Observe(object("a", "1")); s.Done != 0 {
			t.Errorf("%d bytes after its end", s.Done)
		}
	})
}
