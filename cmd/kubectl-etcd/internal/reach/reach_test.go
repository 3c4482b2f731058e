// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// healthy is an etcd that answers.
type healthy struct {
	pb.UnimplementedMaintenanceServer
}

func (healthy) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Header: &pb.ResponseHeader{MemberId: 7, Revision: 42}, Leader: 7, DbSize: 10, DbSizeQuota: 100, RaftIndex: 9, RaftAppliedIndex: 8}, nil
}

// serve starts an etcd, and returns members whose port-forward leads there.
func serve(t *testing.T, creds credentials.TransportCredentials, secrets ...*corev1.Secret) *Members {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(creds))
	pb.RegisterMaintenanceServer(server, healthy{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	kube := kubefake.NewClientset()
	for _, secret := range secrets {
		if _, err := kube.CoreV1().Secrets(secret.Namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return &Members{Kube: kube, dial: func(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
		if namespace != "db" || pod != "c-a" || port != 2379 {
			return nil, errors.New("nothing listens there")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}}
}

func cluster() *v1beta2.EtcdCluster {
	return &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "db"}}
}

func secureCluster() *v1beta2.EtcdCluster {
	c := cluster()
	c.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{Member: &v1beta2.MemberSecret{ServerSecret: "server"}, OperatorSecret: "operator"}}
	return c
}

func running(name string) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
}

func TestMembersAreAskedAndTheSilentOnesNoted(t *testing.T) {
	m := serve(t, insecure.NewCredentials())
	live, notes := m.Ask(t.Context(), cluster(), []corev1.Pod{running("c-a"), running("c-b"), {ObjectMeta: metav1.ObjectMeta{Name: "c-pending"}}})
	if got := live["c-a"]; len(live) != 1 || got.Quota != 100 || got.Size != 10 || got.RaftIndex != 9 || got.AppliedIndex != 8 {
		t.Errorf("%+v", live)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "nothing listens there") {
		t.Errorf("%v", notes)
	}
}

// certificate makes one that is its own authority, for the names that members of the cluster have.
func certificate(t *testing.T) (pair tls.Certificate, crt, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"*.c.db.svc"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	crt = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	pair, err = tls.X509KeyPair(crt, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair, crt, key
}

func TestSocketsSpeakTLSToMembersAndHoldNoKey(t *testing.T) {
	pair, crt, key := certificate(t)
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(crt)
	m := serve(t, credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities,
	}), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "operator", Namespace: "db"},
		Data:       map[string][]byte{"etcd-client.crt": crt, "etcd-client.key": key, "etcd-client-ca.crt": crt},
	})
	if live, notes := m.Ask(t.Context(), secureCluster(), []corev1.Pod{running("c-a")}); len(live) != 1 {
		t.Fatal(notes)
	}
	sockets, err := m.Open(t.Context(), secureCluster(), []string{"c-a"})
	if err != nil {
		t.Fatal(err)
	}
	defer sockets.Close()
	if info, err := os.Stat(sockets.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others may enter: %v, %v", info.Mode(), err)
	}
	conn, err := grpc.NewClient(sockets.Endpoints[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	r, err := pb.NewMaintenanceClient(conn).Status(t.Context(), &pb.StatusRequest{})
	if err != nil || r.Header.Revision != 42 {
		t.Errorf("%v, %v", r, err)
	}
	sockets.Close()
	if _, err := os.Stat(sockets.dir); !os.IsNotExist(err) {
		t.Error("the folder is left")
	}
}

func TestMembersWithTLSCannotBeAskedWithoutTheSecret(t *testing.T) {
	_, notes := serve(t, insecure.NewCredentials()).Ask(t.Context(), secureCluster(), []corev1.Pod{running("c-a")})
	if len(notes) != 1 || !strings.Contains(notes[0], `secrets "operator" not found`) {
		t.Errorf("%v", notes)
	}
}

func TestConnectAllKnowsTheLeader(t *testing.T) {
	all, err := serve(t, insecure.NewCredentials()).ConnectAll(t.Context(), cluster(), []string{"c-a", "c-b"})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if leader := all.Leader(); leader == nil || leader.Name != "c-a" || len(all.Silent) != 1 {
		t.Errorf("%+v", all)
	}
}
