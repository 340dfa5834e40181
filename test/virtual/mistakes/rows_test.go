package mistakes_test

import (
	"bytes"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

func allMistakes() map[string]mistake {
	out := map[string]mistake{}
	for _, rows := range []map[string]mistake{identityMistakes(), networkMistakes(), machineMistakes(), aksMistakes()} {
		maps.Copy(out, rows)
	}
	return out
}

func at(object harness.Conditioned, name string) func() (harness.Conditioned, string) {
	return func() (harness.Conditioned, string) { return object, name }
}

var (
	atCluster    = at(&infrav1.AzureCluster{}, "c1")
	atMachine    = at(&infrav1.AzureMachine{}, "m1")
	atPool       = at(&infrav1.AzureMachinePool{}, "p1")
	atAKSCluster = at(&infrav1.AzureManagedCluster{}, "aks")
	atAKSPlane   = at(&infrav1.AzureManagedControlPlane{}, "aks")
	atASOCluster = at(&infrav1.AzureASOManagedCluster{}, "docs")
	atIdentity   = at(&infrav1.AzureClusterIdentity{}, harness.IdentityName)
)

// newCluster applies a self-managed cluster with a change.
func newCluster(change func(*infrav1.AzureCluster)) func(*virtual.Scenario) error {
	return func(s *virtual.Scenario) error {
		azureCluster := s.AzureCluster("c1")
		change(azureCluster)
		return s.TryCreateCluster(azureCluster)
	}
}

// unchanged is a cluster without a mistake of its own.
var unchanged = newCluster(func(*infrav1.AzureCluster) {})

// changedIdentity makes an identity with a change.
func changedIdentity(change func(*virtual.Scenario, *infrav1.AzureClusterIdentity)) func(*virtual.Scenario) {
	return func(s *virtual.Scenario) {
		s.CreateCredential(s.Azure.ClientSecret)
		identity := s.NewIdentity()
		change(s, identity)
		s.CreateObject(identity)
	}
}

func identityMistakes() map[string]mistake {
	wrongSecret := func(s *virtual.Scenario) {
		s.CreateCredential("wrong")
		s.CreateObject(s.NewIdentity())
	}
	return map[string]mistake{
		"no AzureClusterIdentity": {reason: "spec.identityRef names an object that does not exist", prepare: func(*virtual.Scenario) {},
			apply: unchanged, look: atCluster, want: "IdentityNotFound", text: []string{"spec.identityRef", harness.IdentityName}},
		"no Secret": {reason: "the identity's Secret was not created",
			prepare: func(s *virtual.Scenario) { s.CreateObject(s.NewIdentity()) },
			apply:   unchanged, look: atCluster, want: "SecretNotFound", text: []string{harness.IdentityName}},
		"no Secret, seen at the identity": {reason: "the identity itself shows it",
			prepare: func(s *virtual.Scenario) { s.CreateObject(s.NewIdentity()) },
			apply:   unchanged, look: atIdentity, want: "SecretNotFound", text: []string{harness.IdentityName}},
		"Secret with another key": {reason: "the Secret has the key password",
			prepare: func(s *virtual.Scenario) {
				s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: harness.IdentityName},
					Data: map[string][]byte{"password": []byte("x")}})
				s.CreateObject(s.NewIdentity())
			}, apply: unchanged, look: atCluster, want: "SecretKeyMissing", text: []string{"clientSecret"}},
		"wrong client secret": {reason: "the secret was rotated in Entra ID", prepare: wrongSecret,
			apply: unchanged, look: atCluster, want: "CredentialsInvalid", text: []string{"AADSTS7000215"}},
		"wrong client secret, seen at the identity": {reason: "the identity shows Entra ID's last answer", prepare: wrongSecret,
			apply: unchanged, look: atIdentity, want: "CredentialsInvalid", text: []string{"AADSTS7000215", "Correct spec.tenantID"}},
		"wrong client ID": {reason: "the client ID of another tenant's application",
			prepare: changedIdentity(func(_ *virtual.Scenario, i *infrav1.AzureClusterIdentity) {
				i.Spec.ClientID = "99999999-9999-9999-9999-999999999999"
			}), apply: unchanged, look: atIdentity, want: "CredentialsInvalid", text: []string{"AADSTS700016"}},
		"wrong tenant": {reason: "the tenant does not exist",
			prepare: changedIdentity(func(_ *virtual.Scenario, i *infrav1.AzureClusterIdentity) {
				i.Spec.TenantID = "99999999-9999-9999-9999-999999999999"
			}), apply: unchanged, look: atCluster, want: "CredentialsInvalid", text: []string{"AADSTS90002"}},
		"namespace not allowed": {reason: "allowedNamespaces lists another namespace",
			prepare: changedIdentity(func(_ *virtual.Scenario, i *infrav1.AzureClusterIdentity) {
				i.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{"other"}}
			}), apply: unchanged, look: atCluster, want: "NamespaceNotAllowedByIdentity", text: []string{"spec.allowedNamespaces"}},
		"no role": {reason: "the identity has no role in the subscription", azure: func(o *server.Options) { o.EnforceRBAC = true },
			apply: unchanged, look: atCluster, want: "Failed", text: []string{"AuthorizationFailed", "does not have authorization"}},
		"unknown subscription": {reason: "a typo in spec.subscriptionID",
			apply: newCluster(func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "99999999-9999-9999-9999-999999999999" }),
			look:  atCluster, want: "SubscriptionNotFound", text: []string{"99999999"}},
		"no identityRef": {reason: "spec.identityRef is not set",
			apply: newCluster(func(c *infrav1.AzureCluster) { c.Spec.IdentityRef = nil }), text: []string{"spec.identityRef", "AzureClusterIdentity"}},
	}
}

