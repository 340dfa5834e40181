package crd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// buildManifest returns an object as a user writes it.
func buildManifest(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &raw.Object); err != nil {
		t.Fatal(err)
	}
	return raw
}

// applyManifest writes a manifest as kubectl apply --server-side does.
func applyManifest(t *testing.T, text string) error {
	t.Helper()
	return environment.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(buildManifest(t, text)),
		client.FieldOwner("kubectl"),
		client.ForceOwnership)
}

func newControlPlane(name string) *infrav1.AzureManagedControlPlane {
	c := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.Location = "westeurope"
	c.Spec.SubscriptionID = "00000000-0000-0000-0000-000000000001"
	c.Spec.ResourceGroupName = name
	c.Spec.Version = "1.33.2"
	c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "identity"}
	return c
}

func newPool(name, mode string) *infrav1.AzureManagedMachinePool {
	p := &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	p.Spec.Mode = mode
	p.Spec.SKU = "Standard_D2s_v5"
	return p
}

const managedManifests = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: manifest, namespace: default}
spec:
  identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, name: identity}
  location: westeurope
  resourceGroupName: manifest
  sshPublicKey: ""
  version: 1.33.2
  autoscalerProfile: {}
  extensions: [{name: flux, extensionType: microsoft.flux}]
  identity: {userAssignedIdentityResourceID: ""}
  fleetsMember: {name: m, managerName: fleet, managerResourceGroup: fleets}
  securityProfile:
    imageCleaner: {enabled: true, intervalHours: 48}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedCluster
