package bridge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// managedNode is a VM of an agent pool as the simulator's control API shows it, from the moment on at which it runs.
type managedNode struct {
	Name              string            `json:"name"`
	Pool              string            `json:"pool"`
	Mode              string            `json:"mode"`
	InstanceID        string            `json:"instanceID"`
	ProviderID        string            `json:"providerID"`
	Addresses         []string          `json:"addresses"`
	KubernetesVersion string            `json:"kubernetesVersion"`
	OSType            string            `json:"osType"`
	OSSKU             string            `json:"osSKU"`
	NodeImageVersion  string            `json:"nodeImageVersion"`
	VMSize            string            `json:"vmSize"`
	VCPUs             int               `json:"vCPUs"`
	MemoryGB          float64           `json:"memoryGB"`
	Zone              string            `json:"zone"`
	Labels            map[string]string `json:"labels"`
	Taints            []string          `json:"taints"`
	Priority          string            `json:"priority"`
	Running           *bool             `json:"running"`
	BootID            string            `json:"bootID"`
}

func (n managedNode) isOff() bool { return n.Running != nil && !*n.Running }

const (
	aksPrefix = "kubernetes.azure.com/"
	// labelLength is how long the value of a label may be.
	labelLength = 63
)

// newNode returns the Node as AKS's kubelet registers it and cloud-provider-azure completes it.
// https://learn.microsoft.com/azure/aks/use-labels lists AKS's own labels.
func (n managedNode) newNode(c managedCluster) (*corev1.Node, error) {
	labels := map[string]string{
		"agentpool":             n.Pool,
		aksPrefix + "agentpool": n.Pool,
		aksPrefix + "cluster":   n.nodeResourceGroup(),
		aksPrefix + "mode":      strings.ToLower(n.Mode),
		aksPrefix + "role":      "agent",
	}
	for name, value := range map[string]string{"node-image-version": n.NodeImageVersion, "os-sku": n.OSSKU} {
		if value != "" {
			labels[aksPrefix+name] = value
		}
	}
	var taints []corev1.Taint
	for _, text := range n.Taints {
		t, err := parseTaint(text)
		if err != nil {
			return nil, err
		}
		taints = append(taints, t)
	}
	if strings.EqualFold(n.Priority, "Spot") {
		labels[aksPrefix+"scalesetpriority"] = "spot"
		spot := corev1.Taint{Key: aksPrefix + "scalesetpriority", Value: "spot", Effect: corev1.TaintEffectNoSchedule}
		if !slices.Contains(taints, spot) {
			taints = append(taints, spot)
		}
	}
	maps.Copy(labels, n.Labels)
	for name, value := range labels {
		if len(value) > labelLength {
			labels[name] = strings.TrimRight(value[:labelLength], "-_.")
		}
	}
	node := registration{
		name: n.Name, windows: strings.EqualFold(n.OSType, "Windows"), size: n.VMSize, vCPUs: n.VCPUs, memoryGB: n.MemoryGB,
		version:   gitVersion(n.KubernetesVersion),
		machineID: strings.ReplaceAll(n.InstanceID, "/", "-"), bootID: n.BootID, labels: labels, taints: taints,
	}.newNode()
	lookUp(node, lookup{providerID: n.ProviderID, location: c.Location, zone: n.Zone, size: n.VMSize, privateIPs: n.Addresses})
	return node, nil
}

// nodeResourceGroup returns the group of the VM, in the writing of its resource ID; provider IDs have it in lower case.
func (n managedNode) nodeResourceGroup() string {
	for _, id := range []string{n.InstanceID, strings.TrimPrefix(n.ProviderID, "azure://")} {
		parts := strings.Split(id, "/")
		for i, part := range parts {
			if strings.EqualFold(part, "resourceGroups") && i+1 < len(parts) {
				return parts[i+1]
			}
		}
	}
	return ""
}

// parseTaint reads key=value:effect or key:effect.
func parseTaint(text string) (corev1.Taint, error) {
	pair, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	if !ok || key == "" {
		return corev1.Taint{}, fmt.Errorf("taint %q is not key=value:effect", text)
	}
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, nil
}

// updateNode changes a Node from the previous state that AKS wanted to the present one. Labels, taints and annotations
// of others stay. The caller holds w.mu.
func (w *workload) updateNode(ctx context.Context, before, wanted *corev1.Node) error {
	err := w.changeNode(ctx, wanted.Name, func(node *corev1.Node) { updateNode(node, before, wanted) })
	switch {
	case !apierrors.IsNotFound(err):
		return err
	case before.Status.NodeInfo.BootID == wanted.Status.NodeInfo.BootID:
		return nil // a client deleted the Node, and the kubelet has not started since
	}
	return w.registerNode(ctx, wanted)
}

func updateNode(node, before, wanted *corev1.Node) {
	for key := range before.Labels {
		delete(node.Labels, key)
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, wanted.Labels)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return slices.ContainsFunc(before.Spec.Taints, func(old corev1.Taint) bool { return t.MatchTaint(&old) })
	})
	for _, t := range wanted.Spec.Taints {
		if !slices.ContainsFunc(node.Spec.Taints, func(there corev1.Taint) bool { return t.MatchTaint(&there) }) {
			node.Spec.Taints = append(node.Spec.Taints, t)
		}
	}
	node.Status.NodeInfo, node.Status.Addresses = wanted.Status.NodeInfo, wanted.Status.Addresses
	node.Status.Capacity, node.Status.Allocatable = wanted.Status.Capacity, wanted.Status.Allocatable
}
