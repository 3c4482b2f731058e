// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/lab"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// injector breaks one thing after the other.
type injector struct {
	tenant   *tenant.Tenant
	lab      *lab.Lab
	clusters []*cluster
	clients  map[string]*clientv3.Client
	random   *rand.Rand
	end      time.Time
	counts   map[string]int

	// What is broken at the moment is repaired after a while.
	mending sync.WaitGroup
	mutex   sync.Mutex
	broken  map[string]func(context.Context) error
	over    chan struct{}
	finish  sync.Once
}

func newInjector(n *tenant.Tenant, clusters []*cluster, end time.Time) *injector {
	clients := map[string]*clientv3.Client{}
	for _, c := range clusters {
		clients[c.name] = c.service()
	}
	return &injector{
		tenant: n, lab: tenant.Lab(), clusters: clusters, clients: clients, random: rand.New(rand.NewPCG(*seed, 0xc4a05)), end: end,
		counts: map[string]int{}, broken: map[string]func(context.Context) error{}, over: make(chan struct{}),
	}
}

// errNotNow: this fault cannot be injected now; another one is chosen.
var errNotNow = errors.New("not now")

type fault struct {
	name   string
	weight int
	do     func(ctx context.Context, in *injector, c *cluster) error
}

// faults are what can go wrong, and what users do meanwhile.
var faults = []fault{
	{"kill member", 6, func(ctx context.Context, in *injector, c *cluster) error {
		return in.signalMember(ctx, c, syscall.SIGKILL)
	}},
	{"kill leader", 6, killLeader},
	{"pause member", 5, pauseMember},
	{"delete pod", 5, deletePod},
	{"evict pod", 4, evictPod},
	{"cut pod", 5, cutPod},
	{"cut node", 4, cutNode},
	{"kill node", 3, killNode},
	{"drain node", 2, drainNode},
	{"kill operator", 5, killOperator},
	{"kill API server", 1, killAPIServer},
	{"blind operator", 4, blindOperator},
	{"full disk", 4, fillDisk},
	{"space quota", 2, exceedSpaceQuota},
	{"quota", 3, exhaustQuota},
	{"refusing webhook", 3, breakWebhook},
	{"scale", 3, scale},
	{"version", 2, changeVersion},
	{"pod policy", 1, changeEnv},
}

// run breaks things until the time is over.
func (in *injector) run(ctx context.Context) {
	total := 0
	for _, f := range faults {
		total += f.weight
	}
	for time.Now().Before(in.end) && ctx.Err() == nil {
		f := in.choose(in.random.IntN(total))
		c := in.clusters[in.random.IntN(len(in.clusters))]
		attempt, cancel := context.WithTimeout(ctx, time.Minute)
		err := f.do(attempt, in, c)
		cancel()
		if err != nil {
			if !errors.Is(err, errNotNow) {
				in.tenant.Logf("%s could not be done: %v", f.name, err)
			}
			in.wait(ctx, 100*time.Millisecond)
			continue
		}
		in.counts[f.name]++
		in.tenant.Logf("%s %s (%s)", time.Now().UTC().Format("15:04:05.000"), f.name, c.name)
		in.wait(ctx, in.between(1*time.Second, 4*time.Second))
	}
}

func (in *injector) choose(dice int) fault {
	for _, f := range faults {
		if dice -= f.weight; dice < 0 {
			return f
		}
	}
	panic("the weights do not add up")
}

func (in *injector) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (in *injector) between(low, high time.Duration) time.Duration {
	return low + time.Duration(in.random.Int64N(int64(high-low)))
}

// total is how many faults there were.
func (in *injector) total() int {
	n := 0
	for _, count := range in.counts {
		n += count
	}
	return n
}

// String is how many there were of each kind.
func (in *injector) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(in.counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, in.counts[name]))
	}
	return strings.Join(parts, ", ")
}

// breaks claims a name for something that is broken until it is repaired after d. It
// returns false where something of that name is broken already.
func (in *injector) breaks(what string, d time.Duration, repair func(context.Context) error) bool {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	if in.broken[what] != nil {
		return false
	}
	in.broken[what] = repair
	ctx := context.WithoutCancel(in.tenant.Context())
	in.mending.Go(func() {
		select {
		case <-in.over:
		case <-time.After(d):
		}
		in.repairOne(ctx, what)
	})
	return true
}

// repairOne repairs something, as often as it takes: the API server may be away.
func (in *injector) repairOne(ctx context.Context, what string) {
	in.mutex.Lock()
	repair := in.broken[what]
	in.mutex.Unlock()
	if repair == nil {
		return
	}
	for range 30 {
		err := repair(ctx)
		if err == nil {
			break
		}
		in.tenant.Logf("mending: %s: %v", what, err)
		in.wait(ctx, time.Second)
	}
	in.mutex.Lock()
	defer in.mutex.Unlock()
	delete(in.broken, what)
}

