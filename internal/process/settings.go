// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// The environment that the pod's manifest has to provide.
const (
	namespaceEnv = "MY_POD_NAMESPACE"
	podNameEnv   = "MY_POD_NAME"
)

// Settings are what the user chose by flags and environment.
type Settings struct {
	// Namespace is where the operator runs. Unless ClusterWide, it serves objects in no other.
	Namespace string
	// PodName is the name of the operator's own pod.
	PodName string
	// ClusterWide says that the operator serves the objects of all namespaces
	// which carry the scope annotation, instead of its own namespace's.
	ClusterWide bool
	// ListenAddr is where HTTP is served.
	ListenAddr string

	createCRD   bool
	showVersion bool
	logLevel    slog.Level
}

// parse reads the command line. Where -h is given it prints the help and returns flag.ErrHelp.
func (o Operator) parse(args []string, help io.Writer) (Settings, error) {
	var s Settings
	fs := flag.NewFlagSet(o.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}

	fs.StringVar(&s.ListenAddr, "listen-addr", o.ListenAddr, "`address` on which /metrics, /healthz and /readyz are served")
	fs.BoolVar(&s.createCRD, "create-crd", true,
		fmt.Sprintf("create or upgrade the CRD %s at start; with false, wait until somebody else has", o.CRD.Name))
	fs.BoolVar(&s.ClusterWide, "cluster-wide", false,
		fmt.Sprintf("serve the objects of all namespaces that carry the annotation %s: %s, and no others",
			v1beta2.AnnotationScope, v1beta2.AnnotationClusterWide))
	fs.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "least `level` that is logged: DEBUG, INFO, WARN or ERROR")
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
	return s, nil
}

func (o Operator) printHelp(fs *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s [flags]\n\n", o.Summary, o.Name)
	fs.SetOutput(w)
	fs.PrintDefaults()
	fmt.Fprintf(w, `
Environment:
  %s  (required) namespace of the operator's pod
  %s       (required) name of the operator's pod
  KUBECONFIG        kubeconfig file for use outside of a cluster
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
