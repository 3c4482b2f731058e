// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// Bucket is the one bucket that every server begins with.
const Bucket = "backups"

// Server is a running server.
type Server struct {
	// Config leads to its bucket with the right credentials; the path is Bucket/key.
	Config store.Config
	// Wrong is a secret whose credentials the server refuses. nil where the server checks none.
	Wrong map[string][]byte
	// URL is where it listens.
	URL string
	// Folder is where versitygw keeps the objects, in data, and what it knows of them, in sidecar.
	Folder string
}

// Kind is one kind of store under test: one row.
type Kind struct {
	Name string
	// Start runs a server for the length of the test.
	Start func(t testing.TB) *Server
	// MakesBucket says that a missing bucket is created, as the original operator did.
	MakesBucket bool
}

// Kinds are all kinds of stores.
var Kinds = []Kind{
	{Name: "S3", Start: StartS3},
	{Name: "ABS", Start: StartABS},
	{Name: "GCS", Start: StartGCS},
	{Name: "OSS", Start: StartOSS, MakesBucket: true},
	{Name: "File", Start: StartFile, MakesBucket: true},
}

// S3ID and S3Secret are the access key of versitygw.
const (
	S3ID     = "AKIATESTTESTTESTTEST"
	S3Secret = "sekret0123456789sekret0123456789sekret01"
)

// StartS3 runs versitygw on a folder.
func StartS3(tb testing.TB) *Server {
	tb.Helper()
	return StartS3At(tb, loopback)
}

// StartS3At is StartS3 on another address of this machine.
func StartS3At(tb testing.TB, host string) *Server {
	tb.Helper()
	const id, secret = S3ID, S3Secret
	program := goServer(tb, "versitygw", "github.com/versity/versitygw/cmd/versitygw")
	dir := tb.TempDir()
	for _, name := range []string{"data", "sidecar"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o750); err != nil {
			tb.Fatal(err)
		}
	}
	address := port.FreeOf(tb, host)
	start(tb, program, "--port", address, "--access", id, "--secret", secret, "--region", "eu-test-1", "--quiet",
		"posix", "--sidecar", filepath.Join(dir, "sidecar"), filepath.Join(dir, "data"))
	awaitHTTP(tb, "http://"+address)
	client, err := minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(id, secret, ""), Region: "eu-test-1", BucketLookup: minio.BucketLookupPath})
	if err != nil {
		tb.Fatal(err)
	}
	if err := client.MakeBucket(tb.Context(), Bucket, minio.MakeBucketOptions{}); err != nil {
		tb.Fatal(err)
	}
	return &Server{
		URL: "http://" + address, Folder: dir,
		Config: store.Config{
			Permissions: permissions,
			Kind:        "S3", Path: Bucket + "/key", Endpoint: "http://" + address, ForcePathStyle: true, SecretName: "aws",
			Secret: awsSecret(id, secret),
		},
		Wrong: awsSecret(id, strings.Repeat("x", len(secret))),
	}
}

func awsSecret(id, secret string) map[string][]byte {
	return map[string][]byte{
		"credentials": fmt.Appendf(nil, "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", id, secret),
		"config":      []byte("[default]\nregion = eu-test-1\n"),
	}
}

// StartABS runs azurite.
func StartABS(tb testing.TB) *Server {
	tb.Helper()
	const account, key = "backupaccount", "c2VrcmV0MDEyMzQ1Njc4OXNla3JldDAxMjM0NTY3ODk="
	program := azuriteProgram(tb)
	address := port.Free(tb)
	host, port, _ := net.SplitHostPort(address)
	startEnv(tb, []string{"AZURITE_ACCOUNTS=" + account + ":" + key}, program,
		"--silent", "--skipApiVersionCheck", "--disableTelemetry", "--location", tb.TempDir(), "--blobHost", host, "--blobPort", port)
	awaitHTTP(tb, "http://"+address)
	endpoint := "http://" + address + "/" + account
	cred, err := container.NewSharedKeyCredential(account, key)
	if err != nil {
		tb.Fatal(err)
	}
	client, err := container.NewClientWithSharedKeyCredential(endpoint+"/"+Bucket, cred, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := client.Create(tb.Context(), nil); err != nil {
		tb.Fatal(err)
	}
	return &Server{
		URL: "http://" + address,
		Config: store.Config{
			Permissions: permissions,
			Kind:        "ABS", Path: Bucket + "/key", Endpoint: endpoint, SecretName: "azure",
			Secret: map[string][]byte{"storage-account": []byte(account), "storage-key": []byte(key)},
		},
		Wrong: map[string][]byte{"storage-account": []byte(account), "storage-key": []byte("d3Jvbmd3cm9uZ3dyb25n")},
	}
}

// StartGCS runs fake-gcs-server. It checks no credentials.
func StartGCS(tb testing.TB) *Server {
	tb.Helper()
	program := goServer(tb, "fake-gcs-server", "github.com/fsouza/fake-gcs-server")
	address := port.Free(tb)
	host, port, _ := net.SplitHostPort(address)
	start(tb, program, "-scheme", "http", "-host", host, "-port", port, "-public-host", address, "-external-url", "http://"+address,
		"-backend", "filesystem", "-filesystem-root", tb.TempDir(), "-log-level", "error")
	awaitHTTP(tb, "http://"+address+"/storage/v1/b")
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://"+address+"/storage/v1/b?project=test", strings.NewReader(`{"name":"`+Bucket+`"}`))
	if err != nil {
		tb.Fatal(err)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusOK {
		tb.Fatalf("creating the bucket: %s", r.Status)
	}
	return &Server{
		URL: "http://" + address,
		Config: store.Config{
			Permissions: permissions,
			Kind:        "GCS", Path: Bucket + "/key", Endpoint: "http://" + address, SecretName: "gcp",
			Secret: map[string][]byte{"access-token": []byte("ya29.test-token-of-the-tests")},
		},
	}
}

// StartFile uses a folder.
func StartFile(tb testing.TB) *Server {
	tb.Helper()
	return &Server{Config: store.Config{Kind: "File", Path: Bucket + "/key", Namespace: "default", FileRoot: tb.TempDir()}}
}

// permissions allow the servers of tests.
var permissions = kind.Permissions{Addresses: outside.Allowing(loopback)}

// loopback is where servers listen that only the tests themselves use.
const loopback = "127.0.0.1"

// start runs a server until the test ends.
func start(tb testing.TB, program string, args ...string) {
	tb.Helper()
	startEnv(tb, nil, program, args...)
}

// startEnv is start with environment variables.
func startEnv(tb testing.TB, env []string, program string, args ...string) {
	tb.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), program, args...)
	cmd.Env = append(os.Environ(), env...)
	harness.Start(tb, cmd)
}

// awaitHTTP waits until a server answers.
func awaitHTTP(tb testing.TB, url string) {
	tb.Helper()
	harness.Eventually(tb, harness.Patience, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
}
