package engine

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// situation is what a decision about one node is made from.
type situation struct {
	node  *arm.Node
	found Observed
	// owned tells whether the resource is the cluster's, differences how it is not what the node wants.
	owned       bool
	differences []compare.Difference
	// remains tells whether the differences are known to be Azure's normalisation.
	remains bool
	// origin tells where differences come from that are not repaired.
	origin origin
	// failure is why a resource in the state Failed is so.
	failure error
	owner   Owner
}

// decision is what to do about one node.
type decision struct {
	// write is PUT, PATCH for tags alone, or "" for nothing.
	write string
	// follow is set when Azure is at the resource already, by an operation that is not ours: what it does.
	follow arm.State
	// state, err, message and drift are the result when nothing is written.
	state   arm.State
	err     error
	message string
	drift   []string
}

// failedPath is where a resource says that its last operation failed.
const failedPath = "properties.provisioningState"

// decide says what to do about a node that was observed and that nothing is under way for. It is pure.
func decide(s situation) decision {
	node := s.node
	if !s.found.Exists {
		switch {
		case node.Policy == arm.Observe:
			return decision{state: arm.Failed, err: &arm.Error{Method: "GET", ID: node.ID, Status: 404, Code: CodeMissing,
				Message: fmt.Sprintf("%s does not exist: the spec names it as one to be used and not to be made; create it or correct the spec", node.ID)}}
		case node.Body == nil || node.Policy == arm.TagOnly:
			// Another node makes it.
			return decision{state: arm.Ready}
		}
		return decision{write: "PUT"}
	}
	doing, failed := provisioning(headOf(s.found.Body).Properties.ProvisioningState)
	if !s.owned || node.Policy == arm.Observe || node.Body == nil {
		return decideOthers(s, doing)
	}
	switch {
	case doing != "":
		return decision{follow: doing}
	case failed && (keepsFailed(node) || node.Policy == arm.TagOnly):
		return decision{state: arm.Failed, err: s.failure}
	case failed:
		return decision{write: "PUT", drift: []string{failedPath}}
	case len(s.differences) == 0 || s.remains:
		return decision{state: arm.Ready}
	}
	paths := compare.Paths(s.differences)
	tags := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !strings.HasPrefix(path, "tags.") })
	if node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly {
		rest := slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(tags, path) || slices.Contains(s.origin.kept, path) })
		if len(tags) > 0 {
			return decision{write: "PATCH", drift: append(tags, rest...)}
		}
		return decision{state: arm.Ready, drift: rest}
	}
	if len(tags) == len(paths) && tagsApart(node.ID) {
		return decision{write: "PATCH", drift: tags}
	}
	return decision{write: "PUT", drift: paths}
}

func tagsApart(id arm.ID) bool {
	row, err := types.Of(id)
	return err == nil && row.TagsApart
}

// decideOthers is for resources that the engine does not write.
func decideOthers(s situation, doing arm.State) decision {
	node := s.node
	using := node.Policy == arm.Observe || node.Foreign == arm.UseForeign || node.Body == nil
	switch {
	case using && doing == arm.Deleting:
		return decision{follow: arm.Deleting}
	case using && doing == arm.Creating:
		return decision{follow: arm.Creating}
	case using && s.owned:
		return decision{state: arm.Ready}
	case using:
		return decision{state: arm.Foreign}
	case len(s.differences) == 0 && !taggable(node.ID):
		// It carries no tag to tell whose it is, and is what the plan wants.
		return decision{state: arm.Foreign}
	}
	message := fmt.Sprintf("%s exists and is not tagged %s=%s, so it is taken for somebody else's and left alone: delete it, name another one in the spec, or tag it to hand it over",
		node.ID, s.owner.TagKey, s.owner.TagValue)
	if !taggable(node.ID) {
		message = fmt.Sprintf("%s exists, was not made for this cluster and differs from what it needs (%s): delete it or name another one in the spec",
			node.ID, strings.Join(compare.Paths(s.differences), ", "))
	}
	return decision{state: arm.Failed, err: &arm.Error{Method: "GET", ID: node.ID, Status: 200, Code: CodeNotOwned, Message: message}}
}

// provisioning reads a provisioningState: what Azure is doing to the resource, "" for nothing, and whether the last
// operation failed.
func provisioning(state string) (doing arm.State, failed bool) {
	switch strings.ToLower(state) {
	case "", "succeeded", "ready":
		return "", false
	case "failed", "canceled", "cancelled":
		return "", true
	case "deleting":
		return arm.Deleting, false
	case "creating", "accepted":
		return arm.Creating, false
	}
	return arm.Updating, false
}

// keepsFailed tells whether a failed resource stays as it is.
func keepsFailed(node *arm.Node) bool {
	row, err := types.Of(node.ID)
	return err == nil && row.KeepFailed && node.Policy == arm.CreateOnly
}

func taggable(id arm.ID) bool {
	row, err := types.Of(id)
	return err == nil && row.Taggable
}
