// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Effect is a write on its way to the API server, or a change on its way to etcd.
type Effect struct {
	Verb   string
	Object client.Object
	// From is what is there before, if anything.
	From client.Object
	// Guarded effects insist on the object, or the version of it, that was seen.
	Guarded bool
}

func (e Effect) String() string {
	return fmt.Sprintf("%s %s %s", e.Verb, kindNames[KindOf(e.Object)], e.Object.GetName())
}

// Client is the API server as a program sees it.
type Client struct {
	client.Client // what is not used by the operator is not here: calling it panics

	Kube *Kube
	// Through lets a write happen, or not. It returns what the caller sees.
	Through func(e Effect, apply func() error) error
	// Fail is asked before every read; nil for none.
	Fail func() error
}

// How long the API server takes.
const (
	readTakes  = time.Millisecond
	writeTakes = 2 * time.Millisecond
)

// Get implements client.Reader.
func (c *Client) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	c.Kube.Loop.Run(readTakes)
	if c.Fail != nil {
		if err := c.Fail(); err != nil {
			return err
		}
	}
	return getFrom(c.Kube.objects[KindOf(into)], key.Name, into)
}

// List implements client.Reader.
func (c *Client) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	c.Kube.Loop.Run(readTakes)
	if c.Fail != nil {
		if err := c.Fail(); err != nil {
			return err
		}
	}
	return listFrom(&c.Kube.objects, into, options)
}

// getFrom shares what is below the object's top, which saves most of the time that
// reading takes. A reader that changed that would change what is stored; the operator
// changes copies only, which Sealed proves.
func getFrom(list []client.Object, name string, into client.Object) error {
	i, ok := search(list, name)
	if !ok {
		return apierrors.NewNotFound(resource(KindOf(into)), name)
	}
	switch o := into.(type) {
	case *v1beta2.EtcdCluster:
		*o = *list[i].(*v1beta2.EtcdCluster)
	case *corev1.Pod:
		*o = *list[i].(*corev1.Pod)
	case *corev1.PersistentVolumeClaim:
		*o = *list[i].(*corev1.PersistentVolumeClaim)
	case *corev1.Service:
		*o = *list[i].(*corev1.Service)
	case *policyv1.PodDisruptionBudget:
		*o = *list[i].(*policyv1.PodDisruptionBudget)
	case *networkingv1.NetworkPolicy:
		*o = *list[i].(*networkingv1.NetworkPolicy)
	case *corev1.Node:
		*o = *list[i].(*corev1.Node)
	case *corev1.Secret:
		*o = *list[i].(*corev1.Secret)
	case *v1beta2.EtcdBackup:
		*o = *list[i].(*v1beta2.EtcdBackup)
	case *v1beta2.EtcdRestore:
		*o = *list[i].(*v1beta2.EtcdRestore)
	case *metav1.PartialObjectMetadata:
		o.ObjectMeta = list[i].(*corev1.Secret).ObjectMeta
	default:
		return fmt.Errorf("kubemodel: cannot get a %T", into)
	}
	return nil
}

func listFrom(objects *[kinds][]client.Object, into client.ObjectList, options []client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	matches := func(object client.Object) bool {
		return o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(object.GetLabels()))
	}
	switch list := into.(type) {
	case *corev1.PodList:
		list.Items = make([]corev1.Pod, 0, len(objects[Pods]))
		for _, object := range objects[Pods] {
			if matches(object) {
				list.Items = append(list.Items, *object.(*corev1.Pod))
			}
		}
	case *corev1.PersistentVolumeClaimList:
		list.Items = make([]corev1.PersistentVolumeClaim, 0, len(objects[Claims]))
		for _, object := range objects[Claims] {
			if matches(object) {
				list.Items = append(list.Items, *object.(*corev1.PersistentVolumeClaim))
			}
		}
	default:
		return listResources(objects, into)
	}
	return nil
}

func (c *Client) through(verb string, object client.Object, guarded bool, apply func() error) error {
	c.Kube.Loop.Run(writeTakes)
	return c.Through(Effect{Verb: verb, Object: object, From: c.Kube.Find(KindOf(object), object.GetName()), Guarded: guarded}, func() error {
		if err := c.Kube.refusal(verb, object); err != nil {
			return err
		}
		if verb == "create" || verb == "patch" || verb == "resize" {
			if err := validate(object); err != nil {
				return err
			}
		}
		return apply()
	})
}

// Create implements client.Writer.
func (c *Client) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return c.through("create", object, true, func() error { return c.Kube.Create(object) })
}