// repair ends everything that is broken.
func (in *injector) repair() {
	in.finish.Do(func() { close(in.over) })
	in.mending.Wait()
}

// isBroken reports whether something whose name begins like this is broken.
func (in *injector) isBroken(prefixes ...string) bool {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	for what := range in.broken {
		for _, prefix := range prefixes {
			if strings.HasPrefix(what, prefix) {
				return true
			}
		}
	}
	return false
}

// forget withdraws a claim of breaks that was not used.
func (in *injector) forget(what string) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	in.broken[what] = func(context.Context) error { return nil }
}

// pod chooses a pod that runs.
func (in *injector) pod(ctx context.Context, c *cluster) (*corev1.Pod, error) {
	pods, err := c.pods(ctx)
	if err != nil {
		return nil, err
	}
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning })
	if len(pods) == 0 {
		return nil, errNotNow
	}
	return &pods[in.random.IntN(len(pods))], nil
}

// maySpareOne: what is on a pod's own disk goes with the pod. With one of three members gone,
// no other may be destroyed: etcd, and so the operator, promises nothing without a majority
// of the data.
func (in *injector) maySpareOne(ctx context.Context, c *cluster) error {
	if c.volumes {
		return nil
	}
	if in.isBroken("node", "pod "+c.name, "pause "+c.name, "disk "+c.name) || c.whole(ctx) != nil {
		return errNotNow
	}
	pods, err := c.pods(ctx)
	if err != nil {
		return err
	}
	object, err := c.get(ctx)
	if err != nil {
		return err
	}
	for _, m := range object.Status.MemberStatuses {
		// The status may be a moment old: what it says has to be there.
		if !m.Healthy || !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == m.Name && isReady(&p) }) {
			return errNotNow
		}
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func deletePod(ctx context.Context, in *injector, c *cluster) error {
	if err := in.maySpareOne(ctx, c); err != nil {
		return err
	}
	pod, err := in.pod(ctx, c)
	if err != nil {
		return err
	}
	return in.tenant.Kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: &pod.UID}})
}

// evictPod asks for an eviction, which the cluster's budget may refuse.
func evictPod(ctx context.Context, in *injector, c *cluster) error {
	if err := in.maySpareOne(ctx, c); err != nil {
		return err
	}
	pod, err := in.pod(ctx, c)
	if err != nil {
		return err
	}
	return in.evict(ctx, pod)
}

func (in *injector) evict(ctx context.Context, pod *corev1.Pod) error {
	return in.tenant.Kube.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
}

func cutPod(ctx context.Context, in *injector, c *cluster) error {
	pod, err := in.pod(ctx, c)
	if err != nil {
		return err
	}
	if in.isBroken("node") {
		return errNotNow // the lab does one thing at a time, and a node takes a while to start
	}
	what := fmt.Sprintf("pod %s %s", c.name, pod.Name)
	if !in.breaks(what, in.between(2*time.Second, 9*time.Second), func(ctx context.Context) error {
		err := in.lab.HealPod(ctx, pod.Namespace, pod.Name)
		if err != nil && strings.Contains(err.Error(), "is not cut off") {
			return nil // it went with its pod or its node
		}
		return err
	}) {
		return errNotNow
	}
	if err := in.lab.CutPod(ctx, pod.Namespace, pod.Name); err != nil {
		in.forget(what)
		return err
	}
	return nil
}

func killOperator(ctx context.Context, in *injector, _ *cluster) error {
	pod, err := in.operator(ctx)
	if err != nil {
		return err
	}
	return in.tenant.Kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
}

func scale(ctx context.Context, _ *injector, c *cluster) error {
	object, err := c.get(ctx)
	if err != nil {
		return err
	}
	size := 3
	if object.Spec.Size == size {
		size = 5
	}
	return c.patch(ctx, fmt.Sprintf(`{"size":%d}`, size))
}

// changeVersion goes up by a minor version towards the end, and changes the patch release
// before, back and forth.
func changeVersion(ctx context.Context, in *injector, c *cluster) error {
	object, err := c.get(ctx)
	if err != nil {
		return err
	}
	next := map[string]string{"3.5.35": "3.6.10", "3.6.10": "3.6.16", "3.6.16": "3.6.10"}[object.Spec.Version]
	if object.Spec.Version == "3.6.16" && time.Until(in.end) < *length/3 {
		next = "3.7.3"
	}
	if next == "" || object.Status.CurrentVersion != object.Spec.Version {
		return errNotNow
	}
	return c.patch(ctx, fmt.Sprintf(`{"version":%q}`, next))
}

// changeEnv changes what a running pod cannot be changed to.
func changeEnv(ctx context.Context, in *injector, c *cluster) error {
	return c.patch(ctx, fmt.Sprintf(`{"pod":{"etcdEnv":[{"name":"ETCD_SNAPSHOT_COUNT","value":"%d"}]}}`, 5000+in.random.IntN(5000)))
}
