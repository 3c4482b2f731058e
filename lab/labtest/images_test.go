// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/lab"
	"github.com/etcd-operator/etcd-operator/lab/image"
)

const loadedImage = "example.test/labtest/loaded:1"

// writeImage writes an image, always under the same name, whose container says what it is told to.
func writeImage(t *testing.T, kubectl, says string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loaded.tar")
	must(t, image.Write(path, image.Spec{
		Tags: []string{loadedImage},
		Platforms: []image.Platform{{OS: "linux", Architecture: runtime.GOARCH, Files: []image.File{
			// A program that needs nothing beside itself, and prints a file.
			image.Regular("/kubectl", kubectl, 0o755),
			image.Content("/config", []byte("apiVersion: v1\nkind: Config\ncurrent-context: "+says+"\n"), 0o644),
		}}},
		Entrypoint: []string{"/kubectl", "--kubeconfig=/config", "config", "current-context"},
	}))
	return path
}

// sayOn runs a container of the loaded image on a node and returns what it says.
func sayOn(t *testing.T, c kubernetes.Interface, ns, name, node string) string {
	t.Helper()
	createPod(t, c, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			NodeSelector:  map[string]string{corev1.LabelHostname: node},
			Containers:    []corev1.Container{{Name: "say", Image: loadedImage, ImagePullPolicy: corev1.PullNever}},
		},
	})
	return strings.TrimSpace(finished(t, c, ns, name))
}

func TestALoadedImageIsOnEveryNodeAlsoOnThoseThatWereOffOrAreAddedLater(t *testing.T) {
	down(t)
	l := open(t, lab.Options{Nodes: 2, EtcdImages: []string{"v3.6.16"}})
	must(t, l.Up(t.Context()))
	c := client(t, l)
	ns := namespace(t, c)

	must(t, l.Load(t.Context(), writeImage(t, l.KubectlPath(), "first")))
	if said := sayOn(t, c, ns, "first", "node2"); said != "first" {
		t.Errorf("node2 says %q", said)
	}
	must(t, l.KillNode(t.Context(), 2))
	must(t, l.Load(t.Context(), writeImage(t, l.KubectlPath(), "second")))
	must(t, l.StartNode(t.Context(), 2))
	must(t, open(t, lab.Options{Nodes: 3, EtcdImages: []string{"v3.6.16"}}).Up(t.Context()))
	for _, node := range []string{"node1", "node2", "node3"} {
		if said := sayOn(t, c, ns, "second-on-"+node, node); said != "second" {
			t.Errorf("%s says %q", node, said)
		}
	}
	// An older content under the same name takes its place again.
	must(t, l.Load(t.Context(), writeImage(t, l.KubectlPath(), "first")))
	if said := sayOn(t, c, ns, "first-again", "node3"); said != "first" {
		t.Errorf("node3 says %q", said)
	}

	broken := filepath.Join(t.TempDir(), "broken.tar")
	must(t, os.WriteFile(broken, []byte("no image"), 0o600))
	if err := l.Load(t.Context(), broken); err == nil {
		t.Error("what is no image was loaded")
	}
	must(t, l.KillNode(t.Context(), 3))
	must(t, l.StartNode(t.Context(), 3)) // which does not try it again
	if err := open(t, lab.Options{Nodes: 1}).Up(t.Context()); err == nil || !strings.Contains(err.Error(), "lab down") {
		t.Errorf("asked for fewer nodes: %v", err)
	}
}
