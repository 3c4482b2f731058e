// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// comingFromCoreOS reads the page for users of the original and its fork.
func comingFromCoreOS(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(repository.Root(), "docs", "coming-from-coreos.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// A program of a user is rewritten by the commands on the page, compiled against our module, and run.
func TestAProgramForTheOriginalWorksAfterTheRewriteOfItsImports(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(comingFromCoreOS(t))
	if block == nil {
		t.Fatal("the page has no commands")
	}
	source, err := os.ReadFile("testdata/original/client.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	rewrite := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", block[1])
	rewrite.Dir = dir
	if out, err := rewrite.CombinedOutput(); err != nil {
		t.Fatalf("the commands of the page: %v\n%s", err, out)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "client"), file)
	build.Dir = repository.Root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("compiling the program: %v\n%s", err, out)
	}

	namespace := server.NewNamespace(t)
	run := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(dir, "client"), namespace)
	run.Env = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig())
	program := harness.Start(t, run)
	playOperator(t, namespace)
	if code := program.AwaitEnd(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if want := "scaled to 5 with TLS for clients: false"; !strings.Contains(program.Output(), want) {
		t.Errorf("the output does not contain %q:\n%s", want, program.Output())
	}
}

// playOperator gives the cluster in a namespace the status of one that serves.
func playOperator(t *testing.T, namespace string) {
	t.Helper()
	api := clientset(t).EtcdV1beta2().EtcdClusters(namespace)
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		list, err := api.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("there are %d clusters, want 1", len(list.Items))
		}
		cluster := &list.Items[0]
		cluster.Status.SetPhase(v1beta2.ClusterPhaseRunning)
		cluster.Status.ServiceName = cluster.Name + "-client"
		cluster.Status.Members.Ready = []string{"a", "b", "c"}
		_, err = api.UpdateStatus(ctx, cluster, metav1.UpdateOptions{})
		return err
	})
}

// A row of the page is only as true as the test that it names.
func TestThePageForUsersOfTheOriginalNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(repository.Root(), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "_out" || entry.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, match := range test.FindAllStringSubmatch(string(source), -1) {
			declared[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(comingFromCoreOS(t), -1)
	if len(named) == 0 {
		t.Error("the page names no test")
	}
	for _, match := range named {
		if !declared[match[1]] {
			t.Errorf("the page names %s, which does not exist", match[1])
		}
	}
}
