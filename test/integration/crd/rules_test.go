package crd_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// checkRefused checks that err names the path and contains message, if any. An empty path wants no error.
func checkRefused(t *testing.T, reason string, err error, path, message string) {
	t.Helper()
	switch {
	case path == "" && err != nil:
		t.Errorf("%s, but it is refused: %v", reason, err)
	case path == "":
	case err == nil:
		t.Errorf("%s, but it is taken", reason)
	case !apierrors.IsInvalid(err):
		t.Errorf("%s, but the error is of another kind: %v", reason, err)
	case !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), message):
		t.Errorf("%s, and the error should name %s and contain %q: %v", reason, path, message, err)
	}
}

// dryUpdate returns the API server's error for a change of a stored object, in a dry run.
func dryUpdate[T client.Object](t *testing.T, stored T, change func(T)) error {
	t.Helper()
	obj := stored.DeepCopyObject().(T)
	change(obj)
	return environment.Client.Update(t.Context(), obj, client.DryRunAll)
}

// onlyByRotation checks that a change of a stored template is refused, with advice, except in the dry run by which Cluster API
// finds out whether it must rotate the template.
func onlyByRotation[T client.Object](t *testing.T, reason string, stored T, change func(T), path string) {
	t.Helper()
	checkRefused(t, reason, dryUpdate(t, stored, change), path, "create a new one")
	checkRefused(t, "Cluster API tries out whether the template has to be rotated", dryUpdate(t, stored, func(obj T) {
		change(obj)
		obj.SetAnnotations(map[string]string{clusterv1.TopologyDryRunAnnotation: ""})
	}), "", "")
}

