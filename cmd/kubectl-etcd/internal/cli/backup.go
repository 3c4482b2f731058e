// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

type backupOptions struct {
	followOptions
	storeOptions
	like                  string
	name                  string
	verify, compress, yes bool
	encryptionSecret      string
}

func newBackup(e *env) *cobra.Command {
	o := backupOptions{}
	cmd := &cobra.Command{
		Use:     "backup NAME",
		GroupID: groupDo,
		Short:   "Make a backup now, and follow it",
		Long: `Create an EtcdBackup and wait until the backup is stored. With --like, or if there is
one EtcdBackup of the cluster already, the new one goes to the same store with the
same settings, beside the others. With --path it goes where you say; an object that
is there already is replaced.`,
		Example: `  # To where the cluster's regular backups go
  kubectl etcd backup example

  # To a place of its own, and prove that it can be restored
  kubectl etcd backup example --path mybucket/before-the-upgrade --secret aws --verify`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE:              e.onCluster(func(ctx context.Context, c *clients, name string) error { return e.backup(ctx, c, name, o) }),
	}
	o.followOptions.addFlags(cmd)
	o.storeOptions.addFlags(cmd)
	cmd.Flags().StringVar(&o.like, "like", "", "Name of an EtcdBackup whose store and settings to use")
	cmd.Flags().StringVar(&o.name, "name", "", "Name of the new EtcdBackup")
	cmd.Flags().BoolVar(&o.verify, "verify", false, "Restore the backup into a temporary etcd and compare the content")
	cmd.Flags().BoolVar(&o.compress, "compress", false, "Compress it with zstd")
	cmd.Flags().StringVar(&o.encryptionSecret, "encryption-secret", "", "Secret with age keys, to encrypt it")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	return cmd
}

func (e *env) backup(ctx context.Context, c *clients, name string, o backupOptions) error {
	cluster, err := c.cluster(ctx, name)
	if err != nil {
		return err
	}
	wanted, err := e.wantedBackup(ctx, c, cluster, o)
	if err != nil {
		return err
	}
	created, err := c.etcd.EtcdV1beta2().EtcdBackups(c.namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the EtcdBackup: %w", err)
	}
	fmt.Fprintf(e.out, "etcdbackup/%s created\n", created.Name)
	if o.noWait {
		return nil
	}
	var last *v1beta2.EtcdBackup
	if err := e.follow(ctx, o.followOptions, func(ctx context.Context) (string, bool, error) {
		last, err = c.etcd.EtcdV1beta2().EtcdBackups(c.namespace).Get(ctx, created.Name, metav1.GetOptions{})
		if err != nil {
			return "", false, err
		}
		return backupState(last)
	}); err != nil {
		return err
	}
	s := last.Status
	fmt.Fprintf(e.out, "%s\nrevision %d of etcd %s, %s, sha256 %s\n", s.URL, s.EtcdRevision, s.EtcdVersion, screen.Bytes(s.Size), s.SHA256)
	return nil
}

// wantedBackup is the EtcdBackup to create.
func (e *env) wantedBackup(ctx context.Context, c *clients, cluster *v1beta2.EtcdCluster, o backupOptions) (*v1beta2.EtcdBackup, error) {
	now := stamp(time.Now())
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: o.name, Namespace: cluster.Namespace}}
	if b.Name == "" {
		b.Name = cluster.Name + "-" + now
	}
	if scope, ok := cluster.Annotations[v1beta2.AnnotationScope]; ok { // for the operators that serve the cluster
		b.Annotations = map[string]string{v1beta2.AnnotationScope: scope}
	}
	var err error
	if o.path != "" {
		err = e.atPath(b, o)
	} else {
		err = c.besideOthers(ctx, b, cluster, o.like, now)
	}
	if err != nil {
		return nil, err
	}
	if len(b.Spec.EtcdEndpoints) == 0 && b.Spec.EtcdClusterRef == nil {
		b.Spec.EtcdEndpoints = []string{clientURL(cluster)}
		if cluster.Spec.TLS.IsSecureClient() {
			b.Spec.ClientTLSSecret = cluster.Spec.TLS.Static.OperatorSecret
		}
	}
	if o.verify {
		b.Spec.Verify = v1beta2.BackupVerificationRestore
	}
	if o.compress {
		b.Spec.Compression = v1beta2.BackupCompressionZstd
	}
	if o.encryptionSecret != "" {
		b.Spec.EncryptionSecret = o.encryptionSecret
	}
	return b, nil
}

