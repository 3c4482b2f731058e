// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/process"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// reach is a port that somebody can connect to, or cannot.
type reach struct {
	who  corev1.Pod
	port int
	want bool
}

// A network policy as the operator writes it, put into force by an agent: who the spec names gets to the members, who it does
// not name does not, and the cluster is healed behind its wall.
func TestTheWallAroundMembersKeepsStrangersOut(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	n.Apply(clientPod("friend") + "---" + clientPod("stranger"))
	c := create(n, "c", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	enforcePolicies(n)
	friend, stranger := podOf(n, "role=friend"), podOf(n, "role=stranger")
	awaitReach(n, c.pods, reach{stranger, 2379, true}, reach{stranger, 2380, true}, reach{stranger, 2381, true})

	c.patch(`{"networkPolicy":{"clients":[{"podSelector":{"matchLabels":{"role":"friend"}}}]}}`)
	aMember := func() corev1.Pod { return c.pods()[slices.Sorted(maps.Keys(c.pods()))[0]] }
	standing := func() {
		t.Helper()
		operator := podOf(n, "name=etcd-operator")
		awaitReach(n, c.pods,
			reach{stranger, 2379, false}, reach{stranger, 2380, false}, reach{stranger, 2381, false},
			reach{friend, 2379, true}, reach{friend, 2380, false}, reach{friend, 2381, true},
			reach{operator, 2379, true}, reach{operator, 2380, false},
			reach{aMember(), 2379, true}, reach{aMember(), 2380, true})
	}
	standing()

	// The operator and the members work through it.
	n.Kubectl("delete", "pod", aMember().Name, "--wait=true")
	c.patch(`{"size":4}`)
	c.awaitReady()
	standing()

	// Whoever opens it does so for a moment.
	n.Kubectl("patch", "networkpolicy", c.name, "--type=merge", "-p", `{"spec":{"ingress":[{}]}}`)
	standing()

	c.patch(`{"networkPolicy":null}`)
	awaitReach(n, c.pods, reach{stranger, 2380, true})
}

// The operators behind the policies of example/network-policies.yaml, and members behind theirs: backups and restores get
// through, monitoring gets to the metrics, and nobody else to anything.
func TestTheWallAroundOperatorsKeepsStrangersOut(t *testing.T) {
	t.Parallel()
	n, monitoring := tenant.New(t), tenant.New(t)
	n.InstallOperator()
	s3 := n.StartS3()
	n.Apply(clientPod("stranger"))
	monitoring.Apply(clientPod("prometheus"))
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	installRestoreOperator(n)
	n.AwaitDeployment("etcd-backup-operator")
	c := create(n, "c", `{size: 1, version: "3.6.16", networkPolicy: {clients: [{podSelector: {matchLabels: {role: friend}}}]}}`)
	c.awaitReady()
	c.fill(30)
	enforcePolicies(n)
	operator := func(name string) func() map[string]corev1.Pod {
		return func() map[string]corev1.Pod { return map[string]corev1.Pod{name: podOf(n, "name="+name)} }
	}
	main, backups, restores := operator("etcd-operator"), operator("etcd-backup-operator"), operator("etcd-restore-operator")
	stranger, prometheus, member := podOf(n, "role=stranger"), podOf(monitoring, "role=prometheus"), podOf(n, "app=etcd")
	awaitReach(n, main, reach{stranger, 8080, true})
	awaitReach(n, backups, reach{stranger, 8081, true}, reach{stranger, 9091, true})
	awaitReach(n, restores, reach{stranger, 8082, true}, reach{stranger, 19999, true})

	n.Shell(`sed 's/metadata.name: monitoring/metadata.name: ` + monitoring.Namespace + `/' example/network-policies.yaml | kubectl create -f -`)
	awaitReach(n, main, reach{stranger, 8080, false}, reach{member, 8080, false}, reach{prometheus, 8080, true})
	awaitReach(n, backups, reach{stranger, 8081, false}, reach{stranger, 9091, false}, reach{member, 8081, false},
		reach{prometheus, 8081, true}, reach{prometheus, 9091, true})
	awaitReach(n, restores, reach{stranger, 8082, false}, reach{stranger, 19999, false}, reach{member, 8082, false},
		reach{member, 19999, true}, reach{prometheus, 8082, true}, reach{prometheus, 19999, false})
	awaitReach(n, c.pods, reach{podOf(n, "name=etcd-backup-operator"), 2379, true}, reach{podOf(n, "name=etcd-restore-operator"), 2379, false})

	n.Apply(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: b}
spec: {etcdEndpoints: ["http://c-client:2379"], storageType: S3, s3: {path: ` + s3.Path("b") + `, awsSecret: aws}}
`)
	awaitBackup(n, "b", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
	restore(n, "c", "c", s3, "b", "")
	awaitRestored(n, "c")
	c.awaitReady()
	awaitReach(n, c.pods, reach{stranger, 2379, false})
}

// clientPod is a pod in whose network a client can be. An etcd of its own keeps it running.
func clientPod(name string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, labels: {role: %[1]s}}
spec:
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: etcd
    image: quay.io/coreos/etcd:v3.6.16
    command: [/usr/local/bin/etcd, "--name=%[1]s", --data-dir=/data/etcd]
    volumeMounts: [{name: data, mountPath: /data}]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, name)
}

// podOf is the pod with a label, when it is ready.
func podOf(n *tenant.Tenant, label string) corev1.Pod {
	n.Helper()
	n.Kubectl("wait", "pod", "-l", label, "--for=condition=Ready", "--timeout=120s")
	pods, err := n.Kube.CoreV1().Pods(n.Namespace).List(n.Context(), metav1.ListOptions{LabelSelector: label})
	if err != nil || len(pods.Items) == 0 {
		n.Fatalf("there is no pod with the label %s: %v", label, err)
	}
	return pods.Items[0]
}

// awaitReach waits until each of them can, or cannot, connect to a port of all pods.
func awaitReach(n *tenant.Tenant, pods func() map[string]corev1.Pod, all ...reach) {
	n.Helper()
	for _, r := range all {
		n.Eventually(patience, func(context.Context) error {
			pid, found := process.OfPods()[string(r.who.UID)]
			if !found {
				return fmt.Errorf("nothing runs in the pod %s", r.who.Name)
			}
			for _, pod := range pods() {
				err := dialFrom(pid, net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(r.port)))
				if got := err == nil; got != r.want || !got && !errors.Is(err, syscall.ECONNREFUSED) {
					return fmt.Errorf("%s reaches port %d of %s: %t (%w), want %t", r.who.Name, r.port, pod.Name, got, err, r.want)
				}
			}
			return nil
		})
	}
}

// dialFrom connects from the network of a process.
//
// The thread has to go back into its own network and live on: a thread that ends takes along the servers of other tests that
// were started from it, which are to end with their parent.
func dialFrom(pid int, address string) error {
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer func() { _ = home.Close() }()
	space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer func() { _ = space.Close() }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	defer func() {
		if err := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); err != nil {
			panic(err) // whatever else runs on this thread would be in another network
		}
	}()
	connection, err := (&net.Dialer{Timeout: 10 * time.Second}).Dial("tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}
