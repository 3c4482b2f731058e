// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/test/chaos/history"
)

const (
	// keys is what all keys begin with.
	keys = "chaos/"
	// Few keys at a time, so that clients get into each other's way; new ones after a while,
	// so that what got no answer does not make the history of a key hard to check for ever.
	keysAtATime = 4
	newKeysEach = 10 * time.Second

	clientsEach   = 3
	watchersEach  = 2
	answerWithin  = 1500 * time.Millisecond
	pauseAfter    = 20 * time.Millisecond
	pauseAfterErr = 100 * time.Millisecond
	lookEvery     = 300 * time.Millisecond
)

// load is what the clients of one cluster do and see.
type load struct {
	cluster  *cluster
	begin    time.Time
	end      context.CancelFunc
	clients  sync.WaitGroup
	history  history.Recorder
	watchers []*watcher

	lastWrite                  atomic.Int64 // since begin
	endWatches                 context.CancelFunc
	longest, longestWithQuorum time.Duration

	mutex sync.Mutex
	ids   map[uint64]bool // of clusters whose members answered
	names map[string]bool // of all members there ever were
	now   int             // members there are now
}

func startLoad(c *cluster, begin time.Time) *load {
	c.Helper()
	ctx, end := context.WithCancel(c.Context())
	watching, endWatches := context.WithCancel(c.Context())
	l := &load{cluster: c, begin: begin, end: end, endWatches: endWatches, ids: map[uint64]bool{}, names: map[string]bool{}}
	for range watchersEach {
		w := &watcher{client: c.service(), done: make(chan struct{})}
		l.watchers = append(l.watchers, w)
		go w.run(watching)
	}
	for i := range clientsEach {
		client := c.service()
		l.clients.Go(func() { l.use(ctx, client, i) })
	}
	l.clients.Go(func() { l.look(ctx) })
	return l
}

// use is one client's life.
func (l *load) use(ctx context.Context, client *clientv3.Client, number int) {
	random := rand.New(rand.NewPCG(uint64(number), *seed))
	known := map[string]string{} // what it last saw, for swaps
	for i := 0; ctx.Err() == nil; i++ {
		key := fmt.Sprintf("%s%04d/%d", keys, time.Since(l.begin)/newKeysEach, random.IntN(keysAtATime))
		o := history.Operation{Client: number, Key: key, Value: fmt.Sprintf("%d-%d", number, i), Start: time.Since(l.begin)}
		switch dice := random.IntN(10); {
		case dice < 4:
			o.Kind = history.Write
		case dice < 7:
			o.Kind, o.Old = history.Swap, known[key]
		default:
			o.Kind, o.Value = history.Read, ""
		}
		pause := pauseAfter
		if err := ask(ctx, client, &o); err != nil {
			o.Unknown, pause = true, pauseAfterErr
		}
		o.End = time.Since(l.begin)
		l.history.Add(o)
		l.note(o, known)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *load) note(o history.Operation, known map[string]string) {
	switch {
	case o.Unknown:
		return
	case o.Kind == history.Read, o.Wrote():
		known[o.Key] = o.Value
	}
	if o.Wrote() {
		l.lastWrite.Store(int64(o.End))
	}
}

// ask asks etcd and notes the answer.
func ask(ctx context.Context, client *clientv3.Client, o *history.Operation) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	switch o.Kind {
	case history.Write:
		answer, err := client.Put(ctx, o.Key, o.Value)
		if err != nil {
			return err
		}
		o.Revision, o.Cluster = answer.Header.Revision, answer.Header.ClusterId
	case history.Swap:
		found := clientv3.Compare(clientv3.Value(o.Key), "=", o.Old)
		if o.Old == "" {
			found = clientv3.Compare(clientv3.CreateRevision(o.Key), "=", 0)
		}
		answer, err := client.Txn(ctx).If(found).Then(clientv3.OpPut(o.Key, o.Value)).Else(clientv3.OpGet(o.Key)).Commit()
		if err != nil {
			return err
		}
		o.Revision, o.Cluster, o.Swapped = answer.Header.Revision, answer.Header.ClusterId, answer.Succeeded
		if kvs := answer.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
			o.Found = string(kvs[0].Value)
		}
	case history.Read:
		answer, err := client.Get(ctx, o.Key)
		if err != nil {
			return err
		}
		o.Revision, o.Cluster = answer.Header.Revision, answer.Header.ClusterId
		if len(answer.Kvs) > 0 {
			o.Value = string(answer.Kvs[0].Value)
		}
	}
	return nil
}

