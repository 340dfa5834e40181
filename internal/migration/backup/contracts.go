package backup

import (
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// contractPrefix begins the labels of a definition that name a contract of Cluster API and the versions that follow it:
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview#api-version-labels
var contractPrefix = clusterv1.GroupVersion.Group + "/v1"

// ownContract is the label that this provider adds. The established provider, up to the newest version that a migration supports, does not
// have it.
var ownContract = clusterv1.GroupVersion.Group + "/v1beta2"

// readContracts returns the labels of a definition that name contracts.
func readContracts(definition apiextensionsv1.CustomResourceDefinition) map[string]string {
	out := maps.Clone(definition.Labels)
	maps.DeleteFunc(out, func(label, _ string) bool { return !strings.HasPrefix(label, contractPrefix) })
	return out
}

// RestoreContracts removes the labels of a definition of the provider that name contracts and that it did not have. clusterctl only adds
// labels, and Cluster API reads objects by the newest contract that a label names, whose status the established provider does not write.
func (b *Backup) RestoreContracts(definition *apiextensionsv1.CustomResourceDefinition) {
	was, known := b.Contracts[definition.Name]
	for label := range readContracts(*definition) {
		if _, had := was[label]; known && !had || !known && label == ownContract {
			delete(definition.Labels, label)
		}
	}
}
