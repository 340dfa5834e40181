package plan_test

import (
	"strings"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

func TestMachineCheck(t *testing.T) {
	tests := map[string]struct {
		reason string
		from   string
		change func(in *plan.MachineInput)
		want   []string
	}{
		"worker": {reason: "nothing to refuse"},
		"unknown size": {reason: "the nearest names help with typing errors", change: func(in *plan.MachineInput) {
			in.MachineFacts.VMSize = nil
			in.MachineFacts.NearestVMSizes = []string{"Standard_D2s_v3", "Standard_D2s_v4"}
		}, want: []string{
			`spec.vmSize: Invalid value: "Standard_D2s_v3": region westus2 does not have this VM size. Similar sizes are Standard_D2s_v3, Standard_D2s_v4`}},
		"restricted size": {reason: "Azure answers SkuNotAvailable",
			change: func(in *plan.MachineInput) { in.MachineFacts.VMSize.RestrictionReason = "NotAvailableForSubscription" },
			want:   []string{"spec.vmSize ... cannot use this size in region westus2 (NotAvailableForSubscription)"}},
		"small size": {reason: "kubeadm refuses it",
			change: func(in *plan.MachineInput) { in.MachineFacts.VMSize.VCPUs, in.MachineFacts.VMSize.MemoryGB = 1, 0.5 },
			want:   []string{"spec.vmSize ... has 1 vCPUs and 0.5 GiB"}},
		"size not in the zone": {reason: "the message names the zones where it is", from: "machine-control-plane",
			change: func(in *plan.MachineInput) { in.MachineFacts.VMSize.Zones = []string{"1", "3"} },
			want:   []string{"spec.vmSize ... is not available in zone 2 of region westus2 but in 1, 3"}},
		"size in no zone": {reason: "as in a region that offers it without zones", from: "machine-control-plane",
			change: func(in *plan.MachineInput) { in.MachineFacts.VMSize.Zones = nil },
			want:   []string{"nor in any other zone"}},
		"zone in a region without": {reason: "Azure answers AvailabilityZoneNotSupported", from: "machine-control-plane",
			change: func(in *plan.MachineInput) { in.Facts.Zones = nil },
			want:   []string{`spec.failureDomain: Invalid value: "2": region westus2 has no availability zones`}},
		"zone in a network of others": {reason: "its owner does not list the zones of the region", from: "machine-control-plane",
			change: func(in *plan.MachineInput) {
				in.Facts.Zones = nil
				in.AzureCluster.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "network-team"}
			}},
		"zone that the size does not have, in a network of others": {reason: "the size is listed", from: "machine-control-plane",
			change: func(in *plan.MachineInput) {
				in.Facts.Zones, in.MachineFacts.VMSize.Zones = nil, []string{"1", "3"}
				in.AzureCluster.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "network-team"}
			}, want: []string{"spec.vmSize ... is not available in zone 2 of region westus2 but in 1, 3"}},
		"unknown zone": {reason: "the message names those there are", from: "machine-control-plane",
			change: func(in *plan.MachineInput) { in.Machine.Spec.FailureDomain = "7" },
			want:   []string{`spec.failureDomain: Invalid value: "7": is not an availability zone of region westus2: choose from 1, 2, 3`}},
		"zone in an edge zone": {reason: "it has none", from: "machine-edge-zone",
			change: func(in *plan.MachineInput) { in.Machine.Spec.FailureDomain = "1" },
			want:   []string{"spec.failureDomain ... edge zone"}},
		"key that is not encoded": {reason: "the common mistake",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.SSHPublicKey = "ssh-rsa AAAA me@example.com" },
			want:   []string{"spec.sshPublicKey ... is an SSH key, but not encoded in base64: set it to the output of: base64"}},
		"key cut off": {reason: "it is base64 and nothing else",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.SSHPublicKey = "c3NoLXJzYSBBQUFB" },
			want:   []string{"spec.sshPublicKey ... decodes to a key that is not of its type ssh-rsa"}},
		"no key": {reason: "a VM with Linux needs one", change: func(in *plan.MachineInput) { in.AzureMachine.Spec.SSHPublicKey = "" },
			want: []string{"spec.sshPublicKey ... there is no SSH key"}},
		"long bootstrap data": {reason: "Azure takes them",
			change: func(in *plan.MachineInput) { in.BootstrapData = make([]byte, 65535) }},
		"bootstrap data that are too long": {reason: "Azure answers InvalidParameter",
			change: func(in *plan.MachineInput) {
				in.Machine.Spec.Bootstrap.DataSecretName, in.BootstrapData = new("worker-data"), make([]byte, 65536)
			},
			want: []string{`Machine.spec.bootstrap.dataSecretName: Invalid value: "worker-data": the bootstrap data have 65536 bytes, and Azure takes at most 65535: shorten the files`}},
		"some base64": {reason: "not a key at all", change: func(in *plan.MachineInput) { in.AzureMachine.Spec.SSHPublicKey = "aGVsbG8=" },
			want: []string{"spec.sshPublicKey ... does not decode to a line"}},
		"sovereign cloud": {reason: "the gallery of the reference images is in the public cloud", change: func(in *plan.MachineInput) {
			in.AzureCluster.Spec.AzureEnvironment, in.AzureMachine.Spec.Image = infrav1.USGovernmentCloud, nil
		}, want: []string{`spec.image ... the reference images are in AzurePublicCloud only, and the cluster is in AzureUSGovernmentCloud`}},
		"no version": {reason: "no default image is known", change: func(in *plan.MachineInput) { in.Machine.Spec.Version = "" },
			want: []string{`spec.image ... the Kubernetes version "" is not a semantic version`}},
		"two node subnets": {reason: "the user has to choose one", change: func(in *plan.MachineInput) {
			in.AzureCluster = readInputOr(t, "two-node-subnets-custom-rules", "").AzureCluster
		}, want: []string{
			"spec.networkInterfaces[0].subnetName ... has 2 subnets with the role node (node-subnet-2, node-subnet): choose one of them"}},
		"no subnet": {reason: "nowhere to go", change: func(in *plan.MachineInput) { in.AzureCluster.Spec.NetworkSpec.Subnets = nil },
			want: []string{"spec.networkInterfaces[0].subnetName ... no subnet with the role node or cluster"}},
		"role without an identity's parts": {reason: "a role assignment needs a name, scope and definition", from: "machine-system-identity",
			change: func(in *plan.MachineInput) {
				in.AzureMachine.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{}
			}, want: []string{"systemAssignedIdentityRole.definitionID: Required", "systemAssignedIdentityRole.name: Required",
				"systemAssignedIdentityRole.scope: Required"}},
		"role by its name": {reason: "Azure answers that the ID is malformed, after the VM is made", from: "machine-system-identity",
			change: func(in *plan.MachineInput) {
				in.AzureMachine.Spec.SystemAssignedIdentityRole.DefinitionID = "$/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
			}, want: []string{`spec.systemAssignedIdentityRole.definitionID ... "$/subscriptions/s ... is not the ID of a role definition`}},
		"role of the tenant": {reason: "built-in roles have an ID without a scope, too", from: "machine-system-identity",
			change: func(in *plan.MachineInput) {
				in.AzureMachine.Spec.SystemAssignedIdentityRole.DefinitionID = "/providers/Microsoft.Authorization/roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
			}},
		"no identities": {reason: "there is none to assign", from: "machine-user-identity",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.UserAssignedIdentities = nil },
			want:   []string{"spec.userAssignedIdentities: Required"}},
		"no availability sets": {reason: "a region without zones and sets cannot spread machines", from: "machine-worker-availability-set",
			change: func(in *plan.MachineInput) {
				in.MachineFacts.MaximumPlatformFaultDomainCount = 0
			}, want: []string{"spec.failureDomain ... availability set"}},
		"availability set with a name of 80": {reason: "Azure takes 80 characters", from: "machine-worker-availability-set",
			change: withDeployment(80 - len("c1_-as"))},
		"availability set with a longer name": {reason: "Azure refuses it, and the MachineDeployment cannot get another name",
			from: "machine-worker-availability-set", change: withDeployment(81 - len("c1_-as")),
			want: []string{"Machine.metadata.labels[cluster.x-k8s.io/deployment-name] ... region westus2 has no zones, so the machine goes into the availability set c1_d ... 81 characters, and Azure accepts at most 80: use a MachineDeployment or MachineSet whose name has at most 74 characters"}},
		"availability set of a control plane": {reason: "a Cluster with the longest name gets one", from: "machine-control-plane-availability-set",
			change: func(in *plan.MachineInput) { in.Cluster.Name = strings.Repeat("c", 63) }},
		"longer name in a region with zones": {reason: "there is no availability set", from: "machine-worker", change: withDeployment(81)},
		"ephemeral disk": {reason: "the size has no place for it", from: "machine-spot", change: withoutCapability("EphemeralOSDiskSupported"),
			want: []string{
				"spec.osDisk.diffDiskSettings ... VM size Standard_D2s_v3 does not support an ephemeral OS disk (capability EphemeralOSDiskSupported)"}},
		"ultra disk in a zone without": {reason: "the capability is the zone's", from: "machine-disks",
			change: func(in *plan.MachineInput) { in.Machine.Spec.FailureDomain = "2" },
			want:   []string{"spec.dataDisks ... does not support ultra disks in zone 2 of region westus2 (capability UltraSSDAvailable)"}},
		"ultra disk anywhere": {reason: "without a zone any will do", from: "machine-disks",
			change: func(in *plan.MachineInput) { in.Machine.Spec.FailureDomain = "" }},
		"ultra disk turned off": {reason: "an explicit false is not overruled, so the disk cannot be", from: "machine-disks",
			change: func(in *plan.MachineInput) {
				in.AzureMachine.Spec.AdditionalCapabilities.UltraSSDEnabled = new(false)
			}, want: []string{"spec.additionalCapabilities.ultraSSDEnabled ... UltraSSD_LRS"}},
		"encryption at the host": {reason: "not every size can", from: "machine-trusted-launch",
			change: withoutCapability("EncryptionAtHostSupported"),
			want:   []string{"spec.securityProfile.encryptionAtHost ... (capability EncryptionAtHostSupported)"}},
		"trusted launch": {reason: "some sizes exclude it", from: "machine-trusted-launch",
			change: func(in *plan.MachineInput) { in.MachineFacts.VMSize.Capabilities["TrustedLaunchDisabled"] = "True" },
			want:   []string{"spec.securityProfile.uefiSettings ... does not support Trusted Launch (capability TrustedLaunchDisabled)"}},
		"secure boot without trusted launch": {reason: "Azure would ignore it", from: "machine-trusted-launch",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.SecurityProfile.SecurityType = "" },
			want:   []string{"spec.securityProfile.securityType ... need TrustedLaunch"}},
		"confidential VM": {reason: "few sizes can", from: "machine-confidential", change: withoutCapability("ConfidentialComputingType"),
			want: []string{"spec.securityProfile.securityType ... does not support confidential VMs (capability ConfidentialComputingType)"}},
		"accelerated networking": {reason: "asked for by name it is no wish to be ignored", from: "machine-network",
			change: func(in *plan.MachineInput) {
				in.MachineFacts.VMSize.Capabilities["AcceleratedNetworkingEnabled"] = "False"
				in.AzureMachine.Spec.NetworkInterfaces[0].AcceleratedNetworking = new(true)
				in.AzureMachine.Spec.NetworkInterfaces[1].AcceleratedNetworking = nil
			}, want: []string{
				"spec.networkInterfaces[0].acceleratedNetworking ... does not support accelerated networking (capability AcceleratedNetworkingEnabled)"}},
		"many interfaces": {reason: "a size has so many and no more", from: "machine-network",
			change: withCapability("MaxNetworkInterfaces", "1"),
			want:   []string{"spec.networkInterfaces: Invalid value: 2: VM size ... allows at most 1 network interfaces (capability MaxNetworkInterfaces)"}},
		"tags": {reason: "Azure takes 50 on a resource, four of which are the provider's", change: withTags(23, 46)},
		"too many tags": {reason: "those of the cluster count, and one that both have counts once", change: withTags(23, 47),
			want: []string{"spec.additionalTags: Invalid value: 51: tags on the VM"}},
		"many disks": {reason: "a size has so many and no more", from: "machine-disks", change: withCapability("MaxDataDiskCount", "1"),
			want: []string{"spec.dataDisks ... allows at most 1 data disks (capability MaxDataDiskCount)"}},
		"premium disks": {reason: "sizes without an s have standard disks only", change: withCapability("PremiumIO", "False"),
			want: []string{"spec.osDisk.managedDisk.storageAccountType ... (capability PremiumIO)"}},
		"place of an ephemeral disk": {reason: "the message names the places there are", from: "machine-spot",
			change: func(in *plan.MachineInput) {
				in.MachineFacts.VMSize.Capabilities["SupportedEphemeralOSDiskPlacements"] = "ResourceDisk,CacheDisk"
				in.AzureMachine.Spec.OSDisk.DiffDiskSettings.Placement = new(infrav1.DiffDiskPlacement("NvmeDisk"))
			}, want: []string{
				"spec.osDisk.diffDiskSettings.placement ... only on ResourceDisk, CacheDisk (capability SupportedEphemeralOSDiskPlacements)"}},
		"spot": {reason: "some sizes are not to be had as spot VMs", from: "machine-spot", change: withCapability("LowPriorityCapable", "False"),
			want: []string{"spec.spotVMOptions ... does not support spot VMs (capability LowPriorityCapable)"}},
		"confidential VM with one of two settings": {reason: "all of it is needed for an encrypted disk", from: "machine-confidential",
			change: func(in *plan.MachineInput) {
				in.AzureMachine.Spec.OSDisk.ManagedDisk.SecurityProfile.SecurityEncryptionType = infrav1.SecurityEncryptionTypeDiskWithVMGuestState
				in.AzureMachine.Spec.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: new(true)}
			}, want: []string{"securityType ... needs ConfidentialVM", "vTpmEnabled: Required", "secureBootEnabled: Required",
				"encryptionAtHost: Forbidden"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInputOr(t, test.from, "machine-worker")
			if test.change != nil {
				test.change(&in)
			}
			fieldtest.RequireRefusals(t, test.reason, machine.CheckSpec(in), test.want)
		})
	}
}

