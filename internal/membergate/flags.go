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
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// self is this program, wherever it is.
const self = "/proc/self/exe"

func newFlags(terminationLog *string, stderr io.Writer, what string) *flag.FlagSet {
	flags := flag.NewFlagSet("etcd-member-gate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, what)
		flags.PrintDefaults()
	}
	flags.StringVar(terminationLog, "termination-log", *terminationLog, "file for the last error")
	return flags
}

func (i *Identity) register(flags *flag.FlagSet) {
	flags.StringVar(&i.DataDir, "data-dir", "/var/etcd/data", "etcd's data directory")
	flags.StringVar(&i.AnnotationsFile, "annotations-file", "", "file with the pod's annotations (downward API)")
	flags.StringVar(&i.JoinedAnnotation, "joined-annotation", "", "annotation that a member carries which has started before")
}

func parseGate(args []string, terminationLog *string, stdout, stderr io.Writer) (*Gate, error) {
	flags := newFlags(terminationLog, stderr, "etcd-member-gate is the init container of an etcd member: it returns when etcd may start.\n"+
		"With -- ETCD ARGUMENT... it is in etcd's own container, and becomes etcd instead.")
	g := &Gate{Log: stdout, Resolve: lookup, Self: self, Become: become}
	var identity Identity
	identity.register(flags)
	others := g.registerOthers(flags)
	flags.StringVar(&g.StartAnnotation, "start-annotation", "", "annotation that the pod has to have before etcd may start")
	flags.BoolVar(&g.HasData, "has-data", false, "the member has started before: without its data it must not start again")
	flags.StringVar(&g.Program, "program", "", "file to copy this program to")
	flags.StringVar(&g.Name, "name", "", "the member's own DNS name, which has to resolve first")
	flags.DurationVar(&g.NameTimeout, "name-timeout", 0, "longest wait for -name; 0 waits for ever")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	g.DataDir, g.AnnotationsFile, g.JoinedAnnotation = identity.DataDir, identity.AnnotationsFile, identity.JoinedAnnotation
	g.Command = flags.Args()
	return g, others()
}

// registerOthers adds the flags for the members that have to be there first. What it returns
// reads them once they are parsed.
func (g *Gate) registerOthers(flags *flag.FlagSet) (parsed func() error) {
	var peers, before, tlsDir string
	flags.StringVar(&peers, "peers", "", "comma-separated DNS names of the members which have to resolve")
	flags.StringVar(&before, "before", "", "comma-separated peer URLs of the members which have to answer /version first")
	flags.DurationVar(&g.HoldTimeout, "hold-timeout", 25*time.Second, "longest wait for -peers and -before")
	flags.StringVar(&tlsDir, "peer-tls", "", "folder with the member's peer certificate, for https URLs in -before")
	return func() error {
		g.Peers, g.Before = split(peers), split(before)
		return g.connect(tlsDir)
	}
}

// connect makes the client for peers.
func (g *Gate) connect(tlsDir string) error {
	// etcd's peers speak HTTP/1 only, and with TLS they accept the offer of HTTP/2
	// and then do not keep it.
	transport := &http.Transport{DisableKeepAlives: true, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	if tlsDir != "" {
		config, err := certificates(tlsDir, "peer.crt", "peer.key", "peer-ca.crt")
		if err != nil {
			return err
		}
		transport.TLSClientConfig = config
	}
	g.HTTP = &http.Client{Transport: transport}
	return nil
}

func parseFetch(args []string, terminationLog *string, stdout, stderr io.Writer) (*Fetch, error) {
	flags := newFlags(terminationLog, stderr, "etcd-member-gate fetch brings a snapshot onto a member's volume.")
	f := &Fetch{Log: stdout, Self: self}
	f.Identity.register(flags)
	var address, ticket, member, tlsDir string
	flags.StringVar(&f.Snapshot, "snapshot", "", "file to write the snapshot to")
	flags.StringVar(&f.Program, "program", "", "file to copy this program to")
	flags.StringVar(&address, "url", "", "where the snapshot is fetched from")
	flags.StringVar(&ticket, "ticket", "", "folder with the token for -url, and the authority of its server")
	flags.Int64Var(&f.Size, "size", 0, "bytes that the snapshot at -url has to have")
	flags.StringVar(&f.SHA256, "sha256", "", "sum that the snapshot at -url has to have")
	flags.StringVar(&member, "member", "", "client URL of a member whose data is fetched instead")
	flags.StringVar(&tlsDir, "client-tls", "", "folder with the client certificate for -member")
	flags.DurationVar(&f.Patience, "patience", time.Minute, "how long a source that does not answer is tried again")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	// What the source is asked with is read when it is needed: long after the restore,
	// when the pod's node was restarted, it is gone, and nobody asks.
	f.Copy = func(ctx context.Context, w io.Writer) (int64, error) {
		open := func() (copier, error) { return ticketSource(address, ticket) }
		if member != "" {
			open = func() (copier, error) { return memberSource(member, tlsDir) }
		}
		copySnapshot, err := open()
		if err != nil {
			return 0, finalError{err}
		}
		return copySnapshot(ctx, w)
	}
	return f, nil
}

// copier writes a snapshot and returns its size.
type copier func(context.Context, io.Writer) (int64, error)

// Names of the files in the folder of a ticket.
const (
	TicketToken = "token"
	TicketCA    = "ca.crt"
)

// ticketSource is a server that asks for the token in the folder.
func ticketSource(address, folder string) (copier, error) {
	token, err := os.ReadFile(filepath.Join(folder, TicketToken))
	if err != nil {
		return nil, fmt.Errorf("reading the ticket of the restore: %w", err)
	}
	pool, err := authority(filepath.Join(folder, TicketCA))
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:       &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13},
			ResponseHeaderTimeout: time.Minute,
		},
		// The token is for this server alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return overHTTPS(client, address, strings.TrimSpace(string(token)), silence), nil
}

