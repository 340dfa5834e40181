package check

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/former"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// FindBack lists the objects and settings that cannot return to the established provider. findRelease returns an error if clusterctl cannot
// read a version of that provider.
func FindBack(ctx context.Context, c client.Reader, findRelease func(ctx context.Context, version string) error) (*migration.Report, error) {
	providers, err := listProviders(ctx, c)
	if err != nil {
		return nil, err
	}
	azure, _ := providers.Azure()
	report := &migration.Report{From: azure.Version}
	stored, err := backup.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		report.Add("back", migration.Blocks, "Secret "+migration.Namespace+"/"+backup.SecretName, "There is no backup of a migration.",
			"Only kubectl capz migrate run stores one. Install the established provider with clusterctl instead.")
		return report, nil
	}
	report.To = stored.From
	if err := addRelease(ctx, report, findRelease, stored.From, migration.FormerReleaseRemedy); err != nil {
		return nil, err
	}
	current := map[types.UID]int64{}
	err = backup.ForEachMetadata(ctx, c, func(object client.Object) error {
		name, annotations := describe(object), object.GetAnnotations()
		current[object.GetUID()] = object.GetGeneration()
		if _, known := stored.Generations[object.GetUID()]; !known {
			report.Add("back", migration.ToKnow, name,
				"It was created after the migration. The established provider creates objects of its operator for it, and adopts its resources by their names.", "")
		}
		addSettings(report, name, annotations)
		if len(applied.Read(annotations).Inventory.Adopted) > 0 {
			report.Add("back", migration.ToKnow, name,
				"It adopted resources. The established provider deletes them in Azure with the object.",
				"Before you delete the object there, set the policy detach-on-delete on the objects of the operator.")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, object := range stored.Operator {
		findOperatorObject(report, stored, object, current)
	}
	if err := findOtherOperators(ctx, c, report, "back", "The established provider installs an operator of its own."); err != nil {
		return nil, err
	}
	if err := findUnsaved(ctx, c, report, stored); err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context, client.Reader, *migration.Report) error{findIsolated, findSettings, findOwnFields} {
		if err := find(ctx, c, report); err != nil {
			return nil, err
		}
	}
	report.Sort()
	return report, nil
}

// findOperatorObject finds an object of the operator that is not restored, or not as it was.
func findOperatorObject(report *migration.Report, stored *backup.Backup, object backup.OperatorObject, current map[types.UID]int64) {
	switch stored.OwnerState(object, current) {
	case backup.OwnerGone:
		report.Add("back", migration.ToKnow, object.Describe(), "Its owner is gone, so it stays released.",
			"Delete the object if its resource in Azure is gone, too.")
	case backup.OwnerChanged:
		report.Add("back", migration.ToKnow, object.Describe(),
			"The spec of its owner was changed after the migration. It keeps the policy skip, so that the operator does not write its old spec to Azure.",
			"After the return, check that the established provider has set the policy manage. If it has not, compare the spec with Azure, and set it.")
	}
}

// findUnsaved finds objects of the operator that a migration has released and the backup does not have.
func findUnsaved(ctx context.Context, c client.Reader, report *migration.Report, stored *backup.Backup) error {
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.List(ctx, definitions); err != nil {
		return fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	released, err := prepareupgrade.ListReleasedObjects(ctx, c, definitions.Items)
	for i := range released {
		if !stored.Has(released[i].UID) {
			report.Add("back", migration.ToKnow, describe(&released[i]),
				"It has the policy skip, and the backup does not have it. It stays as it is, and the established provider treats it as an object of a user.",
				"If it belongs to a cluster, set its label "+prepareupgrade.FormerOwnerLabel+" to the name of the Cluster before you return. The established provider then adopts it.")
		}
	}
	return err
}

// findIsolated finds workload identities that sign in as a ServiceAccount of their namespace.
func findIsolated(ctx context.Context, c client.Reader, report *migration.Report) error {
	used, err := former.ListUsed(ctx, c, "", func(client.ObjectKey, error) {})
	if err != nil {
		return err
	}
	for _, credential := range used {
		if credential.Type != infrav1.WorkloadIdentity {
			continue
		}
		account := &corev1.ServiceAccount{}
		err := c.Get(ctx, client.ObjectKey{Namespace: credential.Namespace, Name: infrav1.WorkloadIdentityServiceAccount}, account)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("get the ServiceAccount for workload identities in namespace %s: %w", credential.Namespace, err)
		}
		report.Add("back", migration.ToKnow,
			fmt.Sprintf("%s in namespace %s, client ID %s", credential.Type, credential.Namespace, credential.ClientID),
			"The established provider signs in as its own ServiceAccount, not as that of the namespace.",
			fmt.Sprintf("The application needs a federated credential with the subject system:serviceaccount:%s:%s.", migration.Namespace, managerAccount))
	}
	return nil
}
