//go:build e2e

package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlcluster "sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/cluster-api/test/framework"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	ours "sigs.k8s.io/cluster-api-provider-azure/test/e2e/framework"
)

// checkResilience returns the checks that Cluster API makes in its own quick start: owner references and finalizers that were removed come
// back, owner references get the current API version, and objects of a stable cluster do not change.
func checkResilience(c catalog.Case) func(framework.ClusterProxy, string, string) {
	return func(management framework.ClusterProxy, namespace, cluster string) {
		filter := clusterctlcluster.FilterClusterObjectsWithNameFilter(cluster)
		owners := []ours.OwnerAssertions{framework.CoreOwnerReferenceAssertion, framework.ExpOwnerReferenceAssertions,
			ours.BootstrapOwners(c.IsTopology()), framework.KubeadmControlPlaneOwnerReferenceAssertions(c.IsTopology()),
			ours.AzureOwners(c.IsTopology()), secretOwners(c)}

		By("Checking that owner references are resilient")
		framework.ValidateOwnerReferencesResilience(ctx, management, namespace, cluster, filter, owners...)
		By("Checking that owner references are updated to the correct API version")
		framework.ValidateOwnerReferencesOnUpdate(ctx, management, namespace, cluster, filter, owners...)

		coreFinalizers := framework.CoreFinalizersAssertionWithLegacyClusters
		if c.IsTopology() {
			coreFinalizers = framework.CoreFinalizersAssertionWithClassyClusters
		}
		By("Checking that finalizers are resilient")
		framework.ValidateFinalizersResilience(ctx, management, namespace, cluster, filter, coreFinalizers,
			framework.KubeadmControlPlaneFinalizersAssertion, framework.ExpFinalizersAssertion, ours.AzureFinalizers,
			credentialFinalizers(c, management, namespace, cluster))

		By("Checking that resourceVersions are stable")
		framework.ValidateResourceVersionStable(ctx, framework.ValidateResourceVersionStableInput{
			ClusterProxy: management, Namespace: namespace, OwnerGraphFilterFunction: filter,
			WaitToBecomeStable: config.GetIntervals(c.Spec, "wait-resource-versions-become-stable"),
			WaitToRemainStable: config.GetIntervals(c.Spec, "wait-resource-versions-remain-stable"),
		})
	}
}

// credentialFinalizers are those of the identity and of the Secrets, which depend on the object that uses the identity.
func credentialFinalizers(c catalog.Case, management framework.ClusterProxy, namespace, cluster string) map[string]func(types.NamespacedName) []string {
	object := &clusterv1.Cluster{}
	Expect(management.GetClient().Get(ctx, types.NamespacedName{Namespace: namespace, Name: cluster}, object)).To(Succeed())
	prefix, user := infrav1.ClusterFinalizer, object.Spec.InfrastructureRef.Name
	if c.Family == catalog.AKS {
		prefix, user = infrav1.ManagedControlPlaneFinalizer, object.Spec.ControlPlaneRef.Name
	}
	return ours.CredentialFinalizers(identitySecret, prefix, types.NamespacedName{Namespace: namespace, Name: user})
}

func secretOwners(c catalog.Case) ours.OwnerAssertions {
	switch c.Family {
	case catalog.AKS:
		return ours.ManagedSecretOwners(identitySecret, "AzureManagedControlPlane")
	case catalog.ASO:
		return ours.ManagedSecretOwners(identitySecret, "AzureASOManagedControlPlane")
	default:
		return ours.SecretOwners(identitySecret)
	}
}
