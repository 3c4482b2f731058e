// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package keyspace finds out what fills an etcd: keys, bytes and writes by prefix, the largest keys, and when the quota is reached.
package keyspace

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Usage is what is below one prefix.
type Usage struct {
	Prefix string `json:"prefix"`
	Keys   int64  `json:"keys"`
	Bytes  int64  `json:"bytes"`
	// Writes and Written are what was written while it was watched: changes, and their bytes.
	Writes  int64 `json:"writes"`
	Written int64 `json:"written"`
}

// Key is a large key.
type Key struct {
	Key      string `json:"key"`
	Bytes    int64  `json:"bytes"`
	Versions int64  `json:"versions"`
}

// Survey counts. It keeps sums for each prefix and the largest keys, but no data, so that a large etcd does not fill the memory.
type Survey struct {
	// Depth is how many parts of a key make a prefix.
	Depth int
	// Largest is how many large keys are kept.
	Largest int

	usages map[string]*Usage
	keys   []Key
}

// Add counts a key that is stored.
func (s *Survey) Add(key []byte, valueBytes int, versions int64) {
	u := s.usage(key)
	size := int64(len(key) + valueBytes)
	u.Keys++
	u.Bytes += size
	if len(s.keys) == s.Largest && (s.Largest == 0 || size <= s.keys[len(s.keys)-1].Bytes) {
		return
	}
	s.keys = append(s.keys, Key{string(key), size, versions})
	slices.SortStableFunc(s.keys, func(a, b Key) int { return cmp.Compare(b.Bytes, a.Bytes) })
	s.keys = s.keys[:min(len(s.keys), s.Largest)]
}

// Wrote counts a change that was seen.
func (s *Survey) Wrote(key []byte, valueBytes int) {
	u := s.usage(key)
	u.Writes++
	u.Written += int64(len(key) + valueBytes)
}

func (s *Survey) usage(key []byte) *Usage {
	if s.usages == nil {
		s.usages = map[string]*Usage{}
	}
	prefix := Prefix(key, s.Depth)
	u, ok := s.usages[prefix]
	if !ok {
		u = &Usage{Prefix: prefix}
		s.usages[prefix] = u
	}
	return u
}

// Usages are all prefixes, the largest first.
func (s *Survey) Usages() []Usage {
	list := make([]Usage, 0, len(s.usages))
	for _, u := range s.usages {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Written, a.Written), cmp.Compare(a.Prefix, b.Prefix))
	})
	return list
}

// LargestKeys are the largest keys, the largest first.
func (s *Survey) LargestKeys() []Key { return s.keys }

// Prefix is the first parts of a key, which slashes end. The slash at the beginning of a key is no part.
func Prefix(key []byte, depth int) string {
	end, from := 0, 0
	if bytes.HasPrefix(key, []byte("/")) {
		from = 1
	}
	for range depth {
		i := bytes.IndexByte(key[from:], '/')
		if i < 0 {
			break
		}
		from += i + 1
		end = from
	}
	if end == 0 {
		return "(no prefix)"
	}
	return string(key[:end])
}

// Point is how large the data was at some time.
type Point struct {
	Time  time.Time
	Bytes int64
}

// leastSpan is how far apart points have to be to tell of growth: a minute's noise is no trend.
const leastSpan = time.Hour

// Growth is the bytes per day by which the data grows, as a line through the points by the least squares. ok is false where
// they are too few or too close together.
func Growth(points []Point) (perDay float64, ok bool) {
	if len(points) < 2 {
		return 0, false
	}
	first := slices.MinFunc(points, func(a, b Point) int { return a.Time.Compare(b.Time) }).Time
	last := slices.MaxFunc(points, func(a, b Point) int { return a.Time.Compare(b.Time) }).Time
	if last.Sub(first) < leastSpan {
		return 0, false
	}
	var sumX, sumY, sumXY, sumXX float64
	for _, p := range points {
		x, y := p.Time.Sub(first).Hours()/24, float64(p.Bytes)
		sumX, sumY, sumXY, sumXX = sumX+x, sumY+y, sumXY+x*y, sumXX+x*x
	}
	n := float64(len(points))
	return (n*sumXY - sumX*sumY) / (n*sumXX - sumX*sumX), true
}

// Full is the day on which a database of this size reaches its quota; ok is false if it does not grow or takes longer than
// a hundred years.
func Full(now time.Time, size, quota int64, perDay float64) (day time.Time, ok bool) {
	if perDay <= 0 || quota <= 0 {
		return time.Time{}, false
	}
	days := max(float64(quota-size)/perDay, 0)
	if days > 36500 {
		return time.Time{}, false
	}
	return now.Add(time.Duration(days * 24 * float64(time.Hour))), true
}