metadata: {name: manifest, namespace: default}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedMachinePool
metadata: {name: manifest-pool0, namespace: default}
spec:
  mode: User
  name: pool0
  sku: Standard_D2s_v5
  scaling: {minSize: 0, maxSize: 3}
  scaleSetPriority: Spot
  spotMaxPrice: 0.05
  taints: [{key: a, value: b, effect: NoSchedule}]
  kubeletConfig: {cpuManagerPolicy: static, podMaxPids: -1}
  linuxOSConfig: {transparentHugePageDefrag: defer+madvise, sysctls: {vmSwappiness: 10, netIpv4IPLocalPortRange: 32768 60999}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlaneTemplate
metadata: {name: manifest, namespace: default}
spec:
  template:
    spec:
      identityRef: {kind: AzureClusterIdentity, name: identity}
      location: westeurope
      version: v1.33.2
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedClusterTemplate
metadata: {name: manifest, namespace: default}
spec: {template: {spec: {}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedMachinePoolTemplate
metadata: {name: manifest-pool, namespace: default}
spec: {template: {spec: {mode: System, sku: Standard_D2s_v5}}}
`

// TestManagedManifests applies a manifest of each kind twice, as GitOps does, and checks the defaults.
func TestManagedManifests(t *testing.T) {
	for _, text := range strings.Split(managedManifests, "\n---\n") {
		raw := buildManifest(t, text)
		key := raw.GetKind()
		if err := applyManifest(t, text); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		first := readStored(t, raw)
		if err := applyManifest(t, text); err != nil {
			t.Fatalf("%s again: %v", key, err)
		}
		again := readStored(t, raw.DeepCopy())
		if first.GetGeneration() != again.GetGeneration() {
			t.Errorf("%s: applying the same again changes the spec: %s", key, cmp.Diff(first.Object, again.Object))
		}
	}

	c := readStored(t, &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "manifest"}}).Spec
	if c.SSHPublicKey == nil || *c.SSHPublicKey == "" {
		t.Error("the empty SSH public key was not replaced by a generated one")
	}
	c.SSHPublicKey = nil
	want := newControlPlane("manifest").Spec
	want.IdentityRef.APIVersion, want.SubscriptionID, want.Version = infrav1.GroupVersion.String(), "", "v1.33.2"
	want.NodeResourceGroupName, want.DNSPrefix = "MC_manifest_manifest_westeurope", new("manifest")
	want.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{
		Name: "manifest", ResourceGroup: "manifest", CIDRBlock: "10.0.0.0/8",
		Subnet: infrav1.ManagedControlPlaneSubnet{Name: "manifest", CIDRBlock: "10.240.0.0/16"},
	}
	want.NetworkPlugin, want.LoadBalancerSKU, want.EnablePreviewFeatures = new("azure"), new("Standard"), new(false)
	want.SKU, want.OIDCIssuerProfile, want.Identity = &infrav1.AKSSku{Tier: "Free"}, &infrav1.OIDCIssuerProfile{Enabled: new(false)},
		&infrav1.Identity{Type: "SystemAssigned"}
	want.Extensions = []infrav1.AKSExtension{{Name: "flux", ExtensionType: new("microsoft.flux"), AutoUpgradeMinorVersion: new(true)}}
	want.FleetsMember = &infrav1.FleetsMember{Name: "m",
		FleetsMemberClassSpec: infrav1.FleetsMemberClassSpec{Group: "default", ManagerName: "fleet", ManagerResourceGroup: "fleets"}}
	want.SecurityProfile = &infrav1.ManagedClusterSecurityProfile{ImageCleaner: &infrav1.ManagedClusterSecurityProfileImageCleaner{Enabled: true, IntervalHours: new(48)}}
	want.AutoScalerProfile = &infrav1.AutoScalerProfile{
		BalanceSimilarNodeGroups: new(infrav1.BalanceSimilarNodeGroups("false")), Expander: new(infrav1.ExpanderRandom),
		MaxEmptyBulkDelete:        new("10"),
		MaxGracefulTerminationSec: new("600"), MaxNodeProvisionTime: new("15m"), MaxTotalUnreadyPercentage: new("45"),
		NewPodScaleUpDelay: new("0s"), OkTotalUnreadyCount: new("3"),
		ScanInterval: new("10s"), ScaleDownDelayAfterAdd: new("10m"), ScaleDownDelayAfterDelete: new("10s"),
		ScaleDownDelayAfterFailure: new("3m"), ScaleDownUnneededTime: new("10m"),
		ScaleDownUnreadyTime: new("20m"), ScaleDownUtilizationThreshold: new("0.5"),
		SkipNodesWithLocalStorage: new(infrav1.SkipNodesWithLocalStorage("false")),
		SkipNodesWithSystemPods:   new(infrav1.SkipNodesWithSystemPods("true")),
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("AzureManagedControlPlane: -want +got\n%s", diff)
	}

	p := readStored(t, &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "manifest-pool0"}})
	if *p.Spec.OSType != "Linux" || *p.Spec.OsDiskType != "Managed" || *p.Spec.ScaleDownMode != "Delete" ||
		p.Labels[infrav1.LabelAgentPoolMode] != "User" || p.Spec.SpotMaxPrice.String() != "50m" {
		t.Errorf("the defaults of a pool are missing: %+v", p.Spec)
	}
	template := readStored(t,
		&infrav1.AzureManagedMachinePoolTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "manifest-pool"}})
	if template.Spec.Template.Spec.Name != nil || *template.Spec.Template.Spec.OSType != "Linux" {
		t.Errorf("the defaults of a pool's template are missing: %+v", template.Spec)
	}
}

func TestManagedControlPlaneRules(t *testing.T) {
	fresh := createObject(t, newControlPlane("managed-fresh"))
	// As clusterctl move brings it: the plan was remembered, and there is no status.
	made := newControlPlane("managed-rules")
	made.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{"managed-rules":[]}}`}
	createObject(t, made)
	// As it brings one that the established provider made.
	moved := newControlPlane("managed-moved")
	moved.Finalizers = []string{infrav1.ManagedControlPlaneFinalizer}
	moved.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "h", Port: 443}
	createObject(t, moved)
	type spec = infrav1.AzureManagedControlPlaneSpec
	for name, tc := range map[string]struct {
		reason        string
		stored        *infrav1.AzureManagedControlPlane
		change        func(*spec)
		path, message string
	}{
		"tags": {"tags follow", made, func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }, "", ""},
		"endpoint": {"the endpoint comes when it is known", made,
			func(s *spec) { s.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "h", Port: 443} }, "", ""},
		"location":        {"resources do not move", made, func(s *spec) { s.Location = "northeurope" }, "spec.location", "cannot change"},
		"location, moved": {"resources do not move", moved, func(s *spec) { s.Location = "northeurope" }, "spec.location", "cannot change"},
		"location, fresh": {"a first try that Azure never heard of can be corrected", fresh, func(s *spec) { s.Location = "northeurope" }, "",
			""},
		"subscription": {"resources do not move", made, func(s *spec) { s.SubscriptionID = "" }, "spec.subscriptionID", "cannot change"},
		"plugin (webhook)": {"pods stay where they are", made, func(s *spec) { s.NetworkPlugin = new("none") }, "spec.networkPlugin",
			"only from kubenet to azure"},
		"plugin, fresh": {"a first try that Azure never heard of can be corrected", fresh, func(s *spec) { s.NetworkPlugin = new("none") }, "", ""},
		"outbound": {"there are four ways", made,
			func(s *spec) { s.OutboundType = new(infrav1.ManagedControlPlaneOutboundType("none")) }, "spec.outboundType", "Unsupported value"},
		"cleaner": {"the cleaner runs once a day at most", made, func(s *spec) {
			s.SecurityProfile = &infrav1.ManagedClusterSecurityProfile{ImageCleaner: &infrav1.ManagedClusterSecurityProfileImageCleaner{Enabled: true, IntervalHours: new(23)}}
		}, "spec.securityProfile.imageCleaner.intervalHours", "24"},
		"private endpoint": {"an endpoint leads somewhere", made,
			func(s *spec) { s.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "e"}} },
			"spec.virtualNetwork.subnet.privateEndpoints[0].privateLinkServiceConnections", "Required"},
		"identity": {"the provider needs a credential", made, func(s *spec) { s.IdentityRef = nil }, "spec.identityRef",
			"set identityRef to an AzureClusterIdentity"},
		"group (webhook)": {"resources do not move", made, func(s *spec) { s.ResourceGroupName = "other" }, "spec.resourceGroupName",
			"cannot change"},
		"patches (webhook)": {"a key that means nothing would vanish", made,
			func(s *spec) { s.ASOManagedClusterPatches = []string{`{"spec":{"suportPlan":"x"}}`} }, "spec.asoManagedClusterPatches[0]",
			"supportPlan"},
	} {
		t.Run(name, func(t *testing.T) {
			checkRefused(t, tc.reason, dryUpdate(t, tc.stored, func(c *infrav1.AzureManagedControlPlane) { tc.change(&c.Spec) }), tc.path,
				tc.message)
		})
	}
}

