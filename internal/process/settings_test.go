// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// anOperator has all that the command line needs of an Operator.
func anOperator() Operator {
	return Operator{
		Name:       "some-operator",
		Summary:    "some-operator looks after things.",
		ListenAddr: "0.0.0.0:8080",
		CRD:        &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"}},
	}
}

// environment is a getenv over a map.
func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestTheCommandLineKeepsTheOriginalsSpellings(t *testing.T) {
	defaults := Settings{ListenAddr: "0.0.0.0:8080", createCRD: true, logFormat: logJSON}
	for name, tc := range map[string]struct {
		args []string
		want func(*Settings)
	}{
		"defaults":                 {nil, func(*Settings) {}},
		"a single dash":            {[]string{"-cluster-wide"}, func(s *Settings) { s.ClusterWide = true }},
		"a double dash":            {[]string{"--cluster-wide=true"}, func(s *Settings) { s.ClusterWide = true }},
		"some namespaces":          {[]string{"-watch-namespaces=b, a,b"}, func(s *Settings) { s.WatchNamespaces = []string{"a", "b"} }},
		"some objects":             {[]string{"-selector=team=a,!old"}, func(s *Settings) { s.selector, _ = labels.Parse("team=a,!old") }},
		"a CRD made by others":     {[]string{"-create-crd=false"}, func(s *Settings) { s.createCRD = false }},
		"another address":          {[]string{"-listen-addr", "127.0.0.1:9"}, func(s *Settings) { s.ListenAddr = "127.0.0.1:9" }},
		"logs for people":          {[]string{"-log-format=text"}, func(s *Settings) { s.logFormat = logText }},
		"more logs, in lower case": {[]string{"-log-level=debug"}, func(s *Settings) { s.logLevel = slog.LevelDebug }},
		"metrics behind TLS": {[]string{"-metrics-secure"}, func(s *Settings) {
			s.metricsSecure, s.MetricsAddr = true, "0.0.0.0:8443"
		}},
		"version": {[]string{"-version"}, func(s *Settings) { s.showVersion = true }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := anOperator().parse(tc.args, &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			want := defaults
			tc.want(&want)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Settings{})); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWrongCommandLineIsRefusedByName(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":           {[]string{"-clusterwide"}, "-clusterwide"},
		"a stray argument":          {[]string{"run"}, `unexpected argument "run"`},
		"a format that is none":     {[]string{"-log-format=xml"}, `"xml" is neither json nor text`},
		"a level that is none":      {[]string{"-log-level=loud"}, "loud"},
		"a bool that is not so":     {[]string{"-create-crd=maybe"}, "maybe"},
		"a certificate for nothing": {[]string{"-metrics-cert-dir=/x"}, "-metrics-cert-dir needs -metrics-secure"},
		"all and some namespaces":   {[]string{"-cluster-wide", "-watch-namespaces=a"}, "-cluster-wide serves all namespaces and -watch-namespaces only some"},
		"no namespace":              {[]string{"-watch-namespaces="}, `"" is not the name of a namespace`},
		"a comma too many":          {[]string{"-watch-namespaces=a,"}, `"" is not the name of a namespace`},
		"no name":                   {[]string{"-watch-namespaces=a,B"}, `"B" is not the name of a namespace`},
		"no selector":               {[]string{"-selector=team:a"}, "-selector"},
		"a flag of others":          {[]string{"-cluster-wide", "-serve-unannotated"}, "-serve-unannotated"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := anOperator().Run(t.Context(), tc.args, environment(nil), &stdout, &stderr)
			if code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			if !strings.Contains(stderr.String(), tc.want) {
				t.Errorf("stderr does not name %q: %s", tc.want, stderr.String())
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout: %s", stdout.String())
			}
		})
	}
}

func TestHelpNamesEveryFlagAndTheEnvironment(t *testing.T) {
	o := anOperator()
	o.Flags = func(fs *flag.FlagSet) { fs.Bool("own-flag", false, "a flag of this operator only") }
	var stdout, stderr bytes.Buffer
	if code := o.Run(t.Context(), []string{"-h"}, environment(nil), &stdout, &stderr); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, want := range []string{
		"some-operator looks after things.", "-listen-addr", "0.0.0.0:8080", "-create-crd", "things.example.com", "-cluster-wide",
		"etcd.database.coreos.com/scope: clusterwide", "-log-level", "-log-format", "-version", "-own-flag", "MY_POD_NAMESPACE", "MY_POD_NAME", "KUBECONFIG",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the help does not name %q:\n%s", want, stdout.String())
		}
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
}

