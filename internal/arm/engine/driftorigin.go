package engine

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// agreement is the last desired state that a resource matched, for resources that are not changed in place. If desired and observed
// state differ later, it shows which of the two has changed.
type agreement struct {
	// desired is the body of the plan as JSON, without values that Azure never returns. sum is its hash.
	desired observe.CompressedBody
	sum     [sha256.Size]byte
	// at is the time when the PUT of desired ended. judged means that a later read has been compared, or that desired was found in
	// Azure and not sent.
	at     time.Time
	judged bool
	// normalized lists differences from Azure's normalisation, unknown those that existed at the first read.
	normalized, unknown []string
}

// driftOrigin classifies the differences of a resource that is not changed in place, by path. A path in no list is unclassified, as
// after a restart.
type driftOrigin struct {
	// normalized lists paths where Azure normalised the value that was sent.
	normalized []string
	// outside lists paths where Azure's value changed and the desired value did not.
	outside []string
	// unapplied lists paths where the desired value changed since the resource was in place.
	unapplied []string
}

// newAgreement returns an agreement on a body of a resource type.
func newAgreement(compressor *observe.Compressor, name string, want json.RawMessage) *agreement {
	return &agreement{desired: compressor.Compress(name, want), sum: sha256.Sum256(want)}
}

// classifyDifferences returns the origin of the differences between desired and observed state. fromWrite is set if observed is the
// answer to a PUT. normalized lists the differences that count as Azure's normalisation from now on.
func (e *Engine) classifyDifferences(id arm.ID, want compare.Desired, observed any, differences []compare.Difference, fromWrite bool) (
	out driftOrigin, normalized []compare.Difference) {
	differences = withoutTagDifferences(differences)
	agree := func(want json.RawMessage) *agreement { return newAgreement(&e.states.compressor, id.Type(), want) }
	e.states.update(id.Key(), func(state *resourceState) {
		if now := visibleJSON(want); state.agreement == nil {
			state.agreement = agree(now)
			state.agreement.judged, state.agreement.unknown = true, formatDifferences(differences)
		} else {
			out, normalized = state.agreement.classify(want, now, observed, differences, fromWrite, e.clock.Now(), agree)
		}
	})
	return out, normalized
}

// classify is classifyDifferences for a resource with an agreement. body is the visible body of want, agree returns a new agreement.
func (a *agreement) classify(want compare.Desired, body json.RawMessage, observed any, differences []compare.Difference, fromWrite bool,
	now time.Time, agree func(json.RawMessage) *agreement) (out driftOrigin, normalized []compare.Difference) {
	before := a.diffAgreed(want, body, observed)
	if late := !fromWrite && now.Sub(a.at) > normalizationWindow; !a.judged && late {
		// After this time a difference may be a change from outside.
		a.unknown = formatDifferences(before)
	} else if !a.judged {
		for _, difference := range before {
			if !slices.Contains(a.normalized, difference.String()) {
				a.normalized = append(a.normalized, difference.String())
				normalized = append(normalized, difference)
			}
		}
	}
	a.judged = a.judged || !fromWrite
	differ := false
	for _, difference := range differences {
		if slices.Contains(a.normalized, difference.String()) {
			out.normalized = append(out.normalized, difference.Path)
			continue
		}
		differ = true
		switch {
		case slices.Contains(a.unknown, difference.String()):
		case slices.Contains(before, difference):
			out.outside = append(out.outside, difference.Path)
		default:
			out.unapplied = append(out.unapplied, difference.Path)
		}
	}
	if !differ && !fromWrite {
		a.unknown = nil
		if a.sum != sha256.Sum256(body) {
			agreed := agree(body)
			a.desired, a.sum = agreed.desired, agreed.sum
		}
	}
	return out, normalized
}

// diffAgreed returns the differences between the agreed state and the observed one. now is the current desired state, which most often
// equals the agreed one.
func (a *agreement) diffAgreed(want compare.Desired, now json.RawMessage, observed any) []compare.Difference {
	raw := now
	if a.sum != sha256.Sum256(now) {
		opened, err := a.desired.Decompress()
		if err != nil {
			// The body was compressed by this process.
			return nil
		}
		raw = opened
	}
	body, err := arm.DecodeBody(raw)
	if err != nil {
		// The body was marshalled by this process.
		return nil
	}
	want.Body = body
	return withoutTagDifferences(compare.Diff(want, observed))
}

func visibleJSON(want compare.Desired) json.RawMessage {
	raw, err := json.Marshal(compare.VisibleBody(want))
	if err != nil {
		// Decoded JSON always marshals.
		return nil
	}
	return raw
}

// withoutTagDifferences leaves out differences in tags, because tags are always repaired.
func withoutTagDifferences(differences []compare.Difference) []compare.Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d compare.Difference) bool { return strings.HasPrefix(d.Path, "tags.") })
}

func formatDifferences(differences []compare.Difference) []string {
	var out []string
	for _, difference := range differences {
		out = append(out, difference.String())
	}
	return out
}