// atPath lets a backup go where the user says.
func (e *env) atPath(b *v1beta2.EtcdBackup, o backupOptions) (err error) {
	if b.Spec.StorageType, b.Spec.BackupSource, err = o.backupSource(); err != nil {
		return err
	}
	return e.confirm([]string{fmt.Sprintf("An object %s that is there already is replaced.", o.path)}, "yes", o.yes)
}

// besideOthers lets a backup go to where those of another EtcdBackup go, under a name of its own.
func (c *clients) besideOthers(ctx context.Context, b *v1beta2.EtcdBackup, cluster *v1beta2.EtcdCluster, name, suffix string) error {
	like, err := c.likeBackup(ctx, cluster, name)
	if err != nil {
		return err
	}
	where, err := kind.OfBackup(like)
	if err != nil {
		return fmt.Errorf("EtcdBackup %s: %w", like.Name, err)
	}
	b.Spec = *like.Spec.DeepCopy()
	b.Spec.BackupPolicy, b.Spec.TTLSecondsAfterFinished, b.Spec.DeletionPolicy = nil, nil, ""
	b.Spec.BackupSource = withPath(like.Spec.BackupSource, strings.TrimSuffix(where.Path, "/")+"-manual-"+suffix)
	return nil
}

// clientURL is where clients in Kubernetes reach a cluster.
func clientURL(c *v1beta2.EtcdCluster) string {
	scheme := "http"
	if c.Spec.TLS.IsSecureClient() {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s.%s.svc:%d", scheme, manifests.ClientServiceName(c), c.Namespace, manifests.ClientPort)
}

// likeBackup is the EtcdBackup of that name, or else the only one of the cluster that was not made by this command.
func (c *clients) likeBackup(ctx context.Context, cluster *v1beta2.EtcdCluster, name string) (*v1beta2.EtcdBackup, error) {
	if name != "" {
		return c.backupNamed(ctx, name)
	}
	list, err := c.etcd.EtcdV1beta2().EtcdBackups(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found []*v1beta2.EtcdBackup
	var names []string
	for i := range list.Items {
		b := &list.Items[i]
		where, err := kind.OfBackup(b)
		if err != nil || !view.BacksUp(b, cluster) || strings.Contains(where.Path, "-manual-") {
			continue
		}
		found, names = append(found, b), append(names, b.Name)
	}
	switch len(found) {
	case 0:
		return nil, errors.New("no EtcdBackup of this cluster says where to: use --path and --secret, or --like")
	case 1:
		return found[0], nil
	}
	slices.Sort(names)
	return nil, fmt.Errorf("several EtcdBackups are of this cluster: choose one with --like (%s)", strings.Join(names, ", "))
}

func (c *clients) backupNamed(ctx context.Context, name string) (*v1beta2.EtcdBackup, error) {
	b, err := c.etcd.EtcdV1beta2().EtcdBackups(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, withCode(exitNotFound, "there is no EtcdBackup %q in namespace %q: kubectl -n %s get etcdbackups", name, c.namespace, c.namespace)
	}
	return b, err
}

// backupState describes a backup on its way.
func backupState(b *v1beta2.EtcdBackup) (text string, done bool, err error) {
	if b.Status.Run == nil && b.Status.Succeeded {
		return progress("stored", b.Status.Size, b.Status.Size, 0), true, nil
	}
	for _, condition := range b.Status.Conditions {
		if condition.Type == kstatus.Stalled && condition.Status == metav1.ConditionTrue {
			return "", false, &exitError{code: exitDegraded, err: fmt.Errorf("the backup failed (%s): %s", condition.Reason, condition.Message)}
		}
	}
	switch run := b.Status.Run; {
	case b.Status.ObservedGeneration == 0 && run == nil:
		return "waiting for the etcd-backup-operator", false, nil
	case run == nil && b.Status.Reason != "":
		return "failed, and is tried again: " + b.Status.Reason, false, nil
	case run == nil || run.Progress == nil:
		return progress("storing", 0, 0, 0), false, nil
	default:
		return progress("storing", run.Progress.Bytes, run.Progress.OfBytes, run.Progress.BytesPerSecond), false, nil
	}
}
