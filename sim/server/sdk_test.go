package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// sdkType is a type as the Azure SDK for Go works with it. Each function is about the resource with a name, below the resources named a.
type sdkType struct {
	name string
	// mismatch is the status by which a precondition is refused; 0 is that there are none, and no etags.
	mismatch int
	make     sdkCall
	get      sdkCall
	list     func(ctx context.Context) (items, pages int, err error)
	remove   sdkCall
}

// sdkCall does something and waits for its end.
type sdkCall func(ctx context.Context, name string) error

// TestTypesWithTheSDK makes two resources of each type with the official SDK, resuming each poller from its token in between, reads them,
// lists them page by page, has preconditions fail, and deletes them.
func TestTypesWithTheSDK(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.PageSize = 1 })
	a.createGroup()
	types := slices.Concat(a.networkTypes(), a.computeTypes(), a.zoneTypes(), a.containerTypes(), a.linkTypes(), a.resourceTypes())
	calls := 0
	a.checkComplete(types)
	for _, of := range types {
		for _, name := range []string{"aa", "bb"} {
			if err := of.make(t.Context(), name); err != nil {
				t.Fatalf("%s: make %s: %v", of.name, name, err)
			}
			calls++
		}
		calls += a.exerciseReads(of)
	}
	for _, of := range slices.Backward(types) {
		if of.remove == nil {
			continue
		}
		for _, name := range []string{"bb", "aa"} {
			if err := of.remove(t.Context(), name); err != nil {
				t.Errorf("%s: delete %s: %v", of.name, name, err)
			}
			if err := of.get(t.Context(), name); statusOf(err) != http.StatusNotFound {
				t.Errorf("%s: get %s when it is deleted: %v", of.name, name, err)
			}
			calls += 2
		}
	}
	t.Logf("%d types, %d calls of the SDK, and the polls of those that take time", len(types), calls)
}

