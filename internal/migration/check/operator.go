package check

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// checkOperator finds objects, definitions and webhooks of the Azure Service Operator in the management cluster.
func (c *checker) checkOperator(ctx context.Context) error {
	if err := findOtherOperators(ctx, c.Reader, &c.report, "operator",
		"Install it again after the migration, which deletes its webhooks and disables its conversions."); err != nil {
		return err
	}
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

// findOtherOperators finds operators that run in other namespaces than that of the established provider. next is the sentence after the
// command that stops one.
func findOtherOperators(ctx context.Context, c client.Reader, report *migration.Report, check, next string) error {
	operators, err := prepareupgrade.FindOtherOperators(ctx, c, migration.Namespace)
	for _, operator := range operators {
		report.Add(check, migration.Blocks, "Deployment "+client.ObjectKeyFromObject(&operator).String(),
			"It runs an Azure Service Operator beside that of the established provider, with the same webhooks and kinds. It would undo the steps of the command.",
			"Stop it: "+prepareupgrade.StopCommand(operator)+". "+next)
	}
	return err
}
