package pool_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestRefusals checks the refusals that only pools have, and that the refusals that machines have, too, name the pool's fields.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(*pool.Input)
		want   []string
	}{
		"default": {reason: "nothing to refuse", change: func(*pool.Input) {}},
		"region": {reason: "an interface is where its network is", change: func(in *pool.Input) { in.AzureMachinePool.Spec.Location = "eastus" },
			want: []string{"spec.location ... the cluster's network is in region westus2"}},
		"too many tags": {reason: "Azure refuses the scale set",
			change: func(in *pool.Input) { in.AzureMachinePool.Spec.AdditionalTags = fieldtest.NewTags(47) },
			want:   []string{"spec.additionalTags: Invalid value: 5"}},
		"size without a zone": {reason: "every zone of the pool counts",
			change: func(in *pool.Input) { in.PoolFacts.VMSize.Zones = []string{"2"} },
			want: []string{"spec.template.vmSize ... not available in zone 1 of region westus2 but in 2",
				"spec.template.vmSize ... not available in zone 3"}},
		"long bootstrap data": {reason: "Azure takes them", change: func(in *pool.Input) { in.BootstrapData = make([]byte, 65535) }},
		"bootstrap data that are too long": {reason: "Azure answers InvalidParameter",
			change: func(in *pool.Input) {
				in.MachinePool.Spec.Template.Spec.Bootstrap.DataSecretName, in.BootstrapData = new("pool-data"), make([]byte, 65536)
			},
			want: []string{`MachinePool.spec.template.spec.bootstrap.dataSecretName: Invalid value: "pool-data": the bootstrap data have 65536 bytes, and Azure takes at most 65535: shorten the files`}},
		"restricted size": {reason: "Azure answers SkuNotAvailable",
			change: func(in *pool.Input) { in.PoolFacts.VMSize.RestrictionReason = "NotAvailableForSubscription" },
			want:   []string{"spec.template.vmSize ... cannot use this size in region westus2"}},
		"zones that are none": {reason: "each mistake is reported",
			change: func(in *pool.Input) { in.MachinePool.Spec.FailureDomains = []string{"4", "1", "5"} },
			want:   []string{`MachinePool.spec.failureDomains ... "4" ... choose from 1, 2, 3`, `MachinePool.spec.failureDomains ... "5"`}},
		"zones in a network of others": {reason: "its owner does not list the zones of the region", change: func(in *pool.Input) {
			in.Facts.Zones = nil
			in.AzureCluster.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "network-team"}
		}},
		"zones where there are none": {reason: "the words are about the MachinePool", change: func(in *pool.Input) {
			in.MachinePool.Spec.FailureDomains, in.Facts.Zones = []string{"1"}, nil
		}, want: []string{"remove the failure domains of the MachinePool"}},
		"no version": {reason: "the words are about the MachinePool",
			change: func(in *pool.Input) { in.MachinePool.Spec.Template.Spec.Version = "" },
			want:   []string{"spec.template.image ... set the version of the MachinePool"}},
		"flexible before 1.26": {reason: "its nodes would not be found", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.OrchestrationMode, in.MachinePool.Spec.Template.Spec.Version = infrav1.FlexibleOrchestration, "v1.25.16"
		}, want: []string{"spec.orchestrationMode ... needs Kubernetes 1.26.0 or later, and the MachinePool has 1.25.16"}},
		"flexible": {reason: "its nodes are found", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.OrchestrationMode, in.MachinePool.Spec.Template.Spec.Version = infrav1.FlexibleOrchestration, "v1.26.0"
		}},
		"encryption at host": {reason: "not every size can", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: new(true)}
			delete(in.PoolFacts.VMSize.Capabilities, "EncryptionAtHostSupported")
		}, want: []string{"spec.template.securityProfile.encryptionAtHost"}},
		"key": {reason: "the field is the template's", change: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SSHPublicKey = "no" },
			want: []string{"spec.template.sshPublicKey"}},
		"ultra disks in one zone": {reason: "VMs are in all zones", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.AdditionalCapabilities = &infrav1.AdditionalCapabilities{UltraSSDEnabled: new(true)}
			delete(in.PoolFacts.VMSize.Capabilities, "UltraSSDAvailable")
			in.PoolFacts.VMSize.ZoneCapabilities = map[string]map[string]string{"1": {"UltraSSDAvailable": "True"}}
		}, want: []string{"spec.template.dataDisks ... does not support ultra disks in zones 1, 2, 3 of region westus2"}},
		"both networks": {reason: "one of the two would be ignored",
			change: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SubnetName = "s" },
			want:   []string{"spec.template.subnetName ... spec.template.networkInterfaces is set"}},
		"identities of another kind": {reason: "identities are the pool's", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: "x"}}
		}, want: []string{"spec.userAssignedIdentities ... needs spec.identity UserAssigned"}},
		"scale set of another pool": {reason: "both pools would write it", change: func(in *pool.Input) { shareScaleSet(in, "prod-nodes", "test-nodes") },
			want: []string{`metadata.name: Invalid value: "test-nodes": has the scale set win-nodes of AzureMachinePool prod-nodes ... ` +
				"other last five characters, or at most 9 characters"}},
		"copied providerID": {reason: "a copy does not take the VMs", change: func(in *pool.Input) {
			shareScaleSet(in, "prod-nodes", "test-nodes")
			in.ClusterPools[0].Spec.ProviderID = scaleSetProviderID
			in.AzureMachinePool.Spec.ProviderID = scaleSetProviderID
		}, want: []string{"spec.providerID ... AzureMachinePool prod-nodes ... without providerID"}},
		"scale set of its own": {reason: "the pool with VMs keeps working", change: func(in *pool.Input) {
			shareScaleSet(in, "prod-nodes", "test-nodes")
			in.AzureMachinePool.Spec.ProviderID = scaleSetProviderID
		}},
		"scale set of a pool that goes": {reason: "the pool that stays has it", change: func(in *pool.Input) {
			shareScaleSet(in, "prod-nodes", "test-nodes")
			in.ClusterPools[0].DeletionTimestamp = new(metav1.Now())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, "default")
			test.change(&in)
			errs := append(pool.CheckSpec(in), pool.UnsupportedFields(in)...)
			fieldtest.RequireRefusals(t, test.reason, append(errs, pool.CheckScaleSetName(in)...), test.want)
		})
	}
}

