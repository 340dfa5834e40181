package aks_test

import (
	"cmp"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
)

func TestCheck(t *testing.T) {
	spec := func(change func(spec *infrav1.AzureManagedControlPlaneSpec)) func(in *aks.Input) {
		return func(in *aks.Input) { change(&in.ControlPlane.Spec) }
	}
	foreign := func(subnets map[string][]string) func(in *aks.Input) {
		return func(in *aks.Input) {
			in.Facts.VNet = plan.VNetFact{Exists: true, AddressPrefixes: []string{"172.16.0.0/12"}, Subnets: subnets}
		}
	}
	tests := map[string]struct {
		reason string
		from   string
		change func(in *aks.Input)
		want   []string
	}{
		"stock flavor": {reason: "nothing to refuse"},
		"created":      {reason: "its own subnet does not overlap itself", from: "created"},
		"version": {reason: "no version of Kubernetes", change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.Version = "vlatest" }),
			want: []string{`spec.version: Invalid value: "vlatest"`}},
		"key that is not encoded": {reason: "the common mistake; the message does not show the key",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
				s.SSHPublicKey = new("ssh-rsa AAAA me@example.com")
			}), want: []string{`spec.sshPublicKey: Invalid value: "(hidden)": is not base64: set it to the output of`}},
		"tags": {reason: "Azure takes 50 on a resource, three of which are the provider's",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.AdditionalTags = fieldtest.NewTags(47) })},
		"too many tags": {reason: "Azure refuses the first resource with them",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.AdditionalTags = fieldtest.NewTags(48) }),
			want:   []string{"spec.additionalTags: Invalid value: 51: tags on the AKS cluster ... more than the 50"}},
		"identity without ID": {reason: "which one?", change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
			s.Identity = &infrav1.Identity{Type: infrav1.ManagedControlPlaneIdentityTypeUserAssigned}
		}), want: []string{"spec.identity.userAssignedIdentityResourceID: Required"}},
		"two ranges": {reason: "AKS would get the first alone", change: func(in *aks.Input) {
			in.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks = []string{"10.96.0.0/16", "fd00::/108"}
			in.Cluster.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{"10.97.0.0/16", "10.98.0.0/16"}
		}, want: []string{"Cluster.spec.clusterNetwork.pods.cidrBlocks: Too many", "Cluster.spec.clusterNetwork.services.cidrBlocks: Too many"}},
		"no range": {reason: "it would be left out",
			change: func(in *aks.Input) { in.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks = []string{"10.96.0.0"} },
			want:   []string{`Cluster.spec.clusterNetwork.services.cidrBlocks[0]: Invalid value: "10.96.0.0"`}},
		"DNS address without range": {reason: "it would be left out", change: func(in *aks.Input) {
			in.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks = nil
			in.ControlPlane.Spec.DNSServiceIP = new("10.0.0.10")
		}, want: []string{"spec.dnsServiceIP ... set Cluster.spec.clusterNetwork.services.cidrBlocks"}},
		"DNS address elsewhere": {reason: "AKS refuses it",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.DNSServiceIP = new("10.0.0.10") }),
			want:   []string{"spec.dnsServiceIP ... is not an address of the services 192.168.0.0/16"}},
		"no address": {reason: "a field error and no crash",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.DNSServiceIP = new("dns") }),
			want:   []string{"spec.dnsServiceIP"}},
		"subnet outside": {reason: "Azure refuses it",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.VirtualNetwork.Subnet.CIDRBlock = "192.168.0.0/24" }),
			want:   []string{`spec.virtualNetwork.subnet.cidrBlock ... is not within the network "c1", which has 10.0.0.0/8`}},
		"no subnet range": {reason: "not a range",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.VirtualNetwork.Subnet.CIDRBlock = "x" }),
			want:   []string{"spec.virtualNetwork.subnet.cidrBlock"}},
		"no network range": {reason: "not a range",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.VirtualNetwork.CIDRBlock = "x" }),
			want:   []string{"spec.virtualNetwork.cidrBlock"}},
		"brought subnet by default": {reason: "users who bring subnets leave the range out",
			change: foreign(map[string][]string{"c1": {"172.16.0.0/24"}})},
		"brought subnet as it is": {reason: "the same range in another notation", change: func(in *aks.Input) {
			foreign(map[string][]string{"c1": {"172.16.0.0/24"}})(in)
			in.ControlPlane.Spec.VirtualNetwork.Subnet.CIDRBlock = "172.16.0.9/24"
		}},
		"brought subnet of another range": {reason: "one of the two is wrong", change: func(in *aks.Input) {
			foreign(map[string][]string{"c1": {"172.16.0.0/24"}})(in)
			in.ControlPlane.Spec.VirtualNetwork.Subnet.CIDRBlock = "172.16.1.0/24"
		}, want: []string{
			`spec.virtualNetwork.subnet.cidrBlock ... the existing subnet "c1" of network "c1" has the range 172.16.0.0/24`}},
		"new subnet outside a brought network": {reason: "the default range is for the cluster's own network", change: foreign(nil),
			want: []string{"is not within the network ... 172.16.0.0/12"}},
		"new subnet over another": {reason: "Azure refuses it", change: func(in *aks.Input) {
			foreign(map[string][]string{"a": {"172.16.0.0/24"}, "b": {"172.16.1.0/24"}})(in)
			in.ControlPlane.Spec.VirtualNetwork.Subnet.CIDRBlock = "172.16.0.0/16"
		}, want: []string{`overlaps 172.16.0.0/24 of subnet "a"`, `overlaps 172.16.1.0/24 of subnet "b"`}},
		"brought network of another region": {reason: "AKS refuses it", change: func(in *aks.Input) {
			foreign(map[string][]string{"c1": {"172.16.0.0/24"}})(in)
			in.Facts.VNet.Location = "northeurope"
		}, want: []string{`spec.virtualNetwork: Invalid value: "c1": is in region northeurope, and spec.location is eastus ... with a network in eastus, or with spec.location northeurope`}},
		"brought network of the region": {reason: "AKS compares regions without case and blanks", change: func(in *aks.Input) {
			foreign(map[string][]string{"c1": {"172.16.0.0/24"}})(in)
			in.ControlPlane.Spec.Location, in.Facts.VNet.Location = "East US", "eastus"
		}},
		"private endpoints in the network of AKS": {reason: "there is no subnet to put them into", from: "network-of-aks",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
				s.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "p"}}
			}), want: []string{"spec.virtualNetwork.subnet.privateEndpoints: Forbidden: the cluster uses a network that AKS created"}},
		"two kinds of outbound addresses": {reason: "AKS takes one", from: "load-balancer-ips",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
				s.LoadBalancerProfile.ManagedOutboundIPs = new(1)
				s.LoadBalancerProfile.OutboundIPPrefixes = []string{"p"}
			}), want: []string{"spec.loadBalancerProfile: Forbidden: has managedOutboundIPs and outboundIPPrefixes and outboundIPs"}},
		"same names": {reason: "one of the two would be ignored", change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
			s.AddonProfiles = []infrav1.AddonProfile{{Name: "a"}, {Name: "A"}}
			s.Extensions = []infrav1.AKSExtension{{Name: "e"}, {Name: "f"}, {Name: "e"}}
			s.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "p"}, {Name: "P"}}
		}), want: []string{"spec.addonProfiles[1].name: Duplicate", "spec.extensions[2].name: Duplicate",
			"spec.virtualNetwork.subnet.privateEndpoints[1].name: Duplicate"}},
		"patch": {reason: "a key that means nothing", change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
			s.ASOManagedClusterPatches = []string{"{}", `{"spec":{"suportPlan":"KubernetesOfficial"}}`}
		}), want: []string{"spec.asoManagedClusterPatches[1] ... suportPlan ... supportPlan"}},
		"patch of the preview": {reason: "it needs the newer api-version", from: "preview",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) { s.EnablePreviewFeatures = nil }),
			want:   []string{"spec.asoManagedClusterPatches[0] ... enableNamespaceResources"}},
		"patch that names a version": {reason: "the patches name the version that they need",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
				s.ASOManagedClusterPatches = []string{`{"spec":{"enableNamespaceResources":true}}`,
					`{"apiVersion":"containerservice.azure.com/v1api20251002preview"}`}
			})},
		"patch of another version than is named": {reason: "the named version counts for all patches", from: "preview",
			change: spec(func(s *infrav1.AzureManagedControlPlaneSpec) {
				s.ASOManagedClusterPatches = append(s.ASOManagedClusterPatches, `{"apiVersion":"containerservice.azure.com/v1api20260501"}`)
			}), want: []string{"spec.asoManagedClusterPatches[0] ... enableNamespaceResources ... does not exist in API version 2026-05-01"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readTestCase(t, cmp.Or(test.from, "default")).in
			if test.change != nil {
				test.change(&in)
			}
			fieldtest.RequireRefusals(t, test.reason, aks.CheckSpec(in), test.want)
		})
	}
}

