// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/stall"
)

// By default no store is on the operator's own machine, by whatever name.
func TestAStoreOnTheOperatorsMachineIsRefused(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, host := range []string{"127.0.0.1"} {
		for name, s := range networkStoresWithin(t, "http://"+host+":"+port, nil) {
			if _, err := s.Stat(t.Context(), "key"); !Is(err, BadConfig) || !strings.Contains(err.Error(), "address") {
				t.Errorf("%s at %s: %v", name, host, err)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// What a service answers does not decide where the next request goes.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/elsewhere", status)
		}))
		for name, s := range networkStores(t, server.URL) {
			if body, _, err := s.Get(t.Context(), "key"); err == nil {
				_ = body.Close()
				t.Errorf("%s, %d: no error", name, status)
			}
			if _, err := s.Stat(t.Context(), "key"); err == nil {
				t.Errorf("%s, %d: no error", name, status)
			}
		}
		server.Close()
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// A list or an error without an end does not fill the memory.
func TestAnswersAreBounded(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		if strings.Contains(r.URL.String(), "key") {
			status = http.StatusTeapot
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<ListBucketResult>")
		for range 1 << 20 {
			n, err := fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", strings.Repeat("k", 1000))
			if err != nil {
				return
			}
			sent.Add(int64(n))
		}
	}))
	defer server.Close()
	s := networkStores(t, server.URL)["S3"]
	for _, err := range s.List(t.Context(), "prefix") {
		if err != nil {
			break
		}
	}
	if _, _, err := s.Get(t.Context(), "key"); err == nil {
		t.Error("an error without an end is no error")
	}
	if n := sent.Load(); n > 10*maxAnswer {
		t.Errorf("%d bytes were taken", n)
	}
}

// A text of the service is cut and cleaned.
func TestWhatAServiceSaysIsCutAndCleaned(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, "<Error><Code>Bad\nline %s</Code></Error>", strings.Repeat("x", 100_000))
	}))
	defer server.Close()
	_, _, err := networkStores(t, server.URL)["S3"].Get(t.Context(), "key")
	if err == nil || len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "(Bad line xxx") {
		t.Errorf("%d characters: %.300q", len(err.Error()), err)
	}
}

// Names in a secret are those of the object's namespace too: here that of a service for roles.
func TestNamesInSecretsAreOfTheNamespace(t *testing.T) {
	c := Config{NamesWithin: "a"}
	for address, want := range map[string]string{"minio:9000": "minio.a.svc:9000", "10.0.0.1:80": "10.0.0.1:80", "s3.example.com:443": "s3.example.com:443"} {
		if got := located(t.Context(), c, address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}

// A service that takes a byte now and then does not hold an upload open.
func TestASlowReaderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() {
			for {
				time.Sleep(time.Second)
				if _, err := theirs.Read(make([]byte, 2<<10)); err != nil {
					return
				}
			}
		}()
		began := time.Now()
		var slow *stall.SlowError
		var tooSlow atomic.Bool
		_, err := (&steadyConn{Conn: ours, tooSlow: &tooSlow}).Write(make([]byte, 64<<20))
		_ = ours.Close()
		_ = theirs.Close()
		if !errors.As(err, &slow) || !tooSlow.Load() || time.Since(began) > 5*writePatience {
			t.Errorf("after %s: %v, want that the store is slow", time.Since(began), err)
		}
		time.Sleep(time.Minute) // until the other side has noticed
	})
}
