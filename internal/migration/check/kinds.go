package check

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// storedVersion is the version in which both providers store objects.
var storedVersion = infrav1.GroupVersion.Version

// checkKinds finds kinds of the established provider that this one does not have, and versions that it does not store.
func (c *checker) checkKinds(context.Context) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	for _, definition := range c.definitions {
		if definition.Spec.Group != infrav1.GroupVersion.Group || definition.Labels[migration.ProviderLabel] != migration.ProviderName {
			continue
		}
		object := "CustomResourceDefinition " + definition.Name
		if !scheme.Recognizes(schema.GroupVersionKind{Group: definition.Spec.Group, Version: storedVersion, Kind: definition.Spec.Names.Kind}) {
			c.report.Add("kinds", migration.Blocks, object, "This provider does not have the kind.", "Delete the objects of the kind, and its definition.")
			continue
		}
		if version := prepareupgrade.StorageVersion(definition); version != storedVersion {
			c.report.Add("kinds", migration.Blocks, object, fmt.Sprintf("Objects are stored as %s. This provider stores %s.", version, storedVersion),
				fmt.Sprintf("Upgrade the established provider to v1.%d first.", newestMinor))
		}
		former := slices.DeleteFunc(slices.Clone(definition.Status.StoredVersions), func(v string) bool { return v == storedVersion })
		if len(former) > 0 {
			c.report.Add("kinds", migration.DoneByRun, object,
				fmt.Sprintf("status.storedVersions has %v as well. clusterctl stores these objects again as %s.", former, storedVersion), "")
		}
		if prepareupgrade.NeedsOperator(definition) {
			c.report.Add("kinds", migration.DoneByRun, object, "Conversion by a webhook of the established provider is disabled.", "")
		}
	}
	return nil
}
