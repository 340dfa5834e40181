//go:build e2e

package specs

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/test/e2e"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// runUpgrade upgrades Kubernetes. There are no pods in a lab, and so no conformance tests.
func runUpgrade(c catalog.Case) {
	e2e.ClusterUpgradeConformanceSpec(ctx, func() e2e.ClusterUpgradeConformanceSpecInput {
		machines := c.ControlPlaneMachines
		return e2e.ClusterUpgradeConformanceSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts, SkipConformanceTests: true,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c), ControlPlaneMachineCount: &machines,
		}
	})
}

// runClassChanges changes fields of the templates of a ClusterClass, which has to replace all machines.
func runClassChanges(c catalog.Case) {
	e2e.ClusterClassChangesSpec(ctx, func() e2e.ClusterClassChangesSpecInput {
		return e2e.ClusterClassChangesSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: *flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
			ModifyControlPlaneFields:                             map[string]any{"spec.kubeadmConfigSpec.verbosity": int64(4)},
			ModifyMachineDeploymentBootstrapConfigTemplateFields: map[string]any{"spec.template.spec.verbosity": int64(4)},
			ModifyMachineDeploymentInfrastructureMachineTemplateFields: map[string]any{
				"spec.template.spec.osDisk.diskSizeGB": int64(64),
			},
		}
	})
}

func runClassRollout(c catalog.Case) {
	e2e.ClusterClassRolloutSpec(ctx, func() e2e.ClusterClassRolloutSpecInput {
		return e2e.ClusterClassRolloutSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: *flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
			FilterMetadataBeforeValidation: withoutProviderAnnotations,
		}
	})
}

// withoutProviderAnnotations returns the metadata of an object without the annotations that this provider keeps for itself.
func withoutProviderAnnotations(object client.Object) clusterv1.ObjectMeta {
	out := clusterv1.ObjectMeta{Labels: object.GetLabels(), Annotations: maps.Clone(object.GetAnnotations())}
	maps.DeleteFunc(out.Annotations, func(name, _ string) bool {
		return strings.Contains(name, "cluster-api-provider-azure") || name == clusterctlv1.BlockMoveAnnotation
	})
	return out
}

// runDeletion checks the order of a deletion, with finalizers that block it: workers, control plane, infrastructure.
func runDeletion(c catalog.Case) {
	ofKinds := func(kinds ...string) func(corev1.ObjectReference, []metav1.OwnerReference) bool {
		return func(object corev1.ObjectReference, _ []metav1.OwnerReference) bool {
			return slices.Contains(kinds, object.Kind)
		}
	}
	machinesOf := func(kinds ...string) func(corev1.ObjectReference, []metav1.OwnerReference) bool {
		return func(object corev1.ObjectReference, owners []metav1.OwnerReference) bool {
			return slices.Contains(kinds, object.Kind) || object.Kind == "Machine" &&
				slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return slices.Contains(kinds, o.Kind) })
		}
	}
	e2e.ClusterDeletionSpec(ctx, func() e2e.ClusterDeletionSpecInput {
		machines := int64(3)
		return e2e.ClusterDeletionSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c), ControlPlaneMachineCount: &machines,
			ClusterDeletionPhases: []e2e.ClusterDeletionPhase{
				{ObjectFilter: machinesOf("MachineDeployment", "MachineSet"), BlockingObjectFilter: ofKinds("Machine")},
				{ObjectFilter: machinesOf("KubeadmControlPlane"), BlockingObjectFilter: ofKinds("Machine")},
				{ObjectFilter: ofKinds("AzureCluster"), BlockingObjectFilter: ofKinds("AzureCluster")},
			},
		}
	})
}
