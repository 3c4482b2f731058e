// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

func TestNodesAreInZonesOfTheirOwn(t *testing.T) {
	_, c := whole(t)
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(nodes.Items) != 3 {
		t.Fatalf("%d nodes", len(nodes.Items))
	}
	for i, n := range nodes.Items {
		if n.Labels[corev1.LabelTopologyZone] != fmt.Sprintf("zone%d", i+1) || n.Labels[corev1.LabelHostname] != n.Name || n.Status.NodeInfo.KubeletVersion != artifacts.KubernetesVersion {
			t.Errorf("%s has the labels %v and kubelet %s", n.Name, n.Labels, n.Status.NodeInfo.KubeletVersion)
		}
	}
}

func TestAClaimGetsAVolumeThatOutlivesThePod(t *testing.T) {
	l, c := whole(t)
	ns := namespace(t, c)
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")}},
		},
	}
	_, err := c.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), claim, metav1.CreateOptions{})
	must(t, err)
	with := func(name string) *corev1.Pod {
		p := web(ns, name, "node2")
		p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
		return p
	}
	runWeb(t, c, with("first"))
	must(t, c.CoreV1().Pods(ns).Delete(t.Context(), "first", deleteOptions()))
	second := runWeb(t, c, with("second"))
	if n, err := starts(second); err != nil || n != 2 {
		t.Errorf("the volume remembers %d starts (%v), want that of the first pod too", n, err)
	}
	must(t, c.CoreV1().Pods(ns).Delete(t.Context(), "second", deleteOptions()))
	must(t, c.CoreV1().PersistentVolumeClaims(ns).Delete(t.Context(), "data", metav1.DeleteOptions{}))
	eventually(t, silence, "the volume gone with its claim", func(context.Context) error {
		left, err := os.ReadDir(filepath.Join(l.NodeDir("node2"), "volumes"))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there is %s", left[0].Name())
		}
		return err
	})
}

func TestNamesOutsideTheClusterDoNotExist(t *testing.T) {
	_, c := whole(t)
	ns := namespace(t, c)
	pod := runWeb(t, c, web(ns, "web", "node2"))
	headless(t, c, ns, "web")
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, network, "10.96.0.10:53")
	}}
	for _, name := range []string{"example.com.", "etcd.", "nobody.default.svc.cluster.local."} {
		_, err := resolver.LookupHost(t.Context(), name)
		var answer *net.DNSError
		if !errors.As(err, &answer) || !answer.IsNotFound || answer.IsTemporary {
			t.Errorf("%s: %v, want the answer that there is no such name", name, err)
		}
	}
	eventually(t, 10*time.Second, "the name of a new pod known", func(ctx context.Context) error {
		addresses, err := resolver.LookupHost(ctx, "web."+ns+".svc.cluster.local.")
		if err == nil && (len(addresses) != 1 || addresses[0] != pod.Status.PodIP) {
			err = fmt.Errorf("it is %v, not %s", addresses, pod.Status.PodIP)
		}
		return err
	})
}

func headless(t *testing.T, c kubernetes.Interface, ns, app string) {
	t.Helper()
	_, err := c.CoreV1().Services(ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": app}},
	}, metav1.CreateOptions{})
	must(t, err)
}

func TestAServiceIsReachedFromItsOwnNodeFromAnotherAndFromTheMachine(t *testing.T) {
	_, c := whole(t)
	ns := namespace(t, c)
	const etcd, port = "quay.io/coreos/etcd:v3.6.16", 2379
	onNode := func(name, node string, command ...string) {
		p := web(ns, name, node)
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.Spec.Containers[0] = corev1.Container{Name: "etcd", Image: etcd, Command: command}
		createPod(t, c, p)
	}
	onNode("server", "node2", "/usr/local/bin/etcd", "--data-dir=/tmp/etcd", "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://0.0.0.0:2379")
	service, err := c.CoreV1().Services(ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "server"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "server"},
			Ports:    []corev1.ServicePort{{Port: port, TargetPort: intstr.FromInt32(port)}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	eventually(t, 60*time.Second, "the Service reached from the machine", func(ctx context.Context) error {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", service.Spec.ClusterIP, port))
		if err != nil {
			return err
		}
		return conn.Close()
	})
	nodes := []string{"node1", "node2", "node3"}
	for _, node := range nodes {
		onNode("from-"+node, node, "/usr/local/bin/etcdctl", "--endpoints=http://server."+ns+".svc.cluster.local:2379", "--command-timeout=20s", "endpoint", "health")
	}
	for _, node := range nodes {
		if said := finished(t, c, ns, "from-"+node); !strings.Contains(said, "is healthy") {
			t.Errorf("from %s: %q", node, said)
		}
	}
}

// finished waits until a pod has succeeded and returns what it said.
func finished(t *testing.T, c kubernetes.Interface, ns, name string) string {
	t.Helper()
	var phase corev1.PodPhase
	eventually(t, 60*time.Second, name+" done", func(ctx context.Context) error {
		p, err := c.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if phase = p.Status.Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			return fmt.Errorf("it is %s: %v", phase, p.Status.ContainerStatuses)
		}
		return nil
	})
	said := podLog(t, c, ns, name)
	if phase == corev1.PodFailed {
		t.Fatalf("pod %s failed and said %q", name, said)
	}
	return said
}

func podLog(t *testing.T, c kubernetes.Interface, ns, name string) string {
	t.Helper()
	stream, err := c.CoreV1().Pods(ns).GetLogs(name, &corev1.PodLogOptions{}).Stream(t.Context())
	must(t, err)
	defer func() { _ = stream.Close() }()
	said, err := io.ReadAll(stream)
	must(t, err)
	return string(said)
}

func TestEtcdImagesRunUnderTheirUpstreamNames(t *testing.T) {
	_, c := whole(t)
	ns := namespace(t, c)
	type run struct{ pod, version, program string }
	var runs []run
	start := func(repository, version, program string, args ...string) {
		name := strings.NewReplacer(".", "-").Replace(fmt.Sprintf("%s-%s-%d", program, version, len(runs)))
		createPod(t, c, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{
					Name: "etcd", Image: repository + ":" + version, ImagePullPolicy: corev1.PullIfNotPresent,
					Command: append([]string{"/usr/local/bin/" + program}, args...),
				}},
			},
		})
		runs = append(runs, run{name, version, program})
	}
	for _, version := range artifacts.EtcdVersions {
		start("quay.io/coreos/etcd", version, "etcd", "--version")
		start("gcr.io/etcd-development/etcd", version, "etcdctl", "version")
		if !strings.HasPrefix(version, "v3.4.") { // which had none
			start("quay.io/coreos/etcd", version, "etcdutl", "version")
		}
	}
	for _, r := range runs {
		if said := finished(t, c, ns, r.pod); !strings.Contains(said, strings.TrimPrefix(r.version, "v")) {
			t.Errorf("%s of %s says %q", r.program, r.version, said)
		}
	}
}

func TestPodSecurityAdmissionIsOn(t *testing.T) {
	_, c := whole(t)
	ns := namespace(t, c)
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	_, err := c.CoreV1().Namespaces().Patch(t.Context(), ns, "application/strategic-merge-patch+json", patch, metav1.PatchOptions{})
	must(t, err)
	eventually(t, 20*time.Second, "a pod that may not run refused", func(ctx context.Context) error {
		_, err := c.CoreV1().Pods(ns).Create(ctx, web(ns, "web", "node1"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return errors.New("it was accepted")
		}
		if !strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
			return err
		}
		return nil
	})
}
