// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The values that apply where spec.maintenance leaves a field out.
const (
	// DefaultDefragmentFreePercent applies where spec.maintenance.defragment.freePercent is not set.
	DefaultDefragmentFreePercent int32 = 50
	// DefaultDefragmentMinFree applies where spec.maintenance.defragment.minFree is not set: 100Mi.
	DefaultDefragmentMinFree int64 = 100 << 20
)

// MaintenancePolicy is the upkeep of databases that the operator does by itself. By default it does none.
type MaintenancePolicy struct {
	// Defragments databases whose files have much free space, one member at a time.
	// +optional
	// +nullable
	Defragment *DefragmentPolicy `json:"defragment,omitempty"`

	// What the operator does when a database has reached its quota, and etcd accepts no writes: Report (the default), or Recover,
	// which defragments all members at once, one after the other, and disarms the alarm when there is room again.
	// +optional
	// +nullable
	OnQuotaExceeded QuotaExceededPolicy `json:"onQuotaExceeded,omitempty"`

	// Allows Recover to drop the history of keys, if a defragmentation does not give enough back. Clients that read or watch
	// an older revision get an error.
	// +optional
	// +nullable
	AllowCompaction bool `json:"allowCompaction,omitempty"`
}

// QuotaExceededPolicy is what the operator does when a database has reached its quota.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Report", "Recover"]`,message=`must be Report, which is the default, or Recover`
type QuotaExceededPolicy string

const (
	// QuotaExceededReport changes nothing. This is the default.
	QuotaExceededReport QuotaExceededPolicy = "Report"
	// QuotaExceededRecover brings the cluster back.
	QuotaExceededRecover QuotaExceededPolicy = "Recover"
)

// CompactionStatus is the last compaction by the operator.
type CompactionStatus struct {
	// Revision before which the history was dropped.
	Revision int64 `json:"revision"`
	// When it was dropped.
	Time metav1.Time `json:"time"`
}

// DefragmentPolicy is when a member's database is defragmented. A member does not serve while that lasts.
type DefragmentPolicy struct {
	// How much of the file must be free, in percent from 10 to 95. Default: 50.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 10 && self <= 95`,message=`must be from 10 to 95`
	FreePercent *int32 `json:"freePercent,omitempty"`

	// How much of the file must be free at least, as a size. Default: 100Mi.
	// +optional
	// +nullable
	MinFree *resource.Quantity `json:"minFree,omitempty"`

	// When a defragmentation may begin. Default: at any time.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Windows []MaintenanceWindow `json:"windows,omitempty"`
}

// MaintenanceWindow is a time of day, on some days or all.
type MaintenanceWindow struct {
	// Days on which the window begins. Default: every day.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days,omitempty"`

	// When the window begins, as hours and minutes: "02:30".
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:XValidation:rule=`self.matches("^([01][0-9]|2[0-3]):[0-5][0-9]$")`,message=`must be hours and minutes, such as "02:30"`
	Start string `json:"start"`

	// How many minutes the window lasts, from 1 to 1440.
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 1440`,message=`must be from 1 to 1440, which is a day`
	DurationMinutes int32 `json:"durationMinutes"`

	// Name of a time zone, such as Europe/Berlin. Default: UTC.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`
}

// Weekday is a day of the week.
//
// +kubebuilder:validation:MaxLength=9
// +kubebuilder:validation:XValidation:rule=`self in ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]`,message=`must be Monday, Tuesday, Wednesday, Thursday, Friday, Saturday or Sunday`
type Weekday string