// look asks every member how it is, all the time: who is there, of which cluster it thinks
// to be, and for how long nobody could write although a majority answers.
func (l *load) look(ctx context.Context) {
	connections := map[string]*clientv3.Client{}
	defer func() {
		for _, client := range connections {
			_ = client.Close()
		}
	}()
	quorumSince, size := time.Since(l.begin), 3
	for ctx.Err() == nil {
		if object, err := l.cluster.get(ctx); err == nil {
			size = object.Spec.Size
		}
		if pods, err := l.cluster.pods(ctx); err == nil {
			connect(connections, pods)
			l.noteMembers(pods)
		}
		if l.answering(ctx, connections) < size/2+1 {
			quorumSince = time.Since(l.begin)
		}
		now, last := time.Since(l.begin), time.Duration(l.lastWrite.Load())
		l.longest = max(l.longest, now-last)
		l.longestWithQuorum = max(l.longestWithQuorum, now-max(last, quorumSince))
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

// connect keeps one connection for each pod that has an address.
func connect(connections map[string]*clientv3.Client, pods []corev1.Pod) {
	there := map[string]bool{}
	for _, pod := range pods {
		ip := pod.Status.PodIP
		there[ip] = true
		if _, ok := connections[ip]; ok || ip == "" {
			continue
		}
		if client, err := dial(ip); err == nil {
			connections[ip] = client
		}
	}
	for ip, client := range connections {
		if !there[ip] {
			_ = client.Close()
			delete(connections, ip)
		}
	}
}

// answering counts the voters that answer and have a leader.
func (l *load) answering(ctx context.Context, connections map[string]*clientv3.Client) int {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	var group sync.WaitGroup
	var count atomic.Int64
	for _, client := range connections {
		group.Go(func() {
			status, err := client.Status(ctx, client.Endpoints()[0])
			if err != nil {
				return
			}
			l.mutex.Lock()
			l.ids[status.Header.ClusterId] = true
			l.mutex.Unlock()
			if status.Leader != 0 && !status.IsLearner {
				count.Add(1)
			}
		})
	}
	group.Wait()
	return int(count.Load())
}

func (l *load) noteMembers(pods []corev1.Pod) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.now = len(pods)
	for _, pod := range pods {
		l.names[pod.Name] = true
	}
}

// replaced is how many members are no more.
func (l *load) replaced() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.names) - l.now
}

func (l *load) clusterIDs() []uint64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var ids []uint64
	for id := range l.ids {
		ids = append(ids, id)
	}
	return ids
}

// stop ends the clients, waits until the watches have seen the last write, and returns what
// was done.
func (l *load) stop(t *testing.T) []history.Operation {
	t.Helper()
	l.end()
	l.clients.Wait()
	client := l.cluster.service()
	l.cluster.Eventually(patience, func(ctx context.Context) error {
		// Only the clients write: etcd's revision is that of the last write, answered or not.
		answer, err := client.Get(ctx, keys)
		if err != nil {
			return err
		}
		for i, w := range l.watchers {
			if w.last.Load() < answer.Header.Revision {
				return fmt.Errorf("watch %d of %s is at revision %d, etcd at %d", i, l.cluster.name, w.last.Load(), answer.Header.Revision)
			}
		}
		return nil
	})
	l.endWatches()
	for _, w := range l.watchers {
		<-w.done
	}
	return l.history.Operations()
}

// watcher watches all keys from the beginning.
type watcher struct {
	client *clientv3.Client
	events []history.Event
	last   atomic.Int64
	done   chan struct{}
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	for ctx.Err() == nil {
		// A member without a leader does not keep a watch, and the next one continues from
		// where this one was.
		watching, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
		for answer := range w.client.Watch(watching, keys, clientv3.WithPrefix(), clientv3.WithRev(w.last.Load()+1)) {
			for _, e := range answer.Events {
				w.events = append(w.events, history.Event{Revision: e.Kv.ModRevision, Key: string(e.Kv.Key), Value: string(e.Kv.Value)})
				w.last.Store(e.Kv.ModRevision)
			}
			if answer.Err() != nil {
				break
			}
		}
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(pauseAfterErr):
		}
	}
}