func TestManagedMachinePoolRules(t *testing.T) {
	// A move to another management cluster keeps provider IDs and loses the status.
	provided := func(name string) *infrav1.AzureManagedMachinePool {
		p := newPool(name, infrav1.NodePoolModeUser)
		p.Spec.ProviderIDList = []string{"azure:///subscriptions/s"}
		return p
	}
	made, unmade := createObject(t, provided("poolrules")), createObject(t, newPool("poolunmade", infrav1.NodePoolModeUser))
	atZero := createObject(t, newPool("poolatzero", infrav1.NodePoolModeUser))
	atZero.Status.Initialization.Provisioned = new(true)
	if err := environment.Client.Status().Update(t.Context(), atZero); err != nil {
		t.Fatal(err)
	}
	configured := provided("poolsaid")
	configured.Spec.MaxPods, configured.Spec.EnableEncryptionAtHost = new(50), new(true)
	createObject(t, configured)
	type spec = infrav1.AzureManagedMachinePoolSpec
	for name, tc := range map[string]struct {
		reason        string
		stored        *infrav1.AzureManagedMachinePool
		change        func(*spec)
		path, message string
	}{
		"labels":       {"labels follow", made, func(s *spec) { s.NodeLabels = map[string]string{"a": "b"} }, "", ""},
		"provider IDs": {"IDs come with the machines", made, func(s *spec) { s.ProviderIDList = []string{"azure:///x"} }, "", ""},
		"size":         {"machines are not made twice", made, func(s *spec) { s.SKU = "Standard_D4s_v5" }, "spec.sku", "create a new pool"},
		"system": {"machines are not made twice", made, func(s *spec) { s.OSType = new("Windows") }, "spec.osType",
			"create a new pool"},
		"disk": {"machines are not made twice", made, func(s *spec) { s.OsDiskType = new("Ephemeral") }, "spec.osDiskType",
			"create a new pool"},
		"disk size": {"machines are not made twice", made, func(s *spec) { s.OSDiskSizeGB = new(64) }, "spec.osDiskSizeGB",
			"create a new pool"},
		"disk size by AKS": {"0 is what nothing means", made, func(s *spec) { s.OSDiskSizeGB = new(0) }, "", ""},
		"pods":             {"addresses are taken once", made, func(s *spec) { s.MaxPods = new(50) }, "spec.maxPods", "create a new pool"},
		"pods removed":     {"addresses are taken once", configured, func(s *spec) { s.MaxPods = nil }, "spec.maxPods", "create a new pool"},
		"priority": {"machines are not made twice", made, func(s *spec) { s.ScaleSetPriority = new("Spot") }, "spec.scaleSetPriority",
			"create a new pool"},
		"regular": {"Regular is what nothing means", made, func(s *spec) { s.ScaleSetPriority = new("Regular") }, "", ""},
		"ultra disks": {"machines are not made twice", made, func(s *spec) { s.EnableUltraSSD = new(true) }, "spec.enableUltraSSD",
			"create a new pool"},
		"public IP": {"machines are not made twice", made, func(s *spec) { s.EnableNodePublicIP = new(true) }, "spec.enableNodePublicIP",
			"create a new pool"},
		"prefix": {"machines are not made twice", made, func(s *spec) { s.NodePublicIPPrefixID = new("/subscriptions/s") },
			"spec.nodePublicIPPrefixID", "create a new pool"},
		"kubelet disk": {"machines are not made twice", made, func(s *spec) { s.KubeletDiskType = new(infrav1.KubeletDiskTypeTemporary) },
			"spec.kubeletDiskType", "create a new pool"},
		"encryption": {"a field that is not set can be set once", made, func(s *spec) { s.EnableEncryptionAtHost = new(true) }, "", ""},
		"encryption removed": {"a field that is set stays", configured, func(s *spec) { s.EnableEncryptionAtHost = nil }, "spec.enableEncryptionAtHost",
			"cannot change"},
		"effect": {"there are three effects", made,
			func(s *spec) { s.Taints = infrav1.Taints{{Key: "a", Value: "b", Effect: "no-schedule"}} }, "spec.taints[0].effect",
			"Unsupported value"},
		"sysctl": {"the limits are AKS's", made, func(s *spec) {
			s.LinuxOSConfig = &infrav1.LinuxOSConfig{Sysctls: &infrav1.SysctlConfig{VMSwappiness: new(101)}}
		}, "spec.linuxOSConfig.sysctls.vmSwappiness", "100"},
		"unmade, size": {"a value that AKS refused can be corrected", unmade, func(s *spec) { s.SKU = "Standard_D4s_v5" }, "", ""},
		"unmade, machine": {"a value that AKS refused can be corrected", unmade,
			func(s *spec) { s.OsDiskType, s.MaxPods, s.OSDiskSizeGB = new("Ephemeral"), new(50), new(64) }, "", ""},
		"unmade, zones": {"a value that AKS refused can be corrected",
			unmade, func(s *spec) { s.AvailabilityZones = []string{"1"} }, "", ""},
		"unmade, name": {"resources of the former name would be left in Azure",
			unmade, func(s *spec) { s.Name = new("other") }, "spec.name",
			"create a new pool"},
		"at zero, size": {"a pool without machines once had some", atZero, func(s *spec) { s.SKU = "Standard_D4s_v5" }, "spec.sku",
			"create a new pool"},
		"zones (webhook)": {"machines are not made twice", made, func(s *spec) { s.AvailabilityZones = []string{"1"} }, "spec.availabilityZones",
			"create a new pool"},
	} {
		t.Run(name, func(t *testing.T) {
			checkRefused(t, tc.reason, dryUpdate(t, tc.stored, func(p *infrav1.AzureManagedMachinePool) { tc.change(&p.Spec) }), tc.path, tc.message)
		})
	}
	bad := newPool("bad-name", infrav1.NodePoolModeUser)
	checkRefused(t, "the name of the object is the pool's where it has no other", environment.Client.Create(t.Context(), bad), "spec.name",
		"at most 12 characters")
}

