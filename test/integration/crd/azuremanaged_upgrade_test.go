package crd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// establishedControlPlane and establishedPool are objects as the established provider stores them, without some of the
// defaults that came later, and with values that rules of today refuse.
const (
	establishedControlPlane = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata:
  name: established
  namespace: default
  finalizers: [azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io]
spec:
  controlPlaneEndpoint: {host: established-abc.hcp.westeurope.azmk8s.io, port: 443}
  identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, name: identity}
  location: westeurope
  loadBalancerProfile: {idleTimeoutInMinutes: 3}
  extensions:
  - {name: flux, extensionType: microsoft.flux, scope: {scopeType: Cluster, releaseNamespace: flux-system}}
  asoManagedClusterPatches: ['{"spec":{"noSuchKey":true}}']
  nodeResourceGroupName: MC_established_established_westeurope
  resourceGroupName: established
  sku: {tier: Paid}
  version: v1.30.4
  virtualNetwork:
    cidrBlock: 10.0.0.0/8
    name: established
    resourceGroup: established
    subnet: {cidrBlock: 10.240.0.0/16, name: established}`
	establishedControlPlaneStatus = `{"status":{"ready":true,"initialized":true,"version":"v1.30.4","autoUpgradeVersion":"v1.30.4",
		"oidcIssuerProfile":{"issuerURL":"https://issuer"},
		"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-05-01T00:00:00Z"},
			{"type":"ManagedClusterRunning","status":"False","severity":"Info","reason":"Creating","message":"m","lastTransitionTime":"2024-05-01T00:00:00Z"}],
		"longRunningOperationStates":[{"type":"PUT","name":"n","serviceName":"s","data":"d"}]}}`
	establishedPool = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedMachinePool
metadata:
  name: established-pool0
  namespace: default
  finalizers: [azurecluster.infrastructure.cluster.x-k8s.io]
  labels: {azuremanagedmachinepool.infrastructure.cluster.x-k8s.io/agentpoolmode: User}
spec:
  mode: User
  name: pool0
  osDiskType: Managed
  osType: Linux
  providerIDList: ["azure:///subscriptions/s/x"]
  scaleDownMode: Delete
  scaling: {minSize: 4, maxSize: 3}
  sku: Standard_D2s_v5
  subnetName: established`
	establishedPoolStatus = `{"status":{"ready":true,"replicas":1,"errorReason":"r","errorMessage":"m",
		"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-05-01T00:00:00Z"}]}}`
)

