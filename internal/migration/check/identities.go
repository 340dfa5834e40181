package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/former"
)

// checkIdentities finds credentials that isolation would refuse, and reports the requirements of workload identities.
func (c *checker) checkIdentities(ctx context.Context) error {
	used, err := former.ListUsed(ctx, c.Reader, "", func(secret client.ObjectKey, _ error) {
		c.report.Add("identities", migration.ToKnow, "Secret "+secret.String(), "The command may not read the Secret, so the credential is not checked.",
			"Grant the right to get it, and repeat the check.")
	})
	if err != nil {
		return err
	}
	slices.SortFunc(used, func(a, b identity.Former) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Type, b.Type), cmp.Compare(a.ClientID, b.ClientID))
	})
	if _, left := identity.FormerRecord(migration.Namespace, used); left > 0 {
		c.report.Add("identities", migration.Blocks, "ConfigMap "+migration.Namespace+"/"+identity.FormerRecordName,
			fmt.Sprintf("%d credentials do not fit into the record of credentials in use. They would be refused.", left),
			"Create the ServiceAccount "+infrav1.WorkloadIdentityServiceAccount+" in namespaces with workload identities, or set CAPZ_TENANCY=trusted.")
	}
	for _, credential := range used {
		prepared := false
		if credential.Type == infrav1.WorkloadIdentity {
			account := &corev1.ServiceAccount{}
			err := c.Reader.Get(ctx, client.ObjectKey{Namespace: credential.Namespace, Name: infrav1.WorkloadIdentityServiceAccount}, account)
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("get the ServiceAccount for workload identities in namespace %s: %w", credential.Namespace, err)
			}
			prepared = err == nil
		}
		c.reportCredential(credential, prepared)
	}
	if err := c.checkOperatorCredentials(ctx); err != nil {
		return err
	}
	return c.checkLent(ctx)
}

// checkOperatorCredentials finds Clusters of AzureASOManaged kinds that sign in with the credential of the operator's own settings, which
// ends with the operator.
func (c *checker) checkOperatorCredentials(ctx context.Context) error {
	return former.ForEachMissing(ctx, c.Reader, func(secret, cluster client.ObjectKey) {
		c.report.Add("identities", migration.Blocks, "Secret "+secret.String(), fmt.Sprintf(
			"It does not exist. This provider will sign in with it for the resource manifests of Cluster %s, because the global credential of the operator ends with the upgrade.",
			cluster),
			fmt.Sprintf("Create the Secret with the keys AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID, AZURE_CLIENT_ID and those of the credential, as in Secret %s/%s.",
				migration.Namespace, backup.OperatorSettings))
	})
}

// checkLent finds clusters that use an identity of another namespace, whose owner has to allow new uses of resources.
func (c *checker) checkLent(ctx context.Context) error {
	report := func(object client.Object, kind string, ref *corev1.ObjectReference) {
		if !isOfAnother(object, ref) {
			return
		}
		c.report.Add("identities", migration.ToKnow, kind+" "+client.ObjectKeyFromObject(object).String(), fmt.Sprintf(
			"It uses AzureClusterIdentity %s/%s of another namespace. Resources that it uses stay. --tenancy=isolated refuses new machines that use resources outside the cluster, such as user-assigned identities.",
			ref.Namespace, ref.Name),
			"Name these resources in spec.allowedResources and spec.allowedRoleScopes of the identity after the upgrade, or upgrade with CAPZ_TENANCY=trusted.")
	}
	err := c.forEach(ctx, &infrav1.AzureClusterList{}, func(object client.Object) {
		report(object, "AzureCluster", object.(*infrav1.AzureCluster).Spec.IdentityRef)
	})
	if err != nil {
		return err
	}
	return c.forEach(ctx, &infrav1.AzureManagedControlPlaneList{}, func(object client.Object) {
		controlPlane := object.(*infrav1.AzureManagedControlPlane)
		report(controlPlane, "AzureManagedControlPlane", controlPlane.Spec.IdentityRef)
		if controlPlane.Spec.DisableLocalAccounts != nil && *controlPlane.Spec.DisableLocalAccounts && isOfAnother(controlPlane, controlPlane.Spec.IdentityRef) {
			c.report.Add("identities", migration.ToKnow, "AzureManagedControlPlane "+client.ObjectKeyFromObject(controlPlane).String(),
				"Local accounts are disabled, and it uses an AzureClusterIdentity of another namespace. --tenancy=isolated writes no token of this identity into the kubeconfig, so Cluster API loses its access to the cluster.",
				"Before the upgrade, create an AzureClusterIdentity in the namespace of the cluster and use it, or upgrade with CAPZ_TENANCY=trusted.")
		}
	})
}

// isOfAnother reports whether an identityRef names an identity of another namespace than the object's.
func isOfAnother(object client.Object, ref *corev1.ObjectReference) bool {
	return ref != nil && ref.Namespace != "" && ref.Namespace != object.GetNamespace()
}

// reportCredential adds the finding of one credential. prepared is true if its namespace has the ServiceAccount of isolated tenants.
func (c *checker) reportCredential(used identity.Former, prepared bool) {
	object := fmt.Sprintf("%s in namespace %s, client ID %s", used.Type, used.Namespace, used.ClientID)
	own := fmt.Sprintf("system:serviceaccount:%s:%s", used.Namespace, infrav1.WorkloadIdentityServiceAccount)
	switch {
	case prepared:
		c.report.Add("identities", migration.ToKnow, object, "The namespace has the ServiceAccount "+infrav1.WorkloadIdentityServiceAccount+
			". After the migration the identity signs in as it.", "The application needs a federated credential with the subject "+own+".")
	case !used.NeedsRecord():
	case used.Type == infrav1.WorkloadIdentity:
		account := managerAccount
		if used.Operator {
			account = "azureserviceoperator-default"
		}
		c.report.Add("identities", migration.DoneByRun, object, fmt.Sprintf(
			"It signs in as system:serviceaccount:%s:%s. --tenancy=isolated refuses this to new identities. The manager records the identity and keeps accepting it.",
			migration.Namespace, account),
			"To isolate it later, create a federated credential with the subject "+own+" and then the ServiceAccount.")
	default:
		where := "the manager's own machine or files"
		if used.Secret != "" {
			where = "the Secret " + used.Secret
		}
		c.report.Add("identities", migration.DoneByRun, object, "It signs in with "+where+
			". --tenancy=isolated refuses this to new identities. The manager records the identity and keeps accepting it.", "")
	}
}
