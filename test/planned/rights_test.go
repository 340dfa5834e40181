package planned_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const (
	ownerID, readerID, strangerID = server.DefaultClientID, "33333333-3333-3333-3333-333333333333", "77777777-7777-7777-7777-777777777777"
	readerObject                  = "44444444-4444-4444-4444-444444444444"
	// readerRole is the built-in role Reader.
	readerRole = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
)

// guarded is a copy of the Azure of a scenario that enforces roles. It signs in one principal and keeps the methods of its requests.
type guarded struct {
	azure    *server.Server
	clientID string
	mu       sync.Mutex
	methods  []string
}

// newGuarded returns a guarded copy for each of three principals: an owner, one with the role Reader, and one without a role.
func newGuarded(s *virtual.Scenario) map[string]*guarded {
	s.T.Helper()
	azure, err := server.New(server.Options{
		Seed: 7, Clock: store.NewVirtual(time.Now()), EnforceRBAC: true, Owners: []string{ownerID},
		Subscriptions: []string{s.Azure.SubscriptionID},
		Principals: []server.Principal{{ClientID: ownerID, Secret: "a"}, {ClientID: readerID, Secret: "b", ObjectID: readerObject},
			{ClientID: strangerID, Secret: "c"}},
	})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = azure.Close() })
	var state bytes.Buffer
	if err := s.Sim.Snapshot(&state); err != nil {
		s.T.Fatal(err)
	}
	if err := azure.Restore(&state); err != nil {
		s.T.Fatal(err)
	}
	subscription := "/subscriptions/" + s.Azure.SubscriptionID
	role, err := json.Marshal(map[string]any{"properties": map[string]any{"principalId": readerObject, "principalType": "ServicePrincipal",
		"roleDefinitionId": subscription + "/providers/Microsoft.Authorization/roleDefinitions/" + readerRole}})
	if err != nil {
		s.T.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPut, harness.VirtualEndpoint+subscription+
		"/providers/Microsoft.Authorization/roleAssignments/55555555-5555-5555-5555-555555555555?api-version=2022-04-01", bytes.NewReader(role))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+azure.Token(ownerID))
	answer := httptest.NewRecorder()
	azure.Handler().ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		s.T.Fatalf("assign the role Reader: %d %s", answer.Code, answer.Body)
	}
	return map[string]*guarded{"owner": {azure: azure, clientID: ownerID}, "reader": {azure: azure, clientID: readerID},
		"stranger": {azure: azure, clientID: strangerID}}
}

// GetToken implements azcore.TokenCredential.
func (g *guarded) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: g.azure.Token(g.clientID), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Do implements policy.Transporter.
func (g *guarded) Do(request *http.Request) (*http.Response, error) {
	g.mu.Lock()
	g.methods = append(g.methods, request.Method)
	g.mu.Unlock()
	sent := request.Clone(request.Context())
	sent.RequestURI, sent.Host = request.URL.RequestURI(), request.URL.Host
	if sent.Body == nil {
		sent.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	g.azure.Handler().ServeHTTP(recorder, sent)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

// compute returns the plan of objects with the rights of the principal.
func (g *guarded) compute(s *virtual.Scenario, options preview.Options) *preview.Result {
	s.T.Helper()
	options.Live = &overlay.Live{Transport: g, Credential: g, Endpoint: options.Live.Endpoint, Audience: options.Live.Audience}
	outcome, err := preview.Compute(s.T.Context(), options)
	if err != nil {
		s.T.Fatal(err)
	}
	return outcome
}

// listWrites returns the writes of a plan as texts.
func listWrites(of *preview.Result) []string {
	out := []string{}
	for _, w := range of.Writes {
		out = append(out, fmt.Sprintf("%s %s %d %s", w.Method, w.Path, w.Status, w.Body))
	}
	return out
}

// changeTags changes the tags of all clusters of a plan.
func changeTags(objects []client.Object) {
	for _, object := range objects {
		switch o := object.(type) {
		case *infrav1.AzureCluster:
			o.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
		case *infrav1.AzureManagedControlPlane:
			o.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
		}
	}
}

// buildBothFamilies makes a self-managed cluster and an AKS cluster, and stops the manager.
func buildBothFamilies(s *virtual.Scenario) {
	manager := s.StartProvider()
	s.BuildCluster("c1", 1)
	s.BuildAKSCluster("c2", 2)
	virtual.WaitForSignal(nil, time.Hour)
	manager.StopManager()
}

// TestReaderPlans checks that the role Reader suffices for a plan: it is that of an identity with all rights, and only GET requests are
// sent. Without a role the plan is not complete, so the simulated Azure does enforce the roles.
func TestReaderPlans(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		buildBothFamilies(s)
		principals := newGuarded(s)
		for name, test := range map[string]struct {
			reason string
			change func([]client.Object)
			writes int
		}{
			"in order":     {"nothing is written to clusters in order", func([]client.Object) {}, 0},
			"changed spec": {"tags of all resources change", changeTags, 7},
		} {
			plans := map[string]*preview.Result{}
			for who, principal := range principals {
				options := s.PlanOptions(s.Azure.SubscriptionID)
				test.change(options.Objects)
				plans[who] = principal.compute(s, options)
			}
			got := plans["reader"]
			if diff := cmp.Diff(listWrites(plans["owner"]), listWrites(got)); diff != "" {
				t.Errorf("%s: %s: plans differ (-all rights +Reader):\n%s", name, test.reason, diff)
			}
			if got.Unanswered != "" || !got.Settled || len(got.Writes) < test.writes || test.writes == 0 && len(got.Writes) > 0 {
				t.Errorf("%s: %s: %d writes, want %d; unanswered %q, settled %t", name, test.reason, len(got.Writes), test.writes, got.Unanswered, got.Settled)
			}
			if plans["stranger"].Unanswered == "" {
				t.Errorf("%s: a plan of an identity without a role is complete", name)
			}
		}
		for who, principal := range principals {
			if len(principal.methods) == 0 || slices.ContainsFunc(principal.methods, func(m string) bool { return m != http.MethodGet }) {
				t.Errorf("the plan of the %s sent the requests %v, want GET requests only", who, principal.methods)
			}
		}
	})
}

