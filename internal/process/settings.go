// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// The environment that the pod's manifest has to provide.
const (
	namespaceEnv = "MY_POD_NAMESPACE"
	podNameEnv   = "MY_POD_NAME"
)

// Settings are what the user chose by flags and environment.
type Settings struct {
	// Namespace is where the operator runs.
	Namespace string
	// PodName is the name of the operator's own pod.
	PodName string
	// ClusterWide says that the operator serves the objects of all namespaces
	// which carry the scope annotation, instead of its own namespace's.
	ClusterWide bool
	// WatchNamespaces are the namespaces whose objects the operator serves, instead of its own namespace's. It is empty
	// unless the user gave a list.
	WatchNamespaces []string
	// ListenAddr is where HTTP is served.
	ListenAddr string
	// MetricsAddr is where metrics are served in addition; empty for nowhere. With -metrics-secure they are served there only.
	MetricsAddr string

	serveUnannotated bool
	// selector is nil unless the user gave one.
	selector labels.Selector

	metricsSecure  bool
	metricsCertDir string

	createCRD   bool
	showVersion bool
	logLevel    slog.Level
	logFormat   logFormat
}

// logFormat is how log lines look.
type logFormat string

const (
	logJSON logFormat = "json"
	logText logFormat = "text"
)

// UnmarshalText implements encoding.TextUnmarshaler, for a flag.
func (f *logFormat) UnmarshalText(text []byte) error {
	switch given := logFormat(strings.ToLower(string(text))); given {
	case logJSON, logText:
		*f = given
		return nil
	}
	return fmt.Errorf("%q is neither %s nor %s", text, logJSON, logText)
}

// MarshalText implements encoding.TextMarshaler, for the help.
func (f logFormat) MarshalText() ([]byte, error) { return []byte(f), nil }

// parse reads the command line. Where -h is given it prints the help and returns flag.ErrHelp.
func (o Operator) parse(args []string, help io.Writer) (Settings, error) {
	var s Settings
	fs := flag.NewFlagSet(o.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}

	fs.StringVar(&s.ListenAddr, "listen-addr", o.ListenAddr, "`address` on which /metrics, /healthz and /readyz are served")
	fs.BoolVar(&s.createCRD, "create-crd", true,
		fmt.Sprintf("create or upgrade the CRD %s at startup; with false, wait until it is installed", o.CRD.Name))
	fs.BoolVar(&s.ClusterWide, "cluster-wide", false,
		fmt.Sprintf("serve the objects in all namespaces that have the annotation %s: %s, and no others",
			v1beta2.AnnotationScope, v1beta2.AnnotationClusterWide))
	fs.Func("watch-namespaces", "serve the objects in these `namespaces`, separated by commas, and not those in the operator's own unless it is among them",
		func(list string) (err error) {
			s.WatchNamespaces, err = parseNamespaces(list)
			return err
		})
	fs.Func("selector", "serve only the objects whose labels match this label `selector`, such as team=a, and leave the others to another operator",
		func(text string) (err error) {
			s.selector, err = labels.Parse(text)
			return err
		})
	if o.MayServeAll {
		fs.BoolVar(&s.serveUnannotated, "serve-unannotated", false,
			"with -cluster-wide, serve the objects in all namespaces that have no such annotation too; no other operator of the kind may run beside it")
	}
	fs.StringVar(&s.MetricsAddr, "metrics-addr", o.MetricsAddr,
		"second `address` on which /metrics is served; empty for none. With -metrics-secure it is the only one, and by default "+secureMetricsAddr)
	fs.BoolVar(&s.metricsSecure, "metrics-secure", false,
		"serve /metrics on -metrics-addr only, over TLS, to whom Kubernetes allows get on the URL /metrics; create_role.sh --metrics-secure grants what this takes")
	fs.StringVar(&s.metricsCertDir, "metrics-cert-dir", "", "`folder` with tls.crt and tls.key for -metrics-secure; without it, the certificate is self-signed")
	fs.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "lowest `level` to log: DEBUG, INFO, WARN or ERROR")
	fs.TextVar(&s.logFormat, "log-format", logJSON, "`format` of log lines: json or text")
	fs.BoolVar(&s.showVersion, "version", false, "print the version and exit")
	if o.Flags != nil {
		o.Flags(fs)
	}

	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		o.printHelp(fs, help)
		return s, err
	case err != nil:
		return s, err
	case fs.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q: there are only flags", fs.Arg(0))
	}
	if err := s.contradiction(); err != nil {
		return s, err
	}
	if s.metricsSecure && s.MetricsAddr == "" {
		s.MetricsAddr = secureMetricsAddr
	}
	return s, nil
}

