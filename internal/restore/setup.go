// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/restore/act"
	"github.com/etcd-operator/etcd-operator/internal/restore/report"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/scope"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// workers reconcile; none of them ever waits for a store.
const workers = 4

// Options are what the user chose for the whole operator.
type Options struct {
	// Scope says which objects the operator serves.
	Scope scope.Scope
	// Namespace and PodName are those of the operator's own pod.
	Namespace, PodName string
	// ServeAddr is where backups are served to members.
	ServeAddr string
	// MaxConcurrent is how many backups are read, and how many are served, at once, and MaxOfNamespace how many of one
	// namespace, where the operator serves several.
	MaxConcurrent, MaxOfNamespace int
	// FileRoot is the folder of the stores of type File. Empty means that there are none.
	FileRoot string
	// Clock is nil for the real time.
	Clock clock.PassiveClock
	// Permissions are what endpoints of objects may lead to, and what they may use.
	Permissions kind.Permissions
	// Transport carries requests to stores; nil for the network.
	Transport http.RoundTripper
}

// slots are for as many at once as the options say.
func (o *Options) slots() *job.Slots {
	if o.MaxOfNamespace < 1 || !o.Scope.ServesOtherNamespaces() {
		return job.NewSlots(o.MaxConcurrent, o.MaxConcurrent)
	}
	return job.NewSlots(o.MaxConcurrent, o.MaxOfNamespace)
}

// port is that of ServeAddr.
func (o *Options) port() (int, error) {
	_, text, err := net.SplitHostPort(o.ServeAddr)
	if err != nil {
		return 0, fmt.Errorf("-serve-addr %q is no address and port: %w", o.ServeAddr, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("-serve-addr %q has no port as a number: %w", o.ServeAddr, err)
	}
	return port, nil
}

// Parts are what the operator consists of.
type Parts struct {
	Reconciler reconcile.Reconciler
	// Server gives backups to members.
	Server *serve.Server
	// Runnables have to run beside the reconciler and the server.
	Runnables []manager.Runnable
	// Ended is notified of the objects whose checks have ended.
	Ended <-chan event.GenericEvent
	// RestoresOf are the objects that a change of an EtcdCluster matters to.
	RestoresOf func(ctx context.Context, cluster client.Object) []reconcile.Request
}

// NewParts returns the parts of the operator. Secrets are read from the API server itself.
func NewParts(cached client.Client, live client.Reader, recorder events.EventRecorder, o Options) (*Parts, error) {
	if o.MaxConcurrent < 1 {
		return nil, fmt.Errorf("at least one restore has to be possible at once, not %d", o.MaxConcurrent)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	port, err := o.port()
	if err != nil {
		return nil, err
	}
	backups := &serve.Backups{Secrets: live, OtherNamespaces: o.Scope.ServesOtherNamespaces(), FileRoot: o.FileRoot, Permissions: o.Permissions, Transport: o.Transport}
	identity := serve.NewIdentityKeeper(cached, live, o.Namespace)
	front := &serve.Front{Client: cached, Live: live, Namespace: o.Namespace, Pod: o.PodName, TargetPort: port}
	checks := act.NewChecks(o.slots(), backups)
	reporter := &report.Reporter{Client: cached, Events: recorder}
	server := &serve.Server{
		Client: cached, Scope: o.Scope, Backups: backups, Identity: identity,
		Address: o.ServeAddr, Slots: o.slots(), Fetched: reporter.Fetched, Replaced: reporter.Replaced,
	}
	c := &reconciler{
		cached: cached, live: live, clock: o.Clock, checks: checks, reporter: reporter, options: o,
		actor: &act.Actor{
			Client: cached, Checks: checks,
			Tickets: &serve.Tickets{Client: cached, Live: live, Identity: identity, Front: front},
		},
	}
	return &Parts{
		Reconciler: c, Server: server, Runnables: []manager.Runnable{identity, checks, front}, Ended: checks.Ended(), RestoresOf: c.restoresOf,
	}, nil
}

// SetupWithManager adds the controller of EtcdRestore, and the server of backups, to the manager.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	parts, err := NewParts(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("etcd-restore-operator"), o)
	if err != nil {
		return err
	}
	for _, runnable := range append(parts.Runnables, parts.Server) {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding %T: %w", runnable, err)
		}
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named("etcdrestore").
		For(&v1beta2.EtcdRestore{}, builder.WithPredicates(o.Scope.Predicate())).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(parts.RestoresOf), builder.WithPredicates(endsMetrics())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WatchesRawSource(source.Channel(parts.Ended, &handler.EnqueueRequestForObject{})).
		Complete(parts.Reconciler)
	if err != nil {
		return fmt.Errorf("adding the controller of EtcdRestore: %w", err)
	}
	return nil
}

// endsMetrics drops the metrics of clusters that are deleted. It lets everything pass.
func endsMetrics() predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		report.ForgetCluster(client.ObjectKeyFromObject(e.Object))
		return true
	}}
}
