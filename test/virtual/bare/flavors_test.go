package bare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// flavorSettings has the variables that only one flavor has, and the feature gates that it requires.
var flavorSettings = map[string]struct {
	variables map[string]string
	features  plan.Features
}{
	"edgezone": {map[string]string{"AZURE_LOCATION": "westus", "AZURE_EXTENDEDLOCATION_NAME": "losangeles",
		"AZURE_EXTENDEDLOCATION_TYPE": "EdgeZone"}, plan.Features{EdgeZone: true}},
	"apiserver-ilb":         {map[string]string{"APISERVER_LB_DNS_SUFFIX": "abc123"}, plan.Features{APIServerILB: true}},
	"windows-apiserver-ilb": {map[string]string{"APISERVER_LB_DNS_SUFFIX": "abc123"}, plan.Features{APIServerILB: true}},
	"nvidia-gpu":            {variables: map[string]string{"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"}},
	"aad":                   {variables: map[string]string{"AZURE_SERVER_APP_ID": "22222222-aaaa-4bbb-8ccc-333333333333"}},
	"user-assigned-identity": {variables: map[string]string{"USER_ASSIGNED_IDENTITY_PROVIDER_ID": "/subscriptions/" + flavors.TemplateVariables(nil)["AZURE_SUBSCRIPTION_ID"] +
		"/resourceGroups/cluster-api/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cluster-api-control-plane"}},
	"flatcar":          {variables: map[string]string{"FLATCAR_VERSION": "3815.2.0"}},
	"flatcar-sysext":   {variables: map[string]string{"FLATCAR_VERSION": "3815.2.0"}},
	"topology":         {variables: map[string]string{"CLUSTER_CLASS_NAME": "default"}},
	"aks-topology":     {variables: map[string]string{"CLUSTER_CLASS_NAME": "default"}},
	"aks-aso-topology": {variables: map[string]string{"CLUSTER_CLASS_NAME": "default"}},
}

// TestFlavors creates every flavor in the subscription of the page, with the additional role that the page has for it, until all objects are Ready.
func TestFlavors(t *testing.T) {
	roles := additionalRoles(t)
	for _, file := range flavors.TemplateNames(t) {
		name := cmp.Or(flavors.FlavorName(file), "default")
		if strings.HasSuffix(name, "clusterclass") {
			continue // Clusters of the class are created by the flavor topology.
		}
		t.Run(name, func(t *testing.T) {
			in := prepare(t, roles[name])
			objects := render(t, file, in, flavorSettings[name].variables)
			play(t, in, flavorSettings[name].features, func(s *virtual.Scenario) {
				s.StartProvider()
				s.ApplyManifests(objects)
				s.WaitAllReady()
				checkNothingRefused(s)
			})
		})
	}
}

// render returns the objects of a template with the variables of the page.
func render(t *testing.T, file string, in *subscription, more map[string]string) []client.Object {
	t.Helper()
	variables := flavors.TemplateVariables(nil)
	for name := range variables {
		if value, has := in.variables[name]; has {
			variables[name] = value
		}
	}
	if strings.Contains(file, "-aks") {
		variables["KUBERNETES_VERSION"] = harness.ManagedVersion
		variables["ASO_CREDENTIAL_SECRET_NAME"] = "aso-credential"
	}
	maps.Copy(variables, more)
	read := func(file string) []*unstructured.Unstructured {
		objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, file, variables))
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	objects := read(file)
	if name, is := strings.CutSuffix(file, "topology.yaml"); is {
		applyTopology := flavors.ApplyTopology
		if strings.Contains(file, "-aks") {
			applyTopology = flavors.ManagedTopology
		}
		var err error
		if objects, err = applyTopology(read(name+"clusterclass.yaml"), objects); err != nil {
			t.Fatal(err)
		}
		flavors.ReferToControlPlane(objects)
	}
	var documents bytes.Buffer
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&documents, "---\n%s\n", raw)
	}
	return virtual.ReadManifests(t, documents.Bytes())
}

// play plays a story in a copy of the subscription, with a management cluster that has the ServiceAccount of the page.
func play(t *testing.T, in *subscription, features plan.Features, story func(s *virtual.Scenario)) {
	t.Helper()
	playWith(t, in, virtual.Options{AtOnce: true, Complete: true, Features: features, Azure: azureOptions()}, story)
}

func playWith(t *testing.T, in *subscription, options virtual.Options, story func(s *virtual.Scenario)) {
	t.Helper()
	virtual.PlayWith(t, options, func(s *virtual.Scenario) {
		if err := s.Sim.Restore(bytes.NewReader(in.snapshot)); err != nil {
			t.Fatal(err)
		}
		if url := in.variables["OIDC_ISSUER"]; url != "" {
			s.IssueToken = newIssuer(t, s.Sim, url).issueToken
		}
		s.CreateObject(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: infrav1.WorkloadIdentityServiceAccount}})
		s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "aso-credential"}, Data: map[string][]byte{
			"AZURE_SUBSCRIPTION_ID": []byte(in.variables["AZURE_SUBSCRIPTION_ID"]), "AZURE_TENANT_ID": []byte(in.variables["AZURE_TENANT_ID"]),
			"AZURE_CLIENT_ID": []byte(in.variables["AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY"]), "AUTH_MODE": []byte("workloadidentity")}})
		story(s)
	})
}

// checkNothingRefused fails the test for requests of the provider that Azure refused for a missing right or registration.
func checkNothingRefused(s *virtual.Scenario) {
	s.T.Helper()
	for _, request := range s.Sim.Requests() {
		if request.Status == http.StatusForbidden || request.Status == http.StatusUnauthorized {
			s.T.Errorf("%d %s %s %v", request.Status, request.Method, request.URL, request.Actions)
		}
	}
}
