package crd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// contractV1beta1Status is the status that the established provider leaves in an AzureCluster.
const contractV1beta1Status = `{"status":{
	"ready":true,
	"failureDomains":{"2":{"controlPlane":true},"1":{"controlPlane":false}},
	"conditions":[
		{"type":"Ready","status":"True","lastTransitionTime":"2024-05-01T00:00:00Z"},
		{"type":"VNetReady","status":"False","severity":"Info","reason":"Creating","message":"m","lastTransitionTime":"2024-05-01T00:00:00Z"}],
	"longRunningOperationStates":[{"type":"PUT","name":"n","serviceName":"s","data":"d"}]}}`

// TestCRDUpgrade stores an AzureCluster with the status of contract v1beta1 and then brings the CRD of this provider, as an upgrade does.
// All clients have to be able to use the object before its controller has rewritten the status.
func TestCRDUpgrade(t *testing.T) {
	ctx, c := t.Context(), environment.Client
	azureCluster := newCluster("taken-over")
	if err := c.Create(ctx, azureCluster); err != nil {
		t.Fatal(err)
	}
	storeForeignStatus(t, ctx, azureCluster)

	t.Run("read", func(t *testing.T) {
		got := readAzureCluster(t, azureCluster)
		want := infrav1.FailureDomains{Map: true,
			Domains: []clusterv1.FailureDomain{{Name: "1", ControlPlane: new(false)}, {Name: "2", ControlPlane: new(true)}}}
		if diff := cmp.Diff(want, got.Status.FailureDomains); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
	t.Run("patch metadata", func(t *testing.T) {
		if err := c.Patch(ctx, readAzureCluster(t, azureCluster),
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["test/finalizer"]}}`))); err != nil {
			t.Error(err)
		}
	})
	t.Run("update", func(t *testing.T) {
		got := readAzureCluster(t, azureCluster)
		got.Finalizers = nil
		got.Spec.AdditionalTags = infrav1.Tags{"a": "b"}
		if err := c.Update(ctx, got); err != nil {
			t.Error(err)
		}
	})
	t.Run("apply", func(t *testing.T) {
		apply := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"additionalTags": map[string]any{"c": "d"}}}}
		apply.SetGroupVersionKind(infrav1.GroupVersion.WithKind("AzureCluster"))
		apply.SetNamespace(azureCluster.Namespace)
		apply.SetName(azureCluster.Name)
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(apply), client.FieldOwner("somebody")); err != nil {
			t.Error(err)
		}
	})
	t.Run("write the status anew", func(t *testing.T) {
		got := readAzureCluster(t, azureCluster)
		before := got.DeepCopy()
		got.Status.FailureDomains = infrav1.FailureDomains{Domains: []clusterv1.FailureDomain{{Name: "1", ControlPlane: new(true)}}}
		got.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason,
			LastTransitionTime: metav1.Now()}}
		got.Status.Initialization.Provisioned = new(true)
		if err := c.Status().Patch(ctx, got, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]clusterv1.FailureDomain{{Name: "1", ControlPlane: new(true)}},
			readAzureCluster(t, azureCluster).Status.FailureDomains.Domains); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

// storeForeignStatus loosens the CRD's status until the object's is stored, and brings the CRD back.
func storeForeignStatus(t *testing.T, ctx context.Context, azureCluster *infrav1.AzureCluster) {
	t.Helper()
	c := environment.Client
	key := client.ObjectKey{Name: "azureclusters.infrastructure.cluster.x-k8s.io"}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := crdClient.Get(ctx, key, crd); err != nil {
		t.Fatal(err)
	}
	ours := crd.Spec.DeepCopy()
	loose := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	loose.Properties["status"] = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	loose.XValidations = nil
	if err := crdClient.Update(ctx, crd); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the loose CRD to take the status", func() error {
		if err := c.Status().Patch(ctx, azureCluster.DeepCopy(),
			client.RawPatch(types.MergePatchType, []byte(contractV1beta1Status))); err != nil {
			return err
		}
		if raw := rawFailureDomains(t, azureCluster); raw != `{"1":{"controlPlane":false},"2":{"controlPlane":true}}` {
			return fmt.Errorf("stored are %s", raw)
		}
		return nil
	})
	if err := crdClient.Get(ctx, key, crd); err != nil {
		t.Fatal(err)
	}
	crd.Spec = *ours
	if err := crdClient.Update(ctx, crd); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the CRD to be back", func() error {
		err := c.Status().Patch(ctx, azureCluster.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"ready":"yes"}}`)),
			client.DryRunAll)
		if err == nil {
			return fmt.Errorf("a status of no shape is still taken")
		}
		return nil
	})
}

func rawFailureDomains(t *testing.T, azureCluster *infrav1.AzureCluster) string {
	t.Helper()
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(infrav1.GroupVersion.WithKind("AzureCluster"))
	if err := environment.Client.Get(t.Context(), client.ObjectKeyFromObject(azureCluster), raw); err != nil {
		t.Fatal(err)
	}
	domains, _, _ := unstructured.NestedFieldNoCopy(raw.Object, "status", "failureDomains")
	out, err := json.Marshal(domains)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func readAzureCluster(t *testing.T, azureCluster *infrav1.AzureCluster) *infrav1.AzureCluster {
	t.Helper()
	got := &infrav1.AzureCluster{}
	if err := environment.Client.Get(t.Context(), client.ObjectKeyFromObject(azureCluster), got); err != nil {
		t.Fatal(err)
	}
	return got
}

// waitFor polls until f returns nil.
func waitFor(t *testing.T, what string, f func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, harness.Patience, true, func(context.Context) (bool, error) {
		last = f()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("wait for %s: %v", what, last)
	}
}

func newCluster(name string) *infrav1.AzureCluster {
	c := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.Location = "westeurope"
	c.Spec.SubscriptionID = "00000000-0000-0000-0000-000000000001"
	c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "identity"}
	c.Spec.ControlPlaneEnabled = true
	return c
}
