// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package screen

import (
	"fmt"
	"time"
)

// Bytes writes a size as people read it.
func Bytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < 5 {
		value, prefix = value/unit, prefix+1
	}
	if value < 10 {
		return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[prefix])
	}
	return fmt.Sprintf("%.0f %ciB", value, "KMGTPE"[prefix])
}

// Age writes how long something is: 12s, 5m, 3h, 2d.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Bar is a progress bar of so many characters, for a part from 0 to 1.
func Bar(part float64, width int) string {
	done := int(min(max(part, 0), 1) * float64(width))
	bar := make([]rune, width)
	for i := range bar {
		bar[i] = '░'
		if i < done {
			bar[i] = '█'
		}
	}
	return string(bar)
}
