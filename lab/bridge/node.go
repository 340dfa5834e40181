package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	// uninitializedTaint is the kubelet's until a cloud provider has looked the node up.
	uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"
	// shutdownTaint is the cloud provider's on the Node of a stopped VM.
	shutdownTaint = "node.cloudprovider.kubernetes.io/shutdown"
)

// newNode is the Node as it looks once the kubelet has registered, the network plugin is there and,
// when the kubelet runs with cloud-provider=external, cloud-provider-azure has found its VM:
// provider ID, addresses, instance type, region and zone.
func newNode(g guest, plan *kubeadmPlan, vmID string, vm map[string]any) (*corev1.Node, error) {
	name := plan.nodeName(g.ComputerName)
	taints, err := plan.taints()
	if err != nil {
		return nil, err
	}
	labels, err := plan.labels()
	if err != nil {
		return nil, err
	}
	size, _ := dig(vm, "properties", "hardwareProfile", "vmSize").(string)
	node := registration{
		name: name, windows: g.windows(), size: size, version: kubernetesVersion(vm),
		machineID: strings.ReplaceAll(g.VMID, "/", "-"), bootID: g.BootID, labels: labels, taints: taints,
	}.node()
	if plan.controlPlane() {
		labels[controlPlaneLabel] = ""
		labels["node.kubernetes.io/exclude-from-external-load-balancers"] = ""
	}
	if plan.kubeletArg("cloud-provider") != "external" {
		return node, nil
	}
	lookUp(node, lookup{
		providerID: providerID(vmID), location: g.Location, zone: g.Zone, size: size, privateIPs: g.privateIPs(), publicIPs: g.publicIPs(),
	})
	return node, nil
}

// registration is what a kubelet tells of its machine.
type registration struct {
	name              string
	windows           bool
	size              string
	version           string
	machineID, bootID string
	labels            map[string]string
	taints            []corev1.Taint
}

// node is the Node that the kubelet registers, Ready. It keeps and completes the labels.
func (r registration) node() *corev1.Node {
	system, arch := "linux", architecture(r.size)
	if r.windows {
		system = "windows"
	}
	for k, v := range map[string]string{
		corev1.LabelHostname: r.name, corev1.LabelOSStable: system, corev1.LabelArchStable: arch,
		"beta.kubernetes.io/os": system, "beta.kubernetes.io/arch": arch,
	} {
		r.labels[k] = v
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        r.name,
			UID:         newUID(),
			Labels:      r.labels,
			Annotations: map[string]string{"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		},
		Spec: corev1.NodeSpec{Taints: r.taints},
		Status: corev1.NodeStatus{
			Conditions: nodeConditions(true),
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: r.name}},
			Capacity:   corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:          r.version,
				OperatingSystem:         system,
				Architecture:            arch,
				MachineID:               r.machineID,
				BootID:                  r.bootID,
				ContainerRuntimeVersion: "containerd://2.0.0",
			},
		},
	}
	node.Status.Allocatable = node.Status.Capacity
	return node
}

// lookup is what cloud-provider-azure finds out about a Node's VM.
type lookup struct {
	providerID, location, zone, size string
	privateIPs, publicIPs            []string
}

// lookUp writes onto a Node what cloud-provider-azure would.
func lookUp(node *corev1.Node, l lookup) {
	node.Spec.ProviderID = l.providerID
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == uninitializedTaint })
	for _, ip := range l.privateIPs {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
	}
	for _, ip := range l.publicIPs {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: ip})
	}
	location := strings.ToLower(l.location)
	node.Labels[corev1.LabelTopologyRegion] = location
	// Without an availability zone the zone label carries the fault domain, which counts from 0.
	node.Labels[corev1.LabelTopologyZone] = "0"
	if l.zone != "" {
		node.Labels[corev1.LabelTopologyZone] = location + "-" + l.zone
	}
	if l.size != "" {
		node.Labels[corev1.LabelInstanceTypeStable] = l.size
	}
}

// architecture tells Arm64 sizes by their name: a "p" among the feature letters behind the core
// count. https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
func architecture(size string) string {
	parts := strings.Split(size, "_")
	if len(parts) < 2 {
		return "amd64"
	}
	features := strings.TrimLeft(parts[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
	if strings.Contains(features, "p") {
		return "arm64"
	}
	return "amd64"
}

// providerID is cloud-provider-azure's: the VM's resource ID with the resource group in lower case.
func providerID(vmID string) string {
	parts := strings.Split(vmID, "/")
	for i := range parts {
		if strings.EqualFold(parts[i], "resourceGroups") && i+1 < len(parts) {
			parts[i] = "resourceGroups"
			parts[i+1] = strings.ToLower(parts[i+1])
		}
	}
	return "azure://" + strings.Join(parts, "/")
}

func nodeConditions(on bool) []corev1.NodeCondition {
	now := metav1.Now()
	list := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
		{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
	}
	for i := range list {
		list[i].LastTransitionTime, list[i].LastHeartbeatTime = now, now
		if !on && list[i].Type != corev1.NodeNetworkUnavailable {
			list[i].Status, list[i].Reason, list[i].Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
	}
	return list
}

// register creates the Node. A Node of that name from an earlier machine is replaced, as the
// kubelet of a new VM takes it over. The caller holds w.mu.
func (w *workload) register(ctx context.Context, node *corev1.Node) error {
	err := w.client.Create(ctx, node.DeepCopy())
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := deleteIfThere(ctx, w.client, &corev1.Node{}, "", node.Name); err != nil {
		return err
	}
	return w.client.Create(ctx, node.DeepCopy())
}

// setNodePower writes what the node lifecycle controllers do when a VM stops or starts. The caller
// holds w.mu.
func (w *workload) setNodePower(ctx context.Context, name string, on bool) error {
	node := &corev1.Node{}
	if err := w.client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("node %s: %w", name, err)
		}
		// Somebody deleted the Node meanwhile: a kubelet that starts registers again.
		if m := w.members[name]; on && m != nil {
			return w.register(ctx, m.node)
		}
		return nil
	}
	node.Status.Conditions = nodeConditions(on)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == shutdownTaint || t.Key == corev1.TaintNodeUnreachable
	})
	if !on {
		for _, key := range []string{shutdownTaint, corev1.TaintNodeUnreachable} {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	return w.client.Update(ctx, node)
}
