// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs_test holds the pages for people to the repository that they describe.
package docs_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/transcript"
)

// root is the folder of the repository.
const root = ".."

// pages are the texts of the pages, by their paths in the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
			paths = append(paths, "docs/"+path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md", "lab/README.md") {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// anchors are those of a page's headlines, as GitHub makes them.
func anchors(page string) []string {
	var list []string
	for _, headline := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		anchor := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(headline[1]), "")
		list = append(list, strings.ReplaceAll(anchor, " ", "-"))
	}
	return list
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	all := pages(t)
	for path, text := range all {
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			file, anchor, hasAnchor := strings.Cut(link[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: %s does not exist", path, link[1])
			} else if hasAnchor && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s: %s has no headline for #%s", path, target, anchor)
			}
		}
	}
}

// Who reads the site finds pages by its navigation only. Pages in other languages are reached from their English ones.
func TestEveryPageIsInOnePartOfTheSite(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "tools", "site", "nav.json"))
	if err != nil {
		t.Fatal(err)
	}
	var parts []struct {
		Part  string
		Pages []struct{ Page, Title string }
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	var names []string
	for _, part := range parts {
		names = append(names, part.Part)
		for _, page := range part.Pages {
			times[page.Page]++
			if _, err := os.Stat(filepath.Join(root, page.Page)); err != nil || page.Title == "" {
				t.Errorf("%s in the part %s: no such page, or no title", page.Page, part.Part)
			}
		}
	}
	if want := []string{"Tutorial", "How-to", "Reference", "Explanation"}; !slices.Equal(names, want) {
		t.Errorf("the parts are %v, want %v", names, want)
	}
	for path := range pages(t) {
		if strings.HasPrefix(path, "docs/") && !strings.HasPrefix(path, "docs/zh/") && times[path] != 1 {
			t.Errorf("tools/site/nav.json has %s %d times, want once", path, times[path])
		}
	}
}

// passages are the paragraphs of a page, and the rows of its tables.
func passages(page string) []string {
	var list []string
	for paragraph := range strings.SplitSeq(page, "\n\n") {
		if strings.HasPrefix(paragraph, "|") {
			list = append(list, strings.Split(paragraph, "\n")...)
		} else {
			list = append(list, paragraph)
		}
	}
	return list
}

// A figure is one that was measured: it stands, as it is, in the page or picture that its passage links to.
func TestMeasuredFiguresStandInTheirSources(t *testing.T) {
	for path, least := range map[string]int{"README.md": 5, "docs/what-happens-when.md": 10} {
		figures := 0
		for _, passage := range passages(pages(t)[path]) {
			bold := regexp.MustCompile(`\*\*(\d[^*]*)\*\*`).FindAllStringSubmatch(passage, -1)
			if len(bold) == 0 {
				continue
			}
			var linked strings.Builder
			for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(passage, -1) {
				text, err := os.ReadFile(filepath.Join(root, filepath.Dir(path), link[1]))
				if err != nil {
					t.Fatal(err)
				}
				linked.Write(text)
			}
			for _, figure := range bold {
				figures++
				if !regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(figure[1]) + `($|[^\d.])`).MatchString(linked.String()) {
					t.Errorf("%s: no page that this passage links to says %s: %s", path, figure[1], passage)
				}
			}
		}
		if figures < least {
			t.Errorf("%s has %d figures: others were lost", path, figures)
		}
	}
}

// Whoever searches for a reason in vain does not trust the rest of the page either.
func TestTroubleshootingNamesReasonsThatExist(t *testing.T) {
	all := pages(t)
	known := all["docs/reasons.md"] + all["docs/etcdbackup.md"] + all["docs/etcdrestore.md"]
	named := regexp.MustCompile(`(?m)^\| [^|]*\|`).FindAllString(all["docs/troubleshooting.md"], -1)
	reasons := regexp.MustCompile("`[A-Z][a-z]+(?:[A-Z][A-Za-z]+)+`").FindAllString(strings.Join(named, "\n"), -1)
	for _, reason := range reasons {
		if !strings.Contains(known, reason) {
			t.Errorf("docs/troubleshooting.md names %s, which no page explains", reason)
		}
	}
	if len(reasons) < 30 {
		t.Errorf("the page names %d reasons: others were lost", len(reasons))
	}
}

// The tables come from the comments on the types: a field without one is a row that says nothing.
func TestEveryFieldIsDescribed(t *testing.T) {
	fields := 0
	for path, text := range pages(t) {
		if !strings.HasPrefix(path, "docs/reference/") {
			continue
		}
		fields += strings.Count(text, "\n| `") + strings.Count(text, "\n| [`")
		for _, row := range regexp.MustCompile("(?m)^\\| \\[?`.*\\| *(?:<br>.*)?\\|$").FindAllString(text, -1) {
			t.Errorf("%s does not say what this is: %s", path, row)
		}
	}
	if fields < 200 {
		t.Errorf("the reference has %d fields: others were lost", fields)
	}
}

