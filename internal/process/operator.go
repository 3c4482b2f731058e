// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package process is what the three operators have in common as programs: their
// flags and environment, logs, the HTTP endpoints, the leader election, the
// start of their CRD and caches, and a clean end.
//
// The life of one process:
//
//	flags, environment ──▶ HTTP on -listen-addr ──▶ own CRD ──▶ caches ──▶ standby ──▶ leader
//	                       /healthz is 200                      /readyz turns 200
//
// The HTTP server comes first, so that /readyz reports from the beginning what the process is waiting for.
package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// Exit codes. A wrong command line is distinguished from a failure at work, because
// only the first is for the person who wrote the manifest to correct.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// stopPatience is how long the controllers have to finish their work after SIGTERM. It is half of the 30 s that Kubernetes gives a pod by default,
// which leaves time to hand the lease over.
const stopPatience = 15 * time.Second

// Operator is what is particular to one of the operators.
type Operator struct {
	// Name of the binary. It is the name of the leader election's Lease as well.
	Name string
	// Summary is the sentence that -h begins with.
	Summary string
	// ListenAddr is the default of -listen-addr.
	ListenAddr string
	// MetricsAddr is the default of -metrics-addr.
	MetricsAddr string
	// MayServeAll says that there is the flag -serve-unannotated.
	MayServeAll bool
	// CRD is the definition that this operator creates and upgrades.
	CRD *apiextensionsv1.CustomResourceDefinition
	// AlsoCRDs are definitions of other operators that this one cannot do without. It creates and
	// upgrades them as well, so that it does not matter which operator is started first.
	AlsoCRDs []*apiextensionsv1.CustomResourceDefinition
	// Kind is an empty object of the kind that this operator serves.
	Kind client.Object
	// Flags registers the flags that only this operator has. It may be nil.
	Flags func(*flag.FlagSet)
	// CacheByObject narrows what the caches hold, by kind. It may be nil.
	CacheByObject map[client.Object]cache.ByObject
	// CoreEvents says that the operator writes events of the core API group, as the original did, and has
	// no right to write those of events.k8s.io.
	CoreEvents bool
	// Setup adds the controllers to the manager. It may be nil.
	Setup func(context.Context, ctrl.Manager, Settings) error
}

// Main runs the operator as this process and ends the process.
func (o Operator) Main() {
	ctx, restoreSignals := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// The first signal asks for a clean end; a second one kills.
	context.AfterFunc(ctx, restoreSignals)
	os.Exit(o.Run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// Run is Main without the global state: it returns the exit code.
func (o Operator) Run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	settings, err := o.parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\nRun %s -h for the flags.\n", o.Name, err, o.Name)
		return exitUsage
	case settings.showVersion:
		fmt.Fprint(stdout, versionText(o.Name))
		return exitOK
	}
	if err := settings.readEnvironment(getenv); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", o.Name, err)
		return exitUsage
	}

	logger := setUpLogs(stderr, settings)
	logger.Info("Starting", "operator", o.Name, "version", version, "gitSHA", gitSHA,
		"namespace", settings.Namespace, "pod", settings.PodName, "clusterWide", settings.ClusterWide, "serves", settings.Served())
	limitMemory(logger, os.DirFS("/"), getenv)

	cfg, err := restConfig(getenv)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", o.Name, err)
		return exitUsage
	}
	if err := o.serve(ctx, cfg, settings, logger); err != nil {
		logger.Error(err, "Stopping because of an error")
		return exitFailed
	}
	logger.Info("Stopped")
	return exitOK
}

// serve answers HTTP and does the operator's work until ctx ends.
func (o Operator) serve(ctx context.Context, cfg *rest.Config, s Settings, logger logr.Logger) error {
	ready := newReadiness()
	servers, err := newServers(cfg, s, ready, logger)
	if err != nil {
		return fmt.Errorf("preparing the HTTP server: %w", err)
	}

	// HTTP outlives the work, so that a process which is finishing can still be asked.
	httpCtx, stopHTTP := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	for _, serve := range servers {
		group.Go(func() error { return serve(httpCtx) })
	}
	group.Go(func() error {
		defer stopHTTP()
		return o.work(ctx, cfg, s, ready, logger)
	})
	return group.Wait()
}

