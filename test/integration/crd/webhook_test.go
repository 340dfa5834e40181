package crd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

func newMachine(name string) *infrav1.AzureMachine {
	m := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	m.Spec.VMSize = "Standard_D2s_v5"
	return m
}

// readStored reads an object as the API server has it.
func readStored[T client.Object](t *testing.T, obj T) T {
	t.Helper()
	if err := environment.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// TestRandomDefaults creates a machine before its cluster: the webhook sets random values once.
func TestRandomDefaults(t *testing.T) {
	m := newMachine("early")
	m.Labels = map[string]string{clusterv1.ClusterNameLabel: "late"}
	m.Spec.Identity = infrav1.VMIdentitySystemAssigned
	createObject(t, m)
	first := readStored(t, m).Spec
	role := first.SystemAssignedIdentityRole
	if first.SSHPublicKey == "" || role == nil || role.Name == "" || role.Scope != "" {
		t.Errorf("want a key, and a role with a name and no scope yet, got %q and %+v", first.SSHPublicKey, role)
	}

	m.Labels["touched"] = "yes"
	if err := environment.Client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	second := readStored(t, m).Spec
	if second.SSHPublicKey != first.SSHPublicKey || second.SystemAssignedIdentityRole.Name != role.Name {
		t.Errorf("an update made random values anew: %q became %q", role.Name, second.SystemAssignedIdentityRole.Name)
	}
	m.Spec.SystemAssignedIdentityRole.Scope = "/subscriptions/s/"
	if err := environment.Client.Update(t.Context(), m); err != nil {
		t.Errorf("the scope can be filled in later: %v", err)
	}
	m.Spec.SystemAssignedIdentityRole.Scope = "/subscriptions/other/"
	checkRefused(t, "an existing scope stays", environment.Client.Update(t.Context(), m), "spec.systemAssignedIdentityRole.scope",
		"cannot change")
}

func TestPlacementOf(t *testing.T) {
	azureCluster := createObject(t, newCluster("subscription-azure"))
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "subscription"}}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureCluster",
		Name: azureCluster.Name}
	createObject(t, cluster)
	lookup := webhook.PlacementOf(environment.Client)

	m := newMachine("m")
	if got, err := lookup(t.Context(), m); err == nil {
		t.Errorf("a machine without the cluster's label is found to be in %+v", got)
	}
	m.Labels = map[string]string{clusterv1.ClusterNameLabel: "nobody"}
	if got, err := lookup(t.Context(), m); err == nil {
		t.Errorf("a machine of no cluster is found to be in %+v", got)
	}
	m.Labels = map[string]string{clusterv1.ClusterNameLabel: cluster.Name}
	got, err := lookup(t.Context(), m)
	if err != nil || got.SubscriptionID != azureCluster.Spec.SubscriptionID || got.Group != azureCluster.Name || got.Lent {
		t.Errorf("the placement is %+v, %v; want that of the AzureCluster, %s", got, err, azureCluster.Spec.SubscriptionID)
	}

	aks := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "subscription-aks"}}
	aks.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureManagedCluster",
		Name: azureCluster.Name}
	aks.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group,
		Kind: "AzureManagedControlPlane", Name: "subscription-aks"}
	createObject(t, aks)
	pool := &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p",
		Labels: map[string]string{clusterv1.ClusterNameLabel: aks.Name}}}
	if got, err := lookup(t.Context(), pool); err == nil {
		t.Errorf("a pool of an AKS cluster without control plane is found to be in %+v", got)
	}
	controlPlane := newControlPlane(aks.Name)
	controlPlane.Spec.SubscriptionID = "00000000-0000-0000-0000-00000000000a"
	createObject(t, controlPlane)
	if got, err := lookup(t.Context(), pool); err != nil || got.SubscriptionID != controlPlane.Spec.SubscriptionID {
		t.Errorf("the placement is %+v, %v; want that of the AzureManagedControlPlane, %s", got, err, controlPlane.Spec.SubscriptionID)
	}
}