func TestVersionNeedsNoEnvironment(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := anOperator().Run(t.Context(), []string{"-version"}, environment(nil), &stdout, &stderr); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, want := range []string{"some-operator Version: dev\n", "Git SHA: unknown\n", "Go Version: go", "Go OS/Arch: "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("-version does not print %q:\n%s", want, stdout.String())
		}
	}
}

func TestMissingEnvironmentIsToldByNameAndPlace(t *testing.T) {
	for name, tc := range map[string]struct {
		vars    map[string]string
		want    []string
		wantNot string
	}{
		"both":          {nil, []string{"MY_POD_NAMESPACE", "metadata.namespace", "MY_POD_NAME ", "metadata.name)", "example/deployment.yaml"}, "metadata.uid"},
		"the namespace": {map[string]string{"MY_POD_NAME": "p"}, []string{"MY_POD_NAMESPACE"}, "MY_POD_NAME "},
		"the name":      {map[string]string{"MY_POD_NAMESPACE": "n"}, []string{"MY_POD_NAME "}, "MY_POD_NAMESPACE"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := anOperator().Run(t.Context(), nil, environment(tc.vars), &stdout, &stderr); code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			for _, want := range tc.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr does not say %q: %s", want, stderr.String())
				}
			}
			if strings.Contains(stderr.String(), tc.wantNot) {
				t.Errorf("stderr complains about what is set: %s", stderr.String())
			}
		})
	}
}

func TestOutsideAClusterTheAPIServerMustBeNamed(t *testing.T) {
	if _, err := restConfig(environment(nil)); err == nil || !strings.Contains(err.Error(), "set KUBECONFIG") {
		t.Errorf("without a pod's environment: %v, want the advice to set KUBECONFIG", err)
	}
	missing := filepath.Join(t.TempDir(), "kubeconfig")
	if _, err := restConfig(environment(map[string]string{"KUBECONFIG": missing})); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("with a missing kubeconfig: %v, want its path", err)
	}
}

func TestKubeconfigIsUsedWhereItIsSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://example.test:6443"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: x
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := restConfig(environment(map[string]string{"KUBECONFIG": path}))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "https://example.test:6443" {
		t.Errorf("host %q", cfg.Host)
	}
}

func TestFlagsSayWhichObjectsAreServed(t *testing.T) {
	o := anOperator()
	o.MayServeAll = true
	for args, want := range map[string]string{
		"":                                 "Namespaced",
		"-cluster-wide":                    "Annotated",
		"-cluster-wide -serve-unannotated": "All",
		"-serve-unannotated":               "-serve-unannotated needs -cluster-wide",
		"-watch-namespaces=a,b":            "Listed",

		"-watch-namespaces=a -serve-unannotated": "-serve-unannotated is for -cluster-wide",
	} {
		var got string
		s, err := o.parse(strings.Fields(args), &bytes.Buffer{})
		if err != nil {
			got = err.Error()
		} else {
			got = map[scope.Scope]string{scope.Namespaced: "Namespaced", scope.Listed: "Listed", scope.Annotated: "Annotated", scope.All: "All"}[s.Scope()]
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

func TestOnlyTheNamespacesThatAreServedAreWatched(t *testing.T) {
	for args, want := range map[string][]string{"": {"home"}, "-watch-namespaces=b,a": {"a", "b"}, "-watch-namespaces=home,a": {"a", "home"}, "-cluster-wide": nil} {
		s, err := anOperator().parse(strings.Fields(args), &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		s.Namespace = "home"
		if diff := cmp.Diff(want, s.Served()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", args, diff)
		}
	}
}

func TestOnlyOperatorsOfTheForkWithASecondPortHaveOne(t *testing.T) {
	if s, err := anOperator().parse(nil, &bytes.Buffer{}); err != nil || s.MetricsAddr != "" {
		t.Errorf("second address %q, error %v", s.MetricsAddr, err)
	}
	o := anOperator()
	o.MetricsAddr = "0.0.0.0:9091"
	for args, want := range map[string]string{"": "0.0.0.0:9091", "-metrics-addr=": "", "-metrics-addr=:1": ":1"} {
		if s, err := o.parse(strings.Fields(args), &bytes.Buffer{}); err != nil || s.MetricsAddr != want {
			t.Errorf("%q: second address %q, error %v, want %q", args, s.MetricsAddr, err, want)
		}
	}
}
