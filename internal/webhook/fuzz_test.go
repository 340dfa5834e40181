package webhook

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/test/fuzzed"
)

// admitted is a kind whose webhooks are given objects.
type admitted struct {
	plural   string
	schema   *fuzzed.Kind
	document []byte
	growths  []grown
	// replace stores the document with the label of a Cluster, and sends the document again without it. It returns the labels of the object,
	// nil for a kind without defaults, and the error of the webhooks.
	replace func(tb testing.TB) (map[string]string, error)
	// ask gives an object to all webhooks, made and as a change of the document's.
	ask func(tb testing.TB, raw []byte)
}

func newAdmitted[T client.Object](tb testing.TB, plural string, k kind[T], good T) admitted {
	tb.Helper()
	document, err := json.Marshal(good)
	if err != nil {
		tb.Fatal(err)
	}
	schema := fuzzed.LoadKind(tb, "../..", plural)
	if _, ok := schema.ApplyEdit(document, fuzzed.Edit{Path: "metadata.name", Value: `"other"`}); !ok {
		tb.Fatalf("the schema of %s refuses the object that is to be changed: %s", plural, document)
	}
	return admitted{plural: plural, schema: schema, document: document, growths: listGrowths(good), replace: func(tb testing.TB) (map[string]string, error) {
		tb.Helper()
		if k.defaults == nil {
			return nil, nil
		}
		stored, again := good.DeepCopyObject().(T), good.DeepCopyObject().(T)
		stored.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1"})
		again.SetLabels(nil)
		if err := k.Default(tb.Context(), stored); err != nil {
			return nil, err
		}
		ctx := updateOf(tb, stored)
		if err := k.Default(ctx, again); err != nil {
			return nil, err
		}
		_, err := k.ValidateUpdate(ctx, stored, again)
		return again.GetLabels(), err
	}, ask: func(tb testing.TB, raw []byte) {
		tb.Helper()
		made, old := empty[T](), good.DeepCopyObject().(T)
		if maxima.FindHugeQuantity(raw) != "" || json.Unmarshal(raw, made) != nil {
			return
		}
		changed := made.DeepCopyObject().(T)
		if k.defaults != nil {
			if err := k.Default(tb.Context(), made); err != nil {
				return // What it takes more than the object is not there.
			}
			_ = k.Default(tb.Context(), changed)
		}
		// Refusals are as good as admissions: what must not happen is a panic, and an endless answer.
		_, _ = k.ValidateCreate(tb.Context(), made)
		_, _ = k.ValidateUpdate(tb.Context(), old, changed)
		_, _ = k.ValidateDelete(tb.Context(), changed)
	}}
}

// fixed is a generator without chance and without the time that a key takes.
type fixed struct{}

func (fixed) sshPublicKey() (string, error) { return testSSHKey, nil }
func (fixed) roleAssignmentName() string    { return "00000000-0000-4000-8000-000000000000" }

const manifestSeed = "{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedCluster, metadata: {name: c1}, spec: {owner: " +
	"{name: c1}, location: eastus}}"

// empties is an API server that has nothing.
type empties struct{}

func (empties) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(runtimeschema.GroupResource{}, key.Name)
}
func (empties) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// listAdmitted returns all kinds with webhooks.
func listAdmitted(f testing.TB) []admitted {
	f.Helper()
	placement := func(context.Context, client.Object) (Placement, error) {
		return Placement{SubscriptionID: "00000000-0000-0000-0000-000000000001", Group: "g", Lent: true}, nil
	}
	lookup, features, given := managedLookup{reader: empties{}}, plan.Features{ASOAPI: true}, fixed{}
	return []admitted{
		newAdmitted(f, "azureclusters", azureClusterKind(features), newCluster()),
		newAdmitted(f, "azureclustertemplates", clusterTemplates(features), &infrav1.AzureClusterTemplate{}),
		newAdmitted(f, "azuremachines", azureMachineKind(placement, given), newMachine()),
		newAdmitted(f, "azuremachinetemplates", machineTemplates(given), newMachineTemplate(func(*infrav1.AzureMachineSpec) {})),
		newAdmitted(f, "azuremachinepools", machinePools(placement, given), newMachinePool()),
		newAdmitted(f, "azuremanagedcontrolplanes", controlPlanes(lookup, given), newControlPlane()),
		newAdmitted(f, "azuremanagedcontrolplanetemplates", controlPlaneTemplates, newControlPlaneTemplate()),
		newAdmitted(f, "azuremanagedmachinepools", managedMachinePoolKind(lookup), newPool()),
		newAdmitted(f, "azuremanagedmachinepooltemplates", poolTemplates, newPoolTemplate()),
		newAdmitted(f, "azureasomanagedclusters", asoClusters(managedLookup{}, features), &infrav1.AzureASOManagedCluster{}),
		newAdmitted(f, "azureasomanagedcontrolplanes", asoControlPlanes(managedLookup{}, features), asoControlPlane(f, manifestSeed)),
		newAdmitted(f, "azureasomanagedmachinepools", asoPools(lookup, features), &infrav1.AzureASOManagedMachinePool{}),
		newAdmitted(f, "azureclusteridentities", identities,
			&infrav1.AzureClusterIdentity{Spec: infrav1.AzureClusterIdentitySpec{Type: infrav1.WorkloadIdentity, TenantID: "t", ClientID: "c"}}),
	}
}

// FuzzWebhooks changes a good object of every kind in one place and gives it to the kind's webhooks.
func FuzzWebhooks(f *testing.F) {
	kinds := listAdmitted(f)
	for i, k := range kinds {
		for _, edit := range fuzzed.SelectSeeds(k.schema.ListEdits()) {
			f.Add(uint8(i), edit.Path, edit.Value)
		}
	}
	for _, value := range []string{`null`, `{}`, `""`, `"../x"`, `{"name":"x","armId":"/subscriptions/s"}`, `"v1api20990101"`, `[[]]`} {
		for _, path := range []string{"apiVersion", "kind", "metadata.name", "metadata.annotations", "spec.owner", "spec.azureName",
			"spec.operatorSpec", "spec.identity", "spec.tags", "spec.agentPoolProfiles"} {
			f.Add(uint8(slices.IndexFunc(kinds, func(k admitted) bool { return k.plural == "azureasomanagedcontrolplanes" })),
				"spec.resources.0."+path, value)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, path, value string) {
		k := kinds[int(which)%len(kinds)]
		if raw, ok := k.schema.ApplyEdit(k.document, fuzzed.Edit{Path: path, Value: value}); ok {
			k.ask(t, raw)
		}
	})
}
