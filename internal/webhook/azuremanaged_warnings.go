package webhook

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// retiredAddons maps each add-on that AKS no longer offers to its replacement.
var retiredAddons = map[string]string{
	"httpApplicationRouting": "use the application routing add-on: ingressProfile.webAppRouting, by a patch",
	"kubeDashboard":          "use the resource view of the Azure portal",
	"openServiceMesh":        "use the Istio add-on: serviceMeshProfile, by a patch",
	"aciConnector":           "AKS calls virtual nodes aciConnectorLinux",
}

// managedClassWarnings returns warnings about settings of an AKS cluster that Azure has retired or ignores. path is the path of the
// spec.
func managedClassWarnings(spec *infrav1.AzureManagedControlPlaneClassSpec, path string) (warnings admission.Warnings) {
	if sku := spec.LoadBalancerSKU; sku != nil && *sku == infrav1.ManagedLoadBalancerSKUBasic {
		warnings = append(warnings, path+".loadBalancerSKU Basic was retired in September 2025: use Standard in a new cluster")
	}
	if isKubenet(spec.NetworkPlugin) {
		warnings = append(warnings, path+".networkPlugin kubenet retires in March 2028: change it to azure with networkPluginMode overlay")
	}
	for _, addon := range spec.AddonProfiles {
		if instead, retired := retiredAddons[addon.Name]; retired && addon.Enabled {
			warnings = append(warnings, path+".addonProfiles: AKS does not offer the add-on "+addon.Name+" any more; "+instead)
		}
	}
	if aad := spec.AADProfile; aad != nil && !aad.Managed {
		warnings = append(warnings,
			path+".aadProfile.managed false selects AKS's legacy integration with Microsoft Entra ID, which is deprecated: set it to true")
	}
	for _, extension := range spec.Extensions {
		if isSet(extension.ReleaseTrain) && extension.AutoUpgradeMinorVersion != nil && !*extension.AutoUpgradeMinorVersion {
			warnings = append(warnings, path+".extensions: the releaseTrain of "+extension.Name+" has no effect with autoUpgradeMinorVersion false")
		}
	}
	return warnings
}

// controlPlaneWarnings adds warnings about the virtual network of a new control plane, for which old is nil.
func controlPlaneWarnings(old, c *infrav1.AzureManagedControlPlane) admission.Warnings {
	warnings := managedClassWarnings(&c.Spec.AzureManagedControlPlaneClassSpec, "spec")
	if old == nil {
		warnings = append(warnings, managedNetworkWarnings(c)...)
	}
	return warnings
}

// controlPlaneTemplateWarnings adds warnings about settings that several clusters should not share.
func controlPlaneTemplateWarnings(t *infrav1.AzureManagedControlPlaneTemplate) admission.Warnings {
	spec, path := &t.Spec.Template.Spec, "spec.template.spec"
	warnings := managedClassWarnings(&spec.AzureManagedControlPlaneClassSpec, path)
	if spec.VirtualNetwork.Name != "" {
		warnings = append(warnings, path+".virtualNetwork.name gives all clusters of the class the same virtual network")
	}
	return warnings
}

// retiredImages are values of osSKU that AKS has retired.
var retiredImages = []string{"Windows2019", "CBLMariner", "Mariner"}

// poolWarnings returns warnings about settings of an agent pool that Azure has retired. field is the path of the patches.
func poolWarnings(spec *infrav1.AzureManagedMachinePoolClassSpec, field string) (warnings admission.Warnings) {
	for _, patch := range spec.ASOManagedClustersAgentPoolPatches {
		var document struct {
			Spec struct {
				OSSKU string `json:"osSKU"`
			} `json:"spec"`
		}
		if userinput.Decode([]byte(patch), nil, &document) == nil && slices.Contains(retiredImages, document.Spec.OSSKU) {
			warnings = append(warnings, field+": AKS has retired the osSKU "+document.Spec.OSSKU)
		}
	}
	return warnings
}

func poolTemplateWarnings(t *infrav1.AzureManagedMachinePoolTemplate) admission.Warnings {
	return poolWarnings(&t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec, "spec.template.spec.asoManagedClustersAgentPoolPatches")
}