// TestLastSystemPool takes the system pools of a cluster away one by one.
func TestLastSystemPool(t *testing.T) {
	c, ctx := environment.Client, t.Context()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "systems", Finalizers: []string{"test/hold"}}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group,
		Kind: "AzureManagedControlPlane", Name: "systems"}
	createObject(t, cluster)
	controlPlane := newControlPlane("systems")
	createObject(t, controlPlane)
	labels := map[string]string{clusterv1.ClusterNameLabel: cluster.Name}
	pool := func(name, mode string) *infrav1.AzureManagedMachinePool {
		p := newPool(name, mode)
		p.Labels = labels
		return createObject(t, p)
	}
	first, second := pool("sysa", infrav1.NodePoolModeSystem), pool("sysb", infrav1.NodePoolModeSystem)
	user := pool("usera", infrav1.NodePoolModeUser)
	stray := createObject(t, newPool("stray", infrav1.NodePoolModeSystem))
	toUser := func(p *infrav1.AzureManagedMachinePool) { p.Spec.Mode = infrav1.NodePoolModeUser }

	waitFor(t, "the webhook to see both system pools", func() error { return dryUpdate(t, first, toUser) })
	checkRefused(t, "a pool without a cluster is not the last pool of one", c.Delete(ctx, stray, client.DryRunAll), "", "")
	checkRefused(t, "a user pool is not missed", c.Delete(ctx, user, client.DryRunAll), "", "")
	if err := c.Delete(ctx, second); err != nil {
		t.Fatalf("another system pool is left: %v", err)
	}
	waitFor(t, "the webhook to see that it is gone", func() error {
		if dryUpdate(t, first, toUser) == nil {
			return fmt.Errorf("the last system pool can become a user pool")
		}
		return nil
	})
	checkRefused(t, "AKS needs a system pool", dryUpdate(t, first, toUser), "spec.mode", "Add another System pool first")
	checkRefused(t, "AKS needs a system pool", c.Delete(ctx, first, client.DryRunAll), "metadata.deletionTimestamp",
		"Add another System pool first")
	checkRefused(t, "the rest of a last system pool changes freely",
		dryUpdate(t, first, func(p *infrav1.AzureManagedMachinePool) { p.Spec.NodeLabels = map[string]string{"a": "b"} }), "", "")

	preview := func(p *infrav1.AzureManagedMachinePool) {
		p.Spec.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`}
	}
	checkRefused(t, "the cluster does not speak the preview version", dryUpdate(t, first, preview),
		"spec.asoManagedClustersAgentPoolPatches[0]",
		"nodeInitializationTaints")
	controlPlane.Spec.EnablePreviewFeatures = new(true)
	if err := c.Update(ctx, controlPlane); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the webhook to see the preview switch", func() error { return dryUpdate(t, first, preview) })

	moved := first.DeepCopy()
	moved.Annotations = map[string]string{"clusterctl.cluster.x-k8s.io/delete-for-move": ""}
	if err := c.Update(ctx, moved); err != nil {
		t.Fatal(err)
	}
	checkRefused(t, "clusterctl deletes what it has moved", c.Delete(ctx, moved, client.DryRunAll), "", "")
	moved.Annotations = nil
	if err := c.Update(ctx, moved); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, cluster); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the webhook to see that the cluster goes", func() error { return c.Delete(ctx, first, client.DryRunAll) })
}

// TestManagedClusterNetwork checks a control plane against the ranges of its Cluster.
func TestManagedClusterNetwork(t *testing.T) {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ranges"}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group,
		Kind: "AzureManagedControlPlane", Name: "ranges"}
	cluster.Spec.ClusterNetwork.Services.CIDRBlocks = []string{"192.168.0.0/16"}
	createObject(t, cluster)
	inside, outside := newControlPlane("ranges"), newControlPlane("ranges")
	inside.Labels = map[string]string{clusterv1.ClusterNameLabel: "ranges"}
	inside.Spec.DNSServiceIP = new("192.168.0.10")
	outside.Labels, outside.Spec.DNSServiceIP = inside.Labels, new("10.0.0.10")
	waitFor(t, "the webhook to see the Cluster", func() error {
		if environment.Client.Create(t.Context(), outside.DeepCopy(), client.DryRunAll) == nil {
			return fmt.Errorf("an address outside is taken")
		}
		return nil
	})
	checkRefused(t, "the DNS service is a service", environment.Client.Create(t.Context(), outside, client.DryRunAll), "spec.dnsServiceIP",
		"192.168.0.0/16")
	checkRefused(t, "the DNS service is a service", environment.Client.Create(t.Context(), inside, client.DryRunAll), "", "")
}

func TestManagedTemplates(t *testing.T) {
	controlPlane := &infrav1.AzureManagedControlPlaneTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "dry"}}
	controlPlane.Spec.Template.Spec.AzureManagedControlPlaneClassSpec = newControlPlane("").Spec.AzureManagedControlPlaneClassSpec
	createObject(t, controlPlane)
	move := func(t *infrav1.AzureManagedControlPlaneTemplate) { t.Spec.Template.Spec.Location = "northeurope" }
	onlyByRotation(t, "clusters were made from it", controlPlane, move, "spec.template.spec.location")

	pool := &infrav1.AzureManagedMachinePoolTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "dry"}}
	pool.Spec.Template.Spec.AzureManagedMachinePoolClassSpec = newPool("", infrav1.NodePoolModeUser).Spec.AzureManagedMachinePoolClassSpec
	createObject(t, pool)
	resize := func(t *infrav1.AzureManagedMachinePoolTemplate) { t.Spec.Template.Spec.SKU = "Standard_D4s_v5" }
	onlyByRotation(t, "pools were made from it", pool, resize, "spec.template.spec.sku")
}

// TestManagedNames checks that kubectl knows the kinds by the names that people are used to, and Cluster API by the contract.
func TestManagedNames(t *testing.T) {
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	for plural, short := range map[string]string{
		"azuremanagedcontrolplanes": "amcp", "azuremanagedclusters": "amc", "azuremanagedmachinepools": "ammp",
		"azuremanagedcontrolplanetemplates": "amcpt", "azuremanagedclustertemplates": "amct", "azuremanagedmachinepooltemplates": "ammpt",
	} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := crdClient.Get(context.Background(), client.ObjectKey{Name: plural + "." + infrav1.GroupVersion.Group}, crd); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintln(crd.Spec.Names.ShortNames, crd.Spec.Names.Categories, crd.Labels["cluster.x-k8s.io/v1beta2"])
		if want := fmt.Sprintf("[%s] [cluster-api] v1beta1\n", short); got != want {
			t.Errorf("%s: want %s, got %s", plural, want, got)
		}
	}
}
