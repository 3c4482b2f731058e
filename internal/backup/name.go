// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// nameTime is how the original operator wrote the time into the names of objects. It is UTC.
const nameTime = "2006-01-02-15:04:05"

// objectName is the name of one of a series of backups: <key>_v<revision>_<time>.
func objectName(key string, revision int64, at time.Time) string {
	return fmt.Sprintf("%s%d_%s", seriesPrefix(key), revision, at.UTC().Format(nameTime))
}

// seriesPrefix is what the names of a series have in common.
func seriesPrefix(key string) string { return key + "_v" }

// named is what the name of an object says.
type named struct {
	name     string
	revision int64
	at       time.Time
}

// parseName reads the name of an object of the series of key. Objects of other series may begin with
// the same letters, and anybody may put objects beside ours: ok is false for them.
func parseName(key, name string) (n named, ok bool) {
	rest, found := strings.CutPrefix(name, seriesPrefix(key))
	if !found {
		return named{}, false
	}
	digits, stamp, found := strings.Cut(rest, "_")
	if !found {
		return named{}, false
	}
	revision, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || revision < 0 || strconv.FormatInt(revision, 10) != digits {
		return named{}, false
	}
	at, err := time.Parse(nameTime, stamp)
	if err != nil || at.Format(nameTime) != stamp {
		return named{}, false
	}
	return named{name: name, revision: revision, at: at}, true
}
