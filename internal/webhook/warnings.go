package webhook

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// deprecated warns about deprecated fields. Those that defaulting moves are not seen here any more.
func deprecated(spec *infrav1.AzureMachineSpec, path string) (warnings admission.Warnings) {
	if spec.Image != nil && spec.Image.SharedGallery != nil {
		warnings = append(warnings, path+".image.sharedGallery is deprecated: use computeGallery with subscriptionID and resourceGroup")
	}
	return warnings
}

// identityWarnings tell what of an identity is odd, but works or may work later.
func identityWarnings(i *infrav1.AzureClusterIdentity) (warnings admission.Warnings) {
	spec := i.Spec
	if spec.Type == infrav1.ManualServicePrincipal {
		warnings = append(warnings, "spec.type ManualServicePrincipal is deprecated: use ServicePrincipal in a new AzureClusterIdentity")
	}
	if spec.ResourceID != "" {
		warnings = append(warnings, "spec.resourceID is deprecated and has no effect")
	}
	switch spec.Type {
	case infrav1.ServicePrincipal, infrav1.ManualServicePrincipal:
		if spec.ClientSecret.Name == "" {
			warnings = append(warnings, "spec.clientSecret.name is empty: the identity cannot sign in without the Secret that has the client secret under the key clientSecret")
		}
	case infrav1.ServicePrincipalCertificate:
		if spec.ClientSecret.Name == "" && spec.CertPath == "" {
			warnings = append(warnings, "spec.clientSecret.name and spec.certPath are empty: the identity cannot sign in without a certificate")
		}
	case infrav1.UserAssignedIdentityCredential:
		if spec.UserAssignedIdentityCredentialsPath == "" {
			warnings = append(warnings, "spec.userAssignedIdentityCredentialsPath is empty: the identity cannot sign in without the file that has the credential")
		}
	}
	if spec.AllowedNamespaces == nil {
		warnings = append(warnings, "spec.allowedNamespaces is not set, so no namespace may use the identity: set it to {} for all")
	}
	return warnings
}
