// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

type restoreOptions struct {
	followOptions
	storeOptions
	from             string
	object           string
	keepOldVolumes   bool
	encryptionSecret string
	yes              bool
}

func newRestore(e *env) *cobra.Command {
	o := restoreOptions{}
	cmd := &cobra.Command{
		Use:     "restore NAME",
		GroupID: groupDo,
		Short:   "Restore a cluster from a backup, and follow it",
		Long: `Create an EtcdRestore and wait until the cluster is restored. If the EtcdCluster
exists, its data is replaced by the backup's: the command says what will be lost and
asks first. If it does not, it is created from the spec that was kept with the
backup.`,
		Example: `  # The newest backup that the EtcdBackup "nightly" has made
  kubectl etcd restore example --from nightly

  # One of its others, as "kubectl get etcdbackup nightly -o yaml" lists them
  kubectl etcd restore example --from nightly --backup nightly_v7_2026-01-01-03:30:00

  # Any snapshot in a store
  kubectl etcd restore example --path mybucket/etcd.backup --secret aws`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE:              e.onCluster(func(ctx context.Context, c *clients, name string) error { return e.restore(ctx, c, name, o) }),
	}
	o.followOptions.addFlags(cmd)
	o.storeOptions.addFlags(cmd)
	cmd.Flags().StringVar(&o.from, "from", "", "Name of the EtcdBackup that made the backup")
	cmd.Flags().StringVar(&o.object, "backup", "", "Name of one backup of --from; default: the newest")
	cmd.Flags().BoolVar(&o.keepOldVolumes, "keep-old-volumes", false, "Keep the volumes of the replaced cluster for good")
	cmd.Flags().StringVar(&o.encryptionSecret, "encryption-secret", "", "Secret with private age keys, for an encrypted backup")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	return cmd
}

// chosen is the backup to restore.
type chosen struct {
	storageType v1beta2.BackupStorageType
	source      v1beta2.RestoreSource
	path        string
	encryption  string
	// at and revision are those of the backup, if they are known.
	at       time.Time
	revision int64
}

func (e *env) restore(ctx context.Context, c *clients, name string, o restoreOptions) error {
	backup, err := c.chooseBackup(ctx, o)
	if err != nil {
		return err
	}
	cluster, err := c.etcd.EtcdV1beta2().EtcdClusters(c.namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !isMissingKind(err):
		fmt.Fprintf(e.err, "EtcdCluster %s does not exist: it is created from the spec that was kept with the backup.\n", name)
	case err != nil:
		return err
	default:
		if err := e.confirm(c.losses(ctx, cluster, backup, o), name, o.yes); err != nil {
			return err
		}
	}
	wanted := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-" + stamp(time.Now()), Namespace: c.namespace},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: backup.storageType, RestoreSource: backup.source, EtcdCluster: v1beta2.EtcdClusterRef{Name: name},
			EncryptionSecret: backup.encryption, KeepOldVolumes: o.keepOldVolumes,
		},
	}
	if scope, ok := cluster.GetAnnotations()[v1beta2.AnnotationScope]; ok {
		wanted.Annotations = map[string]string{v1beta2.AnnotationScope: scope}
	}
	created, err := c.etcd.EtcdV1beta2().EtcdRestores(c.namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the EtcdRestore: %w", err)
	}
	fmt.Fprintf(e.out, "etcdrestore/%s created\n", created.Name)
	if o.noWait {
		return nil
	}
	rate := &rate{now: time.Now}
	return e.follow(ctx, o.followOptions, func(ctx context.Context) (string, bool, error) {
		r, err := c.etcd.EtcdV1beta2().EtcdRestores(c.namespace).Get(ctx, created.Name, metav1.GetOptions{})
		if err != nil {
			return "", false, err
		}
		return restoreState(r, rate)
	})
}

// chooseBackup finds the backup that was asked for.
func (c *clients) chooseBackup(ctx context.Context, o restoreOptions) (chosen, error) {
	switch {
	case o.from != "" && o.path != "":
		return chosen{}, errors.New("choose the backup with --from or with --path, not with both")
	case o.from == "" && o.path == "":
		return chosen{}, errors.New(`name the EtcdBackup with --from, or a place in a store with --path; "kubectl get etcdbackups" lists those that there are`)
	case o.path != "":
		storageType, source, err := o.backupSource()
		if err != nil {
			return chosen{}, err
		}
		of := &v1beta2.EtcdBackup{Spec: v1beta2.BackupSpec{StorageType: storageType, BackupSource: source}}
		return chosen{storageType: storageType, source: kind.RestoreSource(of, o.path), path: o.path, encryption: o.encryptionSecret}, nil
	}
	b, err := c.backupNamed(ctx, o.from)
	if err != nil {
		return chosen{}, err
	}
	found, err := pick(b, o.object)
	if err != nil {
		return chosen{}, err
	}
	found.storageType, found.source, found.encryption = b.Spec.StorageType, kind.RestoreSource(b, found.path), b.Spec.EncryptionSecret
	if o.encryptionSecret != "" {
		found.encryption = o.encryptionSecret
	}
	return found, nil
}

