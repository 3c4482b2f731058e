// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// howto are the texts of the how-to pages, by their paths.
func howto(t *testing.T) map[string]string {
	t.Helper()
	all := pages(t)
	maps.DeleteFunc(all, func(path, _ string) bool { return !strings.HasPrefix(path, "docs/howto/") })
	if len(all) < 10 {
		t.Fatalf("there are %d how-to pages: others were lost", len(all))
	}
	return all
}

// People copy them. A field that does not exist would be dropped without a word, or refused.
func TestManifestsOfHowToPagesHaveFieldsThatExist(t *testing.T) {
	kinds := map[string]func() any{
		"EtcdCluster": func() any { return &v1beta2.EtcdCluster{} },
		"EtcdBackup":  func() any { return &v1beta2.EtcdBackup{} },
		"EtcdRestore": func() any { return &v1beta2.EtcdRestore{} },
	}
	checked := 0
	for path, text := range howto(t) {
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
			var candidates []string // a part of a spec may be of any of the kinds that have it
			kind := regexp.MustCompile(`(?m)^kind: (\w+)$`).FindStringSubmatch(block[1])
			switch {
			case kind != nil && kinds[kind[1]] != nil:
				candidates = kind[1:]
			case kind == nil && strings.HasPrefix(block[1], "spec:"):
				candidates = slices.Sorted(maps.Keys(kinds))
			case kind == nil && strings.HasPrefix(block[1], "  storageType:"):
				block[1], candidates = "spec:\n"+block[1], []string{"EtcdBackup"}
			default:
				continue
			}
			checked++
			var problems []string
			for _, name := range candidates {
				err := yaml.UnmarshalStrict([]byte(block[1]), kinds[name]())
				if err == nil {
					problems = nil
					break
				}
				problems = append(problems, name+": "+err.Error())
			}
			if problems != nil {
				t.Errorf("%s: %s\n%s", path, strings.Join(problems, "\n"), block[1])
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d manifests were checked: others were lost", checked)
	}
}

func TestHowToPagesNameFlagsAndReasonsThatExist(t *testing.T) {
	all := pages(t)
	flags, reasons := 0, 0
	known := all["docs/reasons.md"] + all["docs/etcdbackup.md"] + all["docs/etcdrestore.md"] + all["docs/tls.md"] + all["docs/maintenance.md"] + all["docs/installing.md"]
	for path, text := range howto(t) {
		for _, found := range regexp.MustCompile("`(-[a-z][a-z-]+)[=`]").FindAllStringSubmatch(text, -1) {
			flags++
			if !strings.Contains(all["docs/installing.md"], "| `"+found[1]+"` |") {
				t.Errorf("%s names %s, which docs/installing.md does not list", path, found[1])
			}
		}
		for _, row := range regexp.MustCompile(`(?m)^\| [^|]*\|`).FindAllString(text, -1) {
			for _, reason := range regexp.MustCompile("`[A-Z][a-z]+(?:[A-Z][A-Za-z]+)+`").FindAllString(row, -1) {
				reasons++
				if !strings.Contains(known, reason) {
					t.Errorf("%s names %s, which no page explains", path, reason)
				}
			}
		}
	}
	if flags < 10 || reasons < 30 {
		t.Errorf("the pages name %d flags and %d reasons: others were lost", flags, reasons)
	}
}
