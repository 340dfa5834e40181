package plan

import (
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// WindowsNameLength is the maximum length of a computer name of Windows.
const WindowsNameLength = 15

// VMName returns the name of the machine's VM: the name in the provider ID if there is one, else the machine's. A name
// that is too long for Windows is shortened to its first 9 and last 5 characters.
func VMName(in MachineInput) string {
	if providerID := in.AzureMachine.Spec.ProviderID; providerID != nil {
		if id, err := arm.ParseID(*providerID); err == nil {
			return id.Name()
		}
	}
	name := in.AzureMachine.Name
	if in.AzureMachine.Spec.OSDisk.OSType == infrav1.WindowsOS && len(name) > WindowsNameLength {
		return strings.TrimSuffix(name[:9], "-") + "-" + name[len(name)-5:]
	}
	return name
}

// IsShortenedName reports whether a name may be the shortened name of a VM.
func IsShortenedName(name string) bool {
	n := len(name)
	return (n == WindowsNameLength || n == WindowsNameLength-1) && name[n-6] == '-'
}

// VMID returns the ID of the machine's VM.
func VMID(in MachineInput) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in.ClusterInput), types.VirtualMachine, VMName(in))
}

// NICName returns the name of network interface i of count, counted from 0. A single interface has no number.
func NICName(in MachineInput, i, count int) string {
	if count <= 1 {
		return VMName(in) + "-nic"
	}
	return fmt.Sprintf("%s-nic-%d", VMName(in), i)
}

// NICID returns the ID of a network interface.
func NICID(in MachineInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in.ClusterInput), types.NetworkInterface, name)
}

// DiskID returns the ID of a managed disk.
func DiskID(in MachineInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in.ClusterInput), types.Disk, name)
}

// NodePublicIPID returns the ID of the public IP address of a machine with spec.allocatePublicIP.
func NodePublicIPID(in MachineInput) arm.ID { return PublicIPID(in.ClusterInput, "pip-"+VMName(in)) }

// NATRuleID returns the ID of the inbound NAT rule for port 22 of a control-plane machine. ok is false if the cluster has
// no API server load balancer of its own.
func NATRuleID(in MachineInput) (id arm.ID, ok bool) {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	if lb == nil || lb.Name == "" {
		return "", false
	}
	return LoadBalancerID(in.ClusterInput, lb.Name).Child("inboundNatRules", VMName(in)), true
}

// AvailabilitySetName returns the name of the availability set that the machine shares with the machines of its control
// plane, MachineDeployment or MachineSet. ok is false for a machine that belongs to none of them.
func AvailabilitySetName(in MachineInput) (name string, ok bool) {
	group := "control-plane"
	if !in.ControlPlane {
		label := GroupLabel(in)
		if label == "" {
			return "", false
		}
		group = in.Machine.Labels[label]
	}
	return ClusterName(in.ClusterInput) + "_" + group + "-as", true
}

// GroupLabel returns the label with the name of the worker's MachineDeployment, else of its MachineSet; "" for a machine without either.
func GroupLabel(in MachineInput) string {
	if in.Machine == nil {
		return ""
	}
	for _, label := range []string{clusterv1.MachineDeploymentNameLabel, clusterv1.MachineSetNameLabel} {
		if in.Machine.Labels[label] != "" {
			return label
		}
	}
	return ""
}

// AvailabilitySetID returns the ID of an availability set.
func AvailabilitySetID(in MachineInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in.ClusterInput), types.AvailabilitySet, name)
}

// ExtensionID returns the ID of a VM extension.
func ExtensionID(in MachineInput, name string) arm.ID { return VMID(in).Child("extensions", name) }
