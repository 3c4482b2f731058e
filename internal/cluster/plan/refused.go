// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Kubernetes may refuse any object for any time. What was refused is a fact of the view for as long as it is not tried again:
// decisions on which nothing rests leave such a step out, say why, and let others have their turn. The chains by which a
// cluster comes into being, and changes of etcd's member list, wait for the refused step: their order is their safety.

// Identity tells a step from others of the same cluster.
func Identity(s Step) string { return s.Kind() + ": " + s.Describe().Why }

// refused is the reason for not trying a step now; nil where it may be tried.
func (p *planning) refused(step Step) *Wait {
	for i := range p.Refused {
		if p.Refused[i].Step == Identity(step) {
			return &Wait{StepFailed, p.Refused[i].Message}
		}
	}
	return nil
}

// offer makes a step the verdict's, unless Kubernetes has refused it: then the verdict says so.
func (p *planning) offer(v *verdict, step Step) bool {
	if w := p.refused(step); w != nil {
		v.Waits = append(v.Waits, *w)
		return false
	}
	v.Step = step
	return true
}

// unlessRefused is do for a step that nothing else rests on.
func (p *planning) unlessRefused(step Step) verdict {
	var v verdict
	p.offer(&v, step)
	return v
}
