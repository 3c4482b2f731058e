// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

const (
	// memoryLimit is what the operator may use while it backs up a gibibyte.
	memoryLimit = 100 << 20
	// leastRate is how fast it has to be, as a part of what etcdctl snapshot save does on the same disk.
	leastRate = 0.8
)

// BenchmarkBackupOfAGibibyte compares backups of a database of 1 GiB with etcdctl snapshot save, in the
// same run and onto the same disk, and watches the operator's memory. Run it with -benchtime 1x.
func BenchmarkBackupOfAGibibyte(b *testing.B) {
	etcd := startEtcd(b, "v3.6.16", 1, "--quota-backend-bytes", strconv.Itoa(4<<30))
	etcd.fill(1024)
	for b.Loop() {
		reference := etcdctlSave(b, etcd)
		b.ReportMetric(reference/1e6, "etcdctl-MB/s")
		for _, kind := range []stores.Kind{{Name: "File", Start: stores.StartFile}, {Name: "S3", Start: stores.StartS3}} {
			rate, memory := backUp(b, etcd, kind)
			b.ReportMetric(rate/1e6, kind.Name+"-MB/s")
			b.ReportMetric(float64(memory)/(1<<20), kind.Name+"-peak-MiB")
			if memory > memoryLimit {
				b.Errorf("%s: the operator used %d MiB, want at most %d", kind.Name, memory>>20, memoryLimit>>20)
			}
			// What a server does with the bytes is its own affair; a file compares with a file.
			if kind.Name == "File" && rate < leastRate*reference {
				b.Errorf("%s: %.0f MB/s, want at least %.1f of etcdctl's %.0f MB/s", kind.Name, rate/1e6, leastRate, reference/1e6)
			}
		}
	}
}

// etcdctlSave returns the bytes in a second of etcdctl snapshot save, the better of two.
func etcdctlSave(b *testing.B, etcd *etcdCluster) float64 {
	b.Helper()
	best := 0.0
	for i := range 2 {
		file := filepath.Join(b.TempDir(), fmt.Sprint(i))
		cmd := exec.CommandContext(b.Context(), filepath.Join(programs.Etcd["v3.6.16"], "etcdctl"), "--endpoints", etcd.urls()[0], "snapshot", "save", file)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("etcdctl snapshot save: %v\n%s", err, out)
		}
		took := time.Since(began)
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		best = max(best, float64(info.Size())/took.Seconds())
	}
	return best
}

// backUp returns the bytes in a second of a backup, and the most memory that the operator had.
func backUp(b *testing.B, etcd *etcdCluster, kind stores.Kind) (rate float64, memory int64) {
	b.Helper()
	e := newEnv(b, kind.Start(b))
	// What the operator sets for itself in a container with a limit of 100 MiB.
	l := launch{namespace: e.namespace, env: []string{"GOMEMLIMIT=90MiB", "GOGC=50"}}
	if root := e.server.Config.FileRoot; root != "" {
		l.args = []string{"-file-store-dir", root}
	}
	p := startOperator(b, l)
	object := e.backup("large", "large", etcd.urls()...)
	object.Spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutInSecond: 600}
	e.create(object)
	eventually(b, 10*time.Minute, func() string {
		if object = e.read("large"); object.Status.Succeeded {
			return ""
		}
		return fmt.Sprintf("the status is %+v", object.Status)
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			memory = kib << 10
		}
	}
	p.kill()
	return float64(object.Status.Size) / object.Status.Duration.Seconds(), memory
}
