// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package logline reads what etcd logs, and merges the logs of several members by time.
package logline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Line is one line of a member's log.
type Line struct {
	Time   time.Time
	Member string
	Level  Level
	// Text is the message with its fields, or the whole line where it has another form.
	Text string
}

// Level is how much a line matters.
type Level int

// The levels. What etcd writes in another form, such as the trace of a panic, matters most.
const (
	Debug Level = iota
	Info
	Warn
	Error
)

var levels = []string{"debug", "info", "warn", "error"}

func (l Level) String() string { return levels[l] }

// ParseLevel reads the name of a level.
func ParseLevel(name string) (Level, error) {
	i := slices.Index(levels, strings.ToLower(name))
	if i < 0 {
		return 0, fmt.Errorf("--level must be one of %s, not %q", strings.Join(levels, ", "), name)
	}
	return Level(i), nil
}

// Parse reads a line that the API server has put a time in front of.
func Parse(member, text string) Line {
	stamp, rest, _ := strings.Cut(strings.TrimRight(text, "\r\n"), " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		rest = strings.TrimRight(text, "\r\n")
	}
	line := Line{Time: at, Member: member, Level: Error, Text: rest}
	var fields map[string]any
	if json.Unmarshal([]byte(rest), &fields) != nil {
		return line
	}
	line.Level = levelOf(fields["level"])
	message, _ := fields["msg"].(string)
	for _, name := range []string{"level", "ts", "msg", "caller"} {
		delete(fields, name)
	}
	parts := []string{message}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, name+"="+valueOf(fields[name]))
	}
	line.Text = strings.Join(parts, " ")
	return line
}

// levelOf reads etcd's level; panics and fatal errors are errors here.
func levelOf(name any) Level {
	text, _ := name.(string)
	if i := slices.Index(levels, text); i >= 0 {
		return Level(i)
	}
	return Error
}

func valueOf(value any) string {
	if text, ok := value.(string); ok && !strings.ContainsAny(text, " \t\n\"=") && text != "" {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// longest is how long a line may be; etcd prints requests of up to 1.5 MiB.
const longest = 4 << 20

// Read sends the lines of a log to a function until the log ends.
func Read(r io.Reader, member string, send func(Line)) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, longest)
	last := time.Time{}
	for scanner.Scan() {
		line := Parse(member, scanner.Text())
		if line.Time.IsZero() {
			line.Time = last // it belongs to what came before
		}
		last = line.Time
		send(line)
	}
	return scanner.Err()
}

// Merge sorts lines by time. Those of one member keep their order.
func Merge(lines []Line) {
	slices.SortStableFunc(lines, func(a, b Line) int { return a.Time.Compare(b.Time) })
}