// viewer is the client of a user who may get and list all objects but Secrets.
type viewer struct {
	client.Client
	requests []string
}

func (v *viewer) answer(verb string, object any) error {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*")
	v.requests = append(v.requests, verb+" "+kind)
	_, isSecret := object.(*corev1.Secret)
	_, isList := object.(*corev1.SecretList)
	if verb != "get" && verb != "list" || isSecret || isList {
		return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", fmt.Errorf("the user cannot %s", verb))
	}
	return nil
}

// Get implements client.Reader.
func (v *viewer) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := v.answer("get", object); err != nil {
		return err
	}
	return v.Client.Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (v *viewer) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := v.answer("list", list); err != nil {
		return err
	}
	return v.Client.List(ctx, list, options...)
}

// Create implements client.Writer.
func (v *viewer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return v.answer("create", object)
}

// Delete implements client.Writer.
func (v *viewer) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	return v.answer("delete", object)
}

// Update implements client.Writer.
func (v *viewer) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return v.answer("update", object)
}

// Patch implements client.Writer.
func (v *viewer) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return v.answer("patch", object)
}

// DeleteAllOf implements client.Writer.
func (v *viewer) DeleteAllOf(_ context.Context, object client.Object, _ ...client.DeleteAllOfOption) error {
	return v.answer("deletecollection", object)
}

// TestViewerPlans checks that a user of the management cluster who may only get and list objects, and read no Secret, has the plan of one
// who may do everything, and that the plan asks for nothing else.
func TestViewerPlans(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		buildBothFamilies(s)
		user := &viewer{Client: s.Kubernetes}
		read, err := management.Read(s.T.Context(), user, management.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		compute := func(objects []client.Object) *preview.Result {
			options := s.PlanOptions(s.Azure.SubscriptionID)
			if objects != nil {
				options.Objects = objects
			}
			changeTags(options.Objects)
			outcome, err := preview.Compute(s.T.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			return outcome
		}
		got, want := compute(read.Items), compute(nil)
		if diff := cmp.Diff(listWrites(want), listWrites(got)); diff != "" || len(got.Writes) < 7 || len(read.Notes) > 0 {
			t.Errorf("%d writes, notes %q, plans differ (-all rights +get and list):\n%s", len(got.Writes), read.Notes, diff)
		}
		for _, request := range user.requests {
			if verb, kind, _ := strings.Cut(request, " "); verb != "get" && verb != "list" || strings.Contains(kind, "Secret") {
				t.Errorf("the plan sent the request %s", request)
			}
		}
	})
}