// memberSource is a member of etcd.
func memberSource(address, tlsDir string) (copier, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("reading -member: %w", err)
	}
	endpoint := etcd.Endpoint{Address: u.Host, ServerName: u.Hostname()}
	if tlsDir != "" {
		config, err := certificates(tlsDir, "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt")
		if err != nil {
			return nil, err
		}
		endpoint.TLS = &etcd.TLS{Config: config}
	}
	return fromMember(endpoint), nil
}

func parseRestore(args []string, terminationLog *string, stdout, stderr io.Writer) (*Restore, error) {
	flags := newFlags(terminationLog, stderr, "etcd-member-gate restore makes a member's data directory of a snapshot.")
	r := &Restore{Log: stdout, Tools: []string{"/usr/local/bin/etcdutl", "etcdutl", "/usr/local/bin/etcdctl", "etcdctl"}}
	r.Identity.register(flags)
	var name, cluster, token, peerURL string
	flags.StringVar(&r.Snapshot, "snapshot", "", "file with the snapshot")
	flags.Int64Var(&r.BumpRevision, "bump-revision", 0, "by how much the revision is raised")
	flags.StringVar(&name, "name", "", "the member's name")
	flags.StringVar(&cluster, "initial-cluster", "", "the members of the new cluster")
	flags.StringVar(&token, "initial-cluster-token", "", "the token of the new cluster")
	flags.StringVar(&peerURL, "initial-advertise-peer-urls", "", "the member's peer URL")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	r.Args = []string{
		"--name=" + name, "--initial-cluster=" + cluster, "--initial-cluster-token=" + token, "--initial-advertise-peer-urls=" + peerURL,
	}
	return r, nil
}

func parseJoin(args []string, terminationLog *string, stdout, stderr io.Writer) (*Join, error) {
	flags := newFlags(terminationLog, stderr, "etcd-member-gate join -- ETCD ARGUMENT... runs etcd until the new member has the data of its cluster, and starts it again.")
	j := &Join{Gate: &Gate{Log: stdout, Resolve: lookup}, Log: stdout, Output: stderr, Patience: 10 * time.Second, Become: become}
	others := j.Gate.registerOthers(flags)
	flags.StringVar(&j.Gate.DataDir, "data-dir", "/var/etcd/data", "etcd's data directory")
	flags.StringVar(&j.Metrics, "metrics", "http://localhost:2381/metrics", "URL of etcd's metrics")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	j.Command = flags.Args()
	return j, others()
}

func become(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("finding etcd: %w", err)
	}
	return syscall.Exec(path, command, os.Environ())
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func lookup(ctx context.Context, name string) error {
	_, err := net.DefaultResolver.LookupHost(ctx, name)
	return err
}

// certificates reads a certificate under the file names of the original; the secret
// volume maps the keys of a kubernetes.io/tls secret to them.
func certificates(dir, cert, key, ca string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, cert), filepath.Join(dir, key))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s: %w", cert, err)
	}
	pool, err := authority(filepath.Join(dir, ca))
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func authority(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("no certificate in %s", filepath.Base(file))
	}
	return pool, nil
}
