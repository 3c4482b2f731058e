// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// apiClient is the client of a manager: it reads from the cache and writes to the API server.
type apiClient struct {
	client.Client // what is not used by the operators is not here: calling it panics

	p *process
}

func keyOf(verb string, object client.Object, name string) string {
	return fmt.Sprintf("api %s %d %s", verb, kubemodel.KindOf(object), name)
}

// Get implements client.Reader.
func (c apiClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	return c.p.run(ctx, keyOf("get", into, key.Name), func() error { return c.p.cache.Get(ctx, key, into, o...) })
}

// List implements client.Reader.
func (c apiClient) List(ctx context.Context, into client.ObjectList, o ...client.ListOption) error {
	return c.p.run(ctx, "api list", func() error { return c.p.cache.List(ctx, into, o...) })
}

// Create implements client.Writer.
func (c apiClient) Create(ctx context.Context, object client.Object, o ...client.CreateOption) error {
	return c.p.run(ctx, keyOf("create", object, object.GetName()), func() error { return c.p.live.Create(ctx, object, o...) })
}

// Update implements client.Writer.
func (c apiClient) Update(ctx context.Context, object client.Object, o ...client.UpdateOption) error {
	return c.p.run(ctx, keyOf("update", object, object.GetName()), func() error { return c.p.live.Update(ctx, object, o...) })
}

// Patch implements client.Writer.
func (c apiClient) Patch(ctx context.Context, object client.Object, patch client.Patch, o ...client.PatchOption) error {
	return c.p.run(ctx, keyOf("patch", object, object.GetName()), func() error { return c.p.live.Patch(ctx, object, patch, o...) })
}

// Delete implements client.Writer.
func (c apiClient) Delete(ctx context.Context, object client.Object, o ...client.DeleteOption) error {
	return c.p.run(ctx, keyOf("delete", object, object.GetName()), func() error { return c.p.live.Delete(ctx, object, o...) })
}

// Status implements client.StatusClient.
func (c apiClient) Status() client.SubResourceWriter { return apiStatus{c: c} }

type apiStatus struct {
	client.SubResourceWriter
	c apiClient
}

// Update implements client.SubResourceWriter.
func (s apiStatus) Update(ctx context.Context, object client.Object, o ...client.SubResourceUpdateOption) error {
	return s.c.p.run(ctx, keyOf("status", object, object.GetName()), func() error { return s.c.p.live.Status().Update(ctx, object, o...) })
}

// Patch implements client.SubResourceWriter.
func (s apiStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
	return s.c.p.run(ctx, keyOf("status", object, object.GetName()), func() error { return s.c.p.live.Status().Patch(ctx, object, patch, o...) })
}

// apiReader reads from the API server itself.
type apiReader struct{ p *process }

// Get implements client.Reader.
func (r apiReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	return r.p.run(ctx, keyOf("get", into, key.Name), func() error { return r.p.live.Get(ctx, key, into, o...) })
}

// List implements client.Reader.
func (r apiReader) List(ctx context.Context, into client.ObjectList, o ...client.ListOption) error {
	return r.p.run(ctx, "api list", func() error { return r.p.live.List(ctx, into, o...) })
}

// recorder is where the events of an operator go.
type recorder struct{ p *process }

// Eventf implements events.EventRecorder.
func (r recorder) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	r.p.b.publish("an event", reason+" "+fmt.Sprintf(note, args...))
}