// Update implements client.Writer.
func (c *Client) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return c.through("update", object, object.GetResourceVersion() != "", func() error { return c.Kube.Replace(object, false) })
}

// Delete implements client.Writer.
func (c *Client) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(options)
	guarded := o.Preconditions != nil && o.Preconditions.UID != nil
	return c.through("delete", object, guarded, func() error { return c.Kube.Delete(KindOf(object), object.GetName(), o.Preconditions) })
}

// Patch implements client.Writer.
func (c *Client) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return c.patch("patch", object, patch)
}

func (c *Client) patch(verb string, object client.Object, patch client.Patch) error {
	guarded := insists(patch)
	return c.through(verb, object, guarded, func() error { return c.merge(object, patch, guarded) })
}

// insists reports whether a patch names the version that it was made from. Making it
// would tell as well, and take most of the time that a step takes.
func insists(patch client.Patch) bool {
	v := reflect.ValueOf(patch)
	if v.Kind() != reflect.Pointer {
		return false
	}
	options := v.Elem().FieldByName("opts")
	return options.IsValid() && options.FieldByName("OptimisticLock").Bool()
}

// merge applies a merge patch. One that insists on the version it was made from does
// to it exactly what was done to the object at hand, which spares the work.
func (c *Client) merge(object client.Object, patch client.Patch, guarded bool) error {
	if guarded {
		return c.Kube.Replace(object, false)
	}
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	current := c.Kube.Find(KindOf(object), object.GetName())
	if current == nil {
		return apierrors.NewNotFound(resource(KindOf(object)), object.GetName())
	}
	next, err := mergePatch(current, data)
	if err != nil {
		return err
	}
	return c.Kube.Replace(next, false)
}

// mergePatch applies an RFC 7386 patch to an object.
func mergePatch(object client.Object, patch []byte) (client.Object, error) {
	content, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var target, change map[string]any
	if err := errors.Join(json.Unmarshal(content, &target), json.Unmarshal(patch, &change)); err != nil {
		return nil, err
	}
	if content, err = json.Marshal(merged(target, change)); err != nil {
		return nil, err
	}
	next := reflect.New(reflect.TypeOf(object).Elem()).Interface().(client.Object)
	return next, json.Unmarshal(content, next)
}

func merged(target, change map[string]any) map[string]any {
	for key, value := range change {
		inner, isMap := value.(map[string]any)
		switch old, wasMap := target[key].(map[string]any); {
		case value == nil:
			delete(target, key)
		case isMap && wasMap:
			target[key] = merged(old, inner)
		default:
			target[key] = value
		}
	}
	return target
}

// Status implements client.StatusClient.
func (c *Client) Status() client.SubResourceWriter { return statusWriter{c: c} }

// SubResource implements client.SubResourceClientConstructor.
func (c *Client) SubResource(name string) client.SubResourceClient {
	if name != "resize" {
		panic("kubemodel: no subresource " + name)
	}
	return resizer{c: c}
}

type statusWriter struct {
	client.SubResourceWriter
	c *Client
}

func (s statusWriter) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return s.c.through("status", object, object.GetResourceVersion() != "", func() error { return s.c.Kube.Replace(object, true) })
}

type resizer struct {
	client.SubResourceClient
	c *Client
}

func (r resizer) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	pod, old := object.(*corev1.Pod), r.c.Kube.Pod(object.GetName())
	if old != nil && old.ResourceVersion == pod.ResourceVersion && !canResize(old, pod) {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), pod.Name, field.ErrorList{
			field.Forbidden(field.NewPath("spec"), "only cpu and memory resources are mutable"),
		})
	}
	return r.c.patch("resize", object, patch)
}

// canResize reports whether nothing but CPU and memory of containers differs.
func canResize(before, after *corev1.Pod) bool {
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, pod := range []*corev1.Pod{before, after} {
		for i := range pod.Spec.Containers {
			for _, list := range []corev1.ResourceList{pod.Spec.Containers[i].Resources.Requests, pod.Spec.Containers[i].Resources.Limits} {
				delete(list, corev1.ResourceCPU)
				delete(list, corev1.ResourceMemory)
			}
		}
	}
	return equality.Semantic.DeepEqual(before.Spec, after.Spec)
}

func (k *Kube) minAvailable(budget string) *int {
	b := k.Find(Budgets, budget).(*policyv1.PodDisruptionBudget)
	if b.Spec.MinAvailable == nil {
		return nil
	}
	n := b.Spec.MinAvailable.IntValue()
	return &n
}