// work brings the CRD into place and then runs the controllers until ctx ends or
// the leadership is lost.
func (o Operator) work(ctx context.Context, cfg *rest.Config, s Settings, ready *readiness, logger logr.Logger) error {
	if err := awaitKubernetes(ctx, cfg, ready, logger); err != nil {
		return unlessEnded(ctx, err)
	}
	for _, crd := range append([]*apiextensionsv1.CustomResourceDefinition{o.CRD}, o.AlsoCRDs...) {
		if err := awaitCRD(ctx, cfg, crd, s, ready, logger); err != nil {
			return unlessEnded(ctx, err)
		}
	}

	ready.waitFor("the caches of the Kubernetes API are being filled")
	mgr, err := o.newManager(cfg, s, logger)
	if err != nil {
		return err
	}
	if o.Setup != nil {
		if err := o.Setup(ctx, mgr, s); err != nil {
			return unlessEnded(ctx, fmt.Errorf("setting up the controllers: %w", err))
		}
	}
	warn, err := o.warner(mgr, s)
	if err != nil {
		return err
	}
	if err := scope.Report(mgr, s.Scope(), o.Kind, warn); err != nil {
		return err
	}
	if err := mgr.Add(everyReplica(func(ctx context.Context) error {
		// The informer exists from here on, also where no controller watches the kind.
		if _, err := mgr.GetCache().GetInformer(ctx, o.Kind); err != nil && ctx.Err() == nil {
			return fmt.Errorf("watching %s: %w", o.CRD.Name, err)
		}
		ready.watch(mgr.GetCache())
		return nil
	})); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the controllers: %w", err)
	}
	return nil
}

func (o Operator) newManager(cfg *rest.Config, s Settings, logger logr.Logger) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering API kinds: %w", err)
		}
	}
	lock, err := newLease(cfg, s.Namespace, o.Name, s.PodName, logger)
	if err != nil {
		return nil, err
	}
	options := manager.Options{
		Scheme: scheme,
		Logger: logger,
		Cache: cache.Options{
			ByObject: o.CacheByObject,
			// Nothing here reads managedFields, and they are a large part of small objects.
			DefaultTransform: cache.TransformStripManagedFields(),
		},
		Metrics:                             metricsserver.Options{BindAddress: "0"}, // serve has its own, which starts earlier
		LeaderElection:                      true,
		LeaderElectionID:                    o.Name,
		LeaderElectionNamespace:             s.Namespace,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       ptr.To(leaseDuration),
		RenewDeadline:                       ptr.To(renewDeadline),
		RetryPeriod:                         ptr.To(retryPeriod),
		GracefulShutdownTimeout:             ptr.To(stopPatience),
		// A standby fills its caches before it leads, so that it takes over at once.
		Controller: config.Controller{EnableWarmup: ptr.To(true)},
	}
	for _, namespace := range s.Served() {
		if options.Cache.DefaultNamespaces == nil {
			options.Cache.DefaultNamespaces = map[string]cache.Config{}
		}
		options.Cache.DefaultNamespaces[namespace] = cache.Config{}
	}
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return nil, fmt.Errorf("preparing the controllers: %w", err)
	}
	return mgr, nil
}

// unlessEnded is the error, unless the process was asked to end: then it is no failure.
func unlessEnded(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// everyReplica is a runnable that does not wait for leadership.
type everyReplica func(context.Context) error

// Start implements manager.Runnable.
func (f everyReplica) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everyReplica) NeedLeaderElection() bool { return false }

// setUpLogs makes one stream of lines of our own logs and of those of the libraries.
func setUpLogs(w io.Writer, s Settings) logr.Logger {
	options := &slog.HandlerOptions{Level: s.logLevel}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if s.logFormat == logText {
		handler = slog.NewTextHandler(w, options)
	}
	logger := logr.FromSlogHandler(handler)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return logger
}