// pick chooses one backup of an EtcdBackup: that of a name, or the newest.
func pick(b *v1beta2.EtcdBackup, name string) (chosen, error) {
	where, err := kind.OfBackup(b)
	if err != nil {
		return chosen{}, fmt.Errorf("EtcdBackup %s: %w", b.Name, err)
	}
	bucket, _, err := kind.SplitPath(where.Path)
	if err != nil {
		return chosen{}, fmt.Errorf("EtcdBackup %s: %w", b.Name, err)
	}
	best := newest(b.Status.Backups)
	if name != "" {
		best = nil
		if i := slices.IndexFunc(b.Status.Backups, func(kept v1beta2.KeptBackup) bool { return kept.Name == name }); i >= 0 {
			best = &b.Status.Backups[i]
		}
	}
	switch {
	case best != nil:
		return chosen{path: bucket + "/" + best.Name, at: best.Time.Time, revision: best.EtcdRevision}, nil
	case name != "":
		return chosen{}, withCode(exitNotFound, "EtcdBackup %s has no backup %q; its status lists those that it has", b.Name, name)
	case b.Status.LastSuccessDate.IsZero():
		return chosen{}, withCode(exitNotFound, "EtcdBackup %s has not completed a backup: %s", b.Name, b.Status.Reason)
	}
	return chosen{path: where.Path, at: b.Status.LastSuccessDate.Time, revision: b.Status.EtcdRevision}, nil
}

// newest is the backup with the highest revision of the cluster that was backed up last: a member that was left behind gives
// snapshots too, which are newer by the clock only.
func newest(list []v1beta2.KeptBackup) *v1beta2.KeptBackup {
	if len(list) == 0 {
		return nil
	}
	best := slices.MaxFunc(list, func(a, b v1beta2.KeptBackup) int { return a.Time.Compare(b.Time.Time) })
	for _, kept := range list {
		if kept.ClusterID != "" && kept.ClusterID == best.ClusterID && kept.EtcdRevision > best.EtcdRevision {
			best = kept
		}
	}
	return &best
}

// losses says what a restore over an existing cluster takes away.
func (c *clients) losses(ctx context.Context, cluster *v1beta2.EtcdCluster, backup chosen, o restoreOptions) []string {
	list := []string{fmt.Sprintf("The data of EtcdCluster %s/%s is replaced by the backup %s.", cluster.Namespace, cluster.Name, backup.path)}
	if !backup.at.IsZero() {
		list = append(list, fmt.Sprintf("Everything that was written after %s (%s ago) is lost.", backup.at.UTC().Format(time.RFC3339), screen.Age(time.Since(backup.at))))
	} else {
		list = append(list, "Everything that was written after the backup was made is lost. When that was is not known here.")
	}
	if revision, err := c.revision(ctx, cluster); err == nil && backup.revision > 0 && revision > backup.revision {
		list = append(list, fmt.Sprintf("The cluster is at revision %d, the backup at %d: %d changes are lost.", revision, backup.revision, revision-backup.revision))
	}
	list = append(list, "Clients are interrupted until the first restored member serves; leases and watches begin anew.")
	if o.keepOldVolumes {
		return append(list, "The volumes of the replaced cluster are kept.")
	}
	return append(list, "The volumes of the replaced cluster are deleted once the new one is healthy; --keep-old-volumes keeps them.")
}

// rate computes how fast something grows.
type rate struct {
	now   func() time.Time
	begin time.Time
	first int64
}

func (r *rate) of(bytes int64) int64 {
	if r.begin.IsZero() || bytes < r.first {
		r.begin, r.first = r.now(), bytes
		return 0
	}
	if took := r.now().Sub(r.begin).Seconds(); took >= 1 {
		return int64(float64(bytes-r.first) / took)
	}
	return 0
}

// restoreState describes a restore on its way.
func restoreState(r *v1beta2.EtcdRestore, rate *rate) (text string, done bool, err error) {
	switch r.Status.Phase {
	case v1beta2.RestorePhaseDone:
		return "restored", true, nil
	case v1beta2.RestorePhaseFailed:
		return "", false, &exitError{code: exitDegraded, err: fmt.Errorf("the restore failed: %s", r.Status.Reason)}
	case v1beta2.RestorePhaseFetching:
		size := int64(0)
		if r.Status.Backup != nil {
			size = r.Status.Backup.Size
		}
		return progress("Fetching", r.Status.FetchedBytes, size, rate.of(r.Status.FetchedBytes)), false, nil
	case "":
		return "waiting for the etcd-restore-operator", false, nil
	}
	text = string(r.Status.Phase)
	for _, condition := range r.Status.Conditions {
		if condition.Type == "Ready" && condition.Message != "" {
			text += ": " + condition.Message
		}
	}
	return text, false, nil
}
