// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// known are values that mean something in the world, by the name of the field. The schema knows of strings only that
// they are strings.
var known = map[string][]any{
	"version":                  {"3.6.16", "v3.6.10", "3.7.3", "3.5.35", "3.6.99", "3.4.1", "4.0.0", "3.6.16-vendor.1", "3.6"},
	"repository":               {"registry.example.com:5000/etcd", "quay.io/coreos/etcd", "Not An Image"},
	"busyboxImage":             {"busybox:1.36", "missing:1"},
	"peerSecret":               {"peer", "peer-2", "absent"},
	"serverSecret":             {"server", "server-2", "absent"},
	"operatorSecret":           {"operator", "operator-2", "absent"},
	"priorityClassName":        {"high", "absent"},
	"storageClassName":         {"standard", "absent"},
	"serviceAccountName":       {"default", "absent"},
	"runtimeClassName":         {"gvisor", "absent"},
	"ip":                       {"10.1.2.3", "not an address"},
	"ClusterDomain":            {".cluster.local"},
	"topologyKey":              {"kubernetes.io/hostname", "topology.kubernetes.io/zone"},
	"tolerationSeconds":        {int64(60)},
	"operator":                 {"In", "NotIn", "Exists", "DoesNotExist", "Equal"},
	"effect":                   {"NoSchedule", "NoExecute"},
	"fsGroupChangePolicy":      {"Always", "OnRootMismatch"},
	"seLinuxChangePolicy":      {"MountOption", "Recursive"},
	"supplementalGroupsPolicy": {"Merge", "Strict"},
	"type":                     {"RuntimeDefault", "Unconfined"},
	"accessModes":              {"ReadWriteOnce"},
	"backupName":               {"b"},
	"key":                      {"app", "team", "disk", "kubernetes.io/hostname", "topology.kubernetes.io/zone"},
	"weight":                   {int64(1), int64(50), int64(100)},
	"runAsUser":                {int64(1000), int64(0)},
	"size":                     {int64(1), int64(2), int64(3), int64(5), int64(7)},
	"labelSelector":            {map[string]any{"matchLabels": map[string]any{"app": "etcd"}}, map[string]any{}},
	"nodeSelectorTerms":        {[]any{map[string]any{"matchExpressions": []any{map[string]any{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": []any{"n1"}}}}}},
	"matchExpressions":         {[]any{map[string]any{"key": "app", "operator": "Exists"}}, []any{map[string]any{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []any{"z1", "z2", "z3"}}}},
	"tolerations":              {[]any{map[string]any{"operator": "Exists"}}},
	"etcdEnv":                  {[]any{map[string]any{"name": "ETCD_QUOTA_BACKEND_BYTES", "value": "1000000"}}, []any{map[string]any{"name": "TEAM", "value": "blue"}}},
	"resources":                {map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "128Mi"}}, map[string]any{"limits": map[string]any{"memory": "256Mi"}}},
	"fieldPath":                {"metadata.name", "nothing"},
	"resource":                 {"limits.cpu", "nothing"},
}

// keys are what maps may be given values for, by the name of the map's field.
var keys = map[string][]string{
	"nodeSelector": {"kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk"},
	"limits":       {"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/card", "storage", "other"},
	"requests":     {"cpu", "memory", "ephemeral-storage", "storage", "example.com/card"},
	"annotations": {
		"team", "etcd.version", manifests.AnnotationMemberID, manifests.AnnotationImage, manifests.AnnotationPolicy, manifests.AnnotationApplied, manifests.AnnotationRestarting,
		manifests.AnnotationRestarts, manifests.AnnotationDrained, manifests.AnnotationStart, manifests.AnnotationHelperImage, manifests.AnnotationDefaults, manifests.AnnotationClusterUID, manifests.AnnotationDefragment,
	},
	"labels": {"team", "example.com/team", "app", "etcd_cluster"},
}

// values of a map, by its key.
var valuesOfKey = map[string][]any{
	"kubernetes.io/hostname":      {"n1", "absent"},
	"topology.kubernetes.io/zone": {"z1", "z2"},
	"cpu":                         {"100m", "1", "900"},
	"memory":                      {"128Mi", "1Gi", "8Mi", "900Gi"},
	"storage":                     {"1Gi", "2Gi", "10Gi", "512Mi"},
	"ephemeral-storage":           {"1Gi", "2Gi"},
}

var (
	plainStrings    = []any{"a", "a-b", "blue", "1"}
	oddStrings      = []any{"", "-", "UPPER Case!", "a/b/c", "ü", "{}", "a\nb", strings.Repeat("x", 64), strings.Repeat("y", 300)}
	plainNumbers    = []int64{0, 1, 2, 3, 5, 60}
	oddNumbers      = []int64{-1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64}
	plainQuantities = []any{"100m", "1", "128Mi", "1Gi"}
	oddQuantities   = []any{"-1", "0", "1e3", int64(2), "one", "1.5.5", ""}
)

// source makes values for fields.
type source struct{ *rand.Rand }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// ofType are those of some values that are of a field's type: an item of a list has the list's name.
func ofType(f *Field, values []any) []any {
	var fitting []any
	for _, value := range values {
		kind := "object"
		switch value.(type) {
		case string:
			kind = "string"
		case int64:
			kind = "integer"
		case []any:
			kind = "array"
		}
		if kind == f.Schema.Type {
			fitting = append(fitting, value)
		}
	}
	return fitting
}

// rarely is how seldom a field gets a value of another type, or none.
const rarely = 16

// value is one for a field, mostly one of its type. Depth is how many levels below it are filled.
func (s source) value(f *Field, depth int) any {
	switch s.IntN(rarely) {
	case 0:
		return nil
	case 1:
		return pick(s.Rand, []any{true, "text", int64(7), 1.5, []any{}, map[string]any{}})
	}
	return s.typed(f, depth)
}

// typed is a value of the field's type.
func (s source) typed(f *Field, depth int) any {
	if values := ofType(f, known[f.Name()]); len(values) > 0 && s.IntN(4) > 0 {
		return pick(s.Rand, values)
	}
	switch {
	case f.Schema.XIntOrString:
		return s.quantity()
	case f.Schema.Type == "boolean":
		return s.IntN(2) == 0
	case f.Schema.Type == "integer":
		return s.number(f)
	case f.Schema.Type == "string":
		return s.text(f)
	case f.Schema.Type == "array":
		return s.list(f, depth)
	case f.field(partValue) != nil:
		return s.mapping(f, depth)
	}
	return s.object(f, depth)
}

func (s source) quantity() any {
	if s.IntN(4) == 0 {
		return pick(s.Rand, oddQuantities)
	}
	return pick(s.Rand, plainQuantities)
}

func (s source) number(f *Field) any {
	var near []int64
	for _, text := range f.numbers() {
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			near = append(near, n-1, n, n+1)
		}
	}
	for _, bound := range []*float64{f.Schema.Minimum, f.Schema.Maximum} {
		if bound != nil {
			near = append(near, int64(*bound)-1, int64(*bound), int64(*bound)+1)
		}
	}
	switch {
	case len(near) > 0 && s.IntN(2) == 0:
		return pick(s.Rand, near)
	case s.IntN(5) == 0:
		return pick(s.Rand, oddNumbers)
	}
	return pick(s.Rand, plainNumbers)
}

func (s source) text(f *Field) any {
	if most := f.Schema.MaxLength; most != nil && s.IntN(8) == 0 {
		return strings.Repeat("a", int(*most)+s.IntN(2))
	}
	if len(f.Schema.Enum) > 0 && s.IntN(4) > 0 {
		return strings.Trim(string(pick(s.Rand, f.Schema.Enum).Raw), `"`)
	}
	if words := f.words(); len(words) > 0 && s.IntN(2) == 0 {
		return pick(s.Rand, words)
	}
	if s.IntN(4) == 0 {
		return pick(s.Rand, oddStrings)
	}
	return pick(s.Rand, plainStrings)
}

func (s source) list(f *Field, depth int) any {
	list := []any{}
	for range s.IntN(3) {
		list = append(list, s.typed(f.field(partItem), depth-1))
	}
	return list
}

func (s source) mapping(f *Field, depth int) any {
	values := map[string]any{}
	for range s.IntN(3) {
		key := s.key(f)
		values[key] = s.valueOf(key, f.field(partValue), depth)
	}
	return values
}

func (s source) key(f *Field) string {
	names := keys[f.Name()]
	if words := f.words(); len(words) > 0 && s.IntN(8) == 0 {
		return pick(s.Rand, words)
	}
	if len(names) == 0 || s.IntN(8) == 0 {
		names = []string{"team", "example.com/team", "bad key!", "", strings.Repeat("k", 70)}
	}
	return pick(s.Rand, names)
}

func (s source) valueOf(key string, f *Field, depth int) any {
	if values := valuesOfKey[key]; len(values) > 0 && s.IntN(6) > 0 {
		return pick(s.Rand, values)
	}
	return s.typed(f, depth-1)
}

// object has what is required, and some of the rest.
func (s source) object(f *Field, depth int) any {
	object := map[string]any{}
	for _, child := range f.fields {
		name := string(child.Path[len(child.Path)-1])
		isRequired := slices.Contains(f.Schema.Required, name)
		if (isRequired && s.IntN(30) > 0) || (depth > 0 && s.IntN(len(f.fields)+1) < 2) {
			object[name] = s.typed(child, depth-1)
		}
	}
	if f.Schema.XPreserveUnknownFields != nil && s.IntN(2) == 0 {
		object["anything"] = "goes"
	}
	return object
}

// at is what reaches from the spec to a field: the value, and what is required beside it on the way.
func (s source) at(root *Field, path []Part, value any) any {
	if len(path) == 0 {
		return value
	}
	child := root.field(path[0])
	below := s.at(child, path[1:], value)
	switch path[0] {
	case partItem:
		return []any{below}
	case partValue:
		key := s.key(root)
		if len(path) == 1 && s.IntN(2) == 0 {
			below = s.valueOf(key, child, 0)
		}
		return map[string]any{key: below}
	}
	object := map[string]any{string(path[0]): below}
	if len(root.Path) == 0 {
		return object // the spec has what it requires
	}
	for _, name := range root.Schema.Required {
		if _, ok := object[name]; !ok {
			object[name] = s.typed(root.field(Part(name)), 0)
		}
	}
	return object
}