func networkMistakes() map[string]mistake {
	subnets := func(controlPlane, node string) infrav1.Subnets {
		return infrav1.Subnets{
			{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{controlPlane}}},
			{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{node}}},
		}
	}
	return map[string]mistake{
		"unknown region": {reason: "a typo in the region", apply: newCluster(func(c *infrav1.AzureCluster) { c.Spec.Location = "estus" }),
			look: atCluster, want: "InvalidConfiguration", text: []string{"spec.location", "estus", "eastus"}},
		"subnet outside of the network": {reason: "the range of the subnet is not within that of the network",
			apply: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8"}
				c.Spec.NetworkSpec.Subnets = subnets("10.0.0.0/16", "192.168.0.0/16")
			}), text: []string{"spec.networkSpec.subnets[1].cidrBlocks", "192.168.0.0/16"}},
		"overlapping subnets": {reason: "two subnets have one range",
			apply: newCluster(func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.Subnets = subnets("10.0.0.0/16", "10.0.0.0/16") }),
			look:  atCluster, want: "InvalidConfiguration", text: []string{"spec.networkSpec.subnets[1].cidrBlocks[0]", "overlaps"}},
		"range that is none": {reason: "a typo in the range", apply: newCluster(func(c *infrav1.AzureCluster) {
			c.Spec.NetworkSpec.Subnets = subnets("10.0.0.0/16", "10.1.0.0/33")
		}), text: []string{"10.1.0.0/33"}},
		"invalid resource group": {reason: "a name that Azure does not accept",
			apply: newCluster(func(c *infrav1.AzureCluster) { c.Spec.ResourceGroup = "group!" }), text: []string{"resourceGroup", "group!"}},
		"group of another cluster": {reason: "the resource group belongs to another cluster", apply: func(s *virtual.Scenario) error {
			s.Azure.PutResource("resourceGroups/shared", "2021-04-01", map[string]any{"location": "eastus",
				"tags": map[string]any{"sigs.k8s.io_cluster-api-provider-azure_cluster_other": "owned"}})
			return newCluster(func(c *infrav1.AzureCluster) { c.Spec.ResourceGroup = "shared" })(s)
		}, look: atCluster, want: "ResourceExistsNotOwned", text: []string{"resourceGroups/shared"}},
		"peering to nothing": {reason: "the other network does not exist", apply: newCluster(func(c *infrav1.AzureCluster) {
			c.Spec.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "hub", RemoteVnetName: "missing"}}}
		}), look: atCluster, want: "Waiting", text: []string{"VnetPeeringReady", "virtualNetworks/missing", "was not found"}, within: time.Minute},
	}
}

