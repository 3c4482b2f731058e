// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

func TestAWSFiles(t *testing.T) {
	const keys = "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key=s1/+=\n\n; a comment\n[other]\naws_access_key_id=AKIAOTHER\naws_secret_access_key=s2\naws_session_token=tok\n"
	for name, test := range map[string]struct {
		credentials, config, profile string
		want                         awsSettings
		refused                      string
	}{
		"keys and region": {
			credentials: keys, config: "[default]\nregion = eu-central-1\noutput = json\n",
			want: awsSettings{profile: "default", keys: awsKeys{"AKIADEFAULT", "s1/+=", ""}, region: "eu-central-1"},
		},
		"a profile": {
			credentials: keys, config: "[profile other]\nregion=r\n[default]\nregion=wrong\n", profile: "other",
			want: awsSettings{profile: "other", keys: awsKeys{"AKIAOTHER", "s2", "tok"}, region: "r"},
		},
		"keys in the config file": {
			config: "[default]\r\naws_access_key_id = A\r\naws_secret_access_key = B\r\n",
			want:   awsSettings{profile: "default", keys: awsKeys{"A", "B", ""}},
		},
		"an endpoint and nested settings": {
			credentials: keys, config: "[default]\nendpoint_url = http://s3:7070\ns3 =\n  addressing_style = path\n",
			want: awsSettings{profile: "default", keys: awsKeys{"AKIADEFAULT", "s1/+=", ""}, endpoint: "http://s3:7070"},
		},
		"a role": {
			credentials: keys, config: "[default]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = other\nexternal_id = e\n",
			want: awsSettings{profile: "default", keys: awsKeys{"AKIAOTHER", "s2", "tok"}, roleARN: "arn:aws:iam::1:role/x", externalID: "e"},
		},
		"a role for the pod's identity": {
			config: "[default]\nrole_arn = arn:aws:iam::1:role/x\ncredential_source = Ec2InstanceMetadata\n",
			want:   awsSettings{profile: "default", roleARN: "arn:aws:iam::1:role/x", credentialSource: "Ec2InstanceMetadata"},
		},
		"a role for a token": {
			config: "[default]\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = /t\n",
			want:   awsSettings{profile: "default", roleARN: "arn:aws:iam::1:role/x", tokenFile: "/t"},
		},
		"nothing: the identity of the pod": {want: awsSettings{profile: "default"}},
		"half a key":                       {credentials: "[default]\naws_access_key_id = A\n", refused: "aws_secret_access_key"},
		"a profile that is not there":      {credentials: keys, profile: "nosuch", refused: "nosuch"},
		"a program to run":                 {config: "[default]\ncredential_process = /bin/sh\n", refused: "credential_process"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAWSFiles(Config{
				SecretName: "aws", Profile: test.profile,
				Secret: map[string][]byte{"credentials": []byte(test.credentials), "config": []byte(test.config)},
			})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("error = %v, want %s in it", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestMessagesShowNothingSecret(t *testing.T) {
	c := Config{SecretName: "aws", Secret: map[string][]byte{
		"credentials": []byte("[default]\naws_access_key_id = AKIA0123456789ABCDEF\naws_secret_access_key = wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY\n"),
		"config":      []byte("[default]\nregion = eu-central-1\n"),
	}}
	x := newExplainer(c, "bucket", "b", "s3.example.com", map[verb]string{writing: "s3:PutObject"})
	for _, p := range []Problem{BadConfig, BadCredentials, Denied, NoBucket, NoObject, Full, ClockSkew, Unreachable, Failed} {
		err := x.explain(writing, p, "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY of AKIA0123456789ABCDEF in eu-central-1", errors.New("wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY"))
		for _, secret := range []string{"wJalr", "AKIA0"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %q shows %s", p, err, secret)
			}
		}
	}
	if err := x.explain(writing, Denied, "AccessDenied", nil); !strings.Contains(err.Error(), `s3:PutObject to the identity in secret "aws"`) {
		t.Errorf("%q does not name the permission and the secret", err)
	}
}

// recorded is an upload that keeps what it is sent.
type recorded struct {
	mu      sync.Mutex
	parts   map[int][]byte
	object  []byte
	labels  Labels
	began   bool
	aborted bool
	failAt  int
}

func (r *recorded) whole(_ context.Context, data []byte, labels Labels) error {
	r.object, r.labels = bytes.Clone(data), labels
	return nil
}

func (r *recorded) begin(context.Context, Labels) error {
	r.began, r.parts = true, map[int][]byte{}
	return nil
}

var errPart = errors.New("the store refuses the part")

func (r *recorded) part(_ context.Context, n int, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n == r.failAt {
		return errPart
	}
	r.parts[n] = bytes.Clone(data)
	return nil
}

func (r *recorded) finish(_ context.Context, parts int, first, last Labels) error {
	for n := 1; n <= parts; n++ {
		r.object = append(r.object, r.parts[n]...)
	}
	r.labels = merge(first, last)
	return nil
}

func (r *recorded) abort(ctx context.Context) error {
	r.aborted = true
	return ctx.Err()
}

func TestUploadInParts(t *testing.T) {
	content := func(n int) []byte { return bytes.Repeat([]byte("0123456789abcdef"), n/16) }
	cut := errors.New("cut")
	for name, test := range map[string]struct {
		body   io.Reader
		failAt int
		want   []byte
		err    error
		parts  bool
	}{
		"nothing":                       {body: strings.NewReader(""), want: []byte{}},
		"small":                         {body: strings.NewReader("x"), want: []byte("x")},
		"exactly one part":              {body: bytes.NewReader(content(firstPartSize)), want: content(firstPartSize), parts: true},
		"several parts":                 {body: bytes.NewReader(content(3*firstPartSize + 160)), want: content(3*firstPartSize + 160), parts: true},
		"small, cut off":                {body: io.MultiReader(strings.NewReader("x"), errReader{io.ErrUnexpectedEOF}), err: io.ErrUnexpectedEOF},
		"large, cut off":                {body: io.MultiReader(bytes.NewReader(content(2*firstPartSize+160)), errReader{io.ErrUnexpectedEOF}), err: io.ErrUnexpectedEOF, parts: true},
		"large, failed at a part's end": {body: io.MultiReader(bytes.NewReader(content(2*firstPartSize)), errReader{cut}), err: cut, parts: true},
		"a part is refused":             {body: bytes.NewReader(content(5 * firstPartSize)), failAt: 2, err: errPart, parts: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorded{failAt: test.failAt}
			lastCalls := 0
			err := putParts(t.Context(), r, test.body, Labels{"a": "1"}, func() Labels {
				lastCalls++
				return Labels{"b": "2"}
			})
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error = %v, want %v", err, test.err)
			}
			if r.began != test.parts || r.aborted != (test.parts && test.err != nil) {
				t.Errorf("began = %t, aborted = %t", r.began, r.aborted)
			}
			if test.err != nil {
				if r.object != nil || lastCalls != 0 {
					t.Error("an object appeared")
				}
				return
			}
			if !bytes.Equal(r.object, test.want) {
				t.Errorf("the object has %d bytes, want %d", len(r.object), len(test.want))
			}
			if diff := cmp.Diff(Labels{"a": "1", "b": "2"}, r.labels); diff != "" || lastCalls != 1 {
				t.Errorf("labels (-want +got), asked %d times:\n%s", lastCalls, diff)
			}
		})
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestPartsReachTheLargestObjects(t *testing.T) {
	var total int64
	for n := 1; n <= 10000; n++ {
		total += int64(partSize(n))
	}
	if total < 5<<40 {
		t.Errorf("10,000 parts hold %d bytes, want 5 TiB or more", total)
	}
	// Services that insist on parts of one size take a database of 8 GiB, also an encrypted one.
	if equal := int64(partSize(1)) * partsPerSize; equal < 8<<30+8<<30/4096+32 || partSize(partsPerSize+1) == partSize(1) {
		t.Errorf("parts of one size hold %d bytes, want 8 GiB or more", equal)
	}
	if partSize(1) != partSize(partsPerSize) {
		t.Error("the first parts differ in size")
	}
}

func TestFileStoreStaysInItsFolder(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{"../x/y", "a/../../y", "a/./b", "a//b", ".hidden/x", "a/.x.part"} {
		if s, _, err := Open(t.Context(), Config{Kind: "File", Path: path, Namespace: "ns", FileRoot: root}); err == nil {
			_ = s.Close()
			t.Errorf("path %q was accepted", path)
		}
	}
	if _, _, err := Open(t.Context(), Config{Kind: "File", Path: "a/b", FileRoot: root + "/nosuch"}); !Is(err, Unreachable) {
		t.Errorf("a volume that is not mounted: %v", err)
	}
}

func TestSweepingFilesRemovesOnlyWhatMatches(t *testing.T) {
	s, _, err := Open(t.Context(), Config{Kind: "File", Path: "b/k", Namespace: "ns", FileRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	root := s.(*fileStore).root
	for _, name := range []string{".k_v1.RANDOM.part", ".k_v2.RANDOM.part", ".other.RANDOM.part"} {
		if err := root.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sweep(t.Context(), "k_v", func(key string) bool { return key == "k_v1" }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{".k_v1.RANDOM.part": false, ".k_v2.RANDOM.part": true, ".other.RANDOM.part": true} {
		if _, err := root.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", name, err, want)
		}
	}
}

// Replacing a file takes two renames, the labels' and its own. Who is killed between them must not find the new
// labels beside the old file, and take the old file for the new one.
func TestLabelsAreThoseOfTheirOwnFile(t *testing.T) {
	old, younger := strings.Repeat("o", 3*fingerprintBytes), strings.Repeat("o", 3*fingerprintBytes-1)+"y"
	for name, test := range map[string]struct {
		// labels are those of the old file; nil means that somebody else put it there.
		labels Labels
		// body replaces the old file, and is what lies there afterwards.
		body, lies string
		want       Labels
	}{
		"replaced":                               {Labels{"run": "1", "owner": "o"}, younger, younger, Labels{"run": "2"}},
		"killed before it was replaced":          {Labels{"run": "1", "owner": "o"}, younger, old, Labels{"run": "1", "owner": "o"}},
		"killed before a stranger's was":         {nil, younger, old, Labels{}},
		"replaced by the same":                   {Labels{"run": "1"}, old, old, Labels{"run": "2"}},
		"replaced, and by somebody else as well": {Labels{"run": "1"}, younger, "x", Labels{}},
		"an empty file":                          {Labels{"run": "1"}, "", "", Labels{"run": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, key, err := Open(t.Context(), Config{Kind: "File", Path: "b/folder/k", Namespace: "ns", FileRoot: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			root := s.(*fileStore).root
			put := func(body string, labels Labels) {
				t.Helper()
				if err := s.Put(t.Context(), key, strings.NewReader(body), labels, func() Labels { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			// Twice: what is kept of the one before must not pile up.
			put("oldest", Labels{"run": "0"})
			put(old, test.labels)
			if test.labels == nil {
				if err := root.Remove(beside(key, labelsSuffix)); err != nil {
					t.Fatal(err)
				}
			}
			put(test.body, Labels{"run": "2"})
			if err := root.WriteFile(key, []byte(test.lies), 0o600); err != nil {
				t.Fatal(err)
			}
			body, o, err := s.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = body.Close() }()
			if diff := cmp.Diff(test.want, o.Labels); diff != "" {
				t.Errorf("labels (-want +got)\n%s", diff)
			}
			text, err := root.ReadFile(beside(key, labelsSuffix))
			if err != nil || len(text) > 500 {
				t.Errorf("the labels are %s, %v", text, err)
			}
		})
	}
}

// Backups with one name that end at the same time must not leave the labels of one beside the file of another.
func TestFilesThatAreReplacedAtOnceKeepTheirLabels(t *testing.T) {
	s, key, err := Open(t.Context(), Config{Kind: "File", Path: "b/k", Namespace: "ns", FileRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for range 20 {
		var written, together sync.WaitGroup
		written.Add(8)
		for n := range 8 {
			together.Go(func() {
				run := fmt.Sprint("run", n)
				if err := s.Put(t.Context(), key, strings.NewReader(run), Labels{"run": run}, func() Labels {
					written.Done()
					written.Wait()
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		together.Wait()
		body, o, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err != nil || o.Labels["run"] != string(text) {
			t.Errorf("the file of %s has the labels %v, %v", text, o.Labels, err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAFolderIsNoObject(t *testing.T) {
	s, _, err := Open(t.Context(), Config{Kind: "File", Path: "b/k", Namespace: "ns", FileRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.(*fileStore).root.Mkdir("k", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stat(t.Context(), "k"); !Is(err, NoObject) {
		t.Errorf("Stat = %v, want that there is no object", err)
	}
}

// Those that were written before labels knew what they replace.
func TestLabelsOfAnOlderOperatorAreRead(t *testing.T) {
	s, key, err := Open(t.Context(), Config{Kind: "File", Path: "b/k", Namespace: "ns", FileRoot: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	root := s.(*fileStore).root
	if err := errors.Join(root.WriteFile("k", []byte("x"), 0o600), root.WriteFile(".k.labels", []byte(`{"run":"1"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	o, err := s.Stat(t.Context(), key)
	if diff := cmp.Diff(Labels{"run": "1"}, o.Labels); diff != "" || err != nil {
		t.Errorf("labels (-want +got), %v\n%s", err, diff)
	}
}

func TestAnswersOfS3AreExplained(t *testing.T) {
	for code, test := range map[string]struct {
		status  int
		problem Problem
		word    string
	}{
		"AccessDenied":          {http.StatusForbidden, Denied, "s3:PutObject"},
		"InvalidAccessKeyId":    {http.StatusForbidden, BadCredentials, `"aws"`},
		"SignatureDoesNotMatch": {http.StatusForbidden, BadCredentials, `"aws"`},
		"RequestTimeTooSkewed":  {http.StatusForbidden, ClockSkew, "clocks"},
		"QuotaExceeded":         {http.StatusForbidden, Full, "quota"},
		"XMinioStorageFull":     {http.StatusInsufficientStorage, Full, "quota"},
		"NoSuchBucket":          {http.StatusNotFound, NoBucket, `"bucket"`},
		"SomethingElse":         {http.StatusBadRequest, Failed, "SomethingElse"},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>the key is sekretsekretsekret</Message></Error>", code)
			}))
			defer server.Close()
			s, _, err := Open(t.Context(), Config{Kind: "S3", Path: "bucket/key", Endpoint: server.URL, Permissions: kind.Permissions{Addresses: thisMachine}, SecretName: "aws", Secret: map[string][]byte{
				"credentials": []byte("[default]\naws_access_key_id = AKIA\naws_secret_access_key = sekretsekretsekret\n"),
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			err = s.Put(t.Context(), "key", strings.NewReader("x"), nil, func() Labels { return nil })
			if !Is(err, test.problem) || !strings.Contains(err.Error(), test.word) {
				t.Errorf("error = %v, want %s with %s in it", err, test.problem, test.word)
			}
			if err != nil && strings.Contains(err.Error(), "sekret") {
				t.Errorf("%q shows the secret", err)
			}
		})
	}
}

// thisMachine allows the servers of tests.
var thisMachine = outside.Allowing("127.0.0.0/8, ::1")

// networkStores are the stores of every kind of service at an address.
func networkStores(t *testing.T, endpoint string) map[string]Store {
	t.Helper()
	return networkStoresWithin(t, endpoint, thisMachine)
}

// networkStoresWithin are those stores where only some addresses are allowed.
func networkStoresWithin(t *testing.T, endpoint string, addresses *outside.Addresses) map[string]Store {
	t.Helper()
	all := map[string]Store{}
	for name, secret := range map[string]map[string]string{
		"S3":  {"credentials": "[default]\naws_access_key_id = AKIA\naws_secret_access_key = sekretsekretsekret\n"},
		"ABS": {"storage-account": "account", "storage-key": "c2VrcmV0c2VrcmV0c2VrcmV0"},
		"GCS": {"access-token": "sekretsekretsekret"},
		"OSS": {"accessKeyID": "id", "accessKeySecret": "sekretsekretsekret"},
	} {
		c := Config{Kind: name, Path: "bucket/key", Endpoint: endpoint, Permissions: kind.Permissions{Addresses: addresses}, SecretName: "secret", Secret: map[string][]byte{}}
		for key, value := range secret {
			c.Secret[key] = []byte(value)
		}
		s, _, err := Open(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Cleanup(func() { _ = s.Close() })
		all[name] = s
	}
	return all
}

func TestAStoreThatDoesNotSpeakTLSIsExplained(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	for _, endpoint := range []string{"https://" + address, address} {
		for kind, s := range networkStores(t, endpoint) {
			t.Run(kind+" at "+endpoint, func(t *testing.T) {
				t.Parallel()
				err := s.Put(t.Context(), "key", strings.NewReader("x"), nil, func() Labels { return nil })
				if !Is(err, Unreachable) || !strings.Contains(err.Error(), "it does not speak TLS; use http:// in endpoint") {
					t.Errorf("error = %v, want that it does not speak TLS", err)
				}
			})
		}
	}
}

func TestConnectionsThatEndAreExplained(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-release
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	ask := func(ctx context.Context, path string) error {
		transport := &http.Transport{ResponseHeaderTimeout: 500 * time.Millisecond}
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Transport: transport}).Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	broken, silent, caller := ask(t.Context(), "/breaks"), ask(t.Context(), "/hangs"), ask(late, "/hangs")
	for kind, s := range networkStores(t, server.URL) {
		translate := s.(interface {
			translate(v verb, err error) error
		}).translate
		if err := translate(writing, broken); !Is(err, Unreachable) || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: a connection that broke: %v, want its cause", kind, err)
		}
		if err := translate(writing, silent); !Is(err, Unreachable) || !strings.Contains(err.Error(), "in time") {
			t.Errorf("%s: a service that says nothing: %v", kind, err)
		}
		if err := translate(writing, caller); Is(err, Unreachable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a caller whose time is up: %v", kind, err)
		}
	}
}

func TestFullVolumeIsExplained(t *testing.T) {
	s := &fileStore{explainer: newExplainer(Config{}, "folder", "b", "/backups", nil)}
	err := s.translate(writing, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	if !Is(err, Full) {
		t.Errorf("error = %v, want that the store is full", err)
	}
}

func TestAuthorityOfTheSecretIsTrusted(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"x"`)
	}))
	defer server.Close()
	put := func(ca []byte) error {
		s, _, err := Open(t.Context(), Config{Kind: "S3", Path: "bucket/key", Endpoint: server.URL, Permissions: kind.Permissions{Addresses: thisMachine}, SecretName: "aws", Secret: map[string][]byte{
			"credentials": []byte("[default]\naws_access_key_id = A\naws_secret_access_key = B\n"), "ca.crt": ca,
		}})
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		return s.Put(t.Context(), "key", strings.NewReader("x"), nil, func() Labels { return nil })
	}
	if err := put(nil); !Is(err, Unreachable) || !strings.Contains(err.Error(), "ca.crt") {
		t.Errorf("without the authority: %v, want that ca.crt is named", err)
	}
	if err := put([]byte("no certificate")); !Is(err, BadConfig) {
		t.Errorf("with a broken authority: %v", err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := put(ca); err != nil {
		t.Errorf("with the authority: %v", err)
	}
}
