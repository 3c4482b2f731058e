// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

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
)

// Port is where backups are served, as in the original.
const Port = 19999

// ServiceName is the name of the Service through which members reach the operator, as in the original.
const ServiceName = "etcd-restore-operator"

// pathPrefix is what the paths of backups begin with. Namespace and name of the EtcdRestore follow.
const pathPrefix = "/v1/backup/"

// backupURL is where the first member fetches the backup of an object.
func backupURL(operatorNamespace string, r *v1beta2.EtcdRestore) string {
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

// ticketName is the name of the Secret by which the first member fetches the backup. The UID keeps it
// apart from that of another object of the same name.
func ticketName(r *v1beta2.EtcdRestore) string {
	const most = 200
	name, uid := r.Name, string(r.UID)
	if len(name) > most {
		name = name[:most]
	}
	if len(uid) > 8 {
		uid = uid[:8]
	}
	return fmt.Sprintf("%s-ticket-%s", name, uid)
}

// ticketOf is the Secret by which the first member fetches the backup.
func ticketOf(r *v1beta2.EtcdRestore, who *identity) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace,
			Name:      ticketName(r),
			// It goes with the EtcdRestore, if nobody has removed it by then.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r, v1beta2.SchemeGroupVersion.WithKind(v1beta2.EtcdRestoreResourceKind))},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{
			v1beta2.RestoreTicketToken: []byte(token(who.tokenKey, r.UID)),
			v1beta2.RestoreTicketCA:    who.ca,
		},
	}
}

// ensureTicket makes the ticket of an object, or brings it up to date, and the way to who takes it.
func (c *reconciler) ensureTicket(ctx context.Context, r *v1beta2.EtcdRestore) error {
	if _, err := c.front.ensure(ctx); err != nil {
		return err
	}
	who := c.identity.current()
	if who == nil {
		return c.identity.missing()
	}
	want := ticketOf(r, who)
	have := &corev1.Secret{}
	err := c.direct.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		return wrap(c.client.Create(ctx, want), "creating Secret %s/%s", want.Namespace, want.Name)
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s/%s: %w", want.Namespace, want.Name, err)
	}
	if !metav1.IsControlledBy(have, r) {
		return refuse(ReasonFailed, fmt.Errorf("there is a Secret %q that belongs to somebody else; delete it, or give the EtcdRestore another name", want.Name))
	}
	if reflect.DeepEqual(have.Data, want.Data) {
		return nil
	}
	have.Data = want.Data
	return wrap(c.client.Update(ctx, have), "updating Secret %s/%s", want.Namespace, want.Name)
}

// removeTicket deletes the ticket of an object.
func (c *reconciler) removeTicket(ctx context.Context, r *v1beta2.EtcdRestore) error {
	if r.Status.TicketSecret == "" {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Status.TicketSecret}}
	if err := c.direct.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return wrap(client.IgnoreNotFound(err), "reading Secret %s/%s", secret.Namespace, secret.Name)
	}
	if !metav1.IsControlledBy(secret, r) {
		return nil
	}
	err := c.client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})
	return wrap(client.IgnoreNotFound(err), "deleting Secret %s/%s", secret.Namespace, secret.Name)
}

// wrap adds to an error what was being done. No error stays none.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