// withoutSDK are types without a row here, by the reason.
var withoutSDK = map[string][]string{
	"no module of the SDK is required for it, or another test makes it": {
		"Microsoft.ManagedIdentity/userAssignedIdentities", "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
		"Microsoft.Authorization/locks",
		// TestPolicies makes them.
		"Microsoft.Authorization/policyAssignments", "Microsoft.Authorization/policyDefinitions", "Microsoft.Authorization/policySetDefinitions",
		// TestUndefinedTypes of package standin makes them.
		"Microsoft.AlertsManagement/prometheusRuleGroups", "Microsoft.Dashboard/grafana", "Microsoft.DataProtection/backupVaults",
		"Microsoft.DataProtection/backupVaults/backupInstances", "Microsoft.DataProtection/backupVaults/backupPolicies",
		"Microsoft.Insights/diagnosticSettings",
		// TestApplicationGateway makes one.
		"Microsoft.Network/applicationGateways",
		// TestPublicDNS makes zones and record sets.
		"Microsoft.Network/dnszones", "Microsoft.Network/dnszones/A", "Microsoft.Network/dnszones/AAAA", "Microsoft.Network/dnszones/CAA",
		"Microsoft.Network/dnszones/CNAME",
		"Microsoft.Network/dnszones/MX", "Microsoft.Network/dnszones/NS", "Microsoft.Network/dnszones/PTR", "Microsoft.Network/dnszones/SOA",
		"Microsoft.Network/dnszones/SRV", "Microsoft.Network/dnszones/TXT",
	},
	"Azure creates it by itself": {"Microsoft.Authorization/roleDefinitions", "Microsoft.Network/privateDnsZones/SOA",
		"Microsoft.ResourceHealth/availabilityStatuses"},
	"it is part of another resource, with which it is made": {
		"Microsoft.Network/networkSecurityGroups/defaultSecurityRules", "Microsoft.Network/networkInterfaces/ipConfigurations",
		"Microsoft.Network/loadBalancers/frontendIPConfigurations", "Microsoft.Network/loadBalancers/loadBalancingRules",
		"Microsoft.Network/loadBalancers/probes",
		"Microsoft.Network/loadBalancers/outboundRules", "Microsoft.Network/loadBalancers/inboundNatPools",
		"Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
		"Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces",
		"Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/ipConfigurations",
		"Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/ipConfigurations/publicIPAddresses",
	},
	// The tests of package standin make each of them.
	"it is stood in for by its definition": {
		"Microsoft.Network/ddosProtectionPlans", "Microsoft.Network/privateLinkServices",
		"Microsoft.Compute/diskAccesses", "Microsoft.Compute/hostGroups", "Microsoft.Compute/hostGroups/hosts", "Microsoft.Compute/snapshots",
		"Microsoft.Compute/sshPublicKeys", "Microsoft.Compute/virtualMachines/runCommands",
		"Microsoft.ContainerService/aiManagers", "Microsoft.ContainerService/aiManagers/modelSources",
		"Microsoft.ContainerService/aiManagers/namespaces",
		"Microsoft.ContainerService/aiManagers/namespaces/modelDeployments", "Microsoft.ContainerService/fleets/autoUpgradeProfiles",
		"Microsoft.ContainerService/fleets/updateRuns", "Microsoft.ContainerService/fleets/updateStrategies",
		"Microsoft.ContainerService/maintenanceWindows",
		"Microsoft.ContainerService/managedClusters/alertConfigurations", "Microsoft.ContainerService/managedClusters/identityBindings",
		"Microsoft.ContainerService/managedClusters/jwtAuthenticators", "Microsoft.ContainerService/managedClusters/loadBalancers",
		"Microsoft.ContainerService/managedClusters/managedNamespaces", "Microsoft.ContainerService/managedClusters/meshMemberships",
		"Microsoft.ContainerService/managedclustersnapshots", "Microsoft.ContainerService/preparedImageSpecifications",
		"Microsoft.ContainerService/snapshots",
		"Microsoft.KubernetesConfiguration/fluxConfigurations", "Microsoft.KubernetesConfiguration/sourceControlConfigurations",
		"Microsoft.ContainerRegistry/registries", "Microsoft.Insights/dataCollectionEndpoints",
		"Microsoft.Insights/dataCollectionRuleAssociations",
		"Microsoft.Insights/dataCollectionRules", "Microsoft.KeyVault/vaults", "Microsoft.KeyVault/vaults/keys",
		"Microsoft.KeyVault/vaults/secrets",
		"Microsoft.Monitor/accounts", "Microsoft.OperationalInsights/workspaces", "Microsoft.Storage/storageAccounts",
		"Microsoft.KeyVault/locations/deletedVaults",
		"Microsoft.Storage/storageAccounts/blobServices", "Microsoft.Storage/storageAccounts/blobServices/containers",
		"Microsoft.Storage/storageAccounts/fileServices", "Microsoft.Storage/storageAccounts/fileServices/shares",
		"Microsoft.Storage/storageAccounts/managementPolicies",
		"Microsoft.Storage/storageAccounts/queueServices", "Microsoft.Storage/storageAccounts/queueServices/queues",
		"Microsoft.Storage/storageAccounts/tableServices", "Microsoft.Storage/storageAccounts/tableServices/tables",
	},
}

