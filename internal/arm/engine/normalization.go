package engine

import (
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
)

// normalizationWindow is how long after a PUT a difference that its answer did not show counts as Azure's normalisation. A difference
// seen first after that may be a change from outside.
const normalizationWindow = 30 * time.Second

// normalization holds the differences that remain after a PUT of a desired state because Azure normalised it. Another PUT would not
// change them. The answer to the PUT shows them. A difference that only a later read shows may be a change from outside: it is sent
// once more, and counts as normalisation if it is back at once.
type normalization struct {
	hash string
	// inAnswer lists the differences in the answer. cause lists those that a repeated PUT was sent for.
	inAnswer, cause []string
	// at is the time when the PUT ended. judged means that a later read has been compared.
	at     time.Time
	judged bool
	// reported lists the differences that were logged before.
	reported []string
}

// recordMatch records that a read after the PUT showed no difference.
func (n *normalization) recordMatch(hash string) {
	if n != nil && n.hash == hash {
		n.judged = true
	}
}

// explains reports whether the differences are those that a PUT of the same desired state leaves. first is true if that was not known
// before. fromWrite is set if the differences are those of the answer to the PUT.
func (n *normalization) explains(hash string, differences []compare.Difference, fromWrite bool, now time.Time) (remains, first bool) {
	if n == nil || n.hash != hash {
		return false, false
	}
	lines := formatDifferences(differences)
	atOnce := !n.judged && now.Sub(n.at) <= normalizationWindow
	n.judged = n.judged || !fromWrite
	if !allKnown(lines, n.inAnswer) {
		if !atOnce || !allKnown(lines, slices.Concat(n.inAnswer, n.cause)) {
			return false, false
		}
		n.inAnswer = slices.Concat(n.inAnswer, lines)
	}
	first = !allKnown(lines, n.reported)
	n.reported = lines
	return true, first
}

func allKnown(differences, known []string) bool {
	return !slices.ContainsFunc(differences, func(line string) bool { return !slices.Contains(known, line) })
}
