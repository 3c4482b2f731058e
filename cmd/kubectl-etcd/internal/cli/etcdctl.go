// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reach"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

func newEtcdctl(e *env) *cobra.Command {
	var member string
	cmd := &cobra.Command{
		Use:     "etcdctl NAME [--member MEMBER] -- COMMAND",
		GroupID: groupDo,
		Short:   "Run etcdctl on this machine, with the right endpoints and certificates",
		Long: `Run etcdctl against a cluster. etcdctl is part of this program, so that nothing is
needed in the pods and nothing has to be installed here. It reaches all members
through the API server's port-forward, over sockets in a folder that only you may
enter, and it uses the client certificate of spec.TLS.static.operatorSecret where
clients use TLS. No key is written to a file.

--cluster of etcdctl does not work, because the members' own URLs cannot be reached
from here; all members are endpoints already.`,
		Example: `  kubectl etcd etcdctl example -- member list -w table
  kubectl etcd etcdctl example -- endpoint status -w table
  kubectl etcd etcdctl example -- get --prefix --keys-only /
  kubectl etcd etcdctl example -- snapshot save backup.db`,
		ValidArgsFunction: e.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || (cmd.ArgsLenAtDash() >= 0 && cmd.ArgsLenAtDash() != 1) {
				return errors.New("name one EtcdCluster and, after two dashes, a command of etcdctl: kubectl etcd etcdctl NAME -- member list")
			}
			c, err := e.connect(e.flags)
			if err != nil {
				return err
			}
			return e.etcdctl(cmd.Context(), c, args[0], member, args[1:])
		},
	}
	cmd.Flags().StringVar(&member, "member", "", "Use only this member as an endpoint")
	cmd.Flags().SetInterspersed(true)
	return cmd
}

// etcdctlMark tells a child of this program that it is etcdctl. etcdctl ends its process as it likes: what has to be
// cleaned up is the parent's.
const etcdctlMark = "KUBECTL_ETCD_IS_ETCDCTL"

func isEtcdctl() bool { return os.Getenv(etcdctlMark) != "" }

// runEtcdctl is etcdctl. If that fails, it does not return.
func runEtcdctl(args []string) {
	_ = os.Unsetenv(etcdctlMark)
	os.Args = append([]string{"etcdctl"}, args...)
	ctlv3.MustStart()
}

func (e *env) etcdctl(ctx context.Context, c *clients, name, member string, args []string) error {
	cluster, err := c.cluster(ctx, name)
	if err != nil {
		return err
	}
	members, err := c.runningMembers(ctx, cluster)
	if err != nil {
		return err
	}
	if member != "" {
		if !slices.Contains(members, member) {
			return withCode(exitNotFound, "%s is no running member; there are %s", member, strings.Join(members, ", "))
		}
		members = []string{member}
	}
	if needsOneEndpoint(args) {
		members = members[:1]
	}
	sockets, err := (&reach.Members{Config: c.config, Kube: c.kube}).Open(ctx, cluster, members)
	if err != nil {
		return err
	}
	defer sockets.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, args...) //nolint:noctx // it gets the same signals as this process, and is waited for
	child.Stdin, child.Stdout, child.Stderr = e.in, e.out, e.err
	child.Env = etcdctlEnv(os.Environ(), args, sockets.Endpoints)
	err = child.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{code: exit.ExitCode()} // etcdctl has said why
	}
	return err
}

// needsOneEndpoint reports whether etcdctl refuses a command that has several endpoints.
func needsOneEndpoint(args []string) bool {
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	return len(words) > 1 && words[0] == "snapshot" && words[1] == "save"
}

// etcdctlEnv is what etcdctl is told. A variable that a flag says too is left out, because etcdctl refuses to choose; those
// of other certificates and endpoints, because the connection has its own.
func etcdctlEnv(environ, args, endpoints []string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{
			"ETCDCTL_ENDPOINTS", "ETCDCTL_CACERT", "ETCDCTL_CERT", "ETCDCTL_KEY", "ETCDCTL_INSECURE_TRANSPORT", "ETCDCTL_DISCOVERY_SRV", "ETCDCTL_DIAL_TIMEOUT",
		}, name)
	})
	add := func(flag, variable, value string) {
		if !slices.ContainsFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }) {
			environ = append(environ, variable+"="+value)
		}
	}
	add("--endpoints", "ETCDCTL_ENDPOINTS", strings.Join(endpoints, ","))
	add("--dial-timeout", "ETCDCTL_DIAL_TIMEOUT", "15s") // the way leads through the API server and a kubelet
	return append(environ, etcdctlMark+"=1")
}

// runningMembers are the names of the members whose pods run.
func (c *clients) runningMembers(ctx context.Context, cluster *v1beta2.EtcdCluster) ([]string, error) {
	selector := labels.SelectorFromSet(manifests.ClusterLabels(cluster.Name)).String()
	pods, err := c.kube.CoreV1().Pods(cluster.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range pods.Items {
		if metav1.IsControlledBy(&pods.Items[i], cluster) && reach.IsRunning(&pods.Items[i]) {
			names = append(names, pods.Items[i].Name)
		}
	}
	if len(names) == 0 {
		return nil, withCode(exitNotServing, `no member of %s runs; "kubectl etcd status %[1]s" says why`, cluster.Name)
	}
	return names, nil
}
