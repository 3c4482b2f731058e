// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The answers to a pod of a class or an account that does not exist.
var (
	errPriority = errors.New("no PriorityClass with this name was found")
	errRuntime  = errors.New("pod rejected: RuntimeClass not found")
	errAccount  = errors.New("error looking up service account: serviceaccount not found")
)

// What there is.
const (
	PriorityClass  = "high"
	RuntimeClass   = "gvisor"
	ServiceAccount = "default"
)

// admit is what the admission plugins of the API server find wrong with a pod.
func admit(pod *corev1.PodSpec) error {
	switch {
	case pod.PriorityClassName != "" && pod.PriorityClassName != PriorityClass:
		return errPriority
	case pod.RuntimeClassName != nil && *pod.RuntimeClassName != RuntimeClass:
		return errRuntime
	case pod.ServiceAccountName != "" && pod.ServiceAccountName != ServiceAccount:
		return errAccount
	}
	return nil
}

// validate is what the API server finds wrong with an object of its own kinds, as far as a spec of ours can lead to it.
func validate(object client.Object) error {
	errs := metav1validation.ValidateLabels(object.GetLabels(), field.NewPath("metadata", "labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(object.GetAnnotations(), field.NewPath("metadata", "annotations"))...)
	spec := field.NewPath("spec")
	switch o := object.(type) {
	case *corev1.Pod:
		if err := admit(&o.Spec); err != nil {
			return apierrors.NewForbidden(resource(Pods), o.Name, err)
		}
		errs = append(errs, validatePod(&o.Spec, spec)...)
	case *corev1.PersistentVolumeClaim:
		errs = append(errs, validateClaim(&o.Spec, spec)...)
	case *corev1.Service:
		for _, message := range validation.IsDNS1035Label(o.Name) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), o.Name, message))
		}
		errs = append(errs, metav1validation.ValidateLabels(o.Spec.Selector, spec.Child("selector"))...)
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Kind: kindNames[KindOf(object)]}, object.GetName(), errs)
}

func validatePod(pod *corev1.PodSpec, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(pod.NodeSelector, at.Child("nodeSelector"))
	for i := range pod.Tolerations {
		errs = append(errs, validateToleration(&pod.Tolerations[i], at.Child("tolerations").Index(i))...)
	}
	for i, alias := range pod.HostAliases {
		errs = append(errs, validation.IsValidIP(at.Child("hostAliases").Index(i).Child("ip"), alias.IP)...)
		for j, name := range alias.Hostnames {
			for _, message := range validation.IsDNS1123Subdomain(name) {
				errs = append(errs, field.Invalid(at.Child("hostAliases").Index(i).Child("hostnames").Index(j), name, message))
			}
		}
	}
	if pod.Affinity != nil {
		errs = append(errs, validateAffinity(pod.Affinity, at.Child("affinity"))...)
	}
	if pod.SecurityContext != nil {
		errs = append(errs, validateSecurity(pod.SecurityContext, at.Child("securityContext"))...)
	}
	for i, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		here := at.Child("containers").Index(i)
		if strings.TrimSpace(c.Image) != c.Image || c.Image == "" {
			errs = append(errs, field.Invalid(here.Child("image"), c.Image, "must not have leading or trailing whitespace"))
		}
		errs = append(errs, validateResources(&c.Resources, here.Child("resources"))...)
		for n := range c.Env {
			errs = append(errs, validateEnv(&c.Env[n], here.Child("env").Index(n))...)
		}
	}
	return errs
}

func oneOf(at *field.Path, value string, valid ...string) field.ErrorList {
	if slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, valid)}
}

func validateToleration(t *corev1.Toleration, at *field.Path) field.ErrorList {
	errs := oneOf(at.Child("operator"), string(t.Operator), "", "Exists", "Equal", "Lt", "Gt")
	errs = append(errs, oneOf(at.Child("effect"), string(t.Effect), "", "NoSchedule", "PreferNoSchedule", "NoExecute")...)
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
	}
	switch {
	case t.Key == "" && t.Operator != corev1.TolerationOpExists:
		errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "must be Exists when key is empty"))
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		errs = append(errs, field.Invalid(at.Child("value"), t.Value, "must be empty when operator is Exists"))
	case t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute:
		errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "must be NoExecute when tolerationSeconds is set"))
	}
	return errs
}

