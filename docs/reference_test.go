// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
	"github.com/etcd-operator/etcd-operator/internal/verify"
)

// sources are the Go files of a folder and those below it, without tests, as one text.
func sources(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// firsts are the first groups of all matches, sorted, each once.
func firsts(pattern, text string) []string {
	var list []string
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Alerts and dashboards of others are built on this page.
func TestThePageOfMetricsHasAllOfThem(t *testing.T) {
	code := sources(t, "internal")
	names := firsts(`Name: +"(etcd_operator_[a-z_]*[a-z])"`, code)
	for _, name := range firsts(`= clusterGauge\("([a-z_]+)"`, code) {
		names = append(names, "etcd_operator_cluster_"+name)
	}
	slices.Sort(names)
	if len(names) < 40 {
		t.Fatalf("the code has only %d metrics: this test no longer finds them", len(names))
	}
	if diff := cmp.Diff(names, firsts("(?m)^\\| `([a-z_]+)` \\| (?:gauge|counter|histogram) \\|", pages(t)["docs/metrics.md"])); diff != "" {
		t.Errorf("the code (-) and docs/metrics.md (+) differ:\n%s", diff)
	}
}

func TestThePageOfSecretsHasEveryFieldAndEntry(t *testing.T) {
	page := pages(t)["docs/secrets.md"]
	fields := firsts(`json:"([a-z]\w*Secrets?)\b`, sources(t, "api/v1beta2"))
	for _, field := range fields {
		// The ticket is the operator's own, and in the status.
		if field != "ticketSecret" && !regexp.MustCompile("(?m)^\\| `(?:[A-Za-z0-9]+\\.)*"+field+"` \\|").MatchString(page) {
			t.Errorf("docs/secrets.md has no row for %s", field)
		}
	}
	if len(fields) < 10 {
		t.Errorf("the API has only %d fields for Secrets: this test no longer finds them", len(fields))
	}

	entries := []string{
		v1beta2.AWSSecretCredentialsFileName, v1beta2.AWSSecretConfigFileName,
		v1beta2.AzureSecretStorageAccount, v1beta2.AzureSecretStorageKey, v1beta2.AzureCloudKey,
		v1beta2.GCPAccessToken, v1beta2.GCPCredentialsJson,
		v1beta2.AlibabaCloudSecretCredentialsAccessKeyID, v1beta2.AlibabaCloudSecretCredentialsAccessKeySecret,
		corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey,
	}
	for _, files := range []manifests.TLSFiles{manifests.PeerFiles, manifests.ServerFiles, manifests.OperatorFiles} {
		entries = append(entries, files.Cert, files.Key, files.CA)
	}
	entries = append(entries, firsts(`(?m)^const caKey = "([^"]+)"`, sources(t, "internal/store"))...)
	entries = append(entries, firsts(`(?m)^\t(?:recipients|identities)Key = "([^"]+)"`, sources(t, "internal/snapshot"))...)
	slices.Sort(entries)
	var listed []string
	for _, table := range regexp.MustCompile(`\| entry \| what it holds \|\n\| --- \| --- \|\n((?:\|.*\n)+)`).FindAllStringSubmatch(page, -1) {
		listed = append(listed, firsts("(?m)^\\| `([^`]+)` \\|", table[1])...)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(entries, listed); diff != "" {
		t.Errorf("the code (-) and docs/secrets.md (+) differ:\n%s", diff)
	}
}

// Scripts rely on the codes.
func TestThePageOfExitCodesHasThoseOfThePrograms(t *testing.T) {
	_, body, _ := strings.Cut(sources(t, "internal/verify/inspect"), "\nfunc Main(")
	body, _, _ = strings.Cut(body, "\n}\n")
	for program, codes := range map[string][]string{
		"kubectl etcd":          firsts(`(?m)^\texit[A-Z]\w+ *= (\d+)$`, sources(t, "cmd/kubectl-etcd/internal/cli")),
		"The operators":         firsts(`(?m)^\texit[A-Z]\w+ *= (\d+)$`, sources(t, "internal/process")),
		"etcd-member-gate":      {"0", "1", strconv.Itoa(membergate.ExitDataLost)},
		"etcd-snapshot-inspect": append(firsts(`return (\d)\b`, body), strconv.Itoa(verify.ExitBroken)),
	} {
		_, section, found := strings.Cut(pages(t)["docs/exit-codes.md"], "\n## "+program+"\n")
		if !found {
			t.Errorf("docs/exit-codes.md has no section %s", program)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		if diff := cmp.Diff(codes, firsts(`(?m)^\| (\d+) \|`, section)); diff != "" {
			t.Errorf("%s: the program (-) and docs/exit-codes.md (+) differ:\n%s", program, diff)
		}
	}
}

// Readers look for these names in logs and conditions.
func TestWhatHappensWhenNamesDecisionsAndReasonsThatExist(t *testing.T) {
	all := pages(t)
	var known strings.Builder
	for _, page := range []string{"reasons", "decisions", "etcdbackup", "etcdrestore", "tls", "maintenance", "architecture"} {
		known.WriteString(all["docs/"+page+".md"])
	}
	names := regexp.MustCompile("`(?:[a-z]+(?:-[a-z]+)+|[A-Z][a-z]+(?:[A-Z][A-Za-z0-9]+)+)`").FindAllString(all["docs/what-happens-when.md"], -1)
	for _, name := range names {
		if !strings.Contains(known.String(), name) {
			t.Errorf("docs/what-happens-when.md names %s, which no page explains", name)
		}
	}
	if len(names) < 50 {
		t.Errorf("the page names %d decisions and reasons: others were lost", len(names))
	}
}