// TestCRDUpgradeManaged stores objects of AKS clusters as the established provider does and then brings this provider's CRDs.
func TestCRDUpgradeManaged(t *testing.T) {
	ctx, c := t.Context(), environment.Client
	storeUnchecked(t, "azuremanagedcontrolplanes", establishedControlPlane, establishedControlPlaneStatus)
	storeUnchecked(t, "azuremanagedmachinepools", establishedPool, establishedPoolStatus)

	controlPlane := func() *infrav1.AzureManagedControlPlane {
		return readStored(t, &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "established"}})
	}
	pool := func() *infrav1.AzureManagedMachinePool {
		return readStored(t, &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "established-pool0"}})
	}
	t.Run("read", func(t *testing.T) {
		got := controlPlane()
		if !got.Status.Ready || !got.Status.Initialized || got.Status.AutoUpgradeVersion != "v1.30.4" ||
			*got.Status.OIDCIssuerProfile.IssuerURL != "https://issuer" {
			t.Errorf("what the status had is lost: %+v", got.Status)
		}
		if got.Spec.SKU.Tier != "Paid" || got.Spec.DNSPrefix != nil || *got.Spec.NetworkPlugin != "azure" {
			t.Errorf("the stored object has the defaults of the CRD: %+v", got.Spec)
		}
	})
	t.Run("patch metadata", func(t *testing.T) {
		for _, obj := range []client.Object{controlPlane(), pool()} {
			if err := c.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`))); err != nil {
				t.Error(err)
			}
		}
		if got := controlPlane().Spec; got.SKU.Tier != "Standard" || *got.DNSPrefix != "established" {
			t.Errorf("the first update brings the defaults: %+v", got)
		}
	})
	t.Run("update of other fields than the invalid one", func(t *testing.T) {
		got := controlPlane()
		got.Spec.AdditionalTags = infrav1.Tags{"a": "b"}
		got.Spec.Extensions[0].ConfigurationSettings = map[string]string{"a": "b"}
		if err := c.Update(ctx, got); err != nil {
			t.Error(err)
		}
		p := pool()
		p.Spec.NodeLabels = map[string]string{"a": "b"}
		if err := c.Update(ctx, p); err != nil {
			t.Error(err)
		}
	})
	t.Run("new errors", func(t *testing.T) {
		checkRefused(t, "a new invalid value is refused",
			dryUpdate(t, controlPlane(), func(c *infrav1.AzureManagedControlPlane) { c.Spec.LoadBalancerProfile.IdleTimeoutInMinutes = new(2) }),
			"spec.loadBalancerProfile.idleTimeoutInMinutes", "between 4 and 120")
		checkRefused(t, "a new invalid value is refused",
			dryUpdate(t, pool(), func(p *infrav1.AzureManagedMachinePool) { p.Spec.Scaling.MinSize = new(5) }), "spec.scaling.minSize", "maxSize")
	})
	t.Run("write the status anew", func(t *testing.T) {
		conditions := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason,
			LastTransitionTime: metav1.Now()}}
		got := controlPlane()
		before := got.DeepCopy()
		got.Status.Conditions = conditions
		got.Status.Initialization.ControlPlaneInitialized = new(true)
		if err := c.Status().Patch(ctx, got, client.MergeFrom(before)); err != nil {
			t.Error(err)
		}
		p := pool()
		old := p.DeepCopy()
		p.Status.Conditions = conditions
		p.Status.Initialization.Provisioned = new(true)
		if err := c.Status().Patch(ctx, p, client.MergeFrom(old)); err != nil {
			t.Error(err)
		}
	})
	t.Run("take off finalizers", func(t *testing.T) {
		for _, obj := range []client.Object{controlPlane(), pool()} {
			if err := c.Delete(ctx, obj); err != nil {
				t.Fatal(err)
			}
			if err := c.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
				t.Error(err)
			}
		}
	})
}

// storeUnchecked writes an object as it is, past CRD and webhooks, and brings both back.
func storeUnchecked(t *testing.T, plural, text, status string) {
	t.Helper()
	ctx := t.Context()
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Name: plural + "." + infrav1.GroupVersion.Group}
	obj := buildManifest(t, text)
	rewrite := func(change func(*apiextensionsv1.CustomResourceDefinitionSpec)) {
		t.Helper()
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := crdClient.Get(ctx, key, crd); err != nil {
			t.Fatal(err)
		}
		change(&crd.Spec)
		if err := crdClient.Update(ctx, crd); err != nil {
			t.Fatal(err)
		}
	}
	var ours apiextensionsv1.CustomResourceDefinitionSpec
	rewrite(func(spec *apiextensionsv1.CustomResourceDefinitionSpec) {
		ours = *spec.DeepCopy()
		open := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
		spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = open
		spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = open
		spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = nil
	})
	withoutWebhooks(t, plural, func() {
		waitFor(t, "the loose CRD to take the object as it is", func() error {
			attempt := obj.DeepCopy()
			if err := environment.Client.Create(ctx, attempt, client.DryRunAll); err != nil {
				return err
			}
			want, _ := json.Marshal(obj.Object["spec"])
			got, _ := json.Marshal(attempt.Object["spec"])
			if string(want) != string(got) {
				return fmt.Errorf("still defaulted: want %s, got %s", want, got)
			}
			return nil
		})
		attempt := createObject(t, obj.DeepCopy())
		waitFor(t, "the loose CRD to take the status", func() error {
			return environment.Client.Status().Patch(ctx, attempt, client.RawPatch(types.MergePatchType, []byte(status)))
		})
	})
	rewrite(func(spec *apiextensionsv1.CustomResourceDefinitionSpec) { *spec = ours })
	waitFor(t, "the CRD to be back", func() error {
		err := environment.Client.Status().Patch(ctx, obj.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"ready":"yes"}}`)),
			client.DryRunAll)
		if err == nil {
			return fmt.Errorf("a status of no shape is still taken")
		}
		return nil
	})
	waitFor(t, "the webhooks to be back", func() error {
		wrong := obj.DeepCopy()
		wrong.SetName("other")
		if environment.Client.Create(ctx, wrong, client.DryRunAll) == nil {
			return fmt.Errorf("what rules refuse is still taken")
		}
		right := obj.DeepCopy()
		right.SetName("other")
		right.SetLabels(nil)
		for _, field := range []string{"loadBalancerProfile", "asoManagedClusterPatches", "scaling"} {
			unstructured.RemoveNestedField(right.Object, "spec", field)
		}
		if err := environment.Client.Create(ctx, right, client.DryRunAll); err != nil {
			return err
		}
		if raw, _ := json.Marshal(right.Object); !strings.Contains(string(raw), "dnsPrefix") &&
			!strings.Contains(string(raw), infrav1.LabelAgentPoolMode) {
			return fmt.Errorf("nothing is defaulted: %s", raw)
		}
		return nil
	})
}

// withoutWebhooks calls do while no webhook admits objects of the kind, and waits until the webhooks are back.
func withoutWebhooks(t *testing.T, plural string, do func()) {
	t.Helper()
	ctx := t.Context()
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(environment.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	of := func(rules []admissionregistrationv1.RuleWithOperations) bool { return rules[0].Resources[0] == plural }
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfigurationList{},
		&admissionregistrationv1.ValidatingWebhookConfigurationList{}
	for _, list := range []client.ObjectList{mutating, validating} {
		if err := c.List(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	type change struct{ now, before client.Object }
	var changes []change
	update := func(obj client.Object) {
		t.Helper()
		if err := c.Update(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	for i := range mutating.Items {
		config := &mutating.Items[i]
		changes = append(changes, change{config, config.DeepCopy()})
		config.Webhooks = slices.DeleteFunc(config.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool { return of(w.Rules) })
		update(config)
	}
	for i := range validating.Items {
		config := &validating.Items[i]
		changes = append(changes, change{config, config.DeepCopy()})
		config.Webhooks = slices.DeleteFunc(config.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return of(w.Rules) })
		update(config)
	}
	defer func() {
		for _, change := range changes {
			change.before.SetResourceVersion(change.now.GetResourceVersion())
			update(change.before)
		}
	}()
	do()
}
