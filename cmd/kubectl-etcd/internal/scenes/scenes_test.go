// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scenes_test shows what `kubectl etcd status` says about clusters as the operators really leave them: it plays each
// scene in the simulation, with the operators' own code, and compares what the plugin makes of the objects with a file.
package scenes_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/picture"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
)

var update = flag.Bool("update", false, "write testdata/*.golden and docs/pictures/*.svg")

// pictures is the folder of the documents' pictures.
const pictures = "../../../../docs/pictures"

// compare holds a file to what is made now, or writes it.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (go test ./internal/scenes -update writes it; - as it is, + as it should be):\n%s", path, diff)
	}
}

func render(s screen.Screen, c *summary.Summary) string {
	var b bytes.Buffer
	s.Status(&b, c)
	return b.String()
}

func TestStatusOfEachScene(t *testing.T) {
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			var v *view.View
			synctest.Test(t, func(t *testing.T) { v = scene.play(t) })
			c := summary.Of(v)
			if c.Health != scene.health {
				t.Errorf("health is %s, not %s", c.Health, scene.health)
			}
			if !strings.Contains(c.State, scene.state) {
				t.Errorf("state is %q, which has no %q", c.State, scene.state)
			}
			compare(t, "testdata/"+scene.name+".golden", render(screen.Screen{Width: 100}, c))
			compare(t, "testdata/"+scene.name+"-narrow.golden", render(screen.Screen{Width: 44}, c))
			compare(t, filepath.Join(pictures, "status-"+scene.name+".svg"), picture.SVG("kubectl etcd status c", render(screen.Screen{Width: 100, Colour: true}, c)))
		})
	}
}

func TestStatusWithoutLiveFigures(t *testing.T) {
	var v *view.View
	synctest.Test(t, func(t *testing.T) { v = scenes[0].play(t) })
	v.Live, v.Zones = nil, nil
	v.Notes = []string{"You may not read nodes, which have the zones.", `Live figures are missing: you may not create "pods/portforward", which the role "edit" may.`}
	compare(t, "testdata/viewer.golden", render(screen.Screen{Width: 100}, summary.Of(v)))
}

func TestStatusAsJSON(t *testing.T) {
	var v *view.View
	synctest.Test(t, func(t *testing.T) { v = scenes[0].play(t) })
	text, err := json.MarshalIndent(summary.Of(v), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "testdata/healthy.json.golden", string(text)+"\n")
}

func TestColoursAreNeverTheOnlySign(t *testing.T) {
	for _, scene := range scenes {
		synctest.Test(t, func(t *testing.T) {
			c := summary.Of(scene.play(t))
			plain, coloured := render(screen.Screen{Width: 100}, c), render(screen.Screen{Width: 100, Colour: true}, c)
			for _, style := range []screen.Style{screen.Bold, screen.Dim, screen.Red, screen.Green, screen.Yellow, screen.Cyan} {
				coloured = strings.ReplaceAll(coloured, "\x1b["+string(style)+"m", "")
			}
			if diff := cmp.Diff(plain, strings.ReplaceAll(coloured, "\x1b[0m", "")); diff != "" {
				t.Errorf("%s: %s", scene.name, diff)
			}
		})
	}
}

func TestNarrowScreensAreKeptTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := summary.Of(scenes[1].play(t))
		for width := 40; width <= 120; width += 8 {
			for line := range strings.Lines(render(screen.Screen{Width: width}, c)) {
				// A command has to be typed as it is; a word that is longer than the screen stands alone.
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > width && len(strings.Fields(line)) > 1 && !strings.Contains(line, "kubectl ") {
					t.Errorf("a line of %d on a screen of %d: %s", n, width, line)
				}
			}
		}
	})
}
