// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package screen

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reasons"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
)

// mostEvents is how many events one screen shows.
const mostEvents = 5

// Mark is a sign and a colour for how a cluster is.
func Mark(h summary.Health) (sign string, style Style) {
	switch h {
	case summary.Well:
		return "✔", Green
	case summary.Degraded:
		return "▲", Yellow
	}
	return "✖", Red
}

// Status shows one cluster on one screen.
func (s Screen) Status(w io.Writer, c *summary.Summary) {
	sign, style := Mark(c.Health)
	fmt.Fprintf(w, "%s  %s\n", s.Paint(style, sign+" "+c.State), s.Paint(Bold, c.Namespace+"/"+c.Name))
	for _, line := range wrap(headline(c), s.Width) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	s.members(w, c)
	s.operator(w, c)
	s.next(w, c)
	s.facts(w, c)
	s.events(w, c)
	for i, note := range c.Notes {
		s.Paragraph(w, onlyFirst(i, "Notes"), Dim, note)
	}
}

func headline(c *summary.Summary) string {
	var parts []string
	if c.Version != "" {
		parts = append(parts, "etcd "+c.Version)
	}
	q := c.Quorum
	parts = append(parts, fmt.Sprintf("%d of %d members healthy", q.Healthy, q.Size))
	switch margin := q.Margin(); {
	case q.Voters == 0:
	case margin < 0:
		parts = append(parts, fmt.Sprintf("quorum is %d: %d more needed", q.Needed, -margin))
	case margin == 0:
		parts = append(parts, fmt.Sprintf("quorum is %d: none may fail", q.Needed))
	default:
		parts = append(parts, fmt.Sprintf("quorum is %d: %d may fail", q.Needed, margin))
	}
	if !c.Created.IsZero() {
		parts = append(parts, Age(c.Time.Sub(c.Created))+" old")
	}
	return strings.Join(parts, " · ")
}

var memberColumns = []Column{
	{"MEMBER", 0},
	{"ROLE", 2},
	{"HEALTH", 0},
	{"VERSION", 4},
	{"SIZE", 3},
	{"QUOTA", 5},
	{"LAG", 8},
	{"NODE", 6},
	{"ZONE", 7},
}

func (s Screen) members(w io.Writer, c *summary.Summary) {
	if len(c.Members) == 0 {
		fmt.Fprintf(w, "No members.\n\n")
		return
	}
	var rows [][]Cell
	for _, m := range c.Members {
		health, size, share, lag := Cell{m.State, Green}, Unknown, Cell{Text: Unknown}, Unknown
		if !m.Healthy {
			health.Style = Red
		}
		if m.Size > 0 {
			size = Bytes(m.Size)
		}
		if part := m.QuotaShare(); part >= 0 {
			share = Cell{Text: fmt.Sprintf("%.0f%%", part*100)}
			if part >= 0.8 {
				share = Cell{share.Text + " !", Yellow}
			}
		}
		if m.Lag != nil {
			lag = fmt.Sprint(*m.Lag)
		}
		role := Cell{Text: or(m.Role)}
		if m.Role == "Leader" {
			role.Style = Bold
		}
		rows = append(rows, []Cell{{Text: m.Name}, role, health, {Text: or(m.Version)}, {Text: size}, share, {Text: lag}, {Text: or(m.Node)}, {Text: or(m.Zone)}})
	}
	s.Table(w, memberColumns, rows)
	for _, m := range c.Members {
		if m.Message != "" {
			s.Paragraph(w, "", Red, m.Name+": "+m.Message)
		}
	}
	fmt.Fprintln(w)
}

func or(text string) string {
	if text == "" {
		return Unknown
	}
	return text
}

func (s Screen) operator(w io.Writer, c *summary.Summary) {
	o := c.Operator
	text := o.Reason
	if o.Since != nil {
		text += " for " + Age(c.Time.Sub(*o.Since))
	}
	if o.NeedsYou {
		text += " (needs you)"
	}
	style := Plain
	if c.Health != summary.Well {
		_, style = Mark(c.Health)
	}
	s.Paragraph(w, "Operator", style, text)
	if o.Message == "" {
		o.Message = o.Meaning
	}
	s.Paragraph(w, "", Plain, o.Message)
	for _, doing := range o.Doing {
		if word, _, _ := strings.Cut(doing, ":"); !strings.HasPrefix(c.State, word) { // else the headline says it
			s.Paragraph(w, "", Plain, doing)
		}
	}
}

