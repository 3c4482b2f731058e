// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// minute is a time of evaluation: series have a value each minute.
type minute int

// story is what happens to series, and what an alert makes of it. The values are in promtool's notation: 1x5 is six times 1.
type story struct {
	name, alert string
	series      map[string]string
	// quiet is before it fires, firing while it does, and ended afterwards. Of one that never fires all are quiet.
	quiet, firing, ended minute
}

const (
	cluster = `{namespace="ns", name="c"}`
	member  = `{namespace="ns", etcd_cluster="c", pod="c-a"}`
)

func of(metric, more string) string {
	return "etcd_operator_cluster_" + metric + `{namespace="ns", name="c"` + more + "}"
}

func bucket(metric, le string) string {
	return metric + `_bucket{namespace="ns", etcd_cluster="c", pod="c-a", le="` + le + `"}`
}

// aLeader is there unless a story is about it.
var aLeader = map[string]string{`leader_election_master_status{namespace="op", name="etcd-operator"}`: "1x3000"}

var stories = []story{
	{"the operator is deleted and comes back", "EtcdOperatorDown", map[string]string{
		`leader_election_master_status{namespace="op", name="etcd-operator"}`: "1x9 stale _x20 1x40",
	}, 9, 22, 40},
	{"the operator was never there", "EtcdOperatorDown", map[string]string{
		`leader_election_master_status{namespace="op", name="etcd-restore-operator"}`: "1x40",
		`leader_election_master_status{namespace="op", name="etcd-operator"}`:         "_x20 1x20",
	}, 3, 15, 30},
	{"the backup operator is deleted and comes back", "EtcdOperatorDown", map[string]string{
		`leader_election_master_status{namespace="op", name="etcd-backup-operator"}`: "1x9 stale _x20 1x40",
		`leader_election_master_status{namespace="op", name="etcd-operator"}`:        "1x80",
	}, 9, 22, 40},
	{"nobody leads", "EtcdOperatorNotLeading", map[string]string{
		`leader_election_master_status{namespace="op", name="etcd-operator"}`: "1x4 0x15 1x20",
	}, 4, 12, 25},
	{"rounds fail", "EtcdOperatorErrors", map[string]string{`etcd_operator_reconcile_errors_total{kind="observe"}`: "0x10 0+60x40 2400x60"}, 9, 40, 80},

	{"the majority is lost and comes back", "EtcdNoQuorum", map[string]string{of("quorum_margin", ""): "1x5 -1x10 1x10"}, 5, 9, 20},
	{"the majority has been lost for more than a day", "EtcdNoQuorum", map[string]string{
		of("quorum_margin", ""): "-1x2000 1x10", of("waiting", `, reason="QuorumLost"`): "1x2000 stale",
	}, 0, 1990, 2006},
	{"a cluster is created", "", map[string]string{of("quorum_margin", ""): "-1x10 1x10", of("waiting", `, reason="SeedStarting"`): "1x10 stale"}, 3, 9, 15},
	{"a cluster is restored", "", map[string]string{of("quorum_margin", ""): "1x5 -1x10 1x10", of("waiting", `, reason="Restoring"`): "_x5 1x10 stale"}, 5, 12, 20},

	{"a member less, until it is replaced", "EtcdQuorumAtRisk", map[string]string{of("quorum_margin", ""): "1x5 0x20 1x10", of("members_wanted", ""): "3x40"}, 5, 18, 30},
	{"a cluster of one member", "", map[string]string{of("quorum_margin", ""): "0x40", of("members_wanted", ""): "1x40"}, 5, 20, 35},
	{"a pod that is not ready", "EtcdMemberDown", map[string]string{of("members_ready", ""): "3x5 2x20 3x10", of("members_wanted", ""): "3x40"}, 5, 18, 30},
	{"a name that is taken", "EtcdClusterNeedsUser", map[string]string{of("needs_user", `, reason="NameTaken"`): "_x5 1x15 stale"}, 4, 14, 25},
	{"a change that does not end", "EtcdClusterNotAsSpecified", map[string]string{of("unmet_since_timestamp_seconds", ""): "0x100 stale"}, 30, 40, 105},
	{"a pause", "", map[string]string{of("unmet_since_timestamp_seconds", ""): "0x100", of("waiting", `, reason="Paused"`): "1x100"}, 30, 60, 90},
	{"a backup that cannot be fetched", "EtcdRestoreFailing", map[string]string{of("waiting", `, reason="RestoreFailing"`): "_x5 1x15 stale"}, 4, 14, 25},
	{"a certificate of eleven days", "EtcdCertificateExpiresSoon", map[string]string{
		of("certificate_expiry_timestamp_seconds", `, secret="peer", entry="peer.crt"`): "1000000x90 9000000x20",
	}, 30, 80, 95},
	{"a certificate of one day", "EtcdCertificateExpiresNow", map[string]string{
		of("certificate_expiry_timestamp_seconds", `, secret="peer", entry="peer.crt"`): "100000x30 9000000x20",
	}, 3, 10, 35},

	{"a store that refuses", "EtcdBackupFailing", map[string]string{"etcd_operator_backup_failures" + cluster: "0x5 3x10 0x10"}, 5, 9, 20},
	{"a series whose last backup was good long ago", "EtcdBackupTooOld", map[string]string{
		"etcd_operator_backup_last_success_timestamp_seconds" + cluster: "0x2200 132000x20", "etcd_operator_backup_next_run_timestamp_seconds" + cluster: "140000x2230",
	}, 2100, 2180, 2210},
	{"a single backup of long ago", "", map[string]string{"etcd_operator_backup_last_success_timestamp_seconds" + cluster: "0x2200"}, 2100, 2180, 2190},

	{"a member that is cut off", "EtcdNoLeader", map[string]string{"etcd_server_has_leader" + member: "1x5 0x10 1x10"}, 5, 9, 18},
	{"elections without end", "EtcdHighLeaderChanges", map[string]string{"etcd_server_leader_changes_seen_total" + member: "1x10 1+1x20 21x40"}, 10, 30, 65},
	{"a slow disk", "EtcdSlowFsync", map[string]string{
		bucket("etcd_disk_wal_fsync_duration_seconds", "0.512"): "0x80", bucket("etcd_disk_wal_fsync_duration_seconds", "1.024"): "0+60x40 2400x40",
		bucket("etcd_disk_wal_fsync_duration_seconds", "+Inf"): "0+60x40 2400x40",
	}, 3, 25, 60},
	{"a slow database", "EtcdSlowCommit", map[string]string{
		bucket("etcd_disk_backend_commit_duration_seconds", "0.256"): "0x80", bucket("etcd_disk_backend_commit_duration_seconds", "0.512"): "0+60x40 2400x40",
		bucket("etcd_disk_backend_commit_duration_seconds", "+Inf"): "0+60x40 2400x40",
	}, 3, 25, 60},
	{"a database that fills up", "EtcdDatabaseNearQuota", map[string]string{
		"etcd_mvcc_db_total_size_in_bytes" + member: "50x5 85x20 50x20", "etcd_server_quota_backend_bytes" + member: "100x60",
	}, 5, 20, 35},
	{"a database that is full", "EtcdDatabaseFull", map[string]string{
		"etcd_mvcc_db_total_size_in_bytes" + member: "50x5 99x8 50x20", "etcd_server_quota_backend_bytes" + member: "100x60",
	}, 5, 10, 25},
	{"writes that fail", "EtcdProposalsFailing", map[string]string{"etcd_server_proposals_failed_total" + member: "0x5 0+2x60 120x60"}, 4, 40, 100},
}

