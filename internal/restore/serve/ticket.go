// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// BackupURL is where the first member fetches the backup of an object.
func BackupURL(operatorNamespace string, r *v1beta2.EtcdRestore) string {
	u := url.URL{
		Scheme: "https",
		Host:   fmt.Sprintf("%s.%s.svc:%d", ServiceName, operatorNamespace, Port),
		Path:   pathPrefix + r.Namespace + "/" + r.Name,
	}
	return u.String()
}

// token is what a member has to show for the backup of a restore. It is a function of the operator's
// key, so that every replica of the operator knows it without having to ask.
func token(key []byte, uid types.UID) string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "restore/%s", uid)
	return hex.EncodeToString(h.Sum(nil))
}

// ticketFor is the Secret by which the first member fetches the backup.
func ticketFor(r *v1beta2.EtcdRestore, who *identity) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace,
			Name:      view.TicketName(r),
			// It goes with the EtcdRestore, if nobody has deleted it by then.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r, v1beta2.SchemeGroupVersion.WithKind(v1beta2.EtcdRestoreResourceKind))},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{
			v1beta2.RestoreTicketToken: []byte(token(who.tokenKey, r.UID)),
			v1beta2.RestoreTicketCA:    who.ca,
		},
	}
}

// Tickets creates and deletes the Secrets by which members fetch backups.
type Tickets struct {
	Client client.Client
	// Live is the API server itself: secrets are never cached.
	Live     client.Reader
	Identity *IdentityKeeper
	Front    *Front
}

// Ensure creates the ticket of an object or brings it up to date, and the Service that leads whoever has it
// here.
func (t *Tickets) Ensure(ctx context.Context, r *v1beta2.EtcdRestore) error {
	if _, err := t.Front.ensure(ctx); err != nil {
		return err
	}
	who := t.Identity.current()
	if who == nil {
		return t.Identity.missing()
	}
	want := ticketFor(r, who)
	have := &corev1.Secret{}
	err := t.Live.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		return wrap(t.Client.Create(ctx, want), "creating Secret %s/%s", want.Namespace, want.Name)
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s/%s: %w", want.Namespace, want.Name, err)
	}
	if !metav1.IsControlledBy(have, r) {
		return problem.Final(problem.Failed, fmt.Errorf("the Secret %q exists and belongs to something else; delete it, or give the EtcdRestore another name", want.Name))
	}
	if reflect.DeepEqual(have.Data, want.Data) {
		return nil
	}
	have.Data = want.Data
	return wrap(t.Client.Update(ctx, have), "updating Secret %s/%s", want.Namespace, want.Name)
}

// Delete deletes the ticket of an object.
func (t *Tickets) Delete(ctx context.Context, r *v1beta2.EtcdRestore, name string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name}}
	if err := t.Live.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return wrap(client.IgnoreNotFound(err), "reading Secret %s/%s", secret.Namespace, secret.Name)
	}
	if !metav1.IsControlledBy(secret, r) {
		return nil
	}
	err := t.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})
	return wrap(client.IgnoreNotFound(err), "deleting Secret %s/%s", secret.Namespace, secret.Name)
}

// wrap adds to an error what was being done. No error stays none.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
