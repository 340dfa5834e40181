package check

import (
	"context"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// checkOperator finds objects, definitions and webhooks of the Azure Service Operator in the management cluster.
func (c *checker) checkOperator(ctx context.Context) error {
	clusters, others, err := prepareupgrade.ListOperatorObjects(ctx, c.Reader, c.definitions)
	if err != nil {
		return err
	}
	missing, err := prepareupgrade.FindMissingAnnotations(ctx, c.Reader, clusters)
	if err != nil {
		return err
	}
	for _, line := range missing {
		c.report.Add("operator", migration.Blocks, "Azure Service Operator", line+".",
			"Copy the annotation into the resource manifest. Without it, another credential would be used, or a resource would be written to that has to stay as it is.")
	}
	for i := range clusters {
		c.report.Add("operator", migration.DoneByRun, describe(&clusters[i]),
			"An object of the operator for a cluster. It is released: it gets the policy skip and loses its finalizer and owner references.", "")
	}
	for i := range others {
		c.report.Add("operator", migration.ToKnow, describe(&others[i]),
			"An object of the operator that belongs to no cluster. It is not changed. The operator of the established provider ends with the upgrade.",
			"Install the Azure Service Operator separately after the upgrade, or delete the object before it.")
	}
	for _, definition := range c.definitions {
		if prepareupgrade.IsOperatorKind(definition) && prepareupgrade.NeedsOperator(definition) {
			c.report.Add("operator", migration.DoneByRun, "CustomResourceDefinition "+definition.Name,
				"Only a webhook of the operator can convert objects. The kind will serve only the version that objects are stored in.", "")
		}
	}
	configurations, err := prepareupgrade.FindWebhooks(ctx, c.Reader)
	if err != nil {
		return err
	}
	for i := range configurations {
		c.report.Add("operator", migration.DoneByRun, describe(&configurations[i]),
			"Without a running operator it refuses every change of the operator's objects. It is deleted.", "")
	}
	return nil
}
