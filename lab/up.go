// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/controlplane"
	"github.com/etcd-operator/etcd-operator/lab/internal/images"
	"github.com/etcd-operator/etcd-operator/lab/internal/journal"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

// Up brings the whole lab up, whatever state it is in: it makes a new one, finishes what an interrupted Up or Down began, brings
// one back with its state after PowerCut, starts nodes that were killed and heals what is cut off. It returns when every node is
// ready and the cluster's names resolve.
func (l *Lab) Up(ctx context.Context) error {
	if err := l.preflight(); err != nil {
		return err
	}
	return l.change(ctx, func(s *session) error { return s.up(ctx) })
}

func (s *session) up(ctx context.Context) error {
	t := newStopwatch(s.say)
	if s.journal.Record().Leaving {
		if err := s.clear(ctx); err != nil {
			return err
		}
		t.note("an interrupted `lab down` finished")
	}
	set, err := artifacts.Ensure(ctx, s.request(), s.say)
	if err != nil {
		return err
	}
	t.note("programs and images found")
	if err := s.prepare(set); err != nil {
		return err
	}
	if err := s.startMachines(ctx); err != nil {
		return err
	}
	t.note("all machines on")
	if err := s.heal(ctx); err != nil {
		return err
	}
	return s.settle(ctx, t)
}

// startMachines switches on what is off.
func (s *session) startMachines(ctx context.Context) error {
	if err := s.ensureSwitch(ctx); err != nil {
		return err
	}
	store, err := pki.Open(s.path("pki"))
	if err != nil {
		return err
	}
	if err := s.ensureControlPlane(ctx, store); err != nil {
		return err
	}
	tars, err := s.hashImages() // the API server needs some seconds anyway
	if err != nil {
		return err
	}
	var on []int
	for n := 1; n <= s.state.Nodes; n++ {
		if _, ok := s.running(node.Name(n)); ok {
			on = append(on, n)
			continue
		}
		if err := s.startNode(ctx, store, n, tars); err != nil {
			return err
		}
	}
	// Nodes that were on already may lack what this command asks for.
	return s.eachNode(on, func(n, pid int) error { return s.imagesOf(n, pid).Import(ctx, tars, s.say) })
}

// settle waits until the cluster is as it should be.
func (s *session) settle(ctx context.Context, t *stopwatch) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	if err := c.waitForAPI(ctx); err != nil {
		return err
	}
	t.note("API server ready")
	if err := s.applyAddons(ctx, c); err != nil {
		return err
	}
	for n := 1; n <= s.state.Nodes; n++ {
		if err := s.waitForNode(ctx, c, n); err != nil {
			return err
		}
	}
	t.note("all nodes ready")
	if err := c.waitForDNS(ctx); err != nil {
		return err
	}
	t.note("cluster DNS answers")
	return nil
}

// prepare makes the lab's folders and records what it is to be.
func (s *session) prepare(set *artifacts.Set) error {
	for _, folder := range []string{"bin", "run", "logs", "images", "nodes", "control-plane"} {
		if err := os.MkdirAll(s.path(folder), 0o750); err != nil {
			return fmt.Errorf("make the lab's folders: %w", err)
		}
	}
	if err := s.copyProgram(); err != nil {
		return err
	}
	if s.state == nil {
		s.state = &state{Format: stateFormat, Kubernetes: artifacts.KubernetesVersion, Nodes: DefaultNodes}
		if s.options.Nodes != 0 {
			s.state.Nodes = s.options.Nodes
		}
	}
	s.state.Nodes = max(s.state.Nodes, s.options.Nodes)
	s.state.Set = set
	return s.writeState(s.state)
}

// copyProgram keeps a copy of the lab program, since the one that was called may be rebuilt or removed at any time.
func (s *session) copyProgram() error {
	if s.options.Program == "" {
		return nil
	}
	if err := wholefile.Copy(s.program(), s.options.Program, 0o700); err != nil {
		return fmt.Errorf("copy the lab program: %w", err)
	}
	return nil
}

func (s *session) ensureControlPlane(ctx context.Context, store *pki.Store) error {
	if _, err := store.Kubeconfig("admin", controlplane.URL(), pki.Admin()); err != nil {
		return err
	}
	if _, ok := s.running(controlplane.Name); ok {
		return nil
	}
	if err := apiserver.WriteAuditPolicy(s.AuditDir()); err != nil {
		return err
	}
	spec, err := controlplane.ControlPlane{
		Dir:      s.path("control-plane"),
		Logs:     s.path("logs"),
		AuditDir: s.AuditDir(),
		Lab:      s.program(),
		StateDir: s.dir,
		Set:      s.state.Set,
		PKI:      store,
	}.Spec(s.tree.Folders(systemGroup(controlplane.Name)), s.reportPath(controlplane.Name))
	if err != nil {
		return err
	}
	pid, err := s.switchPID()
	if err != nil {
		return err
	}
	return s.switchOn(ctx, spec, pid, nil)
}

