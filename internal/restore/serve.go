// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

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

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

const (
	// sentEvery is how often a member's progress is written into the status.
	sentEvery = 2 * time.Second
	// takeTimeout is how long a member may take nothing before it is given up.
	takeTimeout = time.Minute
	// closePatience is how long members get to finish when the process ends.
	closePatience = 5 * time.Second
	// chunk is how much is passed on at a time.
	chunk = 256 << 10
)

// server gives backups to the first members of clusters that are being restored: over TLS, only to who
// shows the token of that one restore, and only while the restore is going on.
type server struct {
	client      client.Client
	clusterWide bool
	sources     *sources
	identity    *identities
	address     string
	slots       chan struct{}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves, so that a
// restore goes on when the leader changes.
func (s *server) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (s *server) Start(ctx context.Context) error {
	select {
	case <-s.identity.ready:
	case <-ctx.Done():
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
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
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.identity.current().certificate, nil },
		},
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
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
func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r := s.restoreOf(req)
	if r == nil || !s.authorized(req, r) {
		// Who has no token does not learn which restores there are.
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token of the restore is missing or wrong", http.StatusUnauthorized)
		return
	}
	switch {
	case req.Method != http.MethodGet:
		http.Error(w, "only GET is possible", http.StatusMethodNotAllowed)
		return
	case finished(r):
		http.Error(w, fmt.Sprintf("EtcdRestore %s has ended; create another one", r.Name), http.StatusGone)
		return
	case r.Status.Backup == nil:
		http.Error(w, "the backup has not been checked yet", http.StatusServiceUnavailable)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		http.Error(w, "others are being served; the operator serves a limited number at once", http.StatusServiceUnavailable)
		return
	}
	s.send(w, req, r)
}

// restoreOf finds the EtcdRestore that a request is about, or nil.
func (s *server) restoreOf(req *http.Request) *v1beta2.EtcdRestore {
	path, found := strings.CutPrefix(req.URL.Path, pathPrefix)
	namespace, name, two := strings.Cut(path, "/")
	if !found || !two || strings.Contains(name, "/") {
		return nil
	}
	r := &v1beta2.EtcdRestore{}
	if err := s.client.Get(req.Context(), types.NamespacedName{Namespace: namespace, Name: name}, r); err != nil || !scope.Serves(s.clusterWide, r) {
		return nil
	}
	return r
}

// authorized reports whether a request shows the token of the restore.
func (s *server) authorized(req *http.Request, r *v1beta2.EtcdRestore) bool {
	shown, found := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	want := token(s.identity.current().tokenKey, r.UID)
	return found && subtle.ConstantTimeCompare([]byte(shown), []byte(want)) == 1
}

// send streams the backup. Its length is promised first, so that a stream which breaks off cannot be
// taken for a whole one.
func (s *server) send(w http.ResponseWriter, req *http.Request, r *v1beta2.EtcdRestore) {
	logger := ctrllog.FromContext(req.Context()).WithValues("namespace", r.Namespace, "name", r.Name, "to", req.RemoteAddr)
	ctx, dog := watch(req.Context())
	defer dog.stop()
	from, err := s.sources.stream(ctx, r)
	if err != nil {
		problem := problemOf(blame(ctx, err))
		logger.Info("the backup cannot be served", "reason", problem.Reason, "message", problem.Message)
		status := http.StatusServiceUnavailable
		if problem.Stalled {
			status = http.StatusConflict
		}
		http.Error(w, problem.Message, status)
		return
	}
	defer func() { _ = from.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(r.Status.Backup.Size, 10))
	began := time.Now()
	out := &outgoing{w: w, control: http.NewResponseController(w), told: began, tell: func(sent int64) { s.tell(req.Context(), r, sent) }}
	sent, err := io.CopyBuffer(out, dog.guard(from), make([]byte, chunk))
	s.tell(context.WithoutCancel(req.Context()), r, sent)
	if err != nil {
		logger.Info("serving the backup broke off", "sent", sent, "cause", blame(ctx, err).Error())
		panic(http.ErrAbortHandler) // the member sees that the end is missing
	}
	logger.Info("served the backup", "bytes", sent, "took", time.Since(began).String())
}

// tell writes into the status how much the member has. It is for people only: nothing depends on it,
// so that a failure is not worth more than a line in the log.
func (s *server) tell(ctx context.Context, r *v1beta2.EtcdRestore, sent int64) {
	// The UID keeps another object of the name from getting it.
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"fetchedBytes":%d}}`, r.UID, sent)
	object := &v1beta2.EtcdRestore{}
	object.Namespace, object.Name = r.Namespace, r.Name
	if err := s.client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		ctrllog.FromContext(ctx).V(1).Info("the progress could not be written", "cause", err.Error())
	}
}

// outgoing counts what goes out, and gives up on a member that takes nothing.
type outgoing struct {
	w       io.Writer
	control *http.ResponseController
	sent    int64
	told    time.Time
	tell    func(int64)
}

func (o *outgoing) Write(p []byte) (int, error) {
	if err := o.control.SetWriteDeadline(time.Now().Add(takeTimeout)); err != nil {
		return 0, err
	}
	n, err := o.w.Write(p)
	o.sent += int64(n)
	bytesServed.Add(float64(n))
	if time.Since(o.told) > sentEvery {
		o.told = time.Now()
		o.tell(o.sent)
	}
	return n, err
}
