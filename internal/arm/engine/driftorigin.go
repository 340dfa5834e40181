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

// agreement is what was wanted of a resource, that is not changed in place, when it was last as wanted. It tells which of
// the two has moved when they differ.
type agreement struct {
	// desired is the plan's body, as JSON without what Azure never returns, and sum its hash.
	desired compressed.Body
	sum     [sha256.Size]byte
	// at is when the PUT of want had ended; judged means that a read has been compared since, or that want was found in
	// Azure and not sent.
	at     time.Time
	judged bool
	// normalized are the differences that Azure's normalisation left, unknown those that were there at the first look.
	normalized, unknown []string
}

// driftOrigin tells where the differences of a resource come from that is not changed in place, by path. What is in no list is
// not known, as after a restart.
type driftOrigin struct {
	// normalized is Azure's normalisation of what was sent.
	normalized []string
	// outside means that Azure's value is no longer what was wanted and in place, and still is.
	outside []string
	// unapplied means that something else is wanted than what was in place.
	unapplied []string
}

// newAgreement is an agreement on a body for a type of resources.
func (m *stateStore) newAgreement(name string, want json.RawMessage) *agreement {
	return &agreement{desired: m.compressor.Compress(name, want), sum: sha256.Sum256(want)}
}

// recordAgreement notes that a PUT of want succeeded.
func (m *stateStore) recordAgreement(id arm.ID, want json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	agreement := m.newAgreement(id.Type(), want)
	agreement.at = m.clock.Now()
	m.stateFor(id.Key()).agreement = agreement
}

// classifyDifferences sorts the differences between what is wanted and what was observed. fromWrite is set when observed is the answer
// to a PUT. normalised are the differences that are taken for Azure's normalisation from now on.
func (m *stateStore) classifyDifferences(id arm.ID, want compare.Desired, observed any, differences []compare.Difference, fromWrite bool) (out driftOrigin, normalised []compare.Difference) {
	m.mu.Lock()
	defer m.mu.Unlock()
	differences = withoutTagDifferences(differences)
	now := visibleJSON(want)
	r := m.stateFor(id.Key())
	found := r.agreement
	if found == nil {
		r.agreement = m.newAgreement(id.Type(), now)
		r.agreement.judged, r.agreement.unknown = true, formatDifferences(differences)
		return out, nil
	}
	before := found.diffAgreed(want, now, observed)
	if late := !fromWrite && m.clock.Now().Sub(found.at) > normalizationWindow; !found.judged && late {
		// It may as well be somebody's change.
		found.unknown = formatDifferences(before)
	} else if !found.judged {
		for _, difference := range before {
			if !slices.Contains(found.normalized, difference.String()) {
				found.normalized = append(found.normalized, difference.String())
				normalised = append(normalised, difference)
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
			agreed := m.newAgreement(id.Type(), now)
			found.desired, found.sum = agreed.desired, agreed.sum
		}
	}
	return out, normalised
}

// diffAgreed are how a resource differs from what was wanted when it was last as wanted. now is what is wanted now, of which most
// often nothing has changed.
func (a *agreement) diffAgreed(want compare.Desired, now json.RawMessage, observed any) []compare.Difference {
	raw := now
	if a.sum != sha256.Sum256(now) {
		opened, err := a.desired.Decompress()
		if err != nil {
			// It was packed here.
			return nil
		}
		raw = opened
	}
	body, err := arm.DecodeBody(raw)
	if err != nil {
		// It was marshalled here.
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

// withoutTagDifferences leaves out what differs in tags, which are kept in line in any case.
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