// withCluster prepares a cluster whose network is in place.
func withCluster(s *virtual.Scenario) {
	s.CreateIdentity()
	manager := s.StartProvider()
	s.CreateCluster(s.AzureCluster("c1"))
	s.WaitClusterProvisioned("c1")
	manager.StopManager()
}

func newMachine(role harness.Role, zone string, change func(*virtual.Scenario, *infrav1.AzureMachine)) func(*virtual.Scenario) error {
	return func(s *virtual.Scenario) error {
		machine := s.AzureMachine("c1", "m1")
		change(s, machine)
		return s.TryCreateMachine(machine, role, zone)
	}
}

// refusedByAzure makes a machine whose VM Azure refuses.
func refusedByAzure(kind fault.Kind) func(*virtual.Scenario) error {
	return newMachine(harness.Worker, "", func(s *virtual.Scenario, _ *infrav1.AzureMachine) {
		if err := s.Sim.AddFault(fault.Rule{Type: "Microsoft.Compute/virtualMachines", Kind: kind, Count: -1}); err != nil {
			s.T.Fatal(err)
		}
	})
}

func machineMistakes() map[string]mistake {
	missing := func(s *virtual.Scenario, resource string) string {
		return "/subscriptions/" + s.Azure.SubscriptionID + "/resourceGroups/rg/providers/" + resource
	}
	out := map[string]mistake{
		"unknown VM size": {reason: "a typo in the size",
			apply: newMachine(harness.Worker, "", func(_ *virtual.Scenario, m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_D2s_v33" }),
			look:  atMachine, want: "InvalidConfiguration", text: []string{"spec.vmSize", "Standard_D2s_v33", "Standard_D2s_v3"}},
		"size not in the zone": {reason: "the zone does not offer the size",
			apply: newMachine(harness.Worker, "3", func(_ *virtual.Scenario, m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_E8s_v5" }),
			look:  atMachine, want: "InvalidConfiguration", text: []string{"spec.vmSize", "zone 3"}},
		"VM identity does not exist": {reason: "the user-assigned identity was not created",
			apply: newMachine(harness.Worker, "", func(s *virtual.Scenario, m *infrav1.AzureMachine) {
				m.Spec.Identity = infrav1.VMIdentityUserAssigned
				m.Spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: missing(s, "Microsoft.ManagedIdentity/userAssignedIdentities/nodes")}}
			}), look: atMachine, want: "InvalidConfiguration", text: []string{"spec.userAssignedIdentities[0].providerID", "userAssignedIdentities/nodes", "does not exist"}},
		"image does not exist": {reason: "the gallery has no such image",
			apply: newMachine(harness.Worker, "", func(s *virtual.Scenario, m *infrav1.AzureMachine) {
				m.Spec.Image = &infrav1.Image{ID: new(missing(s, "Microsoft.Compute/images/missing"))}
			}), look: atMachine, want: "Failed", text: []string{"images/missing"}, within: time.Minute},
		"disk encryption set does not exist": {reason: "the set was not created",
			apply: newMachine(harness.Worker, "", func(s *virtual.Scenario, m *infrav1.AzureMachine) {
				m.Spec.OSDisk.ManagedDisk.DiskEncryptionSet = &infrav1.DiskEncryptionSetParameters{ID: missing(s, "Microsoft.Compute/diskEncryptionSets/keys")}
			}), look: atMachine, want: "Failed", text: []string{"diskEncryptionSets/keys"}, within: time.Minute},
		"quota used up": {reason: "the region's cores are used up", apply: refusedByAzure(fault.Quota), look: atMachine, want: "QuotaExceeded",
			text: []string{"virtualMachines/m1", "Current Limit"}, within: time.Minute},
		"no capacity": {reason: "the zone has no room for the size", apply: refusedByAzure(fault.Capacity), look: atMachine, want: "CapacityUnavailable",
			text: []string{"SkuNotAvailable"}, within: time.Minute},
		"SSH key that is not base64": {reason: "the key was pasted as it is",
			apply: newMachine(harness.Worker, "", func(_ *virtual.Scenario, m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = "ssh-rsa AAAA me" }),
			text:  []string{"spec.sshPublicKey", "base64"}},
		"disk too large": {reason: "a disk of 100 TB", apply: newMachine(harness.Worker, "", func(_ *virtual.Scenario, m *infrav1.AzureMachine) {
			m.Spec.OSDisk.DiskSizeGB = new(int32(100000))
		}), text: []string{"spec.osDisk.diskSizeGB"}},
		"no owner": {reason: "the AzureMachine was applied without a Machine", apply: func(s *virtual.Scenario) error {
			return s.TryCreate(s.AzureMachine("c1", "m1"))
		}, look: atMachine, want: "OwnerRefNotSet", text: []string{"no Machine owns the AzureMachine"}},
		"unknown VM size of a pool": {reason: "a typo in the size", apply: func(s *virtual.Scenario) error {
			pool := s.AzureMachinePool("c1", "p1")
			pool.Spec.Template.VMSize = "Standard_D2s_v33"
			s.CreatePool(pool, 1)
			return nil
		}, look: atPool, want: "InvalidConfiguration", text: []string{"spec.template.vmSize", "Standard_D2s_v33", "Standard_D2s_v3"}},
		"VM identity of a pool does not exist": {reason: "the user-assigned identity was not created", apply: func(s *virtual.Scenario) error {
			pool := s.AzureMachinePool("c1", "p1")
			pool.Spec.Identity = infrav1.VMIdentityUserAssigned
			pool.Spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: missing(s, "Microsoft.ManagedIdentity/userAssignedIdentities/nodes")}}
			s.CreatePool(pool, 1)
			return nil
		}, look: atPool, want: "InvalidConfiguration", text: []string{"spec.userAssignedIdentities[0].providerID", "does not exist"}},
		"pool in another region": {reason: "the region is not that of the cluster", apply: func(s *virtual.Scenario) error {
			pool := s.AzureMachinePool("c1", "p1")
			pool.Spec.Location = "westus"
			s.CreatePool(pool, 1)
			return nil
		}, look: atPool, want: "InvalidConfiguration", text: []string{"spec.location", "westus"}},
	}
	for name, m := range out {
		m.prepare = withCluster
		out[name] = m
	}
	return out
}

