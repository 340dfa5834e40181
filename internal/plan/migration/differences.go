// Package takenover knows what may stay as it was found when a cluster of the established provider is taken over: taking
// over changes nothing that exists. Where this provider makes a thing differently, that holds for new things, and for what
// the spec changes from then on.
//
// It is pure. What was found is kept in an annotation, which survives clusterctl move and backups.
package migration

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Differences is what was found of the resources of one object. The differences between a resource and what the first plan wanted
// of it are left as long as plans want the same.
type Differences struct {
	// firstReconciliation tells that the object has not been looked at before.
	firstReconciliation bool
	kept                map[string][]string
}

// storedDifferences is the value of the annotation. An object that was made under this provider has no Left.
type storedDifferences struct {
	Kept map[string][]string `json:"left,omitzero"`
}

// CreatedHere is the value of the annotation for an object of which nothing can be in Azure yet.
const CreatedHere = "{}"

// Read reads the annotation of an object. One that cannot be read counts as made here: then everything is kept in line.
func Read(annotations map[string]string) *Differences {
	stored, ok := annotations[infrav1.TakenOverAnnotation]
	if !ok {
		return &Differences{firstReconciliation: true, kept: map[string][]string{}}
	}
	var s storedDifferences
	if json.Unmarshal([]byte(stored), &s) != nil {
		return &Differences{}
	}
	return &Differences{kept: s.Kept}
}

// IsCreatedHere tells whether the object was made under this provider, so that nothing of it is left as it was found.
func (f *Differences) IsCreatedHere() bool { return f.kept == nil }

// IsMigrated tells whether the object is known to have been made under another provider.
func (f *Differences) IsMigrated() bool { return !f.firstReconciliation && f.kept != nil }

// KeepsDifference tells whether a difference between a resource of the object's and its plan is to be left: where it is, and what is
// wanted and there as short text.
func (f *Differences) KeepsDifference(id arm.ID, path, want, have string) bool {
	if f.IsCreatedHere() || isMaintained(id, path, have) {
		return false
	}
	short, print := trimSubscription(id), hashDifference(path, want)
	known := slices.Contains(f.kept[short], print)
	if f.firstReconciliation && !known {
		f.kept[short] = append(f.kept[short], print)
	}
	return known || f.firstReconciliation
}

// AnnotationValue is the value of the annotation to store once a pass ended: "", which is none, until there was one that could read
// everything.
func (f *Differences) AnnotationValue(outcome arm.Outcome) string {
	unread := slices.ContainsFunc(outcome.Results, func(r arm.Result) bool {
		return len(r.Observed) == 0 && (r.Err != nil || r.State == arm.Waiting || r.State == arm.Blocked)
	})
	if f.firstReconciliation && unread {
		return ""
	}
	raw, _ := json.Marshal(storedDifferences{Kept: f.kept}) // Lists of strings always marshal.
	return string(raw)
}

// trimSubscription is the part of an ID behind the subscription, in one case.
func trimSubscription(id arm.ID) string {
	_, path, _ := strings.Cut(id.Key(), "/resourcegroups/")
	return path
}

func hashDifference(path, want string) string {
	hash := fnv.New32a()
	hash.Write([]byte(path + "=" + want))
	return fmt.Sprintf("%08x", hash.Sum32())
}
