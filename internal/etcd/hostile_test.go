// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"net"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// hostileMember is what an image of a tenant's own may answer to the etcd-operator.
type hostileMember struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedClusterServer
	members int
}

const longText = 8_000

func hostileText() string { return "\x1b[31mred\n" + strings.Repeat("x", longText) }

// Status implements pb.MaintenanceServer.
func (*hostileMember) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	answer := &pb.StatusResponse{Version: hostileText()}
	for range 100 {
		answer.Errors = append(answer.Errors, hostileText())
	}
	return answer, nil
}

// MemberList implements pb.ClusterServer.
func (h *hostileMember) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	answer := &pb.MemberListResponse{}
	for range h.members {
		answer.Members = append(answer.Members, &pb.Member{Name: hostileText()})
	}
	return answer, nil
}

// MemberRemove implements pb.ClusterServer.
func (*hostileMember) MemberRemove(context.Context, *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	return nil, status.Error(codes.Unknown, hostileText())
}

// A tenant chooses the image of its members. What they answer reaches the status of the cluster and the operator's log.
func TestWhatAHostileMemberAnswersIsCutAndBounded(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hostile, server := &hostileMember{members: 3}, grpc.NewServer()
	pb.RegisterMaintenanceServer(server, hostile)
	pb.RegisterClusterServer(server, hostile)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	pool := NewPool()
	defer pool.Close()
	c, err := pool.Connect(Endpoint{Address: listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	clean := func(what, text string) {
		t.Helper()
		if len(text) > 1000 || strings.ContainsAny(text, "\x1b\n") {
			t.Errorf("%s has %d characters: %.60q", what, len(text), text)
		}
	}
	found, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	clean("the version", found.Version)
	if len(found.Errors) > maxAlarms {
		t.Errorf("%d alarms are reported", len(found.Errors))
	}
	for _, alarm := range found.Errors {
		clean("an alarm", alarm)
	}
	list, err := c.Members(t.Context())
	if err != nil || len(list.Members) != 3 {
		t.Fatalf("%d members, %v", len(list.Members), err)
	}
	clean("a name", list.Members[0].Name)
	err = c.Remove(t.Context(), 1)
	if status.Code(err) != codes.Unknown {
		t.Fatalf("the refusal is %v", err)
	}
	clean("an error", err.Error())
	hostile.members = 2 * maxMessage / longText
	if _, err = c.Members(t.Context()); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a list of %d bytes: %v", 2*maxMessage, err)
	}
}
