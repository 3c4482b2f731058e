// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// Peer is one entry of --initial-cluster.
type Peer struct {
	Name string
	URL  string
}

// Start is how a member comes into its cluster.
type Start struct {
	Member string
	// Token is set for the seed only, which starts the cluster.
	Token string
	// Restore is set for a seed that is made of a snapshot.
	Restore *v1beta2.BootstrapRestore
	// Peers are all members that etcd has to know, this one included.
	Peers []Peer
	// HasData says that the member has been started before: it must not start without its data.
	HasData bool
	// BySnapshot says that the member will get a snapshot instead of the log.
	BySnapshot bool
	// Before are the names of those which have to answer before this one starts.
	Before []string
	// HelperImage is the operator's own image.
	HelperImage string
	// SecretKeys tells for a secret's name which keys it has.
	SecretKeys func(secret string) []string
	// IPv6 members listen on the IPv6 wildcard address.
	IPv6 bool
}

// MemberPod is the pod of one member.
func MemberPod(c *v1beta2.EtcdCluster, s Start) *corev1.Pod {
	policy := policyOf(c)
	// What lets a member join by a snapshot is in our image only, and looks at etcd's metrics.
	s.BySnapshot = s.BySnapshot && s.Token == "" && policy.BusyboxImage == "" && version(c).HasMetricsListener()
	pod := &corev1.Pod{
		ObjectMeta: objectMeta(c, s.Member),
		Spec: corev1.PodSpec{
			InitContainers:               []corev1.Container{gateContainer(c, s)},
			Containers:                   []corev1.Container{etcdContainer(c, s)},
			RestartPolicy:                corev1.RestartPolicyAlways,
			Hostname:                     s.Member,
			Subdomain:                    c.Name,
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
			// etcd hands leadership over and stops within a second or two.
			TerminationGracePeriodSeconds: ptr.To(int64(10)),
			SecurityContext:               podSecurity(policy),
			NodeSelector:                  policy.NodeSelector,
			Tolerations:                   policy.Tolerations,
			PriorityClassName:             policy.PriorityClassName,
			Affinity:                      affinity(c, policy),
			TopologySpreadConstraints:     spread(c, policy),
			Volumes:                       volumes(c, s),
		},
	}
	pod.Labels[LabelNode] = s.Member
	for k, v := range policy.Labels {
		if _, reserved := pod.Labels[k]; !reserved {
			pod.Labels[k] = v
		}
	}
	pod.Annotations = merged(policy.Annotations, map[string]string{
		AnnotationVersion: Version(c),
		AnnotationImage:   Image(c),
		AnnotationPolicy:  Fingerprint(c),
		AnnotationApplied: applied(policy),
	})
	mark(c, pod)
	switch {
	case s.Token != "" && s.Restore != nil:
		pod.Labels[LabelServing] = "true"
		addRestore(c, s, pod)
	case s.Token != "":
		pod.Labels[LabelServing] = "true"
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: SchedulingGate}}
	case s.BySnapshot:
		addJoin(c, s, pod)
	}
	return pod
}

func etcdContainer(c *v1beta2.EtcdCluster, s Start) corev1.Container {
	policy := policyOf(c)
	container := corev1.Container{
		Name:            ContainerEtcd,
		Image:           Image(c),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         etcdCommand(c, s),
		Env:             append(versionedSettings(c), policy.EtcdEnv...),
		Ports: []corev1.ContainerPort{
			{Name: "server", ContainerPort: PeerPort, Protocol: corev1.ProtocolTCP},
			{Name: "client", ContainerPort: ClientPort, Protocol: corev1.ProtocolTCP},
		},
		Resources:                *policy.Resources.DeepCopy(),
		SecurityContext:          containerSecurity(policy),
		VolumeMounts:             []corev1.VolumeMount{{Name: volumeData, MountPath: mountData}},
		ReadinessProbe:           readiness(c),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		// When the pod is deleted, services have a moment to stop sending
		// clients here before etcd stops answering them.
		Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}}},
	}
	if version(c).HasMetricsListener() {
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: "metrics", ContainerPort: MetricsPort, Protocol: corev1.ProtocolTCP})
	}
	for _, t := range podTLSVolumes(c) {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: t.volume, MountPath: t.mount, ReadOnly: true})
	}
	return container
}

func etcdCommand(c *v1beta2.EtcdCluster, s Start) []string {
	listen := "0.0.0.0"
	if s.IPv6 {
		listen = "[::]"
	}
	peerScheme, clientScheme := scheme(c.Spec.TLS.IsSecurePeer()), scheme(c.Spec.TLS.IsSecureClient())
	pairs := make([]string, 0, len(s.Peers))
	for _, p := range s.Peers {
		pairs = append(pairs, p.Name+"="+p.URL)
	}
	state := "existing"
	if s.Token != "" {
		state = "new"
	}
	command := []string{
		"/usr/local/bin/etcd",
		"--data-dir=" + DataDir,
		"--name=" + s.Member,
		"--initial-advertise-peer-urls=" + PeerURL(c, s.Member),
		fmt.Sprintf("--listen-peer-urls=%s://%s:%d", peerScheme, listen, PeerPort),
		fmt.Sprintf("--listen-client-urls=%s://%s:%d", clientScheme, listen, ClientPort),
		"--advertise-client-urls=" + ClientURL(c, s.Member),
		"--initial-cluster=" + strings.Join(pairs, ","),
		"--initial-cluster-state=" + state,
	}
	if s.Token != "" {
		command = append(command, "--initial-cluster-token="+s.Token)
	}
	if version(c).HasMetricsListener() {
		command = append(command, fmt.Sprintf("--listen-metrics-urls=http://%s:%d", listen, MetricsPort))
	}
	return append(command, tlsFlags(c)...)
}

