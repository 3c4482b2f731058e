// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

// server is the API server of all tests of this package. There is no scheduler and no controller manager: the tests play their
// parts (selecting a node, binding a claim, releasing a volume), which makes every moment of the protocol visible.
var server *apiserver.Server

func TestMain(m *testing.M) {
	code, err := withServer(m.Run)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func withServer(f func() int) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	set, err := artifacts.Ensure(ctx, artifacts.Request{ControlPlane: true}, os.Stderr)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "volumes-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Without the controller that removes them, protecting finalizers would keep every deleted object.
	server, err = apiserver.Start(ctx, apiserver.Config{
		Dir: dir, Set: set, Extra: []string{"--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection"},
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return f(), nil
}

// scene is one namespace, one node and a running provisioner.
type scene struct {
	*testing.T
	client    kubernetes.Interface
	namespace string
	node      string
	nodes     string
	stop      func()
}

func newScene(t *testing.T) *scene {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, client: client, nodes: t.TempDir()}
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "volumes-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.namespace = namespace.Name
	// The label is not always the name of the node.
	node, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "node-", Labels: map[string]string{corev1.LabelHostname: "host-of-" + s.namespace},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.node = node.Name
	if err := EnsureDefaultClass(t.Context(), server.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.leave)
	return s
}

// leave ends the provisioner and removes what the provisioners of other scenes would stumble over.
func (s *scene) leave() {
	s.stop()
	ctx := context.Background()
	err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		s.Error(err)
	}
	if err := s.client.CoreV1().PersistentVolumes().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		s.Error(err)
	}
}

func (s *scene) nodeDir(node string) string {
	if node != s.node {
		return ""
	}
	return filepath.Join(s.nodes, node)
}

// start runs the provisioner until stop.
func (s *scene) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, server.RESTConfig(), s.nodeDir) }()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.Errorf("the provisioner ended with %v", err)
		}
		s.stop = func() {}
	}
}

func (s *scene) eventually(what string, holds func() (bool, error)) {
	s.Helper()
	deadline := time.Now().Add(20 * time.Second)
	var last error
	for time.Now().Before(deadline) {
		ok, err := holds()
		if ok {
			return
		}
		last = err
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatalf("did not happen: %s (%v)", what, last)
}

// claim creates a claim, changed beforehand by change.
func (s *scene) claim(name string, change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	s.Helper()
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, Annotations: map[string]string{}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: storage("1Gi")},
		},
	}
	if change != nil {
		change(c)
	}
	c, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Create(s.Context(), c, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// selectNode plays the scheduler.
func (s *scene) selectNode(c *corev1.PersistentVolumeClaim) { c.Annotations[selectedNode] = s.node }

func storage(q string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(q)}
}

// volumeOf waits for the volume of a claim.
func (s *scene) volumeOf(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	s.Helper()
	var volume *corev1.PersistentVolume
	s.eventually("a volume for the claim "+c.Name, func() (ok bool, err error) {
		volume, err = s.client.CoreV1().PersistentVolumes().Get(s.Context(), "pvc-"+string(c.UID), metav1.GetOptions{})
		return err == nil, err
	})
	return volume
}

