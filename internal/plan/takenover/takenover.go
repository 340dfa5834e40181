// Package takenover knows what may stay as it was found when a cluster of the established provider is taken over: taking
// over changes nothing that exists. Where this provider makes a thing differently, that holds for new things, and for what
// the spec changes from then on.
//
// It is pure. What was found is kept in an annotation, which survives clusterctl move and backups.
package takenover

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Found is what was found of the resources of one object. The differences between a resource and what the first plan wanted
// of it are left as long as plans want the same.
type Found struct {
	// first tells that the object has not been looked at before.
	first bool
	left  map[string][]string
}

// state is the value of the annotation. An object that was made under this provider has no Left.
type state struct {
	Left map[string][]string `json:"left,omitzero"`
}

// New is the value of the annotation for an object of which nothing can be in Azure yet.
const New = "{}"

// Of reads the annotation of an object. One that cannot be read counts as made here: then everything is kept in line.
func Of(annotations map[string]string) *Found {
	stored, ok := annotations[infrav1.TakenOverAnnotation]
	if !ok {
		return &Found{first: true, left: map[string][]string{}}
	}
	var s state
	if json.Unmarshal([]byte(stored), &s) != nil {
		return &Found{}
	}
	return &Found{left: s.Left}
}

// MadeHere tells whether the object was made under this provider, so that nothing of it is left as it was found.
func (f *Found) MadeHere() bool { return f.left == nil }

// TakenOver tells whether the object is known to have been made under another provider.
func (f *Found) TakenOver() bool { return !f.first && f.left != nil }

// Leave tells whether a difference between a resource of the object's and its plan is to be left: where it is, and what is
// wanted and there as short text.
func (f *Found) Leave(id arm.ID, path, want, have string) bool {
	if f.MadeHere() || keptInLine(id, path, have) {
		return false
	}
	short, print := shorten(id), fingerprint(path, want)
	known := slices.Contains(f.left[short], print)
	if f.first && !known {
		f.left[short] = append(f.left[short], print)
	}
	return known || f.first
}

// Settled is the value of the annotation to store once a pass ended: "", which is none, until there was one that could read
// everything.
func (f *Found) Settled(outcome arm.Outcome) string {
	unread := slices.ContainsFunc(outcome.Results, func(r arm.Result) bool {
		return len(r.Observed) == 0 && (r.Err != nil || r.State == arm.Waiting || r.State == arm.Blocked)
	})
	if f.first && unread {
		return ""
	}
	raw, _ := json.Marshal(state{Left: f.left}) // Lists of strings always marshal.
	return string(raw)
}

// shorten is the part of an ID behind the subscription, in one case.
func shorten(id arm.ID) string {
	_, path, _ := strings.Cut(id.Key(), "/resourcegroups/")
	return path
}

func fingerprint(path, want string) string {
	hash := fnv.New32a()
	hash.Write([]byte(path + "=" + want))
	return fmt.Sprintf("%08x", hash.Sum32())
}
