// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package gitops_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/test/repository"
)

var update = flag.Bool("update", false, "write example/gitops/argocd/argocd-cm.yaml anew")

const (
	group  = "etcd.database.coreos.com"
	argocd = "example/gitops/argocd"
)

// script is one of the files for Argo CD.
func script(path ...string) string {
	text, err := os.ReadFile(filepath.Join(append([]string{repository.Root(), argocd, group}, path...)...))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// scripts says how healthy an object of each kind is.
var scripts = map[string]string{
	"EtcdCluster": script("EtcdCluster", "health.lua"), "EtcdBackup": script("EtcdBackup", "health.lua"), "EtcdRestore": script("EtcdRestore", "health.lua"),
}

// run runs a script as Argo CD does: with the object in obj, and the libraries that it allows.
func run(text string, object map[string]any) (any, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.OsLibName: lua.OpenOs} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), NRet: 0, Protect: true}, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	l.SetGlobal("obj", toLua(l, object))
	if err := l.DoString(text); err != nil {
		return nil, err
	}
	return fromLua(l.Get(-1)), nil
}

func toLua(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := l.NewTable()
		for _, item := range v {
			table.Append(toLua(l, item))
		}
		return table
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, toLua(l, item))
		}
		return table
	}
	return lua.LNil
}

func fromLua(value lua.LValue) any {
	switch v := value.(type) {
	case lua.LString:
		return string(v)
	case lua.LBool:
		return bool(v)
	case lua.LNumber:
		return int64(v)
	case *lua.LTable:
		if v.MaxN() > 0 {
			var items []any
			v.ForEach(func(_, item lua.LValue) { items = append(items, fromLua(item)) })
			return items
		}
		fields := map[string]any{}
		v.ForEach(func(key, item lua.LValue) { fields[key.String()] = fromLua(item) })
		return fields
	}
	return nil
}

// argoAgrees holds what Argo CD makes of a status to what kstatus makes of it. Two things Argo CD has words for: what is
// stopped on purpose, and a cluster that cannot serve, which may come back by itself.
func argoAgrees(u *unstructured.Unstructured, is status.Status, reason string) error {
	if is == status.TerminatingStatus {
		return nil // Argo CD does not ask
	}
	answer, err := run(scripts[u.GetKind()], u.Object)
	if err != nil {
		return fmt.Errorf("health.lua: %w", err)
	}
	health, _ := answer.(map[string]any)
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	want := map[status.Status]string{status.CurrentStatus: "Healthy", status.FailedStatus: "Degraded", status.InProgressStatus: "Progressing"}[is]
	isReported := is == status.CurrentStatus || observedBy(u)
	switch {
	case is == status.FailedStatus:
	case reason == "Suspended" && isReported, reason == "Paused" && isReported && is != status.CurrentStatus:
		want = "Suspended"
	case u.GetKind() == "EtcdCluster" && phase == "Failed" && isReported && is != status.CurrentStatus:
		want = "Degraded"
	}
	if health["status"] != want || health["message"] == "" {
		return fmt.Errorf("Argo CD takes it for %v, and it is %s: kstatus says %s, the reason is %s", health, want, is, reason)
	}
	return nil
}

