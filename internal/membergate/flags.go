// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package membergate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func parse(args []string, stdout, stderr io.Writer) (*Gate, string, error) {
	flags := flag.NewFlagSet("etcd-member-gate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "etcd-member-gate is the init container of an etcd member: it returns when etcd may start.")
		flags.PrintDefaults()
	}
	g := &Gate{Log: stdout, Resolve: lookup}
	var peers, before, tlsDir, terminationLog string
	flags.StringVar(&g.DataDir, "data-dir", "/var/etcd/data", "etcd's data directory")
	flags.StringVar(&g.AnnotationsFile, "annotations-file", "", "file with the pod's annotations (downward API)")
	flags.StringVar(&g.JoinedAnnotation, "joined-annotation", "", "annotation that a member carries which has started before")
	flags.StringVar(&g.Name, "name", "", "the member's own DNS name, which has to resolve first")
	flags.DurationVar(&g.NameTimeout, "name-timeout", 0, "longest wait for -name; 0 waits for ever")
	flags.StringVar(&peers, "peers", "", "comma-separated DNS names of the members which have to resolve")
	flags.StringVar(&before, "before", "", "comma-separated peer URLs of the members which have to answer /version first")
	flags.DurationVar(&g.HoldTimeout, "hold-timeout", 25*time.Second, "longest wait for -peers and -before")
	flags.StringVar(&tlsDir, "peer-tls", "", "folder with the member's peer certificate, for https URLs in -before")
	flags.StringVar(&terminationLog, "termination-log", "/dev/termination-log", "file for the last error")
	if err := flags.Parse(args); err != nil {
		return nil, terminationLog, err
	}
	g.Peers, g.Before = split(peers), split(before)
	// etcd's peers speak HTTP/1 only, and with TLS they accept the offer of HTTP/2
	// and then do not keep it.
	transport := &http.Transport{DisableKeepAlives: true, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	if tlsDir != "" {
		config, err := peerTLS(tlsDir)
		if err != nil {
			return nil, terminationLog, err
		}
		transport.TLSClientConfig = config
	}
	g.HTTP = &http.Client{Transport: transport}
	return g, terminationLog, nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func lookup(ctx context.Context, name string) error {
	_, err := net.DefaultResolver.LookupHost(ctx, name)
	return err
}

// peerTLS reads the certificate under the file names of the original; the secret
// volume maps the keys of a kubernetes.io/tls secret to them.
func peerTLS(dir string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "peer.crt"), filepath.Join(dir, "peer.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the peer certificate: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "peer-ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("reading the peer CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("no certificate in peer-ca.crt")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
