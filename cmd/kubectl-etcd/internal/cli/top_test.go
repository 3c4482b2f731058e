// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/keyspace"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reach"
)

// manyKeys is an etcd with more keys than a page has, of which one is written while it is watched.
type manyKeys struct {
	pb.UnimplementedKVServer
	pb.UnimplementedWatchServer
}

func (manyKeys) Range(_ context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	answer := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: 9}}
	for i := range 2*page + 1 {
		key := fmt.Sprintf("a/%05d", i)
		if key < string(r.Key) {
			continue
		}
		if int64(len(answer.Kvs)) == r.Limit {
			answer.More = true
			break
		}
		answer.Kvs = append(answer.Kvs, &mvccpb.KeyValue{Key: []byte(key), Value: []byte("value"), Version: 1})
	}
	return answer, nil
}

func (manyKeys) Watch(stream pb.Watch_WatchServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	if err := stream.Send(&pb.WatchResponse{Created: true}); err != nil {
		return err
	}
	event := &mvccpb.Event{Kv: &mvccpb.KeyValue{Key: []byte("a/00001"), Value: []byte("new")}}
	if err := stream.Send(&pb.WatchResponse{Events: []*mvccpb.Event{event}}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func TestTopCountsAllPagesAndTheWritesThatItSees(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterKVServer(server, manyKeys{})
	pb.RegisterWatchServer(server, manyKeys{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	survey, member := &keyspace.Survey{Depth: 1, Largest: 1}, &reach.Member{Name: "m", Conn: conn}
	revision, err := countKeys(t.Context(), member, survey)
	if err != nil || revision != 9 {
		t.Fatal(revision, err)
	}
	if err := countWrites(t.Context(), member, survey, revision+1, time.Second); err != nil {
		t.Fatal(err)
	}
	want := []keyspace.Usage{{Prefix: "a/", Keys: 2*page + 1, Bytes: (2*page + 1) * 12, Writes: 1, Written: 10}}
	if diff := cmp.Diff(want, survey.Usages()); diff != "" {
		t.Error(diff)
	}
}