const scaleSetProviderID = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/win-nodes"

// shareScaleSet gives the pool a name that Windows shortens like that of another pool.
func shareScaleSet(in *pool.Input, earlier, name string) {
	in.AzureMachinePool.Name, in.AzureMachinePool.Spec.ProviderID = name, ""
	in.AzureMachinePool.Annotations = nil
	in.AzureMachinePool.Spec.Template.OSDisk.OSType = infrav1.WindowsOS
	other := in.AzureMachinePool.DeepCopy()
	other.Name = earlier
	in.ClusterPools = []*infrav1.AzureMachinePool{other, in.AzureMachinePool}
}

func TestScaleSetName(t *testing.T) {
	for name, test := range map[string]struct {
		reason, pool, osType, providerID, want string
	}{
		"Linux": {reason: "as long as it is", pool: "a-long-name-of-a-pool", osType: "Linux", want: "a-long-name-of-a-pool"},
		"Windows": {reason: "9 characters and 6 of Azure's are a computer name", pool: "nine-char", osType: "Windows",
			want: "nine-char"},
		"Windows, shorter": {reason: "existing pools have that name", pool: "ten-chars-0", osType: "Windows", want: "win-ars-0"},
		"made": {reason: "a scale set keeps its name", pool: "new", osType: "Linux",
			providerID: "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/old", want: "old"},
	} {
		in := pool.Input{AzureMachinePool: &infrav1.AzureMachinePool{}}
		in.AzureMachinePool.Name = test.pool
		in.AzureMachinePool.Spec.Template.OSDisk.OSType, in.AzureMachinePool.Spec.ProviderID = test.osType, test.providerID
		if got := pool.ScaleSetName(in); got != test.want {
			t.Errorf("%s: %s: got %s, want %s", name, test.reason, got, test.want)
		}
	}
}
