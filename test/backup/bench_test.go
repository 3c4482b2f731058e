// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
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
		var reference float64
		rates := map[string]float64{}
		for range 4 { // by turns, the best of each: the machine has other things to do
			reference = max(reference, etcdctlSave(b, etcd))
			for _, kind := range []stores.Kind{{Name: "File", Start: stores.StartFile}, {Name: "S3", Start: stores.StartS3}} {
				rate, memory, whole := backUp(b, etcd, kind)
				rates[kind.Name] = max(rates[kind.Name], rate)
				b.ReportMetric(float64(memory)/(1<<20), kind.Name+"-peak-MiB")
				b.ReportMetric(float64(whole)/(1<<20), kind.Name+"-peak-with-program-MiB")
				if memory > memoryLimit {
					b.Errorf("%s: the operator used %d MiB, want at most %d", kind.Name, memory>>20, memoryLimit>>20)
				}
			}
		}
		b.ReportMetric(reference/1e6, "etcdctl-MB/s")
		for name, rate := range rates {
			b.ReportMetric(rate/1e6, name+"-MB/s")
		}
		// What a server does with the bytes is its own affair; a file compares with a file.
		if rates["File"] < leastRate*reference {
			b.Errorf("%.0f MB/s, want at least %.1f of etcdctl's %.0f MB/s", rates["File"]/1e6, leastRate, reference/1e6)
		}
	}
}

// etcdctlSave returns the bytes in a second of etcdctl snapshot save.
func etcdctlSave(b *testing.B, etcd *etcdCluster) float64 {
	b.Helper()
	file := filepath.Join(b.TempDir(), "snapshot")
	cmd := exec.CommandContext(b.Context(), filepath.Join(server.Artifacts.Etcd["v3.6.16"], "etcdctl"), "--endpoints", etcd.urls()[0], "snapshot", "save", file)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("etcdctl snapshot save: %v\n%s", err, out)
	}
	took := time.Since(began)
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		b.Fatal(err)
	}
	return float64(info.Size()) / took.Seconds()
}

// backUp returns the bytes in a second of a backup, and the most memory that the operator had: its own,
// and with the pages of its program file, which it shares with every process of the same program and
// which the kernel drops when it needs room.
func backUp(b *testing.B, etcd *etcdCluster, kind stores.Kind) (rate float64, own, whole int64) {
	b.Helper()
	e := newEnv(b, kind.Start(b))
	// What the operator sets for itself in a container with a limit of 100 MiB.
	l := launch{namespace: e.namespace, env: []string{"GOMEMLIMIT=90MiB", "GOGC=50"}}
	if root := e.server.Config.FileRoot; root != "" {
		l.args = []string{"-file-store-dir", root}
	}
	p := startOperator(b, l)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	peak := watchMemory(ctx, b, p)
	object := e.backup("large", "large", etcd.urls()...)
	object.Spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutInSecond: 600}
	e.create(object)
	harness.Eventually(b, 10*time.Minute, func(context.Context) error {
		if object = e.read("large"); object.Status.Succeeded {
			return nil
		}
		return fmt.Errorf("the status is %+v", object.Status)
	})
	stop()
	own, whole = <-peak, memoryOf(b, p, "VmHWM:")
	p.Kill()
	return float64(object.Status.Size) / object.Status.Duration.Seconds(), own, whole
}

// watchMemory samples the memory of a process until ctx ends and then says what the most was.
func watchMemory(ctx context.Context, b *testing.B, p *harness.RunningOperator) <-chan int64 {
	b.Helper()
	peak := make(chan int64, 1)
	go func() {
		var most int64
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				peak <- most
				return
			case <-tick.C:
				most = max(most, memoryOf(b, p, "RssAnon:"))
			}
		}
	}()
	return peak
}

// memoryOf is a line of a process's status, in bytes.
func memoryOf(b *testing.B, p *harness.RunningOperator, line string) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		b.Error(err)
		return 0
	}
	_, rest, found := strings.Cut(string(status), line)
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		b.Errorf("the status of the process has no %s", line)
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		b.Error(err)
	}
	return kib << 10
}
