// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package serve gives backups to the first members of clusters that are being restored: over TLS, only to
// whoever shows the token of that one restore, and only while the restore is going on.
//
// Every replica of the operator serves. They are one server to the members by a Secret in the operator's
// namespace, which holds the certificate and the key that tokens are derived from, and by a Service that
// leads to all of them. A member gets its token, and the authority of the certificate, by a ticket: a
// Secret in its own namespace.
package serve

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// Port is where backups are served, as in the original.
const Port = 19999

const (
	// reportEvery is how often a member's progress is reported.
	reportEvery = 2 * time.Second
	// takeTimeout is how long a member may take nothing before it is given up.
	takeTimeout = time.Minute
	// closeTimeout is how long members get to finish when the process ends.
	closeTimeout = 5 * time.Second
	// chunk is how much is passed on at a time.
	chunk = 256 << 10
	// pathPrefix is what the paths of backups begin with. Namespace and name of the EtcdRestore follow.
	pathPrefix = "/v1/backup/"
)

var bytesServed = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "etcd_operator_restore_served_bytes_total", Help: "Bytes of snapshots that members fetched.",
})

func init() {
	metrics.Registry.MustRegister(bytesServed)
}

// Server streams backups.
type Server struct {
	Client client.Client
	// Scope says which objects the operator serves.
	Scope    scope.Scope
	Backups  *Backups
	Identity *IdentityKeeper
	// Address is where it listens.
	Address string
	// Slots limits how many members are served at once.
	Slots *job.Slots
	// Fetched is notified of how much a member has.
	Fetched func(ctx context.Context, r *v1beta2.EtcdRestore, bytes int64)
	// Replaced is notified that the object in the store is not the backup any more that was checked.
	Replaced func(ctx context.Context, r *v1beta2.EtcdRestore)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves, so that a
// restore goes on when the leader changes.
func (s *Server) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (s *Server) Start(ctx context.Context) error {
	select {
	case <-s.Identity.ready:
	case <-ctx.Done():
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Address)
	if err != nil {
		return fmt.Errorf("serving backups on -serve-addr: %w", err)
	}
	logger := ctrllog.FromContext(ctx).WithName("serve")
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctrllog.IntoContext(context.WithoutCancel(ctx), logger) },
		// Every port scan would leave a line.
		ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			MinVersion:     tls.VersionTLS13,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.Identity.current().certificate, nil },
		},
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = h.Shutdown(end)
		_ = h.Close()
	}()
	if err := h.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving backups: %w", err)
	}
	<-stopped
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r := s.restoreOf(req)
	if r == nil || !s.isAuthorized(req, r) {
		// Whoever has no token does not learn which restores there are.
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token of the restore is missing or wrong", http.StatusUnauthorized)
		return
	}
	switch {
	case req.Method != http.MethodGet:
		http.Error(w, "only GET is allowed", http.StatusMethodNotAllowed)
		return
	case view.Finished(r):
		http.Error(w, fmt.Sprintf("EtcdRestore %s has ended; create another one", r.Name), http.StatusGone)
		return
	case r.Status.Backup == nil:
		http.Error(w, "the backup has not been checked yet", http.StatusServiceUnavailable)
		return
	}
	if !s.Slots.Try(r.Namespace) {
		http.Error(w, "the operator serves a limited number of members at once and is busy with others", http.StatusServiceUnavailable)
		return
	}
	defer s.Slots.Free(r.Namespace)
	s.send(w, req, r)
}

// restoreOf finds the EtcdRestore that a request is about, or nil.
func (s *Server) restoreOf(req *http.Request) *v1beta2.EtcdRestore {
	path, found := strings.CutPrefix(req.URL.Path, pathPrefix)
	namespace, name, two := strings.Cut(path, "/")
	if !found || !two || strings.Contains(name, "/") {
		return nil
	}
	r := &v1beta2.EtcdRestore{}
	if err := s.Client.Get(req.Context(), types.NamespacedName{Namespace: namespace, Name: name}, r); err != nil || !s.Scope.Serves(r) {
		return nil
	}
	return r
}

// isAuthorized reports whether a request shows the token of the restore.
func (s *Server) isAuthorized(req *http.Request, r *v1beta2.EtcdRestore) bool {
	shown, found := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	want := token(s.Identity.current().tokenKey, r.UID)
	return found && subtle.ConstantTimeCompare([]byte(shown), []byte(want)) == 1
}

// send streams the backup. Its length is promised first, so that a stream which breaks off cannot be
// taken for a complete one.
func (s *Server) send(w http.ResponseWriter, req *http.Request, r *v1beta2.EtcdRestore) {
	logger := ctrllog.FromContext(req.Context()).WithValues("namespace", r.Namespace, "name", r.Name, "to", req.RemoteAddr)
	ctx, guard := WatchStore(req.Context())
	defer guard.Stop()
	from, err := s.Backups.stream(ctx, r)
	if err != nil {
		found := ProblemOf(guard.Cause(err))
		logger.Info("the backup cannot be served", "reason", found.Reason, "message", found.Message)
		status := http.StatusServiceUnavailable
		if found.Stalled {
			status = http.StatusConflict
		}
		http.Error(w, found.Message, status)
		return
	}
	defer func() { _ = from.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(r.Status.Backup.Size, 10))
	began := time.Now()
	out := &outgoing{
		w: w, control: http.NewResponseController(w), reported: began,
		report: func(sent int64) { s.Fetched(req.Context(), r, sent) },
	}
	same := newSameBackup(guard.SteadyReader(from), r.Status.Backup)
	sent, err := io.CopyBuffer(out, same, make([]byte, chunk))
	s.Fetched(context.WithoutCancel(req.Context()), r, sent)
	if errors.Is(err, errReplaced) {
		s.Replaced(context.WithoutCancel(req.Context()), r)
	}
	if err != nil {
		logger.Info("serving the backup broke off", "sent", sent, "cause", guard.Cause(err).Error())
		panic(http.ErrAbortHandler) // the member sees that the end is missing
	}
	logger.Info("served the backup", "bytes", sent, "took", time.Since(began).String())
}

// outgoing counts what is sent, and gives up on a member that takes nothing.
type outgoing struct {
	w        io.Writer
	control  *http.ResponseController
	sent     int64
	reported time.Time
	report   func(int64)
}

func (o *outgoing) Write(p []byte) (int, error) {
	if err := o.control.SetWriteDeadline(time.Now().Add(takeTimeout)); err != nil {
		return 0, err
	}
	n, err := o.w.Write(p)
	o.sent += int64(n)
	bytesServed.Add(float64(n))
	if time.Since(o.reported) > reportEvery {
		o.reported = time.Now()
		o.report(o.sent)
	}
	return n, err
}
