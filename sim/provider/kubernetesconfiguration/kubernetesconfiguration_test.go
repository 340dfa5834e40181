package kubernetesconfiguration_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/kubernetesconfiguration"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	group   = "/subscriptions/s/resourceGroups/rg"
	cluster = group + "/providers/Microsoft.ContainerService/managedClusters/aks"
	flux    = cluster + "/providers/Microsoft.KubernetesConfiguration/extensions/flux"
)

type azure struct {
	t   *testing.T
	s   *store.Store
	env *provider.Env
}

// newAzure returns a provider of extensions with a managed cluster.
func newAzure(t *testing.T) *azure {
	t.Helper()
	s, err := store.Open(store.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), "")
	if err != nil {
		t.Fatal(err)
	}
	env := &provider.Env{TimeScale: 1, Tenant: "tenant", Rand: rand.New(rand.NewPCG(1, 2)), Locations: []string{"westus3"}}
	env.Register(resources.Provider(), kubernetesconfiguration.Provider(),
		&provider.Provider{Namespace: "Microsoft.ContainerService",
			Types: []*provider.Type{{Name: "Microsoft.ContainerService/managedClusters", Style: provider.Sync}}})
	a := &azure{t: t, s: s, env: env}
	a.sendRequest("PUT", group, body.Object{"location": "westus3"})
	a.sendRequest("PUT", cluster, body.Object{"location": "westus3"})
	return a
}

// sendRequest does one request, ends its operation, and returns the code of the refusal or of the failure.
func (a *azure) sendRequest(method, id string, b body.Object) (answer body.Object, code string) {
	a.t.Helper()
	parsed, err := store.ParseID(id)
	if err != nil {
		a.t.Fatal(err)
	}
	err = a.s.Update(func(tx *store.Tx) error {
		c := &provider.Call{Tx: tx, Env: a.env, Method: method, ID: parsed, Type: a.env.TypeOf(parsed.Type()), Query: url.Values{},
			Header: http.Header{}, Body: b}
		var rep *provider.Reply
		var err error
		switch method {
		case "PUT":
			rep, err = c.PutResource()
		case "DELETE":
			rep, err = c.DeleteResource()
		default:
			rep, err = c.ReadResource()
		}
		if err != nil {
			return err
		}
		answer, _ = rep.Body.(body.Object)
		if rep.Operation != nil {
			c.CompleteOperation(rep.Operation)
			code = body.String(c.Operation(rep.Operation.ID).Error, "code")
		}
		return nil
	})
	if e, ok := err.(*provider.Error); ok {
		return nil, e.Code
	} else if err != nil {
		a.t.Fatal(err)
	}
	return answer, code
}

func newProperties(p body.Object) body.Object { return body.Object{"properties": p} }