func (s Screen) next(w io.Writer, c *summary.Summary) {
	for i, command := range c.Next {
		s.Line(w, onlyFirst(i, "Next"), Cyan, command.Command)
		s.Paragraph(w, "", Dim, "# "+command.Why)
	}
}

func onlyFirst(i int, title string) string {
	if i == 0 {
		return title
	}
	return ""
}

// facts are alarms, certificates, backups and restores.
func (s Screen) facts(w io.Writer, c *summary.Summary) {
	if len(c.Alarms) > 0 {
		s.Paragraph(w, "Alarms", Red, "! "+strings.Join(c.Alarms, ", "))
	} else {
		s.Paragraph(w, "Alarms", Plain, "none")
	}
	for i, certificate := range c.Certificates {
		text, style := certificateLine(c.Time, certificate)
		s.Paragraph(w, onlyFirst(i, "Certificates"), style, text)
	}
	text, style := backupLine(c)
	s.Paragraph(w, "Last backup", style, text)
	if r := c.Restore; r != nil {
		text := fmt.Sprintf("%s is %s", r.EtcdRestore, or(r.Phase))
		if r.Size > 0 && r.Phase == "Fetching" {
			text += fmt.Sprintf(", %s of %s", Bytes(r.Fetched), Bytes(r.Size))
		}
		if r.Failure != "" {
			text += ": " + r.Failure
		}
		s.Paragraph(w, "Restore", Yellow, text)
	}
}

// soon is when a certificate should be renewed.
const soon = 14 * 24 * time.Hour

func certificateLine(now time.Time, c summary.Certificate) (string, Style) {
	name := fmt.Sprintf("%s (%s): ", c.Use, c.Secret)
	if c.Expires == nil {
		return name + or(c.Problem), Plain
	}
	left := c.Expires.Sub(now)
	switch date := c.Expires.UTC().Format(time.DateOnly); {
	case left < 0:
		return fmt.Sprintf("! %sexpired on %s, %s ago", name, date, Age(-left)), Red
	case left < soon:
		return fmt.Sprintf("! %sexpires on %s, in %s: renew it", name, date, Age(left)), Yellow
	default:
		return fmt.Sprintf("%sexpires on %s, in %s", name, date, Age(left)), Plain
	}
}

func backupLine(c *summary.Summary) (string, Style) {
	b := c.Backup
	if b == nil {
		return "no EtcdBackup of this cluster", Yellow
	}
	text, style := "none yet", Yellow
	if !b.Time.IsZero() {
		text, style = fmt.Sprintf("%s ago, revision %d, %s", Age(c.Time.Sub(b.Time)), b.Revision, Bytes(b.Size)), Plain
		if b.Verified {
			text += ", verified"
		}
	}
	if b.Progress != nil {
		text += fmt.Sprintf("; one is being made: %s %.0f%%", Bar(*b.Progress, 10), *b.Progress*100)
	}
	if b.Failure != "" {
		return fmt.Sprintf("! %s: %s; the last attempt failed: %s", b.EtcdBackup, text, b.Failure), Red
	}
	return b.EtcdBackup + ": " + text, style
}

func (s Screen) events(w io.Writer, c *summary.Summary) {
	if len(c.Events) == 0 {
		return
	}
	for i, e := range c.Events[:min(len(c.Events), mostEvents)] {
		text := fmt.Sprintf("%s ago  %s", Age(c.Time.Sub(e.Time)), e.Reason)
		if e.Count > 1 {
			text += fmt.Sprintf(" (%d times)", e.Count)
		}
		if e.About != "" {
			text += " " + e.About
		}
		style := Plain
		if e.Warning {
			text, style = "! "+text, Yellow
		}
		s.Line(w, onlyFirst(i, "Events"), style, s.cut(text+": "+e.Message))
	}
}

// Explain shows the page of a reason.
func (s Screen) Explain(w io.Writer, r reasons.Reason) {
	fmt.Fprintln(w, s.Paint(Bold, r.Name))
	s.Paragraph(w, "Means", Plain, r.Meaning)
	s.Paragraph(w, "To do", Plain, r.ToDo)
}