func validateAffinity(a *corev1.Affinity, at *field.Path) field.ErrorList {
	var required []corev1.PodAffinityTerm
	var preferred []corev1.WeightedPodAffinityTerm
	if p := a.PodAffinity; p != nil {
		required, preferred = p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution
	}
	if p := a.PodAntiAffinity; p != nil {
		required = slices.Concat(required, p.RequiredDuringSchedulingIgnoredDuringExecution)
		preferred = slices.Concat(preferred, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	var errs field.ErrorList
	for i := range preferred {
		errs = append(errs, validateWeight(preferred[i].Weight, at)...)
		required = append(slices.Clone(required), preferred[i].PodAffinityTerm)
	}
	for i := range required {
		errs = append(errs, validateTerm(&required[i], at)...)
	}
	if a.NodeAffinity != nil {
		errs = append(errs, validateNodeAffinity(a.NodeAffinity, at.Child("nodeAffinity"))...)
	}
	return errs
}

func validateTerm(t *corev1.PodAffinityTerm, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabelName(t.TopologyKey, at.Child("topologyKey"))
	for _, selector := range []*metav1.LabelSelector{t.LabelSelector, t.NamespaceSelector} {
		errs = append(errs, metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
	}
	for _, name := range t.Namespaces {
		for _, message := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(at.Child("namespaces"), name, message))
		}
	}
	if len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 && t.LabelSelector == nil {
		errs = append(errs, field.Forbidden(at.Child("matchLabelKeys"), "must not be specified when labelSelector is not set"))
	}
	return errs
}

func validateWeight(weight int32, at *field.Path) field.ErrorList {
	if weight < 1 || weight > 100 {
		return field.ErrorList{field.Invalid(at.Child("weight"), weight, "must be in the range 1-100")}
	}
	return nil
}

func validateNodeAffinity(n *corev1.NodeAffinity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if len(required.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(at.Child("nodeSelectorTerms"), "must have at least one node selector term"))
		}
		for i := range required.NodeSelectorTerms {
			errs = append(errs, validateNodeTerm(&required.NodeSelectorTerms[i], at)...)
		}
	}
	for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		preferred := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
		errs = append(errs, validateWeight(preferred.Weight, at)...)
		errs = append(errs, validateNodeTerm(&preferred.Preference, at)...)
	}
	return errs
}

func validateNodeTerm(t *corev1.NodeSelectorTerm, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, r := range slices.Concat(t.MatchExpressions, t.MatchFields) {
		errs = append(errs, oneOf(at.Child("operator"), string(r.Operator), "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")...)
		errs = append(errs, metav1validation.ValidateLabelName(r.Key, at.Child("key"))...)
		needsValues := r.Operator == corev1.NodeSelectorOpIn || r.Operator == corev1.NodeSelectorOpNotIn
		if needsValues == (len(r.Values) == 0) {
			errs = append(errs, field.Invalid(at.Child("values"), r.Values, "do not fit the operator"))
		}
	}
	for _, r := range t.MatchFields {
		if r.Key != "metadata.name" || len(r.Values) != 1 {
			errs = append(errs, field.Invalid(at.Child("matchFields"), r.Key, "not a valid field selector key"))
		}
	}
	return errs
}

func validateSecurity(s *corev1.PodSecurityContext, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	ids := append([]int64{}, s.SupplementalGroups...)
	for _, id := range []*int64{s.RunAsUser, s.RunAsGroup, s.FSGroup} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	for _, id := range ids {
		for _, message := range validation.IsValidUserID(id) {
			errs = append(errs, field.Invalid(at, id, message))
		}
	}
	errs = append(errs, oneOf(at.Child("fsGroupChangePolicy"), string(ptr.Deref(s.FSGroupChangePolicy, "Always")), "Always", "OnRootMismatch")...)
	errs = append(errs, oneOf(at.Child("supplementalGroupsPolicy"), string(ptr.Deref(s.SupplementalGroupsPolicy, "Merge")), "Merge", "Strict")...)
	errs = append(errs, oneOf(at.Child("seLinuxChangePolicy"), string(ptr.Deref(s.SELinuxChangePolicy, "MountOption")), "Recursive", "MountOption")...)
	if p := s.SeccompProfile; p != nil {
		errs = append(errs, validateProfile(string(p.Type), p.LocalhostProfile, at.Child("seccompProfile"))...)
	}
	if p := s.AppArmorProfile; p != nil {
		errs = append(errs, validateProfile(string(p.Type), p.LocalhostProfile, at.Child("appArmorProfile"))...)
	}
	for _, c := range s.Sysctls {
		if c.Name == "" || strings.ContainsAny(c.Name, " !{}ü\n") || strings.ToLower(c.Name) != c.Name {
			errs = append(errs, field.Invalid(at.Child("sysctls"), c.Name, "must have at most 253 characters and match a regex"))
		}
	}
	return errs
}

func validateProfile(kind string, localhost *string, at *field.Path) field.ErrorList {
	errs := oneOf(at.Child("type"), kind, "Localhost", "RuntimeDefault", "Unconfined")
	if (kind == "Localhost") != (localhost != nil && *localhost != "") {
		errs = append(errs, field.Required(at.Child("localhostProfile"), "must be set when and only when type is Localhost"))
	}
	return errs
}