func observedBy(u *unstructured.Unstructured) bool {
	seen, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return seen == u.GetGeneration()
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	o := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestActionsOfArgoCDAreOfferedWhereTheyDoSomething(t *testing.T) {
	for name, tc := range map[string]struct{ kind, object, want string }{
		"a cluster":          {"EtcdCluster", "spec: {size: 3}", "pause: {disabled: false}\nresume: {disabled: true}"},
		"one that is paused": {"EtcdCluster", "spec: {size: 3, paused: true}", "pause: {disabled: true}\nresume: {disabled: false}"},
		"a single backup":    {"EtcdBackup", "spec: {}", "backup: {disabled: true}\nsuspend: {disabled: true}\nresume: {disabled: true}"},
		"a series":           {"EtcdBackup", "spec: {backupPolicy: {backupIntervalInSecond: 60}}", "backup: {disabled: false}\nsuspend: {disabled: true}\nresume: {disabled: true}"},
		"by a schedule":      {"EtcdBackup", "spec: {backupPolicy: {schedule: {cron: x}}}", "backup: {disabled: false}\nsuspend: {disabled: false}\nresume: {disabled: true}"},
		"suspended":          {"EtcdBackup", "spec: {backupPolicy: {schedule: {cron: x, suspend: true}}}", "backup: {disabled: false}\nsuspend: {disabled: true}\nresume: {disabled: false}"},
	} {
		got, err := run(script(tc.kind, "actions/discovery.lua"), decode(t, tc.object))
		if diff := cmp.Diff(any(decode(t, tc.want)), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestActionsOfArgoCDDoWhatTheirNamesSay(t *testing.T) {
	for action, tc := range map[string]struct{ object, want string }{
		"EtcdCluster/actions/pause":  {"spec: {size: 3}", "spec: {size: 3, paused: true}"},
		"EtcdCluster/actions/resume": {"spec: {size: 3, paused: true}", "spec: {size: 3, paused: false}"},
		"EtcdBackup/actions/suspend": {"spec: {backupPolicy: {schedule: {cron: x}}}", "spec: {backupPolicy: {schedule: {cron: x, suspend: true}}}"},
		"EtcdBackup/actions/resume":  {"spec: {backupPolicy: {schedule: {cron: x, suspend: true}}}", "spec: {backupPolicy: {schedule: {cron: x, suspend: false}}}"},
	} {
		got, err := run(script(action, "action.lua"), numbers(decode(t, tc.object)))
		if diff := cmp.Diff(any(numbers(decode(t, tc.want))), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", action, err, diff)
		}
	}
}

// numbers makes the numbers of a decoded object those that Kubernetes' decoder makes.
func numbers(o map[string]any) map[string]any {
	for key, value := range o {
		switch v := value.(type) {
		case float64:
			o[key] = int64(v)
		case map[string]any:
			numbers(v)
		}
	}
	return o
}

func TestABackupNowIsBesideTheSeries(t *testing.T) {
	got, err := run(script("EtcdBackup/actions/backup/action.lua"), decode(t, `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: nightly, namespace: db, uid: x, annotations: {etcd.database.coreos.com/scope: clusterwide, other: y}}
spec: {etcdClusterRef: {name: c}, storageType: S3, s3: {path: b/k, awsSecret: aws}, deletionPolicy: Delete, backupPolicy: {maxBackups: 7, schedule: {cron: x}}}
status: {url: z}`))
	if err != nil {
		t.Fatal(err)
	}
	made := got.([]any)[0].(map[string]any)
	resource := made["resource"].(map[string]any)
	metadata := resource["metadata"].(map[string]any)
	stamp, found := strings.CutPrefix(metadata["name"].(string), "nightly-")
	if made["operation"] != "create" || !found || len(stamp) != len("20260102030405") {
		t.Fatalf("it is %v", made)
	}
	want := decode(t, `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: nightly-STAMP, namespace: db, annotations: {etcd.database.coreos.com/scope: clusterwide}}
spec: {etcdClusterRef: {name: c}, storageType: S3, s3: {path: b/k-STAMP, awsSecret: aws}}`)
	text, err := yaml.Marshal(resource)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, decode(t, strings.ReplaceAll(string(text), stamp, "STAMP"))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// customizations are the files as Argo CD's ConfigMap has them.
func customizations(t *testing.T) map[string]string {
	t.Helper()
	data := map[string]string{}
	for kind, health := range scripts {
		data["resource.customizations.health."+group+"_"+kind] = health
		actions, err := filepath.Glob(filepath.Join(repository.Root(), argocd, group, kind, "actions/*/action.lua"))
		if err != nil {
			t.Fatal(err)
		}
		if len(actions) == 0 {
			continue
		}
		slices.Sort(actions)
		var definitions []map[string]string
		for _, path := range actions {
			name := filepath.Base(filepath.Dir(path))
			definitions = append(definitions, map[string]string{"name": name, "action.lua": script(kind, "actions", name, "action.lua")})
		}
		text, err := yaml.Marshal(map[string]any{"discovery.lua": script(kind, "actions/discovery.lua"), "definitions": definitions})
		if err != nil {
			t.Fatal(err)
		}
		data["resource.customizations.actions."+group+"_"+kind] = string(text)
	}
	return data
}

// The ConfigMap is what people apply, and the files are what is read and tested.
func TestTheConfigMapOfArgoCDHoldsTheFiles(t *testing.T) {
	path := filepath.Join(repository.Root(), argocd, "argocd-cm.yaml")
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm"}, "data": customizations(t),
	}
	text, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const head = "# Generated of the files beside it, in test: go test ./gitops -run ConfigMap -args -update\n#\n#   kubectl -n argocd apply --server-side -f example/gitops/argocd/argocd-cm.yaml\n"
	if *update {
		if err := os.WriteFile(path, []byte(head+string(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(head+string(text), string(got)); diff != "" {
		t.Errorf("run it with -args -update (-want +got):\n%s", diff)
	}
}

// Flux applies a folder that exists, and waits for what is in it.
func TestTheSampleForFluxLeadsToTheTree(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository.Root(), "example/gitops/flux/etcd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(text), "\n---\n")
	source, apply := decode(t, documents[0]), decode(t, documents[1])
	spec := apply["spec"].(map[string]any)
	files, err := filepath.Glob(filepath.Join(repository.Root(), spec["path"].(string), "*.yaml"))
	if err != nil || len(files) != 2 || spec["wait"] != true {
		t.Errorf("%v: %v, wait %v", files, err, spec["wait"])
	}
	if from := spec["sourceRef"].(map[string]any); from["kind"] != source["kind"] || from["name"] != source["metadata"].(map[string]any)["name"] {
		t.Errorf("it applies %v", from)
	}
}
