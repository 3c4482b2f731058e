// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

// namespace makes a namespace that is removed with the test.
func namespace(t *testing.T, c kubernetes.Interface) string {
	t.Helper()
	n, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "labtest-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		pods, err := c.CoreV1().Pods(n.Name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return // the lab is down, and the namespace gone with it
		}
		for _, p := range pods.Items {
			if err := c.CoreV1().Pods(n.Name).Delete(ctx, p.Name, deleteOptions()); err != nil {
				t.Log(err)
			}
		}
		if err := c.CoreV1().Namespaces().Delete(ctx, n.Name, metav1.DeleteOptions{}); err != nil {
			t.Log(err)
		}
	})
	return n.Name
}

const webPort = 8080

// web is a pod that notes each start of its container in the volume "data", an emptyDir unless it is replaced, and serves what is in there.
func web(namespace, name, node string) *corev1.Pod {
	const script = `echo started >>/data/starts; exec busybox httpd -f -p 8080 -h /data`
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{corev1.LabelHostname: node},
			Volumes:      []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			Containers: []corev1.Container{{
				Name:            "web",
				Image:           artifacts.BusyboxImage,
				ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         []string{"/bin/busybox", "sh", "-c", script},
				VolumeMounts:    []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
				ReadinessProbe: &corev1.Probe{
					ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/starts", Port: intstr.FromInt32(webPort)}},
					PeriodSeconds:    1,
					FailureThreshold: 2,
				},
			}},
		},
	}
}

func createPod(t *testing.T, c kubernetes.Interface, p *corev1.Pod) {
	t.Helper()
	// The service account of a new namespace takes a moment.
	eventually(t, 20*time.Second, "pod "+p.Name+" created", func(ctx context.Context) error {
		_, err := c.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	})
}

// runWeb creates a web pod and waits until it is ready.
func runWeb(t *testing.T, c kubernetes.Interface, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	createPod(t, c, p)
	return waitReady(t, c, p.Namespace, p.Name, 60*time.Second)
}

func waitReady(t *testing.T, c kubernetes.Interface, namespace, name string, within time.Duration) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, within, "pod "+name+" ready", func(ctx context.Context) (err error) {
		pod, err = c.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return podReady(pod)
	})
	return pod
}

func podReady(p *corev1.Pod) error {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	if i < 0 || p.Status.Conditions[i].Status != corev1.ConditionTrue {
		return fmt.Errorf("pod %s is %s and not ready", p.Name, p.Status.Phase)
	}
	return nil
}

func nodeReady(ctx context.Context, c kubernetes.Interface, name string) (corev1.ConditionStatus, error) {
	n, err := c.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status, nil
		}
	}
	return "", fmt.Errorf("node %s has no condition Ready", name)
}

func wantNode(t *testing.T, c kubernetes.Interface, name string, want corev1.ConditionStatus, within time.Duration) {
	t.Helper()
	eventually(t, within, fmt.Sprintf("%s with Ready=%s", name, want), func(ctx context.Context) error {
		got, err := nodeReady(ctx, c, name)
		if err == nil && got != want {
			return fmt.Errorf("Ready=%s", got)
		}
		return err
	})
}

// starts returns how often the container of a web pod was started, asked over the network.
func starts(p *corev1.Pod) (int, error) {
	body, err := get(p.Status.PodIP)
	return strings.Count(body, "started\n"), err
}

func get(host string) (_ string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d/starts", host, webPort), nil)
	if err != nil {
		return "", err
	}
	httpClient := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := httpClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(body), err
}

// swallowed fails the test unless packets to the address vanish: no answer, and no refusal either.
func swallowed(t *testing.T, host string) {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: 700 * time.Millisecond}).DialContext(t.Context(), "tcp", fmt.Sprintf("%s:%d", host, webPort))
	if err == nil {
		_ = conn.Close()
		t.Errorf("%s still answers", host)
		return
	}
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%s: %v, want nothing at all", host, err)
	}
}