// validateResources: what may not be overcommitted needs a limit as large as the request.
func validateResources(r *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	errs := append(validateList(r.Requests, at.Child("requests")), validateList(r.Limits, at.Child("limits"))...)
	for name, request := range r.Requests {
		limit, limited := r.Limits[name]
		if (limited && request.Cmp(limit) > 0) || (!mayOvercommit(name) && (!limited || request.Cmp(limit) != 0)) {
			errs = append(errs, field.Invalid(at, request.String(), "must be less than or equal to the limit"))
		}
	}
	if len(r.Claims) > 0 {
		errs = append(errs, field.NotFound(at.Child("claims"), r.Claims[0].Name))
	}
	return errs
}

func mayOvercommit(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

func isHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func validateList(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	_, hasCPU := list[corev1.ResourceCPU]
	_, hasMemory := list[corev1.ResourceMemory]
	for name, quantity := range list {
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(at, quantity.String(), "must be greater than or equal to 0"))
		}
		isStandard := mayOvercommit(name) || isHugePage(name)
		if len(validation.IsQualifiedName(string(name))) > 0 || (!isStandard && !strings.Contains(string(name), "/")) {
			errs = append(errs, field.Invalid(at, string(name), "must be a standard resource type or fully qualified"))
		}
		if isHugePage(name) && !hasCPU && !hasMemory {
			errs = append(errs, field.Forbidden(at, "HugePages require cpu or memory"))
		}
	}
	return errs
}

func validateEnv(e *corev1.EnvVar, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range validation.IsRelaxedEnvVarName(e.Name) {
		errs = append(errs, field.Invalid(at.Child("name"), e.Name, message))
	}
	if e.ValueFrom == nil {
		return errs
	}
	if e.Value != "" {
		errs = append(errs, field.Invalid(at.Child("valueFrom"), "", "may not be specified when value is not empty"))
	}
	return append(errs, validateSource(e.ValueFrom, at.Child("valueFrom"))...)
}

// sourceFields are the fields of a pod that a variable may have the value of.
var sourceFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP"}

func validateSource(from *corev1.EnvVarSource, at *field.Path) field.ErrorList {
	sources := 0
	for _, isSet := range []bool{from.FieldRef != nil, from.ResourceFieldRef != nil, from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil, from.FileKeyRef != nil} {
		if isSet {
			sources++
		}
	}
	switch {
	case sources != 1:
		return field.ErrorList{field.Invalid(at, "", "must specify exactly one source")}
	case from.FieldRef != nil:
		return oneOf(at.Child("fieldRef"), from.FieldRef.FieldPath, sourceFields...)
	case from.ResourceFieldRef != nil:
		return oneOf(at.Child("resourceFieldRef"), from.ResourceFieldRef.Resource, "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
	case from.FileKeyRef != nil:
		return field.ErrorList{field.NotFound(at.Child("fileKeyRef"), from.FileKeyRef.VolumeName)}
	case from.SecretKeyRef != nil:
		return validateReference(from.SecretKeyRef.Name, from.SecretKeyRef.Key, at.Child("secretKeyRef"))
	}
	return validateReference(from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, at.Child("configMapKeyRef"))
}

// lacksConfig reports whether a container cannot be created, for what its pod refers to or asks for.
func (k *Kube) lacksConfig(pod *corev1.Pod) bool {
	if s := pod.Spec.SecurityContext; s != nil && ptr.Deref(s.RunAsNonRoot, false) && ptr.Deref(s.RunAsUser, 0) == 0 {
		return true // etcd's image is of root
	}
	return slices.ContainsFunc(pod.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.ValueFrom != nil && k.lacksSource(e.ValueFrom) })
}

func (k *Kube) lacksSource(from *corev1.EnvVarSource) bool {
	if ref := from.SecretKeyRef; ref != nil && !ptr.Deref(ref.Optional, false) {
		secret, ok := k.Find(Secrets, ref.Name).(*corev1.Secret)
		return !ok || secret.Data[ref.Key] == nil
	}
	ref := from.ConfigMapKeyRef // there are none
	return ref != nil && !ptr.Deref(ref.Optional, false)
}

func validateReference(name, key string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		errs = append(errs, field.Invalid(at.Child("name"), name, "must be a DNS subdomain"))
	}
	if len(validation.IsConfigMapKey(key)) > 0 {
		errs = append(errs, field.Invalid(at.Child("key"), key, "must be a key of a map"))
	}
	return errs
}

func validateClaim(c *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(c.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	for _, mode := range c.AccessModes {
		errs = append(errs, oneOf(at.Child("accessModes"), string(mode), "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")...)
	}
	storage, ok := c.Resources.Requests[corev1.ResourceStorage]
	if !ok || storage.Sign() <= 0 {
		errs = append(errs, field.Required(at.Child("resources"), "a positive storage request is required"))
	}
	if name := c.StorageClassName; name != nil && *name != "" && len(validation.IsDNS1123Subdomain(*name)) > 0 {
		errs = append(errs, field.Invalid(at.Child("storageClassName"), *name, "must be a DNS subdomain"))
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(c.Selector, metav1validation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
	if c.VolumeMode != nil {
		errs = append(errs, oneOf(at.Child("volumeMode"), string(*c.VolumeMode), "Block", "Filesystem")...)
	}
	return errs
}
