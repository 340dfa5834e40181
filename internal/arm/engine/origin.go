package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
)

// agreement is what was wanted of a resource, that is not changed in place, when it was last as wanted. It tells which of
// the two has moved when they differ.
type agreement struct {
	// want is the plan's body, as JSON without what Azure never returns.
	want json.RawMessage
	// at is when the PUT of want had ended; judged means that a read has been compared since, or that want was found in
	// Azure and not sent.
	at     time.Time
	judged bool
	// kept are the differences that Azure's normalisation left, unknown those that were there at the first look.
	kept, unknown []string
}

// origin tells where the differences of a resource come from that is not changed in place, by path. What is in no list is
// not known, as after a restart.
type origin struct {
	// kept is Azure's normalisation of what was sent.
	kept []string
	// outside means that Azure's value is no longer what was wanted and in place, and still is.
	outside []string
	// unapplied means that something else is wanted than what was in place.
	unapplied []string
}

// agree notes that a PUT of want succeeded.
func (m *memory) agree(key string, want json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).agreement = &agreement{want: want, at: m.clock.Now()}
}

// origin sorts the differences between what is wanted and what was observed. fromWrite is set when observed is the answer
// to a PUT. normalised are the differences that are taken for Azure's normalisation from now on.
func (m *memory) origin(key string, want compare.Want, observed any, differences []compare.Difference, fromWrite bool) (out origin, normalised []compare.Difference) {
	m.mu.Lock()
	defer m.mu.Unlock()
	differences = untagged(differences)
	r := m.of(key)
	found := r.agreement
	if found == nil {
		r.agreement = &agreement{want: visible(want), judged: true, unknown: prints(differences)}
		return out, nil
	}
	before := found.differences(want, observed)
	if late := !fromWrite && m.clock.Now().Sub(found.at) > judgeWithin; !found.judged && late {
		// It may as well be somebody's change.
		found.unknown = prints(before)
	} else if !found.judged {
		for _, difference := range before {
			if !slices.Contains(found.kept, difference.String()) {
				found.kept = append(found.kept, difference.String())
				normalised = append(normalised, difference)
			}
		}
	}
	found.judged = found.judged || !fromWrite
	differ := false
	for _, difference := range differences {
		if slices.Contains(found.kept, difference.String()) {
			out.kept = append(out.kept, difference.Path)
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
		found.want, found.unknown = visible(want), nil
	}
	return out, normalised
}

// differences are how a resource differs from what was wanted when it was last as wanted.
func (a *agreement) differences(want compare.Want, observed any) []compare.Difference {
	body, err := compare.Decode(a.want)
	if err != nil {
		// It was marshalled here.
		return nil
	}
	want.Body = body
	return untagged(compare.Diff(want, observed))
}

func visible(want compare.Want) json.RawMessage {
	raw, err := json.Marshal(compare.Visible(want))
	if err != nil {
		// Decoded JSON always marshals.
		return nil
	}
	return raw
}

// untagged leaves out what differs in tags, which are kept in line in any case.
func untagged(differences []compare.Difference) []compare.Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d compare.Difference) bool { return strings.HasPrefix(d.Path, "tags.") })
}

func prints(differences []compare.Difference) []string {
	var out []string
	for _, difference := range differences {
		out = append(out, difference.String())
	}
	return out
}