func TestCheckPool(t *testing.T) {
	tests := map[string]struct {
		reason string
		pool   string
		change func(in *aks.Input, pool *aks.Pool)
		want   []string
	}{
		"stock flavor":      {reason: "nothing to refuse"},
		"system pool":       {reason: "nothing to refuse", pool: "c1-pool0"},
		"without its owner": {reason: "that is waited for", change: func(_ *aks.Input, pool *aks.Pool) { pool.MachinePool = nil }},
		"name of the object": {reason: "it has a dash, and spec.name is not set",
			change: func(_ *aks.Input, pool *aks.Pool) { pool.AzurePool.Spec.Name = nil },
			want:   []string{`spec.name: Invalid value: "c1-pool1" ... It defaults to metadata.name`}},
		"long name": {reason: "13 characters", change: withPoolName("a123456789012"), want: []string{"spec.name"}},
		"Windows, 6": {reason: "as long as it may be", change: func(in *aks.Input, pool *aks.Pool) {
			withPoolName("win123")(in, pool)
			pool.AzurePool.Spec.OSType = new("Windows")
		}},
		"Windows, 7": {reason: "one too many", change: func(in *aks.Input, pool *aks.Pool) {
			withPoolName("win1234")(in, pool)
			pool.AzurePool.Spec.OSType = new("Windows")
		}, want: []string{"spec.name ... at most 6"}},
		"taken name": {reason: "two objects would write one pool", change: func(in *aks.Input, pool *aks.Pool) {
			withPoolName("pool0")(in, pool)
			pool.AzurePool.Name = "c1-pool2"
		}, want: []string{"spec.name ... is the name of the agent pool of AzureManagedMachinePool c1-pool0, too ... delete this object, " +
			"which does not delete the agent pool, and create it with another spec.name"}},
		"taken name of its own": {reason: "the pool with nodes keeps working", change: func(in *aks.Input, pool *aks.Pool) {
			withPoolName("pool0")(in, pool)
			pool.AzurePool.Spec.ProviderIDList = []string{"azure:///vm"}
		}},
		"taken name, scaled to zero": {reason: "the record shows that the pool is planned", change: func(in *aks.Input, pool *aks.Pool) {
			withPoolName("pool0")(in, pool)
			pool.AzurePool.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{"p":[""]}}`}
		}},
		"taken name of a pool that goes": {reason: "the pool that stays has the agent pool", change: func(in *aks.Input, pool *aks.Pool) {
			withPoolName("pool0")(in, pool)
			for i := range in.Pools {
				in.Pools[i].AzurePool.DeletionTimestamp = new(metav1.Now())
			}
		}},
		"system pool that cannot be": {reason: "AKS demands Linux and lasting nodes", pool: "c1-pool0",
			change: func(_ *aks.Input, pool *aks.Pool) {
				pool.AzurePool.Spec.OSType, pool.AzurePool.Spec.ScaleSetPriority = new("Windows"), new("Spot")
			}, want: []string{"spec.osType", "spec.scaleSetPriority"}},
		"system pool without nodes": {reason: "AKS refuses it", pool: "c1-pool0",
			change: func(_ *aks.Input, pool *aks.Pool) { pool.MachinePool.Spec.Replicas = new(int32(0)) },
			want:   []string{"MachinePool.spec.replicas"}},
		"system pool that may be empty": {reason: "AKS refuses it", pool: "c1-pool0", change: func(_ *aks.Input, pool *aks.Pool) {
			pool.AzurePool.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(0), MaxSize: new(3)}
		}, want: []string{"spec.scaling.minSize"}},
		"bounds": {reason: "nothing is between them", change: func(_ *aks.Input, pool *aks.Pool) {
			pool.AzurePool.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(4), MaxSize: new(3)}
		}, want: []string{"spec.scaling.minSize ... is above maxSize 3"}},
		"too many tags": {reason: "Azure refuses the scale set of the pool",
			change: func(_ *aks.Input, pool *aks.Pool) { pool.AzurePool.Spec.AdditionalTags = fieldtest.NewTags(51) },
			want:   []string{"spec.additionalTags: Invalid value: 51: tags on the agent pool"}},
		"one bound": {reason: "AKS needs both", change: func(_ *aks.Input, pool *aks.Pool) {
			pool.AzurePool.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MaxSize: new(3)}
		}, want: []string{"spec.scaling.minSize: Required"}},
		"other bound": {reason: "AKS needs both", change: func(_ *aks.Input, pool *aks.Pool) {
			pool.AzurePool.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(3)}
		}, want: []string{"spec.scaling.maxSize: Required"}},
		"version": {reason: "no version of Kubernetes",
			change: func(_ *aks.Input, pool *aks.Pool) { pool.MachinePool.Spec.Template.Spec.Version = "latest" },
			want:   []string{"MachinePool.spec.template.spec.version"}},
		"unknown subnet": {reason: "the plan makes the cluster's only", change: func(in *aks.Input, pool *aks.Pool) {
			in.Facts.VNet = plan.VNetFact{Exists: true, Subnets: map[string][]string{"c1": nil}}
			pool.AzurePool.Spec.SubnetName = new("typo")
		}, want: []string{`spec.subnetName: Invalid value: "typo": the network "c1" has no such subnet`}},
		"subnet in the network of AKS": {reason: "AKS would refuse the pool, and the field would be ignored",
			change: func(in *aks.Input, pool *aks.Pool) {
				in.Facts.Cluster = json.RawMessage(`{"properties":{"agentPoolProfiles":[{"name":"pool0"}]}}`)
				pool.AzurePool.Spec.SubnetName = new("nodes")
			}, want: []string{`spec.subnetName: Invalid value: "nodes": the cluster uses a network that AKS created`}},
		"patch": {reason: "the MachinePool owns the field", change: func(_ *aks.Input, pool *aks.Pool) {
			pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"count":3}}`}
		}, want: []string{"spec.asoManagedClustersAgentPoolPatches[0] ... spec.count"}},
	}
	for testName, test := range tests {
		t.Run(testName, func(t *testing.T) {
			in, pool := readTestCase(t, "default").poolInput(t, cmp.Or(test.pool, "c1-pool1"))
			if test.change != nil {
				test.change(&in, &pool)
			}
			fieldtest.RequireRefusals(t, test.reason, aks.CheckPool(in, pool), test.want)
		})
	}
}

func withPoolName(name string) func(in *aks.Input, pool *aks.Pool) {
	return func(_ *aks.Input, pool *aks.Pool) { pool.AzurePool.Spec.Name = &name }
}
