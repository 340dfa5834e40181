package framework

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/framework"
)

// UpgradeManagedControlPlaneAndWaitInput is the input of UpgradeManagedControlPlaneAndWait.
type UpgradeManagedControlPlaneAndWaitInput struct {
	ClusterProxy                    framework.ClusterProxy
	Cluster                         *clusterv1.Cluster
	MachinePools                    []*clusterv1.MachinePool
	KubernetesUpgradeVersion        string
	WaitForControlPlaneToBeUpgraded []any
	WaitForMachinePoolToBeUpgraded  []any
}

// UpgradeManagedControlPlaneAndWait sets the version of a managed control plane, through the topology if the Cluster has one, and then that of
// its machine pools. It waits for the control plane and for the nodes.
func UpgradeManagedControlPlaneAndWait(ctx context.Context, input UpgradeManagedControlPlaneAndWaitInput) {
	kube, version := input.ClusterProxy.GetClient(), input.KubernetesUpgradeVersion
	control := WaitForManagedControlPlaneInput{Getter: kube, Cluster: input.Cluster}

	ginkgo.By(fmt.Sprintf("Upgrading cluster %s to %s", klog.KObj(input.Cluster), version))
	cluster := &clusterv1.Cluster{}
	gomega.Expect(kube.Get(ctx, client.ObjectKeyFromObject(input.Cluster), cluster)).To(gomega.Succeed())
	if cluster.Spec.Topology.IsDefined() {
		patchObject(ctx, kube, cluster, map[string]any{"spec": map[string]any{"topology": map[string]any{"version": version}}})
	} else {
		controlPlane := getControlPlane(ctx, gomega.NewGomega(func(message string, skip ...int) { ginkgo.Fail(message, skip...) }), control)
		patchObject(ctx, kube, controlPlane, map[string]any{"spec": map[string]any{"version": version}})
	}
	WaitForManagedControlPlaneVersion(ctx, control, version, input.WaitForControlPlaneToBeUpgraded...)

	for _, pool := range input.MachinePools {
		if !cluster.Spec.Topology.IsDefined() {
			patchObject(ctx, kube, pool, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"version": version}}}})
		}
		ginkgo.By(fmt.Sprintf("Waiting for the machines of pool %s to have version %s", klog.KObj(pool), version))
		framework.WaitForMachinePoolInstancesToBeUpgraded(ctx, framework.WaitForMachinePoolInstancesToBeUpgradedInput{
			Getter: kube, WorkloadClusterGetter: input.ClusterProxy.GetWorkloadCluster(ctx, cluster.Namespace, cluster.Name).GetClient(),
			Cluster: cluster, MachineCount: int(*pool.Spec.Replicas), KubernetesUpgradeVersion: version, MachinePool: pool,
		}, input.WaitForMachinePoolToBeUpgraded...)
	}
}

// patchObject merges fields into an object.
func patchObject(ctx context.Context, kube client.Client, object client.Object, change map[string]any) {
	raw, err := json.Marshal(change)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Eventually(func() error {
		return kube.Patch(ctx, object, client.RawPatch(types.MergePatchType, raw))
	}, "10m", "2s").Should(gomega.Succeed(), "Failed to change %s", klog.KObj(object))
}