func TestMachineTemplateDryRun(t *testing.T) {
	template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "dry"}}
	template.Spec.Template.Spec = newMachine("").Spec
	template.Spec.Template.Spec.SubnetName = "nodes"
	createObject(t, template)
	if diff := cmp.Diff([]infrav1.NetworkInterface{{SubnetName: "nodes", PrivateIPConfigs: 1}},
		template.Spec.Template.Spec.NetworkInterfaces); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	resize := func(t *infrav1.AzureMachineTemplate) { t.Spec.Template.Spec.VMSize = "Standard_D4s_v5" }
	onlyByRotation(t, "machines were made from it", template, resize, "spec.template.spec")
}

func TestClusterTemplate(t *testing.T) {
	template := &infrav1.AzureClusterTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "template"}}
	template.Spec.Template.Spec.AzureClusterClassSpec = newCluster("").Spec.AzureClusterClassSpec
	createObject(t, template)
	move := func(t *infrav1.AzureClusterTemplate) { t.Spec.Template.Spec.Location = "northeurope" }
	onlyByRotation(t, "clusters were made from it", template, move, "spec.template.spec")
}

// TestDefaultsAreStable applies a minimal cluster again and again, as GitOps does. The first update stores the default of the status, which
// API servers only show before. No update changes the spec, and the second one writes nothing.
func TestDefaultsAreStable(t *testing.T) {
	first := createObject(t, newCluster("stable"))
	before := first.ResourceVersion
	for i := range 2 {
		again := newCluster("stable")
		again.ResourceVersion = before
		again.Spec.NetworkSpec = first.Spec.NetworkSpec
		again.Spec.ResourceGroup = first.Spec.ResourceGroup
		if err := environment.Client.Update(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if again.Generation != first.Generation || i > 0 && again.ResourceVersion != before {
			t.Errorf("defaulting what was defaulted changes the object: %s", cmp.Diff(first.Spec, again.Spec))
		}
		before = again.ResourceVersion
	}
}

// TestSubnetsWithoutNames creates a cluster without fields that manifests leave out although the schema requires them.
func TestSubnetsWithoutNames(t *testing.T) {
	raw := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: unnamed, namespace: default}
spec:
  location: westeurope
  subscriptionID: s
  identityRef: {kind: AzureClusterIdentity, name: identity}
  bastionSpec: {azureBastion: {}}
  networkSpec:
    vnet: {peerings: [{remoteVnetName: hub}]}
    subnets:
    - role: control-plane
      securityGroup:
        securityRules:
        - {name: in, description: d, protocol: Tcp, priority: 100, destinationPorts: "443"}
    - role: node
    - role: node
      natGateway: {ip: {name: own-ip}}
`), &raw.Object); err != nil {
		t.Fatal(err)
	}
	createObject(t, raw)
	c := readStored(t, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "unnamed"}})
	var got []string
	for _, subnet := range c.Spec.NetworkSpec.Subnets {
		got = append(got, subnet.Name+" "+subnet.NatGateway.NatGatewayIP.Name)
	}
	want := []string{"unnamed-controlplane-subnet ", "unnamed-node-subnet-1 pip-unnamed-node-natgw-1", "unnamed-node-subnet-2 own-ip"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	rule := c.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules[0]
	if rule.Action != infrav1.SecurityRuleActionAllow || rule.Direction != infrav1.SecurityRuleDirectionInbound {
		t.Errorf("a rule without an action and a direction lets inbound traffic in, got %s %s", rule.Action, rule.Direction)
	}
	if bastion := c.Spec.BastionSpec.AzureBastion; bastion.Sku != infrav1.BasicBastionHostSku || bastion.Subnet.Name != "AzureBastionSubnet" {
		t.Errorf("the bastion host is %+v", bastion)
	}
	if !c.Spec.ControlPlaneEnabled {
		t.Error("a cluster has a control plane by default")
	}
}