// declared are the names of tests and benchmarks, and the strings in the simulation's code, in the repository.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	text := regexp.MustCompile(`"([^"\n]+)"`)
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "_out" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		isSimulation := strings.HasPrefix(path, filepath.Join(root, "internal", "sim"))
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || (!isSimulation && !strings.HasSuffix(path, "_test.go")) {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range function.FindAllSubmatch(source, -1) {
			names[string(found[1])] = true
		}
		if isSimulation {
			for _, found := range text.FindAllSubmatch(source, -1) {
				names[string(found[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTheTestsScenariosAndMutantsThatPagesNameExist(t *testing.T) {
	names := declared(t)
	patterns := []*regexp.Regexp{
		regexp.MustCompile("`((?:Test|Benchmark)[A-Z]\\w+)`"),
		regexp.MustCompile(`(?:scenario|mutant) "([^"]+)"`),
		regexp.MustCompile(`-replay '([^\\|']+)`),
	}
	for path, text := range pages(t) {
		for _, pattern := range patterns {
			for _, found := range pattern.FindAllStringSubmatch(text, -1) {
				if !names[found[1]] {
					t.Errorf("%s names %q, which does not exist", path, found[1])
				}
			}
		}
	}
}

// A row such as `lab/...` stands for everything below.
func TestTheMapHasEveryPackage(t *testing.T) {
	text := pages(t)["docs/architecture.md"]
	var whole []string
	for _, row := range regexp.MustCompile("`([a-z/]+)/\\.\\.\\.`").FindAllStringSubmatch(text, -1) {
		whole = append(whole, row[1])
	}
	missing := map[string]bool{}
	for _, top := range []string{"api", "internal", "test"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			isBelow := func(prefix string) bool { return folder == prefix || strings.HasPrefix(folder, prefix+"/") }
			missing[folder] = !strings.Contains(text, "`"+folder+"`") && !slices.ContainsFunc(whole, isBelow)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for folder, isMissing := range missing {
		if isMissing {
			t.Errorf("docs/architecture.md has no line for %s", folder)
		}
	}
}

// Whoever comes from another operator relies on this page. What code can decide is decided by a test that the row names.
func TestEveryRowOfTheComparisonIsDecided(t *testing.T) {
	rows := 0
	for line := range strings.Lines(pages(t)["docs/coming-from-coreos.md"]) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasSuffix(line, "| |\n") && strings.HasPrefix(line, "| the original") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		decided := regexp.MustCompile("`(Test|Benchmark)[A-Z]|^ ?no test: .").MatchString(cells[len(cells)-1])
		if len(cells) != 3 || !decided {
			t.Errorf("the row needs what others have, what is here, and a test or a reason to have none: %s", line)
		}
	}
	if rows < 80 {
		t.Errorf("the page has %d rows: others were lost", rows)
	}
}

// Readers apply the files, and see what the page shows of them.
func TestTheTutorialShowsTheManifestsThatItApplies(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(pages(t)["docs/tutorial.md"], -1)
	shown := map[string]bool{}
	for _, block := range blocks {
		shown[block[1]] = true
	}
	for _, name := range []string{"cluster.yaml", "backup.yaml"} {
		manifest, err := os.ReadFile(filepath.Join("tutorial", name))
		if err != nil {
			t.Fatal(err)
		}
		if !shown[string(manifest)] {
			t.Errorf("the tutorial does not show docs/tutorial/%s as it is", name)
		}
		delete(shown, string(manifest))
	}
	for text := range shown {
		t.Errorf("no file in docs/tutorial has what the tutorial shows:\n%s", text)
	}
}

// The English page is run on the lab; what it shows holds for the Chinese one if that shows the same.
func TestTheTutorialHasTheSameCommandsInBothLanguages(t *testing.T) {
	all := pages(t)
	blocks := map[string][]transcript.Block{}
	for _, path := range []string{"docs/tutorial.md", "docs/zh/tutorial.md"} {
		found, err := transcript.Parse(all[path])
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(found) == 0 {
			t.Fatalf("%s has no command", path)
		}
		blocks[path] = found
	}
	lines := cmp.Options{cmpopts.IgnoreFields(transcript.Block{}, "Line"), cmpopts.IgnoreFields(transcript.Step{}, "Line")}
	if diff := cmp.Diff(blocks["docs/tutorial.md"], blocks["docs/zh/tutorial.md"], lines); diff != "" {
		t.Errorf("docs/tutorial.md (-) and docs/zh/tutorial.md (+) differ:\n%s", diff)
	}
}

// commandsIn are the lines of a page that may be commands, without comments.
func commandsIn(page string) []string {
	var list []string
	for line := range strings.Lines(page) {
		line, _, _ = strings.Cut(line, " #")
		list = append(list, strings.TrimPrefix(strings.TrimSpace(line), "$ "))
	}
	return list
}

// Each command of the Chinese README has to be on an English page, where it is looked after.
func TestTheChineseReadmeHasNoCommandOfItsOwn(t *testing.T) {
	all := pages(t)
	known := map[string]bool{}
	for path, text := range all {
		if path != "README.zh-CN.md" && !strings.HasPrefix(path, "docs/zh/") {
			for _, command := range commandsIn(text) {
				known[command] = true
			}
		}
	}
	commands := 0
	for line := range strings.Lines(all["README.zh-CN.md"]) {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		commands++
		if command := commandsIn(line)[0]; !known[command] {
			t.Errorf("no English page has %q", command)
		}
	}
	if commands == 0 {
		t.Error("README.zh-CN.md has no command")
	}
}

// A flag that somebody is told to set has to exist; installing.md is held to the programs by a test of its own.
func TestTheComparisonNamesNoFlagThatDoesNotExist(t *testing.T) {
	all := pages(t)
	for _, found := range regexp.MustCompile("`(-[a-z][a-z-]+)`").FindAllStringSubmatch(all["docs/coming-from-coreos.md"], -1) {
		if !strings.Contains(all["docs/installing.md"], "| `"+found[1]+"` |") {
			t.Errorf("docs/installing.md does not list %s", found[1])
		}
	}
}

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
