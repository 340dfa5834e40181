package engine_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// bodyStore is an Azure that stores bodies of all types as they are sent, so that one test covers all types.
type bodyStore struct {
	mu     sync.Mutex
	bodies map[string]object
	writes []string
}

func (s *bodyStore) storeBody(id arm.ID, body object) {
	body = maps.Clone(body)
	body["id"] = string(id)
	s.bodies[id.Key()] = body
}

func (s *bodyStore) readTags(id arm.ID) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	tags, _ := s.bodies[id.Key()]["tags"].(map[string]any)
	return tags
}

func (s *bodyStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, ofTags := strings.CutSuffix(r.URL.Path, "/providers/Microsoft.Resources/tags/default")
	id := arm.ID(path)
	w.Header().Set("Content-Type", "application/json")
	var sent object
	_ = json.NewDecoder(r.Body).Decode(&sent) // A GET has no body.
	have, exists := s.bodies[id.Key()]
	if r.Method != http.MethodGet {
		s.writes = append(s.writes, r.Method)
	}
	switch {
	case r.Method == http.MethodPut:
		s.storeBody(id, sent)
		have = s.bodies[id.Key()]
	case !exists:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":{"code":"ResourceNotFound","message":"not found"}}`))
		return
	case ofTags:
		properties, _ := sent["properties"].(object)
		added, _ := properties["tags"].(object)
		all, _ := have["tags"].(object)
		all = maps.Clone(all)
		if all == nil {
			all = object{}
		}
		maps.Copy(all, added)
		have["tags"] = all
	case r.Method == http.MethodDelete:
		delete(s.bodies, id.Key())
	}
	_ = json.NewEncoder(w).Encode(have) // The client is part of the test.
}