// versionedSettings are those whose flag has another name in another release. They
// are given as environment variables, because a pod's command cannot change when its
// image does: etcd refuses to start over a flag it does not know, but only warns
// of a variable.
func versionedSettings(c *v1beta2.EtcdCluster) []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: envMaxLearners, Value: strconv.Itoa(MaxLearners)}}
	if c.Spec.TLS.IsSecurePeer() {
		// Without this etcd asks DNS which name a peer's address has. A pod
		// has several, and DNS may answer with one that is not in the
		// certificate. That the certificate is signed by the peers' own CA
		// is checked all the same.
		env = append(env, corev1.EnvVar{Name: version(c).SkipPeerNameCheck(), Value: "true"})
	}
	return env
}

const envMaxLearners = "ETCD_MAX_LEARNERS"

// HasRoomForLearners reports whether the pod's etcd was started with room for many
// learners. Those of other operators were not, nor those for which the spec asks for fewer.
func HasRoomForLearners(pod *corev1.Pod) bool {
	room := 0
	for _, c := range pod.Spec.Containers {
		for _, e := range c.Env {
			if c.Name == ContainerEtcd && e.Name == envMaxLearners { // of two, the last one counts
				room, _ = strconv.Atoi(e.Value)
			}
		}
	}
	return room >= MaxLearners
}

// UnsafeSetting is a setting of etcd in the spec with which no promise can be kept, and why; empty where there is none.
func UnsafeSetting(c *v1beta2.EtcdCluster) (name, why string) {
	for _, e := range policyOf(c).EtcdEnv {
		switch isSet := e.Value != "" || e.ValueFrom != nil; {
		case !isSet: // etcd does not look at it either
		case e.Name == "ETCD_WAL_DIR":
			return e.Name, "a member whose log is somewhere else counts as one that has lost its data"
		case e.Name == "ETCD_FORCE_NEW_CLUSTER" && e.Value != "false":
			return e.Name, "each member that restarts would leave its cluster and be one by itself"
		case e.Name == "ETCD_CONFIG_FILE":
			return e.Name, "etcd would not read the settings that the operator gives it"
		}
	}
	return "", ""
}

func hasEnv(pod *corev1.Pod, name string) bool {
	for _, c := range pod.Spec.Containers {
		if c.Name == ContainerEtcd && slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }) {
			return true
		}
	}
	return false
}

// readiness asks etcd's metrics listener, which needs neither a shell nor a client
// certificate. There is no liveness probe: a member that is slow or without a
// leader does not get better by being killed, and one that exits is restarted anyway.
func readiness(c *v1beta2.EtcdCluster) *corev1.Probe {
	probe := &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 2, FailureThreshold: 3, SuccessThreshold: 1}
	v := version(c)
	switch {
	case v.HasReadyz():
		probe.HTTPGet = &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(MetricsPort), Scheme: corev1.URISchemeHTTP}
	case v.HasMetricsListener():
		probe.HTTPGet = &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(MetricsPort), Scheme: corev1.URISchemeHTTP}
	default:
		probe.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromInt32(ClientPort)}
	}
	return probe
}

// version of a spec that the API server has accepted; an unreadable one, which only
// an object from before the validation can have, is taken for the default.
func version(c *v1beta2.EtcdCluster) etcdversion.Version {
	v, err := etcdversion.Parse(Version(c))
	if err != nil {
		v, _ = etcdversion.Parse(etcdversion.Default)
	}
	return v
}

func gateContainer(c *v1beta2.EtcdCluster, s Start) corev1.Container {
	policy := policyOf(c)
	if policy.BusyboxImage == "" {
		return gateCommand(c, s)
	}
	return helperContainer(c, ContainerGate, policy.BusyboxImage, "/bin/sh", "-c", busyboxScript(Host(c, s.Member), policy.DNSTimeoutInSecond))
}

// FlagHasData lets the gate refuse a member that has no data.
const FlagHasData = "-has-data"

func gateCommand(c *v1beta2.EtcdCluster, s Start) corev1.Container {
	container := helperContainer(c, ContainerGate, s.HelperImage, append([]string{gateBinary}, gateArguments(c, s)...)...)
	container.VolumeMounts = []corev1.VolumeMount{
		{Name: volumeData, MountPath: mountData, ReadOnly: true},
		{Name: volumePod, MountPath: mountPod, ReadOnly: true},
	}
	if !s.BySnapshot {
		waitForOthers(c, s, &container)
	}
	return container
}

