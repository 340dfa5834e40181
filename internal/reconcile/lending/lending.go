// Package lending applies the grants of a lent identity to plans and to identities that objects use. It reads the resources whose owners
// have to be known, and package lent decides. Calls block for reads and may be repeated. They change only the graph that they are given.
package lending

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// RestrictGraph restricts a graph to the grants of a lent identity, as lent.RestrictGraph does, and returns the denials. It reads the
// resources whose owners have to be known.
func RestrictGraph(ctx context.Context, f *facts.Facts, caller facts.Caller, in lent.Input, g *arm.Graph) ([]arm.Denial, error) {
	in.Facts = map[string]lent.Fact{}
	for missing := lent.ListMissingFacts(g, in); len(missing) > 0; missing = lent.ListMissingFacts(g, in) {
		for _, id := range missing {
			fact, err := readOwnership(ctx, f, caller, id)
			if err != nil {
				return nil, err
			}
			in.Facts[id.Key()] = fact
		}
	}
	return lent.RestrictGraph(g, in), nil
}

// readOwnership reads the tags of a resource. A resource that Azure does not show to the identity is unreadable.
func readOwnership(ctx context.Context, f *facts.Facts, caller facts.Caller, id arm.ID) (lent.Fact, error) {
	shown, err := f.ReadResource(ctx, caller, id)
	var refused *arm.Error
	switch {
	case errors.As(err, &refused) && refused.Status >= 400 && !arm.IsUnanswered(err):
		return lent.Fact{Unreadable: true}, nil
	case err != nil:
		return lent.Fact{}, err
	case len(shown) == 0:
		return lent.Fact{}, nil
	}
	var body struct {
		Tags map[string]string `json:"tags"`
	}
	readable := json.Unmarshal(shown, &body) == nil
	if !readable {
		return lent.Fact{Unreadable: true}, nil
	}
	return lent.Fact{Exists: true, Tags: body.Tags}, nil
}

// CheckIdentities returns an error for the first user-assigned identity that the grants of a lent identity do not allow to VMs. grants is nil if
// the identity is not lent. The error is the same whether or not such a user-assigned identity exists, because the borrower may have no right
// to know.
func CheckIdentities(ctx context.Context, f *facts.Facts, caller facts.Caller, grants *lent.Grants, owner ownership.Owner, subscription string,
	path *field.Path, identities []infrav1.UserAssignedIdentity) error {
	if grants == nil {
		return nil
	}
	in := lent.Input{Grants: *grants, Owner: owner}
	for i, identity := range identities {
		at := path.Index(i).Child("providerID")
		id, err := arm.ParseID(identity.ProviderID)
		if err != nil {
			continue // ReadUserAssignedClientID explains it.
		}
		in.Field = func(arm.ID) string { return at.String() }
		g := &arm.Graph{}
		g.Add(arm.Node{ID: arm.NewID(subscription, "vms", types.VirtualMachine, "vm"), Policy: arm.Repair,
			Body: map[string]any{"identity": map[string]any{"userAssignedIdentities": map[string]any{string(id): map[string]any{}}}}})
		denials, err := RestrictGraph(ctx, f, caller, in, g)
		if err != nil {
			return err
		}
		if len(denials) > 0 || g.Nodes()[0].Blocked != "" {
			return field.Forbidden(at, in.Identity+" belongs to another namespace and does not allow this identity for VMs: use one that was created for the Cluster, "+
				"or have the owner of the AzureClusterIdentity add it to its spec.allowedResources")
		}
	}
	return nil
}