func TestExtension(t *testing.T) {
	a := newAzure(t)
	sent := newProperties(body.Object{"extensionType": "Microsoft.Flux", "configurationProtectedSettings": body.Object{"password": "hunter2"}})
	sent["identity"] = body.Object{"type": "SystemAssigned"}
	made, code := a.sendRequest("PUT", flux, sent)
	if code != "" || body.String(made, "properties.provisioningState") != "Creating" || body.String(made, "identity.principalId") == "" {
		t.Fatalf("created: %s %v", code, made)
	}
	got, _ := a.sendRequest("GET", flux, nil)
	p := body.Child(got, "properties")
	principal := body.String(p, "aksAssignedIdentity.principalId")
	want := body.Object{
		"extensionType": "microsoft.flux", "autoUpgradeMinorVersion": true, "releaseTrain": "Stable", "version": nil, "currentVersion": "1.18.5",
		"provisioningState": "Succeeded",
		"scope":             body.Object{"cluster": body.Object{"releaseNamespace": "flux-system"}}, "configurationSettings": body.Object{},
		"configurationProtectedSettings": body.Object{"password": ""},
		"statuses":                       []any{}, "isSystemExtension": false,
		"aksAssignedIdentity": body.Object{"principalId": principal, "type": nil, "tenantId": "tenant"},
	}
	if diff := cmp.Diff(want, p); diff != "" || principal == "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
	if got["identity"] != nil || body.Has(made, "identity.tenantId") {
		t.Errorf("only the answer to the PUT has something of the identity: %v, then %v", made["identity"], got["identity"])
	}
	if by, there := body.Child(got, "systemData")["createdBy"]; by != nil || !there {
		t.Errorf("the creator must be unknown: %v", got["systemData"])
	}
	if raw, err := json.Marshal(got); err != nil || strings.Contains(string(raw), "hunter2") {
		t.Errorf("a protected setting came back: %s", raw)
	}
	pinned := newProperties(body.Object{"extensionType": "microsoft.flux", "autoUpgradeMinorVersion": false, "version": "1.14.0"})
	if _, code := a.sendRequest("PUT", flux, pinned); code != "" {
		t.Fatal(code)
	}
	if got, _ := a.sendRequest("GET", flux, nil); body.String(got, "properties.currentVersion") != "1.14.0" ||
		body.String(got, "properties.aksAssignedIdentity.principalId") != principal {
		t.Errorf("pinned: %v", got)
	}
	a.sendRequest("DELETE", cluster, nil)
	if _, code := a.sendRequest("GET", flux, nil); code != "ResourceNotFound" {
		t.Errorf("after its cluster is gone, the extension answers %q", code)
	}
}

func TestExtensionRefusals(t *testing.T) {
	cases := map[string]struct {
		reason string
		id     string
		first  body.Object
		sent   body.Object
		code   string
		failed bool
	}{
		"unknown type": {"the type is not offered: the operation fails, not the request", flux, nil,
			body.Object{"extensionType": "microsoft.nothing"}, "ExtensionOperationFailed", true},
		"no type": {"the type is required", flux, nil, body.Object{}, "BadRequest", false},
		"version and auto": {"a version is pinned only without auto-upgrade", flux, nil,
			body.Object{"extensionType": "microsoft.flux", "version": "1.14.0"}, "BadRequest", false},
		"neither": {"without auto-upgrade a version is required", flux, nil,
			body.Object{"extensionType": "microsoft.flux", "autoUpgradeMinorVersion": false}, "BadRequest", false},
		"type changed": {"the type cannot change", flux, body.Object{"extensionType": "microsoft.flux"},
			body.Object{"extensionType": "microsoft.dapr"}, "BadRequest", false},
		"scope changed": {"the scope cannot change", flux, body.Object{"extensionType": "microsoft.flux"},
			body.Object{"extensionType": "microsoft.flux", "scope": body.Object{"namespace": body.Object{"targetNamespace": "x"}}}, "BadRequest",
			false},
		"cluster not found": {"the cluster must exist", strings.Replace(flux, "/aks/", "/other/", 1), nil,
			body.Object{"extensionType": "microsoft.flux"}, "ResourceNotFound", false},
		"on a group": {"extensions stand on clusters", group + "/providers/Microsoft.KubernetesConfiguration/extensions/flux", nil,
			body.Object{"extensionType": "microsoft.flux"}, "InvalidClusterType", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			if tc.first != nil {
				if _, code := a.sendRequest("PUT", tc.id, newProperties(tc.first)); code != "" {
					t.Fatal(code)
				}
			}
			_, code := a.sendRequest("PUT", tc.id, newProperties(tc.sent))
			if code != tc.code {
				t.Errorf("%s: %q, want %s", tc.reason, code, tc.code)
			}
			got, _ := a.sendRequest("GET", tc.id, nil)
			if state := body.String(got, "properties.provisioningState"); tc.failed != (state == "Failed") ||
				tc.failed != (body.String(got, "properties.errorInfo.code") == tc.code) {
				t.Errorf("%s: the extension is %q with %v", tc.reason, state, body.Get(got, "properties.errorInfo"))
			}
		})
	}
}