func TestEveryAlertHasAStory(t *testing.T) {
	for _, alert := range alerts(t) {
		if !slices.ContainsFunc(stories, func(s story) bool { return s.alert == alert.Alert }) {
			t.Errorf("no story fires %s", alert.Alert)
		}
	}
}

// Each story fires its alert and no other, and ends it.
func TestAlertsFireAndEnd(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "rules.yaml"), rules(t))
	tool := promtool(t)
	if out, err := exec.CommandContext(t.Context(), tool, "check", "rules", filepath.Join(dir, "rules.yaml")).CombinedOutput(); err != nil {
		t.Fatalf("promtool check rules: %v\n%s", err, out)
	}
	var tests []any
	for _, s := range stories {
		tests = append(tests, s.test())
	}
	file := filepath.Join(dir, "test.yaml")
	write(t, file, map[string]any{"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m", "tests": tests})
	out, err := exec.CommandContext(t.Context(), tool, "test", "rules", file).CombinedOutput()
	if err != nil {
		t.Fatalf("promtool test rules: %v\n%s", err, out)
	}
}

func write(t *testing.T, path string, content any) {
	t.Helper()
	text, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// test is the story as promtool reads it.
func (s story) test() map[string]any {
	type series struct {
		Series string `json:"series"`
		Values string `json:"values"`
	}
	var input []series
	isAboutLeaders := false
	for name, values := range s.series {
		input = append(input, series{name, values})
		isAboutLeaders = isAboutLeaders || aLeader[name] != ""
	}
	for name, values := range aLeader {
		if !isAboutLeaders {
			input = append(input, series{name, values})
		}
	}
	check := func(at minute, fires bool) map[string]any {
		samples := []any{}
		if fires && s.alert != "" {
			samples = append(samples, map[string]any{"labels": fmt.Sprintf(`{alertname=%q}`, s.alert), "value": 1})
		}
		return map[string]any{"expr": `group by (alertname) (ALERTS{alertstate="firing"})`, "eval_time": fmt.Sprintf("%dm", at), "exp_samples": samples}
	}
	return map[string]any{
		"name": s.name, "interval": "1m", "input_series": input,
		"promql_expr_test": []any{check(s.quiet, false), check(s.firing, true), check(s.ended, false)},
	}
}