// contradiction is what is wrong with flags that are right one by one.
func (s Settings) contradiction() error {
	switch {
	case s.ClusterWide && len(s.WatchNamespaces) > 0:
		return errors.New("-cluster-wide serves all namespaces and -watch-namespaces only some: leave one of them out")
	case s.serveUnannotated && len(s.WatchNamespaces) > 0:
		return errors.New("-serve-unannotated is for -cluster-wide: with -watch-namespaces, objects are served that have no annotation")
	case s.serveUnannotated && !s.ClusterWide:
		return errors.New("-serve-unannotated needs -cluster-wide: without it, objects of the operator's own namespace are served that have no annotation")
	case s.metricsCertDir != "" && !s.metricsSecure:
		return errors.New("-metrics-cert-dir needs -metrics-secure: without it, metrics are served without TLS")
	}
	return nil
}

// Scope is which objects the operator serves.
func (s Settings) Scope() scope.Scope {
	served := scope.Namespaced
	switch {
	case s.serveUnannotated:
		served = scope.All
	case s.ClusterWide:
		served = scope.Annotated
	case len(s.WatchNamespaces) > 0:
		served = scope.Listed
	}
	return served.Selecting(s.selector)
}

// Served are the namespaces whose objects the operator serves; none stands for all.
func (s Settings) Served() []string {
	switch {
	case s.ClusterWide:
		return nil
	case len(s.WatchNamespaces) > 0:
		return s.WatchNamespaces
	}
	return []string{s.Namespace}
}

// parseNamespaces reads a list of namespaces. They end up in URLs, so that each has to be a name.
func parseNamespaces(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if problems := validation.IsDNS1123Label(names[i]); len(problems) > 0 {
			return nil, fmt.Errorf("%q is not the name of a namespace: %s", names[i], problems[0])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (o Operator) printHelp(fs *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s [flags]\n\n", o.Summary, o.Name)
	fs.SetOutput(w)
	fs.PrintDefaults()
	fmt.Fprintf(w, `
Environment:
  %s  (required) namespace of the operator's pod
  %s       (required) name of the operator's pod
  KUBECONFIG        kubeconfig file, for use outside of Kubernetes
`, namespaceEnv, podNameEnv)
}

// readEnvironment takes the pod's namespace and name from the environment.
func (s *Settings) readEnvironment(getenv func(string) string) error {
	s.Namespace, s.PodName = getenv(namespaceEnv), getenv(podNameEnv)
	var missing []string
	if s.Namespace == "" {
		missing = append(missing, namespaceEnv+" (to the namespace of the operator's pod, in a manifest: fieldRef metadata.namespace)")
	}
	if s.PodName == "" {
		missing = append(missing, podNameEnv+" (to the name of the operator's pod, in a manifest: fieldRef metadata.name)")
	}
	if len(missing) > 0 {
		return fmt.Errorf("set the environment variable %s; example/deployment.yaml shows how", strings.Join(missing, " and "))
	}
	return nil
}

// restConfig finds the API server: by KUBECONFIG where that is set, else as a pod.
// There is no fallback to the user's own kubeconfig: a program that changes clusters
// must not choose one by accident.
func restConfig(getenv func(string) string) (*rest.Config, error) {
	cfg, err := findCluster(getenv)
	if err != nil {
		return nil, err
	}
	// The API server itself sees to fairness among its clients; a limit here
	// would only hold one cluster up because of another.
	cfg.QPS = -1
	return cfg, nil
}

func findCluster(getenv func(string) string) (*rest.Config, error) {
	if path := getenv(clientcmd.RecommendedConfigPathEnvVar); path != "" {
		cfg, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			return nil, fmt.Errorf("reading the kubeconfig that KUBECONFIG names: %w", err)
		}
		return cfg, nil
	}
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API server: run this program in a pod, or set KUBECONFIG to a kubeconfig file: %w", err)
	}
	return cfg, nil
}
