// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Patch is a change of a spec, as a merge patch: nil takes a field away, lists replace lists.
type Patch map[string]any

// Change is what a user does to a spec, and how long the user then waits before the next change.
type Change struct {
	Patch Patch
	// Wait is how long; zero lets the cluster settle.
	Wait time.Duration
}

// Case is one cluster and the changes of its spec.
type Case struct {
	Seed    uint64
	Base    int
	Lag     int
	Changes []Change
	// field is what the case was made for; nil for a sequence.
	field *Field
}

// Field is what the case was made for; empty for a sequence.
func (c Case) Field() string {
	if c.field == nil {
		return ""
	}
	return c.field.String()
}

// Generator makes cases out of a schema.
type Generator struct {
	root   *Field
	fields []*Field
}

// NewGenerator reads the schema.
func NewGenerator() *Generator {
	root := Root()
	return &Generator{root: root, fields: root.All()}
}

// Fields is how many fields there are.
func (g *Generator) Fields() int { return len(g.fields) }

// Case is the case of a number. Two of three change one field, each field in its turn; the others change several, one
// after the other.
func (g *Generator) Case(number uint64) Case {
	s := source{rand.New(rand.NewPCG(number, 0x57ec5))}
	c := Case{Seed: number, Base: s.IntN(len(bases)), Lag: s.IntN(4)}
	if number%3 < 2 {
		c.field = g.fields[int(number/3*2+number%3)%len(g.fields)]
		c.Changes = []Change{{Patch: s.patch(g.root, c.field)}}
		return c
	}
	for range 2 + s.IntN(3) {
		change := Change{Patch: Patch{}}
		for range 1 + s.IntN(2) {
			change.Patch = merged(change.Patch, s.patch(g.root, s.descend(g.root)))
		}
		if s.IntN(3) > 0 {
			change.Wait = time.Duration(1+s.IntN(20_000)) * time.Millisecond
		}
		c.Changes = append(c.Changes, change)
	}
	return c
}

// descend chooses a field, those near the top more often than the many below them.
func (s source) descend(f *Field) *Field {
	for len(f.fields) > 0 && (len(f.Path) == 0 || s.IntN(3) > 0) {
		f = pick(s.Rand, f.fields)
	}
	return f
}

func (s source) patch(root, f *Field) Patch {
	patch, ok := s.at(root, f.Path, s.value(f, 3)).(map[string]any)
	if !ok {
		return Patch{}
	}
	return patch
}

// merged is a spec, or a patch, after a patch.
func merged(spec map[string]any, patch Patch) map[string]any {
	next := map[string]any{}
	for key, value := range spec {
		next[key] = value
	}
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		old, wasMap := next[key].(map[string]any)
		if isMap && wasMap {
			value = merged(old, inner)
		}
		next[key] = value
	}
	return next
}

// String is the case as ParseCase reads it.
func (c Case) String() string {
	parts := make([]string, 0, len(c.Changes))
	for _, change := range c.Changes {
		content, err := json.Marshal(change.Patch)
		if err != nil {
			panic("specs: patches always encode: " + err.Error())
		}
		parts = append(parts, fmt.Sprintf("%d:%s", change.Wait.Milliseconds(), content))
	}
	return fmt.Sprintf("%d/%d/%d %s", c.Seed, c.Base, c.Lag, strings.Join(parts, " ; "))
}

var errCase = errors.New("a case is seed/base/lag, and then milliseconds:patch, separated by \" ; \"")

// ParseCase reads a case that a failure printed.
func ParseCase(text string) (Case, error) {
	var c Case
	head, rest, _ := strings.Cut(text, " ")
	if _, err := fmt.Sscanf(head, "%d/%d/%d", &c.Seed, &c.Base, &c.Lag); err != nil || c.Base >= len(bases) {
		return c, errCase
	}
	for part := range strings.SplitSeq(rest, " ; ") {
		wait, content, ok := strings.Cut(part, ":")
		change := Change{}
		var milliseconds int64
		_, err := fmt.Sscan(wait, &milliseconds)
		if !ok || err != nil {
			return c, errCase
		}
		change.Wait = time.Duration(milliseconds) * time.Millisecond
		if err := utiljson.Unmarshal([]byte(content), &change.Patch); err != nil {
			return c, err
		}
		c.Changes = append(c.Changes, change)
	}
	return c, nil
}
