package crd_test

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestRulesSpareStoredObjects stores objects that break nearly every rule of the schema, as another version may have left them, and
// changes fields outside the rules: tags, finalizers, and the fields that controllers write.
func TestRulesSpareStoredObjects(t *testing.T) {
	const (
		disks = "osDisk: {diskSizeGB: 4000, diffDiskSettings: {option: Local}, managedDisk: {storageAccountType: UltraSSD_LRS, diskEncryptionSet: {id: d}, securityProfile: {securityEncryptionType: DiskWithVMGuestState}}}, " +
			"dataDisks: [{nameSuffix: a, diskSizeGB: 1, lun: 99}, {nameSuffix: a, diskSizeGB: 1, lun: 99, managedDisk: {storageAccountType: UltraSSD_LRS}, cachingType: ReadOnly}]"
		machine = `{vmSize: "", image: {}, ` + disks + `, securityProfile: {encryptionAtHost: true}, identity: UserAssigned, systemAssignedIdentityRole: {scope: s}, roleAssignmentName: r,
  diagnostics: {boot: {storageAccountType: UserManaged}}, networkInterfaces: [{subnetName: b, privateIPConfigs: -1}], subnetName: a, acceleratedNetworking: true, disableExtensionOperations: true, vmExtensions: [{name: e}]}`
		network = `networkSpec: {privateDNSZoneResourceGroup: ä, vnet: {resourceGroup: ä, peerings: [{resourceGroup: g}]}, controlPlaneOutboundLB: {idleTimeoutInMinutes: 31, frontendIPsCount: 17},
  apiServerLB: {sku: Basic, idleTimeoutInMinutes: 31, name: a b, frontendIPsCount: 2, frontendIPs: [{name: f, publicIP: {name: i}}, {name: g, publicIP: {name: j}}]}, nodeOutboundLB: {idleTimeoutInMinutes: 1},
  subnets: [{name: a b, role: node, cidrBlocks: [ten], securityGroup: {name: g, securityRules: [{name: r, description: d, protocol: Tcp}]}, privateEndpoints: [{name: a b}]}]}`
		// Defaulting gives the disk a lun. The API server then treats the list as changed.
		pool         = `{location: westeurope, additionalTags: {a: b}, platformFaultDomainCount: 9, template: {terminateNotificationTimeout: 99, dataDisks: [{nameSuffix: a, diskSizeGB: 2}]}}`
		controlPlane = `{sku: {tier: Gold}, outboundType: none, networkPolicy: none, autoUpgradeProfile: {upgradeChannel: slow}, autoscalerProfile: {expander: wide, skipNodesWithSystemPods: maybe},
  securityProfile: {imageCleaner: {enabled: true, intervalHours: 1}}, loadBalancerProfile: {allocatedOutboundPorts: 70000}}`
		managedPool = `{kubeletDiskType: RAM, scaleDownMode: Stop, osDiskSizeGB: 4000, taints: [{effect: Never, key: a, value: b}], kubeletConfig: {podMaxPids: -5},
  linuxOSConfig: {transparentHugePageEnabled: often, sysctls: {vmSwappiness: 500}}}`
		cluster = `{location: "", identityRef: {kind: Secret}, bastionSpec: {azureBastion: {enableTunneling: true}}, ` + network + "}"
	)
	for name, tc := range map[string]struct {
		kind    kind
		spec    string
		changes []string
	}{
		"AzureMachine": {azureMachine, machine, []string{
			`{"metadata":{"finalizers":["test/finalizer"],"labels":{"a":"b"}}}`, `{"spec":{"additionalTags":{"a":"b"}}}`,
			`{"spec":{"providerID":"azure:///x"}}`,
		}},
		"AzureMachineTemplate": {azureMachineTemplate, machine, []string{`{"metadata":{"ownerReferences":[],"labels":{"a":"b"}}}`}},
		"AzureCluster": {azureCluster, cluster, []string{
			`{"metadata":{"finalizers":["test/finalizer"],"labels":{"a":"b"}}}`, `{"spec":{"additionalTags":{"a":"b"}}}`,
			`{"spec":{"controlPlaneEndpoint":{"host":"h","port":6443}}}`,
		}},
		"AzureCluster with a DNS zone of one label": {azureCluster,
			`{controlPlaneEnabled: true, networkSpec: {apiServerLB: {type: Internal}, privateDNSZoneName: internal}}`, []string{
				`{"spec":{"networkSpec":{"vnet":{"tags":{"a":"b"}}}}}`,
			}},
		"AzureClusterTemplate": {azureClusterTemplate,
			`{networkSpec: {apiServerLB: {sku: Basic}, controlPlaneOutboundLB: {}, privateDNSZoneName: a b, subnets: [{name: a b, role: node, cidrBlocks: [ten]}]}}`, []string{
				`{"metadata":{"labels":{"a":"b"}}}`,
			}},
		"AzureMachinePool": {azureMachinePool, pool, []string{
			`{"metadata":{"finalizers":["test/finalizer"],"labels":{"a":"b"}}}`, `{"spec":{"additionalTags":{"a":"c"}}}`,
			`{"spec":{"providerIDList":["azure:///x"]}}`,
		}},
		"AzureManagedControlPlane": {azureManagedControlPlane, controlPlane, []string{
			`{"metadata":{"finalizers":["test/finalizer"],"labels":{"a":"b"}}}`, `{"spec":{"additionalTags":{"a":"b"}}}`,
		}},
		"AzureManagedControlPlaneTemplate": {azureManagedControlPlaneTemplate, controlPlane, []string{
			`{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"template":{"spec":{"additionalTags":{"a":"b"}}}}}`,
		}},
		"AzureManagedMachinePool": {azureManagedMachinePool, managedPool, []string{
			`{"metadata":{"finalizers":["test/finalizer"],"labels":{"a":"b"}}}`, `{"spec":{"additionalTags":{"a":"b"}}}`,
			`{"spec":{"providerIDList":["azure:///x"]}}`,
		}},
		"AzureManagedMachinePoolTemplate": {azureManagedMachinePoolTemplate, managedPool, []string{
			`{"metadata":{"labels":{"a":"b"}}}`, `{"spec":{"template":{"spec":{"additionalTags":{"a":"b"}}}}}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			obj := tc.kind.newObject(t, tc.spec)
			// Defaults that an update fills in change the parts of a cluster that rules are about, so it needs them before.
			defaulted := tc.kind.name == "AzureCluster" || tc.kind.name == "AzureClusterTemplate"
			storeWithoutValidation(t, obj, defaulted)
			for _, change := range tc.changes {
				if err := environment.Client.Patch(t.Context(), obj.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(change))); err != nil {
					t.Errorf("%s: %v", change, err)
				}
			}
		})
	}
}

var (
	azureManagedControlPlane = kind{name: "AzureManagedControlPlane", path: []string{"spec"},
		spec: "{location: westeurope, subscriptionID: s, version: v1.33.2, identityRef: {kind: AzureClusterIdentity, name: identity}}"}
	azureManagedControlPlaneTemplate = kind{name: "AzureManagedControlPlaneTemplate", path: template, spec: azureManagedControlPlane.spec}
	azureManagedMachinePool          = kind{name: "AzureManagedMachinePool", path: []string{"spec"},
		spec: "{mode: User, sku: Standard_D2s_v5, name: pool1}"}
	azureManagedMachinePoolTemplate = kind{name: "AzureManagedMachinePoolTemplate", path: template, spec: azureManagedMachinePool.spec}
)

// storeWithoutValidation stores an object while the CRD has no rules for the spec, and restores the CRD. An object that is not defaulted is
// stored while no webhook admits it.
func storeWithoutValidation(t *testing.T, obj *unstructured.Unstructured, defaulted bool) {
	t.Helper()
	ctx := t.Context()
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := environment.Client.RESTMapper().RESTMapping(obj.GroupVersionKind().GroupKind())
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: mapping.Resource.Resource + "." + infrav1.GroupVersion.Group}
	if err := crdClient.Get(ctx, key, crd); err != nil {
		t.Fatal(err)
	}
	ours := crd.Spec.DeepCopy()
	loose := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	loose.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	loose.XValidations = nil
	if err := crdClient.Update(ctx, crd); err != nil {
		t.Fatal(err)
	}
	again := obj.DeepCopy()
	again.SetName(obj.GetName() + "-again")
	create := func() {
		waitFor(t, "the loose CRD to take the object", func() error { return environment.Client.Create(ctx, obj) })
	}
	if defaulted {
		create()
	} else {
		withoutWebhooks(t, mapping.Resource.Resource, create)
	}
	if err := crdClient.Get(ctx, key, crd); err != nil {
		t.Fatal(err)
	}
	crd.Spec = *ours
	if err := crdClient.Update(ctx, crd); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the CRD to be back", func() error {
		err := environment.Client.Create(ctx, again.DeepCopy(), client.DryRunAll)
		if err == nil {
			return fmt.Errorf("an object that breaks the rules is still taken")
		}
		t.Logf("%d causes: %v", len(listCauses(err)), err)
		return nil
	})
}