// withDeployment puts the machine into a MachineDeployment whose name has so many characters.
func withDeployment(characters int) func(in *plan.MachineInput) {
	return func(in *plan.MachineInput) {
		in.Machine.Labels = map[string]string{clusterv1.MachineDeploymentNameLabel: strings.Repeat("d", characters)}
	}
}

// withTags gives cluster and machine tags, of which the cluster's are the first of the machine's.
func withTags(cluster, machine int) func(in *plan.MachineInput) {
	return func(in *plan.MachineInput) {
		in.AzureCluster.Spec.AdditionalTags, in.AzureMachine.Spec.AdditionalTags = fieldtest.NewTags(cluster), fieldtest.NewTags(machine)
	}
}

func withCapability(capability, value string) func(in *plan.MachineInput) {
	return func(in *plan.MachineInput) { in.MachineFacts.VMSize.Capabilities[capability] = value }
}

func withoutCapability(capability string) func(in *plan.MachineInput) {
	return func(in *plan.MachineInput) { delete(in.MachineFacts.VMSize.Capabilities, capability) }
}

func TestMachineUnsupported(t *testing.T) {
	tests := map[string]struct {
		reason string
		from   string
		change func(spec *infrav1.AzureMachineSpec)
		want   []string
	}{
		"worker":            {reason: "nothing to refuse"},
		"deprecated fields": {reason: "alone they are validated", from: "machine-deprecated-network-fields"},
		"deprecated fields beside the list": {reason: "one of the two would be ignored", change: func(spec *infrav1.AzureMachineSpec) {
			spec.SubnetName, spec.AcceleratedNetworking = "s", new(true)
		}, want: []string{"spec.subnetName: Forbidden", "spec.acceleratedNetworking: Forbidden"}},
		"old role name": {reason: "defaulting moves it; left over, nothing reads it",
			change: func(spec *infrav1.AzureMachineSpec) { spec.RoleAssignmentName = "r" },
			want:   []string{"spec.roleAssignmentName: Forbidden"}},
		"identities of another kind": {reason: "the VM would have none", change: func(spec *infrav1.AzureMachineSpec) {
			spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: "x"}}
			spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{}
		}, want: []string{"spec.systemAssignedIdentityRole: Forbidden", "spec.userAssignedIdentities: Forbidden"}},
		"unknown system": {reason: "there is no image and no way to boot",
			change: func(spec *infrav1.AzureMachineSpec) { spec.OSDisk.OSType = "Plan9" },
			want:   []string{`spec.osDisk.osType: Unsupported value: "Plan9"`}},
		"extensions turned off": {reason: "Azure would refuse them", from: "machine-extensions",
			change: func(spec *infrav1.AzureMachineSpec) { spec.DisableExtensionOperations = new(true) },
			want:   []string{"spec.vmExtensions: Forbidden", "spec.disableVMBootstrapExtension: Forbidden"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInputOr(t, test.from, "machine-worker")
			if test.change != nil {
				test.change(&in.AzureMachine.Spec)
			}
			fieldtest.RequireRefusals(t, test.reason, machine.UnsupportedFields(in), test.want)
		})
	}
}