// node returns what node n is made of.
func (s *session) node(store *pki.Store, n int, tars []images.Tar) (node.Node, error) {
	name := node.Name(n)
	id, err := nodeIdentity(n)
	if err != nil {
		return node.Node{}, err
	}
	certificate, err := store.Certificate(name, id)
	if err != nil {
		return node.Node{}, err
	}
	kubeconfig, err := store.Kubeconfig(name, controlplane.URL(), id)
	if err != nil {
		return node.Node{}, err
	}
	proxy, err := store.Kubeconfig("kube-proxy", controlplane.URL(), pki.Identity{CommonName: "system:kube-proxy"})
	if err != nil {
		return node.Node{}, err
	}
	return node.Node{
		Number:          n,
		Dir:             s.NodeDir(name),
		Logs:            s.path("logs"),
		Cgroup:          groupOf(name),
		Lab:             s.program(),
		Set:             s.state.Set,
		CA:              store.CA().Cert,
		Certificate:     certificate,
		Kubeconfig:      kubeconfig,
		ProxyKubeconfig: proxy,
		Tars:            tars,
		BootID:          string(uuid.NewUUID()),
	}, nil
}

// startNode starts node n, which is off. One that is noted as cut off comes up cut off.
func (s *session) startNode(ctx context.Context, store *pki.Store, n int, tars []images.Tar) error {
	made, err := s.node(store, n, tars)
	if err != nil {
		return err
	}
	if err := made.Write(); err != nil {
		return err
	}
	cache, err := artifacts.CacheDir()
	if err != nil {
		return err
	}
	switchPID, err := s.switchPID()
	if err != nil {
		return err
	}
	spec := made.Spec(s.tree.Folders(systemGroup(node.Name(n))), s.reportPath(node.Name(n)), s.dir, cache)
	return s.switchOn(ctx, spec, 0, func(pid int) error {
		if err := network.PlugIn(ctx, switchPID, pid, n); err != nil {
			return err
		}
		if s.isCut(n) {
			return network.SetPort(ctx, switchPID, network.Port(n), false)
		}
		return nil
	})
}

// waitForNode waits until node n is ready. What it said before it was last switched on does not count.
func (s *session) waitForNode(ctx context.Context, c *cluster, n int) error {
	id, on := s.running(node.Name(n))
	if !on {
		return fmt.Errorf("%s has gone off again: `lab logs %[1]s` may say why", node.Name(n))
	}
	bootID, err := node.BootIDOf(id.PID)
	if err != nil {
		return err
	}
	return c.waitForNode(ctx, node.Name(n), bootID)
}

// imagesOf is the image store of a node that is on.
func (s *session) imagesOf(n, pid int) images.Store {
	return node.Node{Number: n, Dir: s.NodeDir(node.Name(n)), Set: s.state.Set}.Images(pid)
}

// eachNode calls fn for those of the nodes that are on, for all at once.
func (s *session) eachNode(nodes []int, fn func(n, pid int) error) error {
	errs := make([]error, len(nodes))
	var wait sync.WaitGroup
	for i, n := range nodes {
		id, ok := s.running(node.Name(n))
		if !ok {
			continue
		}
		wait.Go(func() {
			if err := fn(n, id.PID); err != nil {
				errs[i] = fmt.Errorf("%s: %w", node.Name(n), err)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// imageTars are the images that every node has: those that come with the lab and those that were loaded.
func (s *session) imageTars() []string {
	loaded, _ := filepath.Glob(s.path("images", "*.tar")) // it fails only for a wrong pattern
	return slices.Concat(s.state.Set.Images, loaded)
}

// hashImages returns the images that every node has, with their hashes.
func (s *session) hashImages() ([]images.Tar, error) {
	return images.HashAll(s.path("images", "hashes.json"), s.imageTars())
}

// reopenJournal starts an empty journal after the old one was removed.
func (s *session) reopenJournal() error {
	if err := s.journal.Close(); err != nil {
		return err
	}
	var err error
	s.journal, err = journal.Open(s.journalPath())
	return err
}

// stopwatch writes what was done, and when.
type stopwatch struct {
	out   io.Writer
	began time.Time
}

func newStopwatch(out io.Writer) *stopwatch { return &stopwatch{out: out, began: time.Now()} }

func (s *stopwatch) note(format string, args ...any) {
	fmt.Fprintf(s.out, "%6.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}
