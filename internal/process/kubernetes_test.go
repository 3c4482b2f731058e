// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

func TestWhichKubernetesIsTooOld(t *testing.T) {
	for found, want := range map[string]bool{
		"v1.29.15": true, "v1.29.15-eks-1234567": true, "v1.22.0": true, "v1.9.11": true,
		"v1.30.0": false, "v1.30.0-gke.100": false, "v1.33.4+k3s1": false, "v1.36.3": false, "v2.0.0": false, "v1.30.0-rc.1": false,
		"": false, "main": false,
	} {
		if got := tooOld(found); (got != "") != want || (want && !strings.Contains(got, found+" is too old: this operator needs 1.30 or later")) {
			t.Errorf("%q: %q", found, got)
		}
	}
}

// told is a log that ends the wait for what it was told.
type told struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (l *told) Write(line []byte) (int, error) {
	defer l.cancel()
	return l.Buffer.Write(line)
}

func TestAnAPIServerThatIsTooOldIsReportedAndWaitedFor(t *testing.T) {
	upgraded := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		minor := 29
		select {
		case <-upgraded:
			minor = 31
		default:
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"major":"1","minor":"%d","gitVersion":"v1.%[1]d.3"}`, minor)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := told{cancel: cancel}
	ready, logger := newReadiness(), logr.FromSlogHandler(slog.NewJSONHandler(&log, nil))

	if err := awaitKubernetes(ctx, &rest.Config{Host: server.URL}, ready, logger); err == nil {
		t.Error("the process goes on")
	}
	const want = "Kubernetes v1.29.3 is too old: this operator needs 1.30 or later"
	if got := ready.blocker(t.Context()); !strings.Contains(got, want) || strings.Count(log.String(), want) != 1 {
		t.Errorf("/readyz says %q, the log %s", got, log.String())
	}
	close(upgraded)
	if err := awaitKubernetes(t.Context(), &rest.Config{Host: server.URL}, ready, logger); err != nil {
		t.Error(err)
	}
}
