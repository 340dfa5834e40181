package fleet_test

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/fleet"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	group   = "/subscriptions/s/resourceGroups/rg"
	service = group + "/providers/Microsoft.ContainerService/"
	manager = service + "fleets/fleet"
	cluster = service + "managedClusters/aks"
)

type azure struct {
	t     *testing.T
	clock *store.Virtual
	s     *store.Store
	env   *provider.Env
}

// newAzure returns a provider of fleets with a managed cluster and a fleet.
func newAzure(t *testing.T) *azure {
	t.Helper()
	clock := store.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, err := store.Open(clock, "")
	if err != nil {
		t.Fatal(err)
	}
	env := &provider.Env{TimeScale: 1, Rand: rand.New(rand.NewPCG(1, 2)), Locations: []string{"westus3"}}
	mc := &provider.Type{Name: "Microsoft.ContainerService/managedClusters", Style: provider.Containers,
		Create: provider.Timing{LRO: time.Minute}}
	env.Register(resources.Provider(), &provider.Provider{Namespace: "Microsoft.ContainerService", Types: append(fleet.ResourceTypes(), mc)})
	a := &azure{t: t, clock: clock, s: s, env: env}
	for _, id := range []string{group, cluster, manager} {
		if code := a.sendRequest("PUT", id, body.Object{"location": "westus3", "properties": body.Object{}}); code != "" {
			t.Fatal(code)
		}
		a.runUntilIdle()
	}
	return a
}

// sendRequest does one request and returns the code of the refusal.
func (a *azure) sendRequest(method, id string, b body.Object) string {
	a.t.Helper()
	parsed, err := store.ParseID(id)
	if err != nil {
		a.t.Fatal(err)
	}
	err = a.s.Update(func(tx *store.Tx) error {
		c := &provider.Call{Tx: tx, Env: a.env, Method: method, ID: parsed, Type: a.env.TypeOf(parsed.Type()), Query: url.Values{},
			Header: http.Header{}, Body: b}
		if method == "PUT" {
			_, err := c.PutResource()
			return err
		}
		_, err := c.DeleteResource()
		return err
	})
	if e, ok := err.(*provider.Error); ok {
		return e.Code
	} else if err != nil {
		a.t.Fatal(err)
	}
	return ""
}

// runNextStep lets every running operation go on once.
func (a *azure) runNextStep() (left int) {
	a.t.Helper()
	err := a.s.Update(func(tx *store.Tx) error {
		for _, op := range tx.Running() {
			c := &provider.Call{Tx: tx, Env: a.env, Method: "PUT"}
			c.ID, _ = store.ParseID(op.ResourceID)
			c.CompleteOperation(op)
		}
		left = len(tx.Running())
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return left
}

func (a *azure) runUntilIdle() {
	a.t.Helper()
	for range 10 {
		if a.runNextStep() == 0 {
			return
		}
	}
	a.t.Fatal("operations do not end")
}

func (a *azure) readState(id string) string {
	out := "gone"
	a.s.View(func(tx *store.Tx) {
		if r := tx.Get(id); r != nil {
			out = body.String(r.Body, "properties.provisioningState")
		}
	})
	return out
}

func newMember(group string) body.Object {
	p := body.Object{"clusterResourceId": cluster}
	if group != "" {
		p["group"] = group
	}
	return body.Object{"properties": p}
}

func TestMemberJoinsAndLeaves(t *testing.T) {
	a := newAzure(t)
	id := manager + "/members/aks"
	var got []string
	note := func(code string) { got = append(got, code+" "+a.readState(id)+" "+a.readState(cluster)) }
	change := func() {
		note(a.sendRequest("PUT", cluster, body.Object{"location": "westus3", "properties": body.Object{"x": 1.0}}))
	}
	note(a.sendRequest("PUT", id, newMember("blue")))
	a.runNextStep()
	change()
	a.runUntilIdle()
	note("")
	note(a.sendRequest("PUT", id, newMember("green")))
	a.runUntilIdle()
	note(a.sendRequest("DELETE", id, nil))
	change()
	a.runUntilIdle()
	note("")
	want := []string{" Joining Succeeded", "OperationNotAllowed Joining Updating", " Succeeded Succeeded", " Updating Succeeded",
		" Deleting Updating", "OperationNotAllowed Deleting Updating", " gone Succeeded"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("code, state of the member, state of the cluster (-want +got):\n%s", diff)
	}
}

func TestMemberRefusals(t *testing.T) {
	cases := map[string]struct {
		reason string
		id     string
		sent   body.Object
		code   string
	}{
		"no fleet": {"Azure Resource Manager refuses a child of nothing", service + "fleets/none/members/aks", newMember(""),
			"ParentResourceNotFound"},
		"member name": {"names are lower case", manager + "/members/AKS_1", newMember(""), "InvalidParameter"},
		"group name":  {"groups are named as members are", manager + "/members/aks", newMember("Blue Team"), "InvalidParameter"},
		"no cluster": {"the cluster must exist", manager + "/members/aks",
			body.Object{"properties": body.Object{"clusterResourceId": cluster + "2"}}, "ResourceNotFound"},
		"not a cluster": {"only managed clusters join", manager + "/members/aks",
			body.Object{"properties": body.Object{"clusterResourceId": group}}, "InvalidParameter"},
		"second member": {"a cluster is in one fleet only", manager + "/members/second", newMember(""), "Conflict"},
		"another cluster": {"a member stays with its cluster", manager + "/members/first",
			body.Object{"properties": body.Object{"clusterResourceId": cluster + "2"}}, "PropertyChangeNotAllowed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			if name == "second member" || name == "another cluster" {
				if code := a.sendRequest("PUT", manager+"/members/first", newMember("")); code != "" {
					t.Fatal(code)
				}
				a.runUntilIdle()
			}
			if code := a.sendRequest("PUT", tc.id, tc.sent); code != tc.code {
				t.Errorf("%s: %q, want %s", tc.reason, code, tc.code)
			}
		})
	}
}
