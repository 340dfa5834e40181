package aks

import (
	"cmp"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kubernetesconfiguration/armkubernetesconfiguration/v2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// addExtensions adds the extensions of the managed cluster. Existing ones are adopted with the cluster.
func addExtensions(in Input, g *arm.Graph) {
	blocked := managedcluster.Observe(in.Facts.Cluster).WriteBlockedReason(ClusterID(in).Name())
	for _, spec := range in.ControlPlane.Spec.Extensions {
		g.Add(arm.Node{
			ID:           ExtensionID(in, spec.Name),
			Body:         buildExtension(in, spec),
			Policy:       arm.Repair,
			Foreign:      arm.AdoptForeign,
			Group:        infrav1.AKSExtensionsReadyCondition,
			WriteBlocked: blocked,
		})
	}
}

func buildExtension(in Input, spec infrav1.AKSExtension) armkubernetesconfiguration.Extension {
	properties := &armkubernetesconfiguration.ExtensionProperties{
		ExtensionType:           toString(spec.ExtensionType),
		AutoUpgradeMinorVersion: new(spec.AutoUpgradeMinorVersion == nil || *spec.AutoUpgradeMinorVersion),
		ConfigurationSettings:   toPointerMap(spec.ConfigurationSettings),
		Version:                 toString(spec.Version),
	}
	if *properties.AutoUpgradeMinorVersion {
		properties.ReleaseTrain = toString(spec.ReleaseTrain) // Azure accepts the release train only with automatic upgrades.
	}
	if spec.AKSAssignedIdentityType != "" {
		properties.AksAssignedIdentity = &armkubernetesconfiguration.ExtensionPropertiesAksAssignedIdentity{
			Type: new(armkubernetesconfiguration.AKSIdentityType(spec.AKSAssignedIdentityType)),
		}
	}
	if scope := spec.Scope; scope != nil {
		properties.Scope = &armkubernetesconfiguration.Scope{}
		switch string(scope.ScopeType) {
		case "Cluster":
			properties.Scope.Cluster = &armkubernetesconfiguration.ScopeCluster{ReleaseNamespace: toString(&scope.ReleaseNamespace)}
		case "Namespace":
			properties.Scope.Namespace = &armkubernetesconfiguration.ScopeNamespace{TargetNamespace: toString(&scope.TargetNamespace)}
		}
	}
	out := armkubernetesconfiguration.Extension{Properties: properties}
	if spec.Identity != "" {
		out.Identity = &armkubernetesconfiguration.Identity{Type: new(string(spec.Identity))}
	}
	if plan := spec.Plan; plan != nil {
		out.Plan = &armkubernetesconfiguration.Plan{
			Name:          new(cmp.Or(plan.Name, in.ControlPlane.Name+"-"+plan.Product)),
			Product:       toString(&plan.Product),
			Publisher:     toString(&plan.Publisher),
			PromotionCode: toString(&plan.PromotionCode),
			Version:       toString(&plan.Version),
		}
	}
	return out
}