// gateArguments tell the gate what it looks at on its own node and in its own pod.
func gateArguments(c *v1beta2.EtcdCluster, s Start) []string {
	arguments := []string{
		"-data-dir=" + DataDir,
		"-annotations-file=" + annotationsIn,
		"-joined-annotation=" + AnnotationMemberID,
		"-name=" + Host(c, s.Member),
		fmt.Sprintf("-name-timeout=%ds", policyOf(c).DNSTimeoutInSecond),
	}
	if s.HasData {
		arguments = append(arguments, FlagHasData)
	}
	return arguments
}

// waitForOthers lets our program wait for the members that the new one has to know.
func waitForOthers(c *v1beta2.EtcdCluster, s Start, container *corev1.Container) {
	if len(s.Before) == 0 {
		return
	}
	var hosts, urls []string
	for _, p := range s.Peers {
		if p.Name != s.Member {
			hosts = append(hosts, Host(c, p.Name))
		}
	}
	for _, name := range s.Before {
		urls = append(urls, PeerURL(c, name))
	}
	container.Command = append(container.Command, "-peers="+strings.Join(hosts, ","), "-before="+strings.Join(urls, ","))
	if c.Spec.TLS.IsSecurePeer() {
		container.Command = append(container.Command, "-peer-tls="+mountPeerTLS)
		if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volumePeerTLS }) {
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volumePeerTLS, MountPath: mountPeerTLS, ReadOnly: true})
		}
	}
}

// busyboxScript is for those who bring an image of their own for the check.
func busyboxScript(host string, timeoutSeconds int64) string {
	if timeoutSeconds <= 0 {
		return fmt.Sprintf("until nslookup %s; do sleep 1; done", host)
	}
	return fmt.Sprintf("n=0; until nslookup %s; do n=$((n+1)); if [ $n -ge %d ]; then echo 'the DNS name of this member does not resolve'; exit 1; fi; sleep 1; done",
		host, timeoutSeconds)
}

func volumes(c *v1beta2.EtcdCluster, s Start) []corev1.Volume {
	policy := policyOf(c)
	data := corev1.Volume{Name: volumeData}
	switch {
	case HasVolumes(c):
		data.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.Member}
	case policy.Tmpfs:
		data.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
	default:
		data.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	list := []corev1.Volume{data, {
		Name: volumePod,
		VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "annotations", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations"},
		}}}},
	}}
	for _, t := range podTLSVolumes(c) {
		var keys []string
		if s.SecretKeys != nil {
			keys = s.SecretKeys(t.secret)
		}
		list = append(list, corev1.Volume{Name: t.volume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: t.secret, Items: t.items(keys)},
		}})
	}
	return list
}

// podSecurity is what the restricted pod security standard asks for, unless the
// spec says otherwise.
func podSecurity(policy v1beta2.PodPolicy) *corev1.PodSecurityContext {
	if policy.SecurityContext != nil {
		return policy.SecurityContext.DeepCopy()
	}
	const nobody = 65532
	return &corev1.PodSecurityContext{
		RunAsNonRoot:        ptr.To(true),
		RunAsUser:           ptr.To(int64(nobody)),
		RunAsGroup:          ptr.To(int64(nobody)),
		FSGroup:             ptr.To(int64(nobody)),
		FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// containerSecurity drops what etcd does not need. Where the spec lets it run as root it
// keeps root's capabilities: without them it could not write into a folder that
// belongs to another user.
func containerSecurity(policy v1beta2.PodPolicy) *corev1.SecurityContext {
	if user := policy.SecurityContext; user != nil && (user.RunAsUser == nil || *user.RunAsUser == 0) {
		return &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false)}
	}
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func affinity(c *v1beta2.EtcdCluster, policy v1beta2.PodPolicy) *corev1.Affinity {
	if policy.Affinity != nil || !policy.AntiAffinity {
		return policy.Affinity.DeepCopy()
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{LabelCluster: c.Name}},
			TopologyKey:   corev1.LabelHostname,
		}},
	}}
}

// NeedsNodeEach reports whether the scheduler puts no two members onto one node, whoever asked it for that.
func NeedsNodeEach(c *v1beta2.EtcdCluster) bool {
	policy := policyOf(c)
	wanted := affinity(c, policy)
	if wanted == nil || wanted.PodAntiAffinity == nil {
		return false
	}
	member := labels.Set(merged(policy.Labels, ClusterLabels(c.Name)))
	return slices.ContainsFunc(wanted.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term corev1.PodAffinityTerm) bool {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		here := term.NamespaceSelector == nil && (len(term.Namespaces) == 0 || slices.Contains(term.Namespaces, c.Namespace))
		return err == nil && here && term.TopologyKey == corev1.LabelHostname && selector.Matches(member)
	})
}

// spread asks the scheduler for different nodes and zones where it can; it is no
// condition, so that a cluster on few nodes still comes up.
func spread(c *v1beta2.EtcdCluster, policy v1beta2.PodPolicy) []corev1.TopologySpreadConstraint {
	if policy.Affinity != nil {
		return nil
	}
	var list []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		list = append(list, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: ClusterLabels(c.Name)},
		})
	}
	return list
}