// checkComplete checks that each type that the simulator serves has a row, or a reason why not.
func (a *azure) checkComplete(types []sdkType) {
	a.t.Helper()
	var known, served []string
	for _, of := range types {
		known = append(known, of.name)
	}
	for _, without := range withoutSDK {
		known = append(known, without...)
	}
	for next := "/subscriptions/" + sub + "/providers"; next != ""; {
		page := a.mustSucceed("GET", next, nil).body
		for _, space := range page["value"].([]any) {
			for _, of := range space.(obj)["resourceTypes"].([]any) {
				served = append(served, space.(obj)["namespace"].(string)+"/"+of.(obj)["resourceType"].(string))
			}
		}
		link, _ := page["nextLink"].(string)
		next = strings.TrimPrefix(link, a.url)
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(served, known, sorted); diff != "" {
		a.t.Errorf("types that are served (-) and types with a row or a reason (+):\n%s", diff)
	}
}

// exerciseReads reads, lists and refuses two resources of a type, and returns how many calls that were.
func (a *azure) exerciseReads(of sdkType) int {
	t := a.t
	t.Helper()
	var answer *http.Response
	if err := of.get(policy.WithCaptureResponse(t.Context(), &answer), "aa"); err != nil {
		t.Errorf("%s: get: %v", of.name, err)
		return 1
	}
	var stored struct {
		ID         string
		ETag       string
		Properties struct{ ETag string }
	}
	if raw, err := runtime.Payload(answer); err != nil {
		t.Errorf("%s: %v", of.name, err)
	} else if err := json.Unmarshal(raw, &stored); err != nil {
		t.Errorf("%s: %v", of.name, err)
	}
	if id, err := arm.ParseResourceID(stored.ID); err != nil || !strings.EqualFold(id.ResourceType.String(), of.name) {
		t.Errorf("%s: the ID is %q: %v", of.name, stored.ID, err)
	}
	if etag := stored.ETag + stored.Properties.ETag; (etag != "") != (of.mismatch != 0) {
		t.Errorf("%s: the etag is %q, and a precondition is refused by %d", of.name, etag, of.mismatch)
	}
	items, pages, err := of.list(t.Context())
	if err != nil || items < 2 || pages == 1 {
		t.Errorf("%s: %d items on %d pages, want two and more: %v", of.name, items, pages, err)
	}
	if of.mismatch == 0 {
		return 2 + pages
	}
	for header, value := range map[string]string{"If-Match": `"another"`, "If-None-Match": "*"} {
		if err := of.make(policy.WithHTTPHeader(t.Context(), http.Header{header: {value}}), "aa"); statusOf(err) != of.mismatch {
			t.Errorf("%s: %s: %s: %v, want %d", of.name, header, value, err, of.mismatch)
		}
	}
	return 4 + pages
}

func statusOf(err error) int {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode
	}
	return 0
}

// longRunningCall returns a call of a long-running operation: its poller resumes from its token, as in another process.
func longRunningCall[T any](a *azure, begin func(ctx context.Context, name, token string) (*runtime.Poller[T], error)) sdkCall {
	return func(ctx context.Context, name string) error {
		poller, err := begin(ctx, name, "")
		if err != nil {
			return err
		}
		if !poller.Done() {
			token, err := poller.ResumeToken()
			if err != nil {
				return err
			}
			if poller, err = begin(ctx, name, token); err != nil {
				return fmt.Errorf("resume: %w", err)
			}
		}
		_, err = pollUntilDone(a, poller, nil)
		return err
	}
}

// immediateCall returns a call that does not take time.
func immediateCall[T any](call func(ctx context.Context, name string) (T, error)) sdkCall {
	return func(ctx context.Context, name string) error {
		_, err := call(ctx, name)
		return err
	}
}

// countPaged counts the items and pages of a pager.
func countPaged[T any](pager func() *runtime.Pager[T], on func(T) int) func(context.Context) (items, pages int, err error) {
	return func(ctx context.Context) (items, pages int, err error) {
		for pager := pager(); pager.More(); pages++ {
			page, err := pager.NextPage(ctx)
			if err != nil {
				return items, pages, err
			}
			items += on(page)
		}
		return items, pages, nil
	}
}

// countUnpaged counts the items of a list that Azure answers in one piece. Such a list has no pages.
func countUnpaged(list func(ctx context.Context) (int, error)) func(context.Context) (items, pages int, err error) {
	return func(ctx context.Context) (items, pages int, err error) {
		items, err = list(ctx)
		return items, 0, err
	}
}

// decodeModel returns a body as the SDK's type.
func decodeModel[T any](a *azure, body obj) (out T) {
	a.t.Helper()
	raw, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

// inGroup returns a reference to a resource of the group: "Microsoft.Network/virtualNetworks/aa".
func inGroup(path string) obj { return obj{"id": groupA + "/providers/" + path} }

// mustMake ends the test if making fails.
func mustMake[T any](a *azure, out T, err error) T {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}
