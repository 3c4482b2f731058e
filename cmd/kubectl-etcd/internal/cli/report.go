// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/archive"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reach"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

type reportOptions struct {
	file  string
	since time.Duration
}

func newReport(e *env) *cobra.Command {
	o := reportOptions{}
	cmd := &cobra.Command{
		Use:     "report NAME",
		GroupID: groupSee,
		Short:   "Collect what a bug report needs into an archive without secrets",
		Long: `Write an archive with the cluster's objects and events, the logs of its members and of
the operators, the members' metrics and status, and a list of all that. No Secret is
copied, and what looks like one is taken out wherever it appears. If you may read the
Secrets that the cluster names, their content is looked for, too. Look through the
archive before you give it to others.`,
		Example: `  kubectl etcd report example
  kubectl etcd report example --since 2h -f example.tar.gz`,
		Args:              oneCluster,
		ValidArgsFunction: e.completeClusters,
		RunE:              e.onCluster(func(ctx context.Context, c *clients, name string) error { return e.report(ctx, c, name, o) }),
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "File to write; default: NAME-report-TIME.tar.gz")
	cmd.Flags().DurationVar(&o.since, "since", time.Hour, "How far back logs go")
	return cmd
}

func (e *env) report(ctx context.Context, c *clients, name string, o reportOptions) error {
	cluster, err := c.cluster(ctx, name)
	if err != nil {
		return err
	}
	now := time.Now()
	base := name + "-report-" + stamp(now)
	r := &reporter{clients: c, cluster: cluster, Archive: archive.New(base, now), since: o.since}
	if err := r.collect(ctx); err != nil {
		return err
	}
	if o.file == "" {
		o.file = base + ".tar.gz"
	}
	var packed bytes.Buffer
	if err := r.Write(&packed); err != nil {
		return err
	}
	if err := os.WriteFile(o.file, packed.Bytes(), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%s\nwritten to %s\n", r.Contents(), o.file)
	return nil
}

// reporter fills an archive.
type reporter struct {
	*clients
	*archive.Archive
	cluster *v1beta2.EtcdCluster
	since   time.Duration
}

func (r *reporter) collect(ctx context.Context) error {
	v, err := r.source(false).Gather(ctx, r.cluster)
	if err != nil {
		return err
	}
	r.learnSecrets(ctx, v)
	s := summary.Of(v)
	var text bytes.Buffer
	screen.Screen{}.Status(&text, s)
	r.AddText("status.txt", "kubectl etcd status", text.String())
	r.AddText("version.txt", "version of this plugin", fmt.Sprintf("kubectl-etcd %s (%s)\n", version, gitSHA))
	for _, add := range []struct {
		name, about string
		object      any
	}{
		{"summary.yaml", "kubectl etcd status -o yaml, with the members' own status", s},
		{"objects/etcdcluster.yaml", "the EtcdCluster", r.cluster},
		{"objects/pods.yaml", "the members' pods", v.Pods},
		{"objects/persistentvolumeclaims.yaml", "their volume claims", v.Claims},
		{"objects/etcdbackups.yaml", "the EtcdBackups of the cluster", v.Backups},
		{"objects/etcdrestores.yaml", "the EtcdRestores of the cluster", v.Restores},
		{"events.yaml", "events of the cluster and its pods", v.Events},
	} {
		if err := r.AddObject(add.name, add.about, add.object); err != nil {
			return err
		}
	}
	if err := r.addSurroundings(ctx); err != nil {
		return err
	}
	for i := range v.Pods {
		r.addPod(ctx, &v.Pods[i])
	}
	r.addOperators(ctx)
	return nil
}

// addSurroundings adds what else has the cluster's labels.
func (r *reporter) addSurroundings(ctx context.Context) error {
	selector := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(manifests.ClusterLabels(r.cluster.Name)).String()}
	services, err := r.kube.CoreV1().Services(r.namespace).List(ctx, selector)
	if err != nil {
		r.Missing("Services", err)
	} else if err := r.AddObject("objects/services.yaml", "the Services", services.Items); err != nil {
		return err
	}
	budgets, err := r.kube.PolicyV1().PodDisruptionBudgets(r.namespace).List(ctx, selector)
	if err != nil {
		r.Missing("PodDisruptionBudgets", err)
		return nil
	}
	return r.AddObject("objects/poddisruptionbudgets.yaml", "the PodDisruptionBudget", budgets.Items)
}

