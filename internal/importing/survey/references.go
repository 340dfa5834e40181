package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
)

// used are the references that are followed, by the type of the resource that has them: the ends of their paths. Other references lead to
// resources of others, as from a network to all interfaces in it.
var used = map[string][]string{
	types.VirtualMachine:   {"networkInterfaces[].id", "availabilitySet.id"},
	types.NetworkInterface: {"subnet.id", "publicIPAddress.id"},
	types.ScaleSet:         {"subnet.id"},
	types.LoadBalancer:     {"subnet.id", "publicIPAddress.id"},
	types.BastionHost:      {"subnet.id", "publicIPAddress.id"},
	types.NATGateway:       {"publicIpAddresses[].id"},
	types.VirtualNetwork:   {"networkSecurityGroup.id", "routeTable.id", "natGateway.id", "remoteVirtualNetwork.id"},
}

// readUsed reads the resources that those of the cluster use, wherever in the subscription they are. The machines of the network's other
// users are not followed.
func (r *reader) readUsed(ctx context.Context) error {
	done := map[string]bool{}
	// From a machine to its interface, its network, the gateway and the gateway's address are four steps.
	for range 5 {
		for _, key := range sortedKeys(r.out.Resources) {
			if done[key] {
				continue
			}
			done[key] = true
			if err := r.followReferences(ctx, r.out.Resources[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) followReferences(ctx context.Context, of importing.Resource) error {
	var ends []string
	for name, paths := range used {
		if strings.EqualFold(name, of.ID.Type()) {
			ends = paths
		}
	}
	if ends == nil {
		return nil
	}
	body, err := arm.DecodeBody(of.Body)
	if err != nil {
		return fmt.Errorf("read %s: the answer of Azure is not JSON", of.ID)
	}
	for _, reference := range arm.FindReferences(body) {
		follow := slices.ContainsFunc(ends, func(end string) bool {
			return strings.HasSuffix(strings.ToLower(reference.Path), strings.ToLower(end))
		})
		if !follow || !reference.Plain || !strings.EqualFold(reference.ID.Subscription(), r.out.Subscription) {
			continue
		}
		id := reference.ID
		if strings.EqualFold(id.Type(), types.Subnet) {
			id = id.Parent()
		}
		if err := r.readOne(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// roleVersion is the api-version of role assignments.
const roleVersion = "2022-04-01"

// readRoles reads the role assignments of the identities of machines.
func (r *reader) readRoles(ctx context.Context) error {
	for _, key := range sortedKeys(r.out.Resources) {
		var shown struct {
			Identity struct{ PrincipalID string }
		}
		of := r.out.Resources[key]
		if !isMachine(of.ID.Type()) || json.Unmarshal(of.Body, &shown) != nil || shown.Identity.PrincipalID == "" {
			continue
		}
		principal := shown.Identity.PrincipalID
		raw, err := r.get(ctx, "/subscriptions/"+r.out.Subscription+"/providers/"+types.RoleAssignment, url.Values{"api-version": {roleVersion},
			"$filter": {"principalId eq '" + strings.ReplaceAll(principal, "'", "''") + "'"}})
		if err != nil {
			r.out.Unreadable[of.ID.Extension(types.RoleAssignment, "*")] = err.Error()
			continue
		}
		var list struct{ Value []json.RawMessage }
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("list the role assignments of %s: the answer of Azure is not a list", of.ID)
		}
		for _, each := range list.Value {
			var shown struct{ ID string }
			if err := json.Unmarshal(each, &shown); err != nil {
				return fmt.Errorf("list the role assignments of %s: %w", of.ID, err)
			}
			id, err := arm.ParseID(shown.ID)
			if err != nil {
				return fmt.Errorf("list the role assignments of %s: %w", of.ID, err)
			}
			r.out.RoleAssignments[principal] = append(r.out.RoleAssignments[principal], importing.Resource{ID: id, Body: each})
			r.add(id, each)
		}
	}
	return nil
}

// get sends a GET request and returns the answer, with all pages of a list in one.
func (r *reader) get(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	at, err := url.Parse(r.live.Endpoint)
	if err != nil {
		return nil, err
	}
	at.Path, at.RawQuery = path, query.Encode()
	status, body, err := r.live.Get(ctx, at)
	if err != nil {
		return nil, err
	}
	if status < 200 || status > 299 {
		var answer struct {
			Error struct{ Code, Message string }
		}
		_ = json.Unmarshal(body, &answer) // An answer of another form has no message.
		return nil, &refusal{status, fmt.Sprintf("Azure answers with status %d %s: %s", status, answer.Error.Code, answer.Error.Message)}
	}
	return body, nil
}

// refusal is an answer with an error.
type refusal struct {
	status  int
	message string
}

// Error implements error.
func (r *refusal) Error() string { return strings.TrimRight(r.message, ": ") }

func isStatus(err error, status int) bool {
	var refused *refusal
	return errors.As(err, &refused) && refused.status == status
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
