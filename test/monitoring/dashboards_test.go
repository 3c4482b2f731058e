// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryAlertHasARunbook(t *testing.T) {
	page := read(t, runbooks)
	seen := map[string]bool{}
	for _, alert := range alerts(t) {
		if seen[alert.Alert] {
			t.Errorf("there are two alerts %s", alert.Alert)
		}
		seen[alert.Alert] = true
		want := "https://github.com/etcd-operator/etcd-operator/blob/main/docs/runbooks.md#" + strings.ToLower(alert.Alert)
		if got := alert.Annotations["runbook_url"]; got != want {
			t.Errorf("the runbook of %s is %s, want %s", alert.Alert, got, want)
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" || alert.For == "" {
			t.Errorf("%s lacks a summary, a description or a time", alert.Alert)
		}
		if severity := alert.Labels["severity"]; severity != "warning" && severity != "critical" {
			t.Errorf("%s has the severity %q", alert.Alert, severity)
		}
	}
	for line := range strings.Lines(page) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "## "); is && !seen[name] {
			t.Errorf("the runbook %s is of no alert", name)
		} else if is {
			delete(seen, name)
		}
	}
	for name := range seen {
		t.Errorf("docs/runbooks.md has no section %s", name)
	}
}

func TestDashboardsAreWellFormed(t *testing.T) {
	uids := map[string]string{}
	for file, d := range dashboards(t) {
		if other := uids[d.UID]; d.UID == "" || d.Title == "" || other != "" {
			t.Errorf("%s has the id %q, like %q, and the title %q", file, d.UID, other, d.Title)
		}
		uids[d.UID] = file
		isVariable := func(v variable) bool { return v.Type == "datasource" && v.Name == "datasource" }
		if !slices.ContainsFunc(d.Templating.List, isVariable) {
			t.Errorf("%s lets nobody choose a data source", file)
		}
		ids := map[int]string{}
		for i, p := range d.Panels {
			if other, taken := ids[p.ID]; taken || p.ID == 0 {
				t.Errorf("%s: the panels %s and %s have the id %d", file, p.Title, other, p.ID)
			}
			ids[p.ID] = p.Title
			checkPanel(t, file, p)
			for _, other := range d.Panels[:i] {
				a, b := p.GridPos, other.GridPos
				if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
					t.Errorf("%s: the panels %s and %s overlap", file, p.Title, other.Title)
				}
			}
		}
	}
}

func checkPanel(t *testing.T, file string, p panel) {
	t.Helper()
	if p.Type == "row" {
		return
	}
	chosen := func(d *datasource) bool { return d != nil && d.Type == "prometheus" && d.UID == "${datasource}" }
	if p.Title == "" || p.Description == "" || len(p.Targets) == 0 || !chosen(p.Datasource) {
		t.Errorf("%s: the panel %q lacks a description, a query or the chosen data source", file, p.Title)
	}
	var refs []string
	for _, target := range p.Targets {
		if slices.Contains(refs, target.RefID) || !chosen(target.Datasource) {
			t.Errorf("%s: the query %s of the panel %s is there twice, or asks another data source", file, target.RefID, p.Title)
		}
		refs = append(refs, target.RefID)
	}
	if g := p.GridPos; g.W <= 0 || g.H <= 0 || g.X+g.W > 24 {
		t.Errorf("%s: the panel %s does not fit: %+v", file, p.Title, g)
	}
}