// bind plays the volume controller: it binds claim and volume.
func (s *scene) bind(c *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	s.Helper()
	claims := s.client.CoreV1().PersistentVolumeClaims(s.namespace)
	c.Spec.VolumeName = volume.Name
	c, err := claims.Update(s.Context(), c, metav1.UpdateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: c.Spec.AccessModes, Capacity: volume.Spec.Capacity}
	if c, err = claims.UpdateStatus(s.Context(), c, metav1.UpdateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.setPhase(volume, corev1.VolumeBound)
	return c
}

// release plays the user who deletes a bound claim, and the volume controller that sees it.
func (s *scene) release(c *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) {
	s.Helper()
	s.bind(c, volume)
	if err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Delete(s.Context(), c.Name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	s.setPhase(volume, corev1.VolumeReleased)
}

// deleted waits until a volume is gone.
func (s *scene) deleted(volume *corev1.PersistentVolume) {
	s.Helper()
	s.eventually("deletion of the volume "+volume.Name, func() (bool, error) {
		_, err := s.client.CoreV1().PersistentVolumes().Get(s.Context(), volume.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

func (s *scene) setPhase(volume *corev1.PersistentVolume, phase corev1.PersistentVolumePhase) {
	s.Helper()
	volume, err := s.client.CoreV1().PersistentVolumes().Get(s.Context(), volume.Name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	volume.Status.Phase = phase
	if _, err := s.client.CoreV1().PersistentVolumes().UpdateStatus(s.Context(), volume, metav1.UpdateOptions{}); err != nil {
		s.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestClaimGetsAFolderOnTheSelectedNode(t *testing.T) {
	s := newScene(t)
	c := s.claim("data", s.selectNode)
	volume := s.volumeOf(c)

	folder := filepath.Join(s.nodes, s.node, "volumes", volume.Name)
	if got := volume.Spec.Local.Path; got != folder {
		t.Errorf("path %s, want %s", got, folder)
	}
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != os.ModeDir|0o755 {
		t.Errorf("mode of the folder %s, want that of a fresh disk", got)
	}
	want := corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: s.namespace, Name: "data", UID: c.UID}
	if diff := cmp.Diff(want, *volume.Spec.ClaimRef); diff != "" {
		t.Errorf("claimed by (-want +got):\n%s", diff)
	}
	terms := volume.Spec.NodeAffinity.Required.NodeSelectorTerms
	wantTerms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"host-of-" + s.namespace}},
	}}}
	if diff := cmp.Diff(wantTerms, terms); diff != "" {
		t.Errorf("node affinity (-want +got):\n%s", diff)
	}
	if volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete || volume.Spec.StorageClassName != DefaultClass {
		t.Errorf("class %s, reclaim policy %s", volume.Spec.StorageClassName, volume.Spec.PersistentVolumeReclaimPolicy)
	}
	if got := volume.Spec.Capacity.Storage().String(); got != "1Gi" {
		t.Errorf("capacity %s, want 1Gi", got)
	}
}

func TestClaimWaitsForTheScheduler(t *testing.T) {
	s := newScene(t)
	waiting := s.claim("waiting", nil)
	// The claim that comes later is served first; so the first one has been looked at.
	s.volumeOf(s.claim("served", s.selectNode))
	if _, err := s.client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-"+string(waiting.UID), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("a claim without a selected node has a volume (%v)", err)
	}
	waiting.Annotations = map[string]string{selectedNode: s.node}
	if _, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Update(t.Context(), waiting, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.volumeOf(waiting)
}

func TestClaimsOfOthersAreLeftAlone(t *testing.T) {
	s := newScene(t)
	class := defaultClass()
	class.Name, class.Provisioner, class.Annotations = "others-"+s.namespace, "example.com/other", nil
	if _, err := s.client.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	other := s.claim("other", func(c *corev1.PersistentVolumeClaim) { s.selectNode(c); c.Spec.StorageClassName = &class.Name })
	s.volumeOf(s.claim("ours", s.selectNode))
	if _, err := s.client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-"+string(other.UID), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the claim of another provisioner has a volume (%v)", err)
	}
}

func TestClaimOlderThanItsClassIsServed(t *testing.T) {
	s := newScene(t)
	class := defaultClass()
	class.Name, class.Annotations = "late-"+s.namespace, nil
	c := s.claim("early", func(c *corev1.PersistentVolumeClaim) { s.selectNode(c); c.Spec.StorageClassName = &class.Name })
	s.volumeOf(s.claim("other", s.selectNode))
	if _, err := s.client.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.volumeOf(c)
}

func TestReleasedVolumeIsDeletedWithItsFolder(t *testing.T) {
	s := newScene(t)
	c := s.claim("data", s.selectNode)
	volume := s.volumeOf(c)
	if err := os.WriteFile(filepath.Join(volume.Spec.Local.Path, "db"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.release(c, volume)
	s.deleted(volume)
	if exists(volume.Spec.Local.Path) {
		t.Error("the folder outlived the volume")
	}
}

func TestBoundVolumeIsNotDeleted(t *testing.T) {
	s := newScene(t)
	c := s.claim("used", s.selectNode)
	used := s.volumeOf(c)
	s.bind(c, used)
	otherClaim := s.claim("other", s.selectNode)
	other := s.volumeOf(otherClaim)
	s.release(otherClaim, other)
	s.deleted(other)
	if _, err := s.client.CoreV1().PersistentVolumes().Get(t.Context(), used.Name, metav1.GetOptions{}); err != nil || !exists(used.Spec.Local.Path) {
		t.Errorf("a volume in use was deleted (%v)", err)
	}
}

func TestReleasedVolumeIsKeptWhenItsPolicyIsRetain(t *testing.T) {
	s := newScene(t)
	keptClaim := s.claim("kept", s.selectNode)
	kept := s.volumeOf(keptClaim)
	kept.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	if _, err := s.client.CoreV1().PersistentVolumes().Update(t.Context(), kept, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.release(keptClaim, kept)
	c := s.claim("deleted", s.selectNode)
	volume := s.volumeOf(c)
	s.release(c, volume)
	s.deleted(volume)
	if _, err := s.client.CoreV1().PersistentVolumes().Get(t.Context(), kept.Name, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if !exists(kept.Spec.Local.Path) {
		t.Error("the folder of a kept volume is gone")
	}
}

func TestFolderThatIsNotOursIsNeverDeleted(t *testing.T) {
	s := newScene(t)
	precious := t.TempDir()
	forged := newVolume("forged-"+s.namespace, precious, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: s.node, Labels: map[string]string{corev1.LabelHostname: "x"},
	}}, s.claim("any", nil), defaultClass())
	forged, err := s.client.CoreV1().PersistentVolumes().Create(t.Context(), forged, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.setPhase(forged, corev1.VolumeReleased)
	c := s.claim("other", s.selectNode)
	volume := s.volumeOf(c)
	s.release(c, volume)
	s.deleted(volume)
	if !exists(precious) {
		t.Error("a folder that the provisioner did not make was deleted")
	}
	if _, err := s.client.CoreV1().PersistentVolumes().Get(t.Context(), forged.Name, metav1.GetOptions{}); err != nil {
		t.Errorf("the volume with a forged path: %v", err)
	}
}

func TestGrownClaimGetsItsSize(t *testing.T) {
	s := newScene(t)
	c := s.claim("data", s.selectNode)
	volume := s.volumeOf(c)
	c = s.bind(c, volume)
	c.Spec.Resources.Requests = storage("3Gi")
	if _, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the claim's capacity to be 3Gi", func() (bool, error) {
		now, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Get(t.Context(), c.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return now.Status.Capacity.Storage().String() == "3Gi", fmt.Errorf("it is %s", now.Status.Capacity.Storage())
	})
	volume, err := s.client.CoreV1().PersistentVolumes().Get(t.Context(), volume.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := volume.Spec.Capacity.Storage().String(); got != "3Gi" {
		t.Errorf("the volume's capacity is %s, want 3Gi", got)
	}
}

func TestWorkIsTakenUpAgainAfterAnInterruption(t *testing.T) {
	s := newScene(t)
	c := s.claim("released", s.selectNode)
	released := s.volumeOf(c)
	s.stop()
	s.release(c, released)
	// As if it had been killed between the folder and the volume.
	halfway := s.claim("halfway", s.selectNode)
	if err := os.MkdirAll(filepath.Join(s.nodes, s.node, "volumes", "pvc-"+string(halfway.UID)), 0o700); err != nil {
		t.Fatal(err)
	}
	s.start()
	volume := s.volumeOf(halfway)
	if info, err := os.Stat(volume.Spec.Local.Path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder made before the interruption: %v, %v", info, err)
	}
	s.deleted(released)
}

func TestUserIsToldWhyAClaimIsNotServed(t *testing.T) {
	s := newScene(t)
	tests := map[string]struct {
		claim *corev1.PersistentVolumeClaim
		want  string
	}{
		"shared": {
			claim: s.claim("shared", func(c *corev1.PersistentVolumeClaim) {
				c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
			}),
			want: "a volume of the lab is on one node: use the access mode ReadWriteOnce, not ReadWriteMany",
		},
		"node gone": {
			claim: s.claim("gone", func(c *corev1.PersistentVolumeClaim) { c.Annotations[selectedNode] = "no-such-node" }),
			want:  `nodes "no-such-node" not found`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s.eventually("an event with the reason", func() (bool, error) {
				events, err := s.client.CoreV1().Events(s.namespace).List(t.Context(), metav1.ListOptions{
					FieldSelector: fields.Set{"involvedObject.name": tt.claim.Name, "reason": "ProvisioningFailed"}.String(),
				})
				if err != nil || len(events.Items) == 0 {
					return false, err
				}
				if got := events.Items[0].Message; got != tt.want {
					t.Fatalf("the event says %q, want %q", got, tt.want)
				}
				return true, nil
			})
		})
	}
}