func createObject[T client.Object](t *testing.T, obj T) T {
	t.Helper()
	if err := environment.Client.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestAzureClusterRules(t *testing.T) {
	internal := newCluster("internal")
	internal.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
	internal.Spec.NetworkSpec.PrivateDNSZoneName = "example.com"
	internal.Spec.NetworkSpec.PrivateDNSZoneResourceGroup = "dns"
	internal.Spec.NetworkSpec.PrivateDNSZone = new(infrav1.PrivateDNSZoneModeSystem)
	createObject(t, internal)

	open := createObject(t, newCluster("open"))
	made := createObject(t, newCluster("made"))
	made.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "made.example.com", Port: 6443}
	if err := environment.Client.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	// clusterctl move leaves a provisioned cluster without a status, and here without the provider's annotation either.
	seen := newCluster("seen")
	seen.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{"seen":[""]}}`}
	createObject(t, seen)
	// The established provider leaves a cluster in this state if it has not written the endpoint yet.
	ready := createObject(t, newCluster("ready"))
	ready.Status.Ready = true
	if err := environment.Client.Status().Update(t.Context(), ready); err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		reason        string
		stored        *infrav1.AzureCluster
		change        func(*infrav1.AzureCluster)
		path, message string
	}{
		"tags": {"tags follow", made, func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"a": "b"} }, "", ""},
		"subscription": {"resources do not move", made, func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "other" },
			"spec.subscriptionID", "cannot change"},
		"subscription removed": {"resources do not move", made, func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "" },
			"spec.subscriptionID", "cannot change"},
		"subscription, no Azure": {"a typing error can be corrected before there are resources", open,
			func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "other" }, "", ""},
		"location": {"resources do not move", made, func(c *infrav1.AzureCluster) { c.Spec.Location = "northeurope" },
			"spec.location", "cannot change"},
		"location, no Azure": {"a typing error can be corrected before there are resources", open,
			func(c *infrav1.AzureCluster) { c.Spec.Location = "northeurope" }, "", ""},
		"subscription, seen": {"resources in the status exist in Azure",
			seen, func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "other" },
			"spec.subscriptionID", "cannot change"},
		"location, seen": {"resources in the status exist in Azure",
			seen, func(c *infrav1.AzureCluster) { c.Spec.Location = "northeurope" },
			"spec.location", "cannot change"},
		"location, ready": {"the status of the old form counts", ready, func(c *infrav1.AzureCluster) { c.Spec.Location = "northeurope" },
			"spec.location", "cannot change"},
		"resource group": {"resources do not move", open, func(c *infrav1.AzureCluster) { c.Spec.ResourceGroup = "other" },
			"spec.resourceGroup", "cannot change"},
		"environment": {"resources do not move", open, func(c *infrav1.AzureCluster) { c.Spec.AzureEnvironment = infrav1.ChinaCloud },
			"spec.azureEnvironment", "cannot change"},
		"environment by default": {"no environment is the public cloud", open, func(c *infrav1.AzureCluster) { c.Spec.AzureEnvironment = "" }, "",
			""},
		"zone added": {"machines have the old name", open,
			func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.PrivateDNSZoneName = "example.com" }, "spec.networkSpec.privateDNSZoneName",
			"cannot change"},
		"zone": {"machines have the old name", internal,
			func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.PrivateDNSZoneName = "example.org" }, "spec.networkSpec.privateDNSZoneName",
			"cannot change"},
		"zone group": {"zones do not move", internal,
			func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.PrivateDNSZoneResourceGroup = "" }, "spec.networkSpec.privateDNSZoneResourceGroup",
			"not moved"},
		"zone mode": {"the zone was created by others", internal, func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.PrivateDNSZone = nil },
			"spec.networkSpec.privateDNSZone", "cannot change"},
		"endpoint": {"the endpoint comes when it is known", open,
			func(c *infrav1.AzureCluster) { c.Spec.ControlPlaneEndpoint = made.Spec.ControlPlaneEndpoint }, "", ""},
		"host": {"kubeconfigs have the host", made,
			func(c *infrav1.AzureCluster) { c.Spec.ControlPlaneEndpoint.Host = "other" }, "spec.controlPlaneEndpoint.host", "cannot change"},
		"port": {"kubeconfigs have the port", made, func(c *infrav1.AzureCluster) { c.Spec.ControlPlaneEndpoint.Port = 443 },
			"spec.controlPlaneEndpoint.port", "cannot change"},
		"endpoint left out": {"a manifest without the endpoint keeps the one that the controller set", made,
			func(c *infrav1.AzureCluster) { c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{} }, "", ""},
		"role": {"there are four roles", open, func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.Subnets[0].Role = "worker" },
			"spec.networkSpec.subnets[0].role", "Unsupported value"},
		"zones": {"zones are numbers", open,
			func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.APIServerLB.AvailabilityZones = []string{"4"} },
			"spec.networkSpec.apiServerLB.availabilityZones[0]", "should match"},
		"same names": {"subnets are known by name", open, func(c *infrav1.AzureCluster) {
			c.Spec.NetworkSpec.Subnets = append(c.Spec.NetworkSpec.Subnets, c.Spec.NetworkSpec.Subnets[0])
		}, "spec.networkSpec.subnets[2]", "Duplicate value"},
		"overrides (webhook)": {"machines have read azure.json", open, func(c *infrav1.AzureCluster) {
			c.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{BackOffs: infrav1.BackOffConfig{CloudProviderBackoff: true}}
		}, "spec.cloudProviderConfigOverrides", "cannot change"},
		"subnet outside (webhook)": {"a subnet is part of its network", open,
			func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.Subnets[0].CIDRBlocks = []string{"192.168.0.0/16"} },
			"spec.networkSpec.subnets[0].cidrBlocks[0]", "10.0.0.0/8"},
	} {
		t.Run(name, func(t *testing.T) {
			checkRefused(t, tc.reason, dryUpdate(t, tc.stored, tc.change), tc.path, tc.message)
		})
	}
}

func TestAzureMachineRules(t *testing.T) {
	stored := createObject(t, newMachine("rules"))
	frozen := newMachine("frozen")
	frozen.Spec.DisableVMBootstrapExtension = new(false)
	frozen.Spec.DisableExtensionOperations = new(true)
	createObject(t, frozen)

	type spec = infrav1.AzureMachineSpec
	for name, tc := range map[string]struct {
		reason        string
		stored        *infrav1.AzureMachine
		change        func(*spec)
		path, message string
	}{
		"tags":        {"tags follow", stored, func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }, "", ""},
		"provider ID": {"the ID comes with the VM", stored, func(s *spec) { s.ProviderID = new("azure:///x") }, "", ""},
		"identity": {"a VM is not made twice", stored, func(s *spec) { s.Identity = infrav1.VMIdentitySystemAssigned }, "spec.identity",
			"create a new machine"},
		"SSH key": {"a VM is not made twice", stored, func(s *spec) { s.SSHPublicKey = "b3RoZXI=" }, "spec.sshPublicKey",
			"create a new machine"},
		"SSH key left out": {"a manifest without a key can be applied again: the stored one stays", stored, func(s *spec) { s.SSHPublicKey = "" },
			"", ""},
		"public IP": {"a VM is not made twice", stored, func(s *spec) { s.AllocatePublicIP = true }, "spec.allocatePublicIP",
			"create a new machine"},
		"forwarding": {"a VM is not made twice", stored, func(s *spec) { s.EnableIPForwarding = true }, "spec.enableIPForwarding",
			"create a new machine"},
		"capacity reservation": {"a VM is not made twice", stored, func(s *spec) {
			s.CapacityReservationGroupID = new("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c")
		}, "spec.capacityReservationGroupID", "create a new machine"},
		"scale set": {"a VM is not made twice", stored, func(s *spec) {
			s.VirtualMachineScaleSetID = new("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v")
		}, "spec.virtualMachineScaleSetID", "create a new machine"},
		"extension operations": {"a VM is not made twice", stored, func(s *spec) { s.DisableExtensionOperations = new(true) },
			"spec.disableExtensionOperations", "create a new machine"},
		"extension operations allowed": {"false is what nothing means", stored, func(s *spec) { s.DisableExtensionOperations = new(false) }, "",
			""},
		"extension operations removed": {"a VM is not made twice", frozen, func(s *spec) { s.DisableExtensionOperations = nil },
			"spec.disableExtensionOperations", "create a new machine"},
		"bootstrap extension": {"a field that is not set can be set once", stored, func(s *spec) { s.DisableVMBootstrapExtension = new(true) },
			"", ""},
		"bootstrap extension again": {"a field that is set stays", frozen, func(s *spec) { s.DisableVMBootstrapExtension = new(true) },
			"spec.disableVMBootstrapExtension", "cannot change"},
		"bootstrap extension removed": {"a field that is set stays", frozen, func(s *spec) { s.DisableVMBootstrapExtension = nil },
			"spec.disableVMBootstrapExtension", "cannot change"},
		"caching": {"there are three ways", stored, func(s *spec) { s.OSDisk.CachingType = "Write" },
			"spec.osDisk.cachingType", "Unsupported value"},
		"disk (webhook)": {"a VM is not made twice", stored, func(s *spec) { s.OSDisk.DiskSizeGB = new(int32(64)) }, "spec.osDisk",
			"create a new machine"},
	} {
		t.Run(name, func(t *testing.T) {
			checkRefused(t, tc.reason, dryUpdate(t, tc.stored, func(m *infrav1.AzureMachine) { tc.change(&m.Spec) }), tc.path, tc.message)
		})
	}
}

func TestAzureClusterIdentityRules(t *testing.T) {
	identity := func(name string, change func(*infrav1.AzureClusterIdentitySpec)) *infrav1.AzureClusterIdentity {
		i := &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		i.Spec = infrav1.AzureClusterIdentitySpec{Type: infrav1.WorkloadIdentity, TenantID: "t", ClientID: "c",
			AllowedNamespaces: &infrav1.AllowedNamespaces{}}
		change(&i.Spec)
		return i
	}
	type spec = infrav1.AzureClusterIdentitySpec
	for name, tc := range map[string]struct {
		reason        string
		change        func(*spec)
		path, message string
	}{
		"minimal": {"tenant and client are enough for a workload identity", func(*spec) {}, "", ""},
		"resource ID": {"only a managed identity is a resource", func(s *spec) { s.ResourceID = "/x" }, "spec.resourceID",
			"UserAssignedMSI"},
		"resource ID of MSI": {"a managed identity is a resource", func(s *spec) { s.Type, s.ResourceID = infrav1.UserAssignedMSI, "/x" }, "",
			""},
		"credential path": {"only one type reads the file", func(s *spec) { s.UserAssignedIdentityCredentialsPath = "/x" },
			"spec.userAssignedIdentityCredentialsPath", "UserAssignedIdentityCredential"},
		"credential cloud": {"only one type reads the file", func(s *spec) { s.UserAssignedIdentityCredentialsCloudType = "public" },
			"spec.userAssignedIdentityCredentialsCloudType", "UserAssignedIdentityCredential"},
		"credential": {"one type reads the file", func(s *spec) {
			s.Type, s.UserAssignedIdentityCredentialsPath, s.UserAssignedIdentityCredentialsCloudType = infrav1.UserAssignedIdentityCredential, "/x",
				"public"
		}, "", ""},
		"type that is unknown": {"there are six types", func(s *spec) { s.Type = "Password" }, "spec.type", "Unsupported value"},
	} {
		t.Run(name, func(t *testing.T) {
			checkRefused(t, tc.reason, environment.Client.Create(t.Context(), identity("new", tc.change), client.DryRunAll), tc.path, tc.message)
		})
	}
	stored := createObject(t, identity("rules", func(*spec) {}))
	checkRefused(t, "an identity stays what it is",
		dryUpdate(t, stored, func(i *infrav1.AzureClusterIdentity) { i.Spec.Type = infrav1.ServicePrincipal }), "spec.type", "cannot change")
	checkRefused(t, "credentials are rotated", dryUpdate(t, stored, func(i *infrav1.AzureClusterIdentity) {
		i.Spec.ClientID, i.Spec.TenantID, i.Spec.ClientSecret.Name, i.Spec.AllowedNamespaces = "d", "u", "secret", nil
	}), "", "")
}