// learnSecrets reads the Secrets that the objects name, only to be able to take their content out.
func (r *reporter) learnSecrets(ctx context.Context, v *view.View) {
	names := map[string]bool{}
	for _, certificate := range v.Certificates {
		names[certificate.Secret] = true
	}
	for i := range v.Pods {
		for _, volume := range v.Pods[i].Spec.Volumes {
			if volume.Secret != nil {
				names[volume.Secret.SecretName] = true
			}
		}
	}
	for i := range v.Backups {
		b := &v.Backups[i].Spec
		names[b.ClientTLSSecret], names[b.EtcdAuthSecret], names[b.EncryptionSecret] = true, true, true
		if where, err := kind.OfBackup(&v.Backups[i]); err == nil {
			names[where.SecretName] = true
		}
	}
	for i := range v.Restores {
		if where, err := kind.OfRestore(&v.Restores[i]); err == nil {
			names[where.SecretName] = true
		}
		names[v.Restores[i].Status.TicketSecret] = true
	}
	delete(names, "")
	for name := range names {
		if secret, err := r.kube.CoreV1().Secrets(r.namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			r.Redactor.Learn(secret.Data)
		}
	}
}

// addPod adds a member's logs, also those before its last restart, and its metrics.
func (r *reporter) addPod(ctx context.Context, pod *corev1.Pod) {
	containers := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, status := range containers {
		r.addLog(ctx, pod, status.Name, false)
		if status.RestartCount > 0 {
			r.addLog(ctx, pod, status.Name, true)
		}
	}
	if r.config == nil || !reach.IsRunning(pod) {
		return
	}
	text, err := r.metrics(ctx, pod.Name)
	if err != nil {
		r.Missing("metrics of "+pod.Name, err)
		return
	}
	r.AddText("metrics/"+pod.Name+".txt", "its metrics", text)
}

func (r *reporter) addLog(ctx context.Context, pod *corev1.Pod, container string, previous bool) {
	seconds := max(int64(r.since.Seconds()), 1)
	request := &corev1.PodLogOptions{Container: container, Timestamps: true, Previous: previous}
	name := fmt.Sprintf("logs/%s/%s.log", pod.Name, container)
	about := "its log"
	if previous {
		name, about = strings.TrimSuffix(name, ".log")+"-previous.log", "its log before the last restart"
	} else {
		request.SinceSeconds = &seconds
	}
	text, err := r.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, request).DoRaw(ctx)
	if err != nil {
		r.Missing(name, err)
		return
	}
	r.AddText(name, about, string(text))
}

// metrics reads what a member serves on its port for metrics, which needs no certificate.
func (r *reporter) metrics(ctx context.Context, member string) (string, error) {
	members := &reach.Members{Config: r.config, Kube: r.kube}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return members.Dial(ctx, r.namespace, member, manifests.MetricsPort)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://member/metrics", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// addOperators adds the logs of the operators in the cluster's namespace, where those of one namespace run.
func (r *reporter) addOperators(ctx context.Context) {
	selector := "name in (etcd-operator, etcd-backup-operator, etcd-restore-operator)"
	pods, err := r.kube.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		r.Missing("the operators", err)
		return
	}
	for i := range pods.Items {
		for _, container := range pods.Items[i].Spec.Containers {
			r.addLog(ctx, &pods.Items[i], container.Name, false)
		}
	}
	if len(pods.Items) == 0 {
		r.Missing("logs of the operators", fmt.Errorf("none runs in namespace %s; add theirs yourself", r.namespace))
	}
}
