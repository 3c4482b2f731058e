// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// secureMetricsAddr is where -metrics-secure serves metrics, unless -metrics-addr names another address.
const secureMetricsAddr = "0.0.0.0:8443"

// How long an answer of the API server about a token holds, and of how many tokens it is remembered.
const (
	allowedFor, deniedFor = time.Minute, 10 * time.Second
	rememberedTokens      = 256
	// maxReviews is how many questions are asked at the same time. Somebody who sends made-up tokens is held up by it, and not
	// the API server.
	maxReviews = 4
	// reviewPatience is how long the API server may take for an answer.
	reviewPatience = 10 * time.Second
)

// newServers are what answers HTTP: health and metrics, on one address or on two. Each serves until its context ends.
func newServers(cfg *rest.Config, s Settings, ready *readiness, logger logr.Logger) ([]func(context.Context) error, error) {
	if s.metricsSecure {
		metrics, err := newSecureMetrics(cfg, s)
		if err != nil {
			return nil, err
		}
		return []func(context.Context) error{
			named("-listen-addr "+s.ListenAddr, func(ctx context.Context) error { return serveHealth(ctx, s.ListenAddr, ready.handlers()) }),
			named("-metrics-addr "+s.MetricsAddr, metrics.Start),
		}, nil
	}
	main, err := metricsserver.NewServer(metricsserver.Options{BindAddress: s.ListenAddr, ExtraHandlers: ready.handlers()}, cfg, nil)
	if err != nil {
		return nil, err
	}
	servers := []func(context.Context) error{named("-listen-addr "+s.ListenAddr, main.Start)}
	if s.MetricsAddr != "" {
		servers = append(servers, func(ctx context.Context) error {
			serveMetrics(ctx, cfg, s.MetricsAddr, logger)
			return nil
		})
	}
	return servers, nil
}

// named says where a server failed.
func named(address string, serve func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := serve(ctx); err != nil {
			return fmt.Errorf("serving HTTP on %s: %w", address, err)
		}
		return nil
	}
}

// serveMetrics serves metrics on a second address until ctx ends. Nothing depends on that: where it is not possible, it is logged.
func serveMetrics(ctx context.Context, cfg *rest.Config, address string, logger logr.Logger) {
	server, err := metricsserver.NewServer(metricsserver.Options{BindAddress: address}, cfg, nil)
	if err == nil {
		err = server.Start(ctx)
	}
	if err != nil {
		logger.Info("Metrics are not served on -metrics-addr, only on -listen-addr", "address", address, "error", err.Error())
	}
}

// newSecureMetrics is a server of metrics over TLS, which asks the API server about everybody who wants them.
func newSecureMetrics(cfg *rest.Config, s Settings) (metricsserver.Server, error) {
	return metricsserver.NewServer(metricsserver.Options{
		BindAddress:   s.MetricsAddr,
		SecureServing: true,
		CertDir:       s.metricsCertDir,
		TLSOpts:       []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS12 }},
		FilterProvider: func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
			set, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return nil, err
			}
			return newReviewer(set).filter, nil
		},
	}, cfg, nil)
}

// reviewer asks the API server who somebody is (TokenReview), and what they may do (SubjectAccessReview).
//
// controller-runtime has a filter like this, which brings the API server's own machinery with it: 180 packages, exporters of
// traces among them, in programs that hold other people's keys.
type reviewer struct {
	client kubernetes.Interface
	known  *cache.LRUExpireCache // an int, the status, by the sum of what was asked
	slots  chan struct{}
}

func newReviewer(client kubernetes.Interface) *reviewer {
	return &reviewer{client: client, known: cache.NewLRUExpireCache(rememberedTokens), slots: make(chan struct{}, maxReviews)}
}

// filter puts the questions in front of a handler.
func (r *reviewer) filter(logger logr.Logger, handler http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, err := r.judge(req)
		switch {
		case err != nil:
			logger.Error(err, "Whether somebody may read metrics cannot be found out")
			http.Error(w, "the API server cannot be asked whether you may read metrics", status)
		case status == http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send a token of Kubernetes in the header Authorization", status)
		case status != http.StatusOK:
			http.Error(w, "the token's user may not "+strings.ToLower(req.Method)+" the URL "+req.URL.Path, status)
		default:
			handler.ServeHTTP(w, req)
		}
	}), nil
}

// judge returns the status of the answer to a request: 200 where it is allowed.
func (r *reviewer) judge(req *http.Request) (status int, err error) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	verb := strings.ToLower(req.Method)
	key := sha256.Sum256([]byte(verb + " " + req.URL.Path + " " + token))
	if known, ok := r.known.Get(key); ok {
		return known.(int), nil //nolint:forcetypeassert // nothing else is put there
	}
	ctx, cancel := context.WithTimeout(req.Context(), reviewPatience)
	defer cancel()
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable, errors.New("too many questions at the same time")
	}
	status, err = r.ask(ctx, token, verb, req.URL.Path)
	if err != nil {
		return http.StatusInternalServerError, err
	}
	remember := deniedFor
	if status == http.StatusOK {
		remember = allowedFor
	}
	r.known.Add(key, status, remember)
	return status, nil
}

func (r *reviewer) ask(ctx context.Context, token, verb, path string) (status int, err error) {
	who, err := r.client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking whose token it is: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	access, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking what %s may do: %w", user.Username, err)
	}
	if !access.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

// serveHealth serves /healthz and /readyz alone, without metrics, until ctx ends.
func serveHealth(ctx context.Context, address string, handlers map[string]http.Handler) error {
	mux := http.NewServeMux()
	for path, handler := range handlers {
		mux.Handle(path, handler)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
