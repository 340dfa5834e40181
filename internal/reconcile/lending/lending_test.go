package lending

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestCheckIdentities asks for identities with the grants of a lent identity; it expects the same error for identities of others and for
// those that do not exist.
func TestCheckIdentities(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
	c, err := client.New(credential.Token("t"), cloud.AzurePublic, client.Options{Principal: "p"})
	if err != nil {
		t.Fatal(err)
	}
	tag := infrav1.ClusterTagKey("c1")
	for name, test := range map[string]struct {
		body    string
		granted []arm.ID
		allowed bool
	}{
		"of others":      {body: `{"tags":{}}`},
		"does not exist": {},
		"listed":         {body: `{"tags":{}}`, granted: []arm.ID{id}, allowed: true},
		"of the Cluster": {body: `{"tags":{"` + tag + `":"owned","` + infrav1.OwnerTag + `":"ns/c1/1"}}`, allowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			shown := map[arm.ID]string{"/subscriptions/s/resourceGroups/g": `{"tags":{}}`}
			if test.body != "" {
				shown[id] = test.body
			}
			f := facts.New(facts.Options{Read: func(_ context.Context, _ *client.Client, id arm.ID, _ observe.ReadOptions) (json.RawMessage, error) {
				return json.RawMessage(shown[id]), nil
			}})
			err := CheckIdentities(t.Context(), f, facts.Caller{Client: c}, &lent.Grants{
				Identity: "AzureClusterIdentity operator/shared", Resources: test.granted}, ownership.Owner{Cluster: "c1", ID: "ns/c1/1"}, "s", field.NewPath("spec", "userAssignedIdentities"), []infrav1.UserAssignedIdentity{{ProviderID: "azure://" + id}})
			const want = "spec.userAssignedIdentities[0].providerID: Forbidden: AzureClusterIdentity operator/shared belongs to another namespace and does not allow this identity"
			if (err == nil) != test.allowed || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want an error: %t", err, !test.allowed)
			}
		})
	}
}
