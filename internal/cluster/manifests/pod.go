// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	// Restore is set for a seed that is restored from a snapshot.
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
	// Defaults are for what the spec does not say.
	Defaults Defaults
	// SecretKeys tells for a secret's name which keys it has.
	SecretKeys func(secret string) []string
	// AssignsUsers says that the platform gives each pod its user and groups, and refuses others.
	AssignsUsers bool
	// IPv6 members listen on the IPv6 wildcard address.
	IPv6 bool
}

// MemberPod is the pod of one member.
func MemberPod(c *v1beta2.EtcdCluster, s Start) *corev1.Pod {
	policy := PolicyOf(c)
	// What lets a member join by a snapshot is in our image only, and looks at etcd's metrics.
	s.BySnapshot = s.BySnapshot && s.Token == "" && policy.BusyboxImage == "" && EtcdVersion(c).HasMetricsListener()
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
			ImagePullSecrets:             s.Defaults.pullSecrets(policy),
			ServiceAccountName:           policy.ServiceAccountName,
			HostAliases:                  policy.HostAliases,
			// etcd hands leadership over and stops within a second or two.
			TerminationGracePeriodSeconds: ptr.To(ptr.Deref(policy.TerminationGracePeriodSeconds, 10)),
			SecurityContext:               podSecurity(policy, s.AssignsUsers),
			NodeSelector:                  policy.NodeSelector,
			Tolerations:                   policy.Tolerations,
			PriorityClassName:             policy.PriorityClassName,
			Affinity:                      affinity(c, policy),
			TopologySpreadConstraints:     spread(c, policy),
			Volumes:                       volumes(c, s),
		},
	}
	if class := policy.RuntimeClassName; class != "" {
		pod.Spec.RuntimeClassName = &class
	}
	pod.Labels[LabelNode] = s.Member
	for k, v := range policy.Labels {
		if !IsReservedLabel(k) {
			pod.Labels[k] = v
		}
	}
	pod.Annotations = merged(policy.Annotations)
	maps.DeleteFunc(pod.Annotations, func(k, _ string) bool { return IsReservedAnnotation(k) })
	pod.Annotations = merged(pod.Annotations, map[string]string{
		AnnotationVersion:     Version(c),
		AnnotationImage:       s.Defaults.Image(c),
		AnnotationHelperImage: HelperImage(c, s.HelperImage, s.Restore != nil),
		AnnotationPolicy:      Fingerprint(c),
		AnnotationApplied:     AppliedBy(policy).String(),
	})
	s.Defaults.note(c, pod)
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
	policy := PolicyOf(c)
	container := corev1.Container{
		Name:            ContainerEtcd,
		Image:           s.Defaults.Image(c),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         etcdCommand(c, s),
		Env:             slices.Concat(versionedSettings(c), storageQuota(c), memoryLimit(policy), policy.EtcdEnv),
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
	if EtcdVersion(c).HasMetricsListener() {
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
	if EtcdVersion(c).HasMetricsListener() {
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
	if c.Spec.TLS.IsSecurePeer() || c.Spec.TLS.IsSecureClient() {
		env = append(env, corev1.EnvVar{Name: "ETCD_TLS_MIN_VERSION", Value: "TLS1.2"}, corev1.EnvVar{Name: "ETCD_CIPHER_SUITES", Value: strings.Join(cipherSuites, ",")})
	}
	if c.Spec.TLS.IsSecurePeer() {
		// Without this etcd asks DNS which name a peer's address has. A pod
		// has several, and DNS may answer with one that is not in the
		// certificate. That the certificate is signed by the peers' own CA
		// is checked all the same.
		env = append(env, corev1.EnvVar{Name: EtcdVersion(c).SkipPeerNameCheck(), Value: "true"})
	}
	return env
}

// cipherSuites are those of TLS 1.2 that members accept, unless the spec names others in its environment: with forward secrecy and
// authenticated encryption. Every etcd since 3.2 knows their names, which is not so for ChaCha20. HTTP/2 needs the first two. The
// suites of TLS 1.3 cannot be chosen, and are all good. Pods that run are not restarted for it.
var cipherSuites = []string{
	"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
	"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
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
	for _, e := range PolicyOf(c).EtcdEnv {
		switch isSet := e.Value != "" || e.ValueFrom != nil; {
		case !isSet: // etcd does not look at it either
		case e.Name == "ETCD_WAL_DIR":
			return e.Name, "a member whose log is somewhere else looks like one that has lost its data"
		case e.Name == "ETCD_FORCE_NEW_CLUSTER" && e.Value != "false":
			return e.Name, "each member that restarts would leave its cluster and form one of its own"
		case e.Name == "ETCD_CONFIG_FILE":
			return e.Name, "etcd would not read the settings that the operator gives it"
		}
	}
	return "", ""
}

// readiness asks etcd's metrics listener, which needs neither a shell nor a client
// certificate. There is no liveness probe: a member that is slow or without a
// leader does not get better by being killed, and one that exits is restarted anyway.
func readiness(c *v1beta2.EtcdCluster) *corev1.Probe {
	probe := &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 2, FailureThreshold: 3, SuccessThreshold: 1}
	v := EtcdVersion(c)
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

// EtcdVersion is the parsed version of the spec; an unreadable one, which only an object from before the
// validation can have, counts as the default.
func EtcdVersion(c *v1beta2.EtcdCluster) etcdversion.Version {
	v, err := etcdversion.Parse(Version(c))
	if err != nil {
		v, _ = etcdversion.Parse(v1beta2.DefaultEtcdVersion)
	}
	return v
}

func gateContainer(c *v1beta2.EtcdCluster, s Start) corev1.Container {
	policy := PolicyOf(c)
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
		fmt.Sprintf("-name-timeout=%ds", PolicyOf(c).DNSTimeoutInSecond),
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
	policy := PolicyOf(c)
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
// spec says otherwise. User and groups are left to a platform that assigns them, such as OpenShift.
func podSecurity(policy v1beta2.PodPolicy, assignsUsers bool) *corev1.PodSecurityContext {
	if policy.SecurityContext != nil {
		return policy.SecurityContext.DeepCopy()
	}
	security := &corev1.PodSecurityContext{
		RunAsNonRoot:        ptr.To(true),
		FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !assignsUsers {
		const nobody = 65532
		security.RunAsUser, security.RunAsGroup, security.FSGroup = ptr.To(int64(nobody)), ptr.To(int64(nobody)), ptr.To(int64(nobody))
	}
	return security
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
