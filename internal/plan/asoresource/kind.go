package asoresource

import "sigs.k8s.io/cluster-api-provider-azure/internal/aso"

// Annotations of resource manifests.
const (
	// PolicyAnnotation limits the management of the resource: manage (the default), skip or detach-on-delete.
	PolicyAnnotation = "serviceoperator.azure.com/reconcile-policy"
	// CredentialAnnotation names the Secret in the namespace of the object with the credential for Azure.
	CredentialAnnotation = "serviceoperator.azure.com/credential-from"
	// UncheckedAnnotation is "true" on a manifest of an api-version newer than all known ones to send it without a check.
	UncheckedAnnotation = "infrastructure.cluster.x-k8s.io/unchecked"
)

// Values of PolicyAnnotation.
const (
	// PolicyManage creates, updates and deletes the resource.
	PolicyManage = "manage"
	// PolicySkip only reads the resource.
	PolicySkip = "skip"
	// PolicyDetach creates and updates the resource, and never deletes it.
	PolicyDetach = "detach-on-delete"
)

// ResourceType returns the resource type of the manifest's kind, as in "Microsoft.ContainerService/managedClusters/agentPools".
func (m Manifest) ResourceType() (string, bool) { return aso.ResourceTypeOf(m.Group, m.Kind) }

// APIVersion returns the api-version of requests for the resource, as in "2025-08-01" for v1api20250801.
func (m Manifest) APIVersion() (string, bool) { return aso.ToAPIVersion(m.Version) }
