package engine

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compressed"
)

// agreement is the last desired state that a resource matched, for resources that are not changed in place. If desired and observed
// state differ later, it shows which of the two has changed.
type agreement struct {
	// desired is the body of the plan as JSON, without values that Azure never returns. sum is its hash.
	desired compressed.Body
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
func (s *stateStore) newAgreement(name string, want json.RawMessage) *agreement {
	return &agreement{desired: s.compressor.Compress(name, want), sum: sha256.Sum256(want)}
}

// recordAgreement records a successful PUT of want.
func (s *stateStore) recordAgreement(id arm.ID, want json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	agreement := s.newAgreement(id.Type(), want)
	agreement.at = s.clock.Now()
	s.stateFor(id.Key()).agreement = agreement
}

// classifyDifferences returns the origin of the differences between desired and observed state. fromWrite is set if observed is the
// answer to a PUT. normalized lists the differences that count as Azure's normalisation from now on.
func (s *stateStore) classifyDifferences(id arm.ID, want compare.Desired, observed any, differences []compare.Difference,
	fromWrite bool) (out driftOrigin, normalized []compare.Difference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	differences = withoutTagDifferences(differences)
	now := visibleJSON(want)
	state := s.stateFor(id.Key())
	found := state.agreement
	if found == nil {
		state.agreement = s.newAgreement(id.Type(), now)
		state.agreement.judged, state.agreement.unknown = true, formatDifferences(differences)
		return out, nil
	}
	before := found.diffAgreed(want, now, observed)
	if late := !fromWrite && s.clock.Now().Sub(found.at) > normalizationWindow; !found.judged && late {
		// After this time a difference may be a change from outside.
		found.unknown = formatDifferences(before)
	} else if !found.judged {
		for _, difference := range before {
			if !slices.Contains(found.normalized, difference.String()) {
				found.normalized = append(found.normalized, difference.String())
				normalized = append(normalized, difference)
			}
		}
	}
	found.judged = found.judged || !fromWrite
	differ := false
	for _, difference := range differences {
		if slices.Contains(found.normalized, difference.String()) {
			out.normalized = append(out.normalized, difference.Path)
			continue
		}
		differ = true
		switch {
		case slices.Contains(found.unknown, difference.String()):
		case slices.Contains(before, difference):
			out.outside = append(out.outside, difference.Path)
		default:
			out.unapplied = append(out.unapplied, difference.Path)
		}
	}
	if !differ && !fromWrite {
		found.unknown = nil
		if found.sum != sha256.Sum256(now) {
			agreed := s.newAgreement(id.Type(), now)
			found.desired, found.sum = agreed.desired, agreed.sum
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
