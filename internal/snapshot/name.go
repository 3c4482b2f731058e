// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// nameTime is how the original operator wrote the time into the names of objects. It is UTC.
const nameTime = "2006-01-02-15:04:05"

// Name is the name of one of a series of backups: <series>_v<revision>_<time>.
type Name struct {
	// Series is the key that the spec names.
	Series   string
	Revision int64
	// Time is when the backup began, to the second.
	Time time.Time
}

// String is the key of the object.
func (n Name) String() string {
	return fmt.Sprintf("%s%d_%s", SeriesPrefix(n.Series), n.Revision, n.Time.UTC().Format(nameTime))
}

// SeriesPrefix is what the names of a series have in common. Others may begin with it as well.
func SeriesPrefix(series string) string { return series + "_v" }

// ParseName reads the key of an object. ok is false where it is not exactly what String returns: anybody may put
// objects beside ours.
func ParseName(key string) (n Name, ok bool) {
	i := strings.LastIndex(key, SeriesPrefix(""))
	if i < 0 {
		return Name{}, false
	}
	digits, stamp, _ := strings.Cut(key[i+len(SeriesPrefix("")):], "_")
	revision, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return Name{}, false
	}
	at, err := time.Parse(nameTime, stamp)
	if err != nil {
		return Name{}, false
	}
	n = Name{Series: key[:i], Revision: revision, Time: at}
	return n, revision >= 0 && n.String() == key
}

// NameIn is ParseName for the objects of one series.
func NameIn(series, key string) (n Name, ok bool) {
	n, ok = ParseName(key)
	return n, ok && n.Series == series
}
