// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package inspect is the program that package verify starts: it restores a snapshot into a throw-away
// folder, lets an etcd open it and asks that etcd what it found.
package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	etcdsnapshot "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/verify"
)

// dataFolder is where the data is restored to, within the folder.
const dataFolder = "data"

// startPatience is how long an etcd gets to open a restored snapshot.
const startPatience = 10 * time.Minute

// Main is the program. Its arguments are a folder, in which the snapshot lies, and the
// revision to look at. It writes what it found to stdout as JSON, or the reason why it could not to
// stderr, and returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintf(stderr, "usage: %s FOLDER REVISION\n\nRestores the file %s in the folder and writes what is in it as of the revision, as JSON.\n", verify.Program, verify.SnapshotFile)
		return 2
	}
	revision, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		fmt.Fprintf(stderr, "the revision %q is not a number\n", args[1])
		return 2
	}
	found, err := inspect(ctx, args[0], revision)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		if errors.Is(err, snapshot.ErrBroken) {
			return verify.ExitBroken
		}
		return 1
	}
	return 0
}

// inspect restores the snapshot in the folder and lets an etcd open it.
func inspect(ctx context.Context, dir string, revision int64) (found etcd.Evidence, err error) {
	const peer = "http://localhost:2380" // only a name: nothing listens there
	data := filepath.Join(dir, dataFolder)
	if err := etcdsnapshot.NewV3(zap.NewNop()).Restore(etcdsnapshot.RestoreConfig{
		SnapshotPath:        filepath.Join(dir, verify.SnapshotFile),
		Name:                "verify",
		OutputDataDir:       data,
		PeerURLs:            []string{peer},
		InitialCluster:      "verify=" + peer,
		InitialClusterToken: "verify",
	}); err != nil {
		return found, blame(fmt.Errorf("restoring the snapshot: %w", err))
	}
	if err := os.Remove(filepath.Join(dir, verify.SnapshotFile)); err != nil {
		return found, fmt.Errorf("making room: %w", err)
	}

	cfg := embed.NewConfig()
	cfg.Name = "verify"
	cfg.Dir = data
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.InitialCluster = "verify=" + peer
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	// Sockets in the folder: no port is taken, and nobody else can reach it.
	cfg.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: filepath.Join(dir, "peer.sock")}}
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Host: filepath.Join(dir, "client.sock")}}
	cfg.AdvertiseClientUrls = cfg.ListenClientUrls
	cfg.UnsafeNoFsync = true // it is thrown away
	// Everything that is in the snapshot fits, and nothing is written to it.
	cfg.QuotaBackendBytes = -1
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return found, fmt.Errorf("starting etcd on the restored data: %w", err)
	}
	defer e.Close()
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		return found, fmt.Errorf("etcd ended on the restored data: %w", err)
	case <-e.Server.StopNotify():
		return found, errors.New("etcd stopped on the restored data")
	case <-time.After(startPatience):
		return found, fmt.Errorf("etcd was not ready on the restored data after %s", startPatience)
	case <-ctx.Done():
		return found, ctx.Err()
	}
	return read(ctx, e.Server.KV(), revision)
}

// blame makes an error one of the snapshot, unless it is one of the system that the snapshot was restored on.
func blame(err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return err
	}
	return fmt.Errorf("%w: %w", snapshot.ErrBroken, err)
}

// read asks the store itself: a snapshot of an etcd with authentication asks clients for a password.
func read(ctx context.Context, kv mvcc.WatchableKV, revision int64) (etcd.Evidence, error) {
	if have := kv.Rev(); have < revision {
		return etcd.Evidence{}, fmt.Errorf("%w: it has revision %d, but the cluster had %d when it was taken", snapshot.ErrBroken, have, revision)
	}
	hash, _, err := kv.HashStorage().HashByRev(revision)
	if err != nil {
		return etcd.Evidence{}, fmt.Errorf("computing the hash of the restored data: %w", err)
	}
	keys, err := kv.Range(ctx, []byte{0}, []byte{}, mvcc.RangeOptions{Rev: revision, CountOnly: true})
	if err != nil {
		return etcd.Evidence{}, fmt.Errorf("counting the restored keys: %w", err)
	}
	return etcd.Evidence{Revision: revision, Keys: int64(keys.Count), Hash: hash.Hash, CompactRevision: hash.CompactRevision}, nil
}
