package bridge

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubeapi"
)

const (
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	// uninitializedTaint is the kubelet's when it runs with cloud-provider=external, until a cloud provider has found the machine.
	uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"
	// providedIPAnnotation tells the cloud provider which of the machine's addresses the kubelet uses: its flag node-ip.
	providedIPAnnotation = "alpha.kubernetes.io/provided-node-ip"
	// shutdownTaint is the cloud provider's on the Node of a stopped VM.
	shutdownTaint = "node.cloudprovider.kubernetes.io/shutdown"
)

// newNode returns the Node as the kubelet registers it, with a network plugin that works at once. A kubelet with cloud-provider=external
// leaves provider ID, addresses, instance type, region and zone to the cloud provider, and marks the Node with a taint until it has them:
// https://kubernetes.io/docs/tasks/administer-cluster/running-cloud-controller/#running-cloud-controller-manager. found is what
// cloud-node-manager writes then; nil for any other kubelet.
func newNode(g guest, plan *kubeadmPlan, vmID string, vm map[string]any) (node *corev1.Node, found *lookup, err error) {
	name := plan.nodeName(g.ComputerName)
	taints, err := plan.nodeTaints()
	if err != nil {
		return nil, nil, err
	}
	labels, err := plan.nodeLabels()
	if err != nil {
		return nil, nil, err
	}
	size := g.VMSize
	node = registration{
		name: name, windows: g.isWindows(), size: size, vCPUs: g.VCPUs, memoryGB: g.MemoryGB, version: kubernetesVersion(vm),
		machineID: strings.ReplaceAll(g.VMID, "/", "-"), bootID: g.BootID, labels: labels, taints: taints,
	}.newNode()
	if plan.controlPlane() {
		labels[controlPlaneLabel] = ""
		labels["node.kubernetes.io/exclude-from-external-load-balancers"] = ""
	}
	if plan.kubeletArg("cloud-provider") != "external" {
		return node, nil, nil
	}
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: uninitializedTaint, Value: "true", Effect: corev1.TaintEffectNoSchedule})
	if ip := plan.kubeletArg("node-ip"); ip != "" {
		node.Annotations[providedIPAnnotation] = ip
	}
	return node, &lookup{
		providerID: providerID(vmID), location: g.Location, zone: g.Zone, size: size, privateIPs: g.privateIPs(), publicIPs: g.publicIPs(),
	}, nil
}

// registration has the properties of a machine that its kubelet registers.
type registration struct {
	name              string
	windows           bool
	size              string
	vCPUs             int
	memoryGB          float64
	version           string
	machineID, bootID string
	labels            map[string]string
	taints            []corev1.Taint
}

// newNode returns the Node that the kubelet registers, Ready. It keeps and completes the labels.
func (r registration) newNode() *corev1.Node {
	system, arch := "linux", architectureOf(r.size)
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
			UID:         kubeapi.NewUID(),
			Labels:      r.labels,
			Annotations: map[string]string{"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		},
		Spec: corev1.NodeSpec{Taints: r.taints},
		Status: corev1.NodeStatus{
			Conditions: nodeConditions(true),
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: r.name}},
			Capacity:   nodeCapacity(r.vCPUs, r.memoryGB),
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
	node.Status.Allocatable = node.Status.Capacity.DeepCopy()
	if memory, ok := node.Status.Allocatable[corev1.ResourceMemory]; ok {
		memory.Sub(evictionThreshold)
		node.Status.Allocatable[corev1.ResourceMemory] = memory
	}
	return node
}

// evictionThreshold is the memory that the kubelet keeps free by default: evictionHard memory.available.
// https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#hard-eviction-thresholds
var evictionThreshold = resource.MustParse("100Mi")

// nodeCapacity returns the capacity of a machine of a size. The memory that firmware and kernel take is not known, so
// none is subtracted. A size that the simulator does not know has pods only.
func nodeCapacity(vCPUs int, memoryGB float64) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	if vCPUs > 0 {
		list[corev1.ResourceCPU] = *resource.NewQuantity(int64(vCPUs), resource.DecimalSI)
	}
	if memoryGB > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(int64(memoryGB*(1<<30)), resource.BinarySI)
	}
	return list
}

// lookup is what cloud-node-manager finds out about its VM.
type lookup struct {
	providerID, location, zone, size string
	privateIPs, publicIPs            []string
}

// lookUp writes onto a Node what cloud-node-manager would.
// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/nodemanager/nodemanager.go
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

// architectureOf tells Arm64 sizes by their name: a "p" among the feature letters behind the core
// count. https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
func architectureOf(size string) string {
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

// registerNode creates the Node. A Node of that name from an earlier machine is replaced, as the
// kubelet of a new VM takes it over. The caller holds w.mu.
func (w *workload) registerNode(ctx context.Context, node *corev1.Node) error {
	err := w.client.Create(ctx, node.DeepCopy())
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := deleteIfThere(ctx, w.client, &corev1.Node{}, "", node.Name); err != nil {
		return err
	}
	return w.client.Create(ctx, node.DeepCopy())
}

// setNodePower changes a Node like the node lifecycle controllers when a VM stops or starts. The cloud provider sets
// the taint of stopped VMs. The caller holds w.mu.
func (w *workload) setNodePower(ctx context.Context, name string, on bool) error {
	taints := []string{corev1.TaintNodeUnreachable}
	if !w.hasCloudController(ctx) {
		taints = append(taints, shutdownTaint)
	}
	err := w.changeNode(ctx, name, func(node *corev1.Node) {
		node.Status.Conditions = nodeConditions(on)
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return slices.Contains(taints, t.Key) })
		if !on {
			for _, key := range taints {
				node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
			}
		}
	})
	// A Node that a client has deleted comes back when its kubelet starts.
	if m := w.members[name]; apierrors.IsNotFound(err) && on && m != nil {
		if err := w.registerNode(ctx, m.node); err != nil {
			return err
		}
		return w.initializeNodes(ctx)
	}
	return client.IgnoreNotFound(err)
}

// changeNode changes a Node that clients may change at the same time.
func (w *workload) changeNode(ctx context.Context, name string, change func(*corev1.Node)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node := &corev1.Node{}
		if err := w.client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		change(node)
		return w.client.Update(ctx, node)
	})
}
