package engine_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// slowCreation is an Azure that creates resources after a delay and shows them after another. It keeps working on requests whose client has
// given up.
type slowCreation struct {
	delay, unseen time.Duration

	mu      sync.Mutex
	created map[string]time.Time
	deleted map[string]time.Time
	bodies  map[string]string
}

func newSlowCreation(delay, unseen time.Duration) *slowCreation {
	return &slowCreation{delay: delay, unseen: unseen, created: map[string]time.Time{}, deleted: map[string]time.Time{}, bodies: map[string]string{}}
}

func (s *slowCreation) Do(request *http.Request) (*http.Response, error) {
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: request}, nil
	}
	path := request.URL.Path
	switch request.Method {
	case http.MethodPut:
		var body map[string]any
		if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
			return nil, err
		}
		body["id"], body["properties"] = path, map[string]any{"provisioningState": "Succeeded"}
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		created := make(chan struct{})
		go func() {
			<-time.After(s.delay)
			s.mu.Lock()
			s.created[path], s.bodies[path] = time.Now(), string(text)
			s.mu.Unlock()
			close(created)
		}()
		select {
		case <-created:
			return answer(http.StatusCreated, string(text))
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	case http.MethodDelete:
		s.mu.Lock()
		defer s.mu.Unlock()
		maps.DeleteFunc(s.bodies, func(other, _ string) bool { return arm.ID(other).IsWithin(arm.ID(path)) })
		s.deleted[path] = time.Now()
		return answer(http.StatusOK, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch body, exists := s.bodies[path]; {
	case strings.HasSuffix(path, "/resources"):
		return answer(http.StatusOK, `{"value":[]}`)
	case !exists || time.Since(s.created[path]) < s.unseen:
		return answer(http.StatusNotFound, `{"error":{"code":"ResourceNotFound"}}`)
	default:
		return answer(http.StatusOK, body)
	}
}

// TestDeleteDuringCreation deletes an object whose resource Azure has not created yet, or does not show yet. The resource is gone in the end:
// no object would delete it later.
func TestDeleteDuringCreation(t *testing.T) {
	configuration := newWorld(t).cloud
	for name, test := range map[string]struct {
		reason        string
		delay, unseen time.Duration
		timeout       time.Duration // of the client
		deleteAfter   time.Duration
	}{
		"answered after the wait for other operations": {"a PUT that is still running creates the resource later", 70 * time.Second, 0, 2 * time.Minute, 5 * time.Second},
		"answered soon":      {"as above", 10 * time.Second, 0, time.Minute, 5 * time.Second},
		"never answered":     {"Azure completes a request whose client has given up", 70 * time.Second, 0, time.Minute, 5 * time.Second},
		"not shown yet":      {"regions show a new resource at different times", 0, 10 * time.Second, time.Minute, 2 * time.Second},
		"not shown for long": {"as above", 0, 25 * time.Second, time.Minute, 5 * time.Second},
	} {
		for kind, id := range map[string]arm.ID{"group": group, "network": vnet, "VM": arm.NewID(sub, "rg", types.VirtualMachine, "vm")} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					azure := newSlowCreation(test.delay, test.unseen)
					c, err := client.New(credential.Token("t"), configuration, client.Options{Principal: "p", Transport: azure, Timeout: test.timeout})
					if err != nil {
						t.Fatal(err)
					}
					e := engine.New(engine.Options{})
					graph := &arm.Graph{}
					graph.Add(arm.Node{ID: id, Policy: arm.Repair, Body: object{"location": "eastus", "tags": ownerTags()}})
					request := engine.Request{Object: "o", Client: c, Owner: owner, Graph: graph, BypassCache: true, DeleteWholeGroups: true}
					if _, err := e.Converge(t.Context(), request); err != nil {
						t.Fatal(err)
					}
					<-time.After(test.deleteAfter)
					repeatUntil(t, e.Delete, request, arm.Outcome.IsDeleted)
					<-time.After(5 * time.Minute)
					azure.mu.Lock()
					defer azure.mu.Unlock()
					if len(azure.created) != 1 || len(azure.bodies) != 0 {
						t.Errorf("%s: created %v, left %v", test.reason, azure.created, azure.bodies)
					}
				})
			})
		}
	}
}

// TestReferenceOutlivesCreation deletes an object while Azure creates its subnet, whose body names a security group. The security group is not
// deleted before Azure has created the subnet: Azure would refuse the subnet otherwise.
func TestReferenceOutlivesCreation(t *testing.T) {
	configuration := newWorld(t).cloud
	synctest.Test(t, func(t *testing.T) {
		azure := newSlowCreation(0, 0)
		c, err := client.New(credential.Token("t"), configuration, client.Options{Principal: "p", Transport: azure, Timeout: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		e := engine.New(engine.Options{})
		securityGroup, subnet := arm.NewID(sub, "rg", types.NetworkSecurityGroup, "nsg"), vnet.Child("subnets", "nodes")
		graph := &arm.Graph{}
		graph.Add(arm.Node{ID: securityGroup, Policy: arm.Repair, Body: object{"location": "eastus", "tags": ownerTags()}},
			arm.Node{ID: vnet, Policy: arm.Repair, Body: object{"location": "eastus", "tags": ownerTags()}})
		request := engine.Request{Object: "o", Client: c, Owner: owner, Graph: graph, BypassCache: true}
		repeatUntil(t, e.Converge, request, arm.Outcome.IsDone)

		azure.delay = 70 * time.Second
		graph = &arm.Graph{}
		graph.Add(arm.Node{ID: securityGroup, Policy: arm.Repair, Body: object{"location": "eastus", "tags": ownerTags()}},
			arm.Node{ID: vnet, Policy: arm.Repair, Body: object{"location": "eastus", "tags": ownerTags()}},
			arm.Node{ID: subnet, Policy: arm.Repair, After: []arm.ID{securityGroup}, Body: object{"properties": object{"networkSecurityGroup": object{"id": string(securityGroup)}}}})
		request.Graph = graph
		if _, err := e.Converge(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Second)
		repeatUntil(t, e.Delete, request, arm.Outcome.IsDeleted)
		azure.mu.Lock()
		defer azure.mu.Unlock()
		if created, deleted := azure.created[string(subnet)], azure.deleted[string(securityGroup)]; created.IsZero() || deleted.Before(created) || len(azure.bodies) != 0 {
			t.Errorf("the subnet was created at %s and the security group deleted at %s; left: %v", created, deleted, azure.bodies)
		}
	})
}

// repeatUntil repeats a step until the outcome is as wanted: when the engine wakes the object, and after the time that the outcome asks for. It fails
// after ten minutes.
func repeatUntil(t *testing.T, step func(context.Context, engine.Request) (arm.Outcome, error), request engine.Request, isWanted func(arm.Outcome) bool) {
	t.Helper()
	woken := make(chan struct{}, 1)
	request.Wake = func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	for begun := time.Now(); ; {
		outcome, err := step(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if isWanted(outcome) {
			return
		}
		if time.Since(begun) > 10*time.Minute || outcome.RetryAfter == 0 {
			t.Fatalf("not done: %+v", outcome.Results)
		}
		select {
		case <-woken:
		case <-time.After(outcome.RetryAfter):
		}
	}
}