// newClientOf returns a client of an Azure that a handler plays.
func newClientOf(t *testing.T, azure http.Handler) *client.Client {
	t.Helper()
	server := httptest.NewTLSServer(azure)
	t.Cleanup(server.Close)
	where := cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: server.URL, Audience: "https://management.core.windows.net/"}}}
	c, err := client.New(credential.Token("t"), where, client.Options{Principal: "p", Transport: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// idOf returns an ID of a type in a resource group.
func idOf(group, resourceType string) arm.ID {
	provider, rest, _ := strings.Cut(resourceType, "/")
	segments := strings.Split(rest, "/")
	id := arm.NewID(sub, group, provider+"/"+segments[0], "x")
	for _, segment := range segments[1:] {
		id = id.Child(segment, "x")
	}
	return id
}

// bodyWithID returns a body with an ID at a path; a key that ends in [] is that of a list.
func bodyWithID(path string, id arm.ID) object {
	var value any = string(id)
	keys := strings.Split(path, ".")
	for _, key := range slices.Backward(keys) {
		if list, ok := strings.CutSuffix(key, "[]"); ok {
			value = object{list: []any{value}}
		} else {
			value = object{key: value}
		}
	}
	return value.(object)
}

// TestRemovedOwnershipTagOfEachType removes the ownership tag from a resource of each type that is in the object's record, and compares
// the result with one table: it is the same for all types and for each kind of plan for foreign resources.
func TestRemovedOwnershipTagOfEachType(t *testing.T) {
	const me, another = "ns/c1/1", "sigs.k8s.io_cluster-api-provider-azure_cluster_other"
	owner := engine.Owner{TagKey: owner.TagKey, TagValue: owner.TagValue, IDKey: ownerKey, ID: me}
	ours := func() object { return object{owner.TagKey: owner.TagValue, ownerKey: me} }
	own := arm.NewID(sub, "net", types.VirtualNetwork, "own")
	const (
		mine     = "mine"     // Still owned: the tag is restored, and the resource is deleted with the object.
		reported = "reported" // A condition reports it, nothing is written, and the deletion waits.
		theirs   = "theirs"   // Foreign: the resource is kept, and the object is deleted without it.
	)
	for name, test := range map[string]struct {
		reason     string
		tags       object
		groupTags  object
		uses       bool
		unrecorded bool
		want       string
	}{
		"owner's tag": {"only a writer of its tags in Azure can have set it", object{ownerKey: me}, nil, false,
			true, mine},
		"another owner's tag":       {"the other owner owns it", object{ownerKey: "other/c1/2"}, ours(), true, false, theirs},
		"in a group of the cluster": {"it would be deleted with the group", nil, ours(), false, false, mine},
		"in a group of another": {"its tag is not this owner's", nil,
			object{owner.TagKey: owner.TagValue, ownerKey: "other/c1/2"}, false, false, reported},
		"uses a resource of the cluster": {"only a writer of the resource can have set the reference", nil, nil, true, false, mine},
		"record alone":                   {"every writer of the object can forge that", nil, nil, false, false, reported},
		"record and another's tag":       {"it was handed over", object{another: "owned"}, ours(), true, false, theirs},
		"released":                       {"the tag releases it", object{owner.TagKey: "shared"}, ours(), true, false, theirs},
		"not in the record, our group":   {"no record shows that it was created for the object", nil, ours(), true, true, theirs},
	} {
		for _, row := range types.TableRows() {
			if !row.Taggable || row.Name == types.ResourceGroup || test.uses && test.want == mine && len(row.UsedResources) == 0 {
				continue
			}
			for _, policy := range []arm.Policy{arm.Repair, arm.CreateOnly} {
				for _, foreign := range []arm.ForeignAction{arm.RefuseForeign, arm.UseForeign, arm.AdoptForeign} {
					t.Run(strings.Join([]string{name, row.Name, string(policy), "foreign" + string(foreign)}, "/"), func(t *testing.T) {
						azure := &bodyStore{bodies: map[string]object{}}
						id := idOf("rg", row.Name)
						have := object{}
						if test.uses && len(row.UsedResources) > 0 {
							have = bodyWithID(row.UsedResources[0], own.Child("subnets", "s"))
						}
						have["location"] = "eastus"
						if test.tags != nil {
							have["tags"] = test.tags
						}
						azure.storeBody(arm.ResourceGroupID(sub, "rg"), object{"location": "eastus", "tags": test.groupTags})
						azure.storeBody(arm.ResourceGroupID(sub, "net"), object{"location": "eastus"})
						azure.storeBody(own, object{"location": "eastus", "tags": ours()})
						azure.storeBody(id, have)
						c := newClientOf(t, azure)
						e := engine.New(engine.Options{})
						request := func(deleting bool) engine.Request {
							node := arm.Node{ID: id, Policy: policy, Foreign: foreign, Group: "G"}
							if !deleting {
								node.Body = object{"location": "eastus", "tags": ours()}
								if foreign == arm.AdoptForeign {
									node.Body = object{"location": "eastus"} // Plans do not tag foreign resources.
								}
							}
							graph := &arm.Graph{}
							graph.Add(node)
							out := engine.Request{Object: "AzureCluster/default/c1", Client: c, Owner: owner, Graph: graph,
								BypassCache: true}
							if !test.unrecorded {
								out.Record = []arm.ID{id}
							}
							return out
						}
						var outcome arm.Outcome
						var err error
						for range 3 {
							if outcome, err = e.Converge(t.Context(), request(false)); err != nil {
								t.Fatal(err)
							}
						}
						got := findResult(t, outcome, id)
						restored := azure.readTags(id)[owner.TagKey] == owner.TagValue
						if mended := test.want == mine; restored != mended || (len(azure.writes) > 0) != mended || mended &&
							(got.State != arm.Ready || got.OwnershipTagRemoved != "") {
							t.Errorf("%s: restored %t with %v, then %s %q %v", test.reason, restored, azure.writes, got.State,
								got.OwnershipTagRemoved, got.Err)
						}
						message := got.OwnershipTagRemoved
						if got.Err != nil {
							message = got.Err.Error()
						}
						if test.want == reported &&
							(!strings.Contains(message, "has lost the tag "+owner.TagKey) ||
								!strings.Contains(message, "az tag update --resource-id "+string(id))) {
							t.Errorf("%s: the message has no remedy: %q", test.reason, message)
						}
						azure.storeBody(id, have) // The tag is removed again.
						azure.writes = nil
						for range 2 {
							if outcome, err = e.Delete(t.Context(), request(true)); err != nil {
								t.Fatal(err)
							}
						}
						got = findResult(t, outcome, id)
						gone := azure.bodies[id.Key()] == nil
						if gone != (test.want == mine) || outcome.IsDeleted() == (test.want == reported) || !gone && len(azure.writes) > 0 {
							t.Errorf("%s: deletion: gone %t, complete %t, wrote %v: %s %v", test.reason, gone, outcome.IsDeleted(),
								azure.writes, got.State, got.Err)
						}
						if test.want == reported &&
							(got.State != arm.Failed || !strings.Contains(got.Err.Error(), engine.CodeOwnershipTagRemoved)) {
							t.Errorf("%s: the deletion has no reason for its wait: %s %v", test.reason, got.State, got.Err)
						}
					})
				}
			}
		}
	}
}
