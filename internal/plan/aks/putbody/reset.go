package putbody

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// Resource is an AKS resource whose body is planned.
type Resource struct {
	Kind       armschema.Kind
	APIVersion string
	// Exists is true if Azure has the resource.
	Exists bool
	// KeepPaths are the leaf paths that are not reset, and those below them. Other means remove their values.
	KeepPaths []string
}

// Set sets the body of a node. For an existing resource the body resets the values that earlier plans sent and this one does not.
// Tags are reset by Node.DropTags.
func (r Resource) Set(node *arm.Node, lastApplied applied.State, body map[string]any) {
	node.Body, node.PlannedBody = body, body
	if !r.Exists {
		return
	}
	dropped := slices.DeleteFunc(lastApplied.DroppedPaths(node), func(path string) bool {
		return strings.HasPrefix(path, "/tags/") ||
			slices.ContainsFunc(r.KeepPaths, func(keep string) bool { return strings.HasPrefix(path, keep+"/") })
	})
	node.Body, node.UnremovablePaths = armschema.ResetDropped(r.Kind, r.APIVersion, body, dropped)
}