func aksMistakes() map[string]mistake {
	newAKS := func(change func(*infrav1.AzureManagedControlPlane), changePool func(*infrav1.AzureManagedMachinePool)) func(*virtual.Scenario) error {
		return func(s *virtual.Scenario) error {
			controlPlane := s.ControlPlane("aks")
			change(controlPlane)
			return s.TryCreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1, Change: changePool})
		}
	}
	newDocs := func(change func(*harness.ASOCluster)) func(*virtual.Scenario) error {
		return func(s *virtual.Scenario) error {
			c := s.BuildASOCluster("docs", "pool0")
			change(c)
			s.CreateManifests(c)
			return nil
		}
	}
	refusedDocs := func(old, text string) func(*virtual.Scenario) error {
		return func(s *virtual.Scenario) error {
			c := s.BuildASOCluster("docs", "pool0")
			c.ControlPlane.Spec.Resources[0].Raw = bytes.Replace(c.ControlPlane.Spec.Resources[0].Raw, []byte(old), []byte(text), 1)
			return s.TryCreate(c.ControlPlane)
		}
	}
	replace := func(raw *[]byte, old, text string) { *raw = bytes.Replace(*raw, []byte(old), []byte(text), 1) }
	none := func(*infrav1.AzureManagedMachinePool) {}
	oldVersion := newAKS(func(c *infrav1.AzureManagedControlPlane) { c.Spec.Version = "v1.20.3" }, none)
	return map[string]mistake{
		"version that AKS does not offer": {reason: "the infrastructure object shows the cause of the control plane", apply: oldVersion,
			look: atAKSCluster, want: "InvalidConfiguration", text: []string{"AzureManagedControlPlane aks: ", "spec.version", "1.20.3", "K8sVersionNotSupported", "It offers 1."}},
		"version that AKS does not offer, seen at the control plane": {reason: "the versions are listed", apply: oldVersion,
			look: atAKSPlane, want: "InvalidConfiguration", text: []string{"spec.version", "1.20.3", "K8sVersionNotSupported", "It offers 1."}},
		"version of manifests that AKS does not offer": {reason: "the infrastructure object shows the cause of the control plane",
			apply: newDocs(func(c *harness.ASOCluster) { c.ControlPlane.Spec.Version = "v1.20.3" }),
			look:  atASOCluster, want: "InvalidConfiguration", text: []string{"AzureASOManagedControlPlane docs: ", "spec.version", "K8sVersionNotSupported", "It offers 1."}},
		"unknown region of an AKS cluster": {reason: "a typo in the region",
			apply: newAKS(func(c *infrav1.AzureManagedControlPlane) { c.Spec.Location = "estus" }, none),
			look:  atAKSCluster, want: "InvalidConfiguration", text: []string{"spec.location", "estus", "eastus"}},
		"unknown VM size of an AKS pool": {reason: "a typo in the size of the first pool",
			apply: newAKS(func(*infrav1.AzureManagedControlPlane) {}, func(p *infrav1.AzureManagedMachinePool) { p.Spec.SKU = "Standard_D2s_v33" }),
			look:  atAKSCluster, want: "InvalidConfiguration", text: []string{"AzureManagedMachinePool[aks-pool0].spec.sku", "Standard_D2s_v33", "Standard_D2s_v3"}, within: 2 * time.Minute},
		"no identity of an AKS cluster": {reason: "the identity does not exist", prepare: func(*virtual.Scenario) {},
			apply: newAKS(func(*infrav1.AzureManagedControlPlane) {}, none), look: atAKSCluster, want: "IdentityNotFound", text: []string{"spec.identityRef"}},
		"unknown kind of a manifest": {reason: "a typo in the kind", apply: refusedDocs(`"kind":"ManagedCluster"`, `"kind":"ManagedClusters"`),
			text: []string{"spec.resources[0].kind", "ManagedClusters", "ManagedCluster"}},
		"unknown property of a manifest": {reason: "a typo in the property", apply: refusedDocs(`"location"`, `"locaton"`),
			text: []string{"spec.resources[0].spec.locaton", "names most like it: location"}},
		"wrong type in a manifest": {reason: "a list in place of a string", apply: refusedDocs(`"dnsPrefix":"docs"`, `"dnsPrefix":["docs"]`),
			text: []string{"spec.resources[0].spec.dnsPrefix", "string"}},
		"no Secret of manifests": {reason: "the annotation names a Secret that does not exist", apply: func(s *virtual.Scenario) error {
			c := s.BuildASOCluster("docs", "pool0")
			replace(&c.Infrastructure.Spec.Resources[0].Raw, `"name":"docs"`, `"name":"docs","annotations":{"serviceoperator.azure.com/credential-from":"missing"}`)
			s.CreateManifests(c)
			return nil
		}, look: atASOCluster, want: "SecretNotFound", text: []string{"missing"}},
	}
}
