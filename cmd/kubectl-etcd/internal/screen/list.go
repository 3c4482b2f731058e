// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package screen

import (
	"fmt"
	"io"
	"time"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
)

// List shows clusters, one line each.
func (s Screen) List(w io.Writer, list []*summary.Summary, namespaces bool, now time.Time) {
	columns := []Column{{"NAMESPACE", 0}, {"NAME", 0}, {"STATE", 0}, {"MEMBERS", 2}, {"MAY FAIL", 3}, {"VERSION", 5}, {"SIZE", 6}, {"BACKUP", 4}, {"REASON", 7}, {"AGE", 8}}
	rows := make([][]Cell, 0, len(list))
	for _, c := range list {
		sign, style := Mark(c.Health)
		margin := Cell{Text: fmt.Sprint(max(c.Quorum.Margin(), 0))}
		if c.Quorum.Margin() <= 0 && c.Quorum.Size > 1 {
			margin.Style = Red
		}
		backup := Cell{Text: "none", Style: Yellow}
		if b := c.Backup; b != nil && !b.Time.IsZero() {
			backup = Cell{Text: Age(now.Sub(b.Time)) + " ago"}
		}
		largest := int64(0)
		for _, m := range c.Members {
			largest = max(largest, m.Size)
		}
		rows = append(rows, []Cell{
			{Text: c.Namespace},
			{Text: c.Name},
			{Text: sign + " " + c.State, Style: style},
			{Text: fmt.Sprintf("%d/%d", c.Quorum.Healthy, c.Quorum.Size)},
			margin,
			{Text: or(c.Version)},
			{Text: Bytes(largest)},
			backup,
			{Text: c.Operator.Reason},
			{Text: Age(now.Sub(c.Created))},
		})
	}
	if !namespaces {
		columns = columns[1:]
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	s.Table(w, columns, rows)
}
