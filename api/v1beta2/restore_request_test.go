// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func request() RestoreRequest {
	return RestoreRequest{
		UID: "u", Name: "r", Secret: "s", URL: "https://etcd-restore-operator.ns.svc:19999/v1/backup/ns/r",
		Size: 4096, SHA256: strings.Repeat("ab", 32), RevisionBump: 1000000, KeepVolumes: true,
	}
}

func TestARestoreRequestIsReadAsItWasWritten(t *testing.T) {
	cluster := &EtcdCluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationRestore: request().String()}}}
	got, err := RestoreRequestOf(cluster)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(request(), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := RestoreRequestOf(&EtcdCluster{}); !errors.Is(err, ErrNoRestoreRequest) {
		t.Errorf("a cluster without the annotation: %v", err)
	}
}

func TestARestoreRequestThatCannotBeCarriedOutIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		change func(*RestoreRequest)
		want   string
	}{
		"no JSON":            {text: "yes", want: "not a restore request"},
		"no uid":             {change: func(r *RestoreRequest) { r.UID = "" }, want: "uid and name"},
		"no secret":          {change: func(r *RestoreRequest) { r.Secret = "" }, want: "secret"},
		"no size":            {change: func(r *RestoreRequest) { r.Size = 0 }, want: "size"},
		"half a sum":         {change: func(r *RestoreRequest) { r.SHA256 = r.SHA256[:32] }, want: "sha256"},
		"going back":         {change: func(r *RestoreRequest) { r.RevisionBump = -1 }, want: "revisionBump"},
		"in the open":        {change: func(r *RestoreRequest) { r.URL = "http://x:19999/y" }, want: "https"},
		"no host in the url": {change: func(r *RestoreRequest) { r.URL = "https:///y" }, want: "https"},
	} {
		t.Run(name, func(t *testing.T) {
			r, text := request(), tc.text
			if tc.change != nil {
				tc.change(&r)
				text = r.String()
			}
			cluster := &EtcdCluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationRestore: text}}}
			if _, err := RestoreRequestOf(cluster); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one about %q", err, tc.want)
			}
		})
	}
}
