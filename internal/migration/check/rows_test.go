package check

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
)

// contract is the definition of Clusters that every supported management cluster has.
const contract = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  names: {kind: Cluster, plural: clusters}
  versions: [{name: v1beta1, served: true, storage: false}, {name: v1beta2, served: true, storage: true}]
`

// providerObject returns clusterctl's entry of a provider.
func providerObject(namespace, version string) string {
	return "{apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3, kind: Provider, metadata: {name: infrastructure-azure, namespace: " + namespace +
		"}, providerName: azure, type: InfrastructureProvider, version: " + version + "}"
}

// definition returns the definition of a kind of the established provider.
func definition(kind, plural, versions, stored, conversion string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.infrastructure.cluster.x-k8s.io, labels: {cluster.x-k8s.io/provider: infrastructure-azure}}
spec:
  group: infrastructure.cluster.x-k8s.io
  names: {kind: ` + kind + `, plural: ` + plural + `}
  versions: ` + versions + conversion + `
status: {storedVersions: ` + stored + `}
`
}

const (
	onlyV1beta1 = "[{name: v1beta1, served: true, storage: true}]"
	byWebhook   = "\n  conversion: {strategy: Webhook}"
	signIn      = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureClusterIdentity\nmetadata: {name: one, namespace: team}\n"
	credential  = "apiVersion: v1\nkind: Secret\nmetadata: {name: aso, namespace: team}\n"
	documents   = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedCluster
metadata: {name: one, namespace: team}
spec:
  resources:
    - apiVersion: resources.azure.com/v1api20200601
      kind: ResourceGroup
      metadata: {name: one, annotations: {serviceoperator.azure.com/credential-from: aso}}
      spec: {location: eastus}
`
	ownerCluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: one, namespace: team}
spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureASOManagedCluster, name: one}}
`
	// operatorKind is the definition of a kind of the operator.
	operatorKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: resourcegroups.resources.azure.com, labels: {app.kubernetes.io/name: azure-service-operator}}
spec:
  group: resources.azure.com
  names: {kind: ResourceGroup, plural: resourcegroups}
  versions: [{name: v1api20200601, served: true, storage: false}, {name: v1api20200601storage, served: true, storage: true}]
  conversion: {strategy: Webhook}
`
)

// operatorObject returns an object of the operator. Owned ones belong to a cluster.
func operatorObject(owned bool, finalizers, policy string) string {
	owner := ""
	if owned {
		owner = "\n  ownerReferences: [{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureASOManagedCluster, name: one, uid: u}]"
	}
	return "apiVersion: resources.azure.com/v1api20200601storage\nkind: ResourceGroup\nmetadata:\n  name: one\n  namespace: team\n  finalizers: [" + finalizers +
		"]\n  annotations: {serviceoperator.azure.com/reconcile-policy: " + policy + "}" + owner + "\n"
}

// operatorDeployment returns a Deployment of the operator.
func operatorDeployment(namespace string, replicas int) string {
	return fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: azureserviceoperator-controller-manager, namespace: %s}, spec: {replicas: %d}}",
		namespace, replicas)
}

const finalizer = "serviceoperator.azure.com/finalizer"

// TestFindings compares the findings of each check. Findings that block, and those that the migration leaves to users, have a remedy.
func TestFindings(t *testing.T) {
	type find = func(*checker) func(context.Context) error
	versions := func(c *checker) func(context.Context) error { return c.checkVersions }
	kinds := func(c *checker) func(context.Context) error { return c.checkKinds }
	identities := func(c *checker) func(context.Context) error { return c.checkIdentities }
	operator := func(c *checker) func(context.Context) error { return c.checkOperator }
	roles := func(c *checker) func(context.Context) error { return c.checkRoles }
	tags := func(c *checker) func(context.Context) error { return c.checkTags }
	// tagged returns an object of Cluster one with as many additional tags at a path of its spec.
	tagged := func(kind, path string, n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("t%02d: x", i))
		}
		spec := "additionalTags: {" + strings.Join(list, ", ") + "}"
		for _, part := range strings.Fields(path) {
			spec = part + ": {" + spec + "}"
		}
		return "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: " + kind + ", metadata: {name: one, namespace: team, labels: {cluster.x-k8s.io/cluster-name: one}}, spec: {" + spec + "}}"
	}
	const fewerTags = " -> Remove tags from the field, or from spec.additionalTags of the AzureCluster. This provider adds the tag sigs.k8s.io_cluster-api-provider-azure_owner to those of the established provider."
	const current = "done-by-run Provider infrastructure-azure: The version v1.26.0 is replaced by v2.0.0."
	for name, test := range map[string]struct {
		reason  string
		find    find
		objects []string
		// want are findings as "severity object: text" up to the remedy, which is optional.
		want []string
	}{
		"oldest version": {"CAPZ 1.17 is the first one", versions, []string{contract, providerObject("capz-system", "v1.17.0")},
			[]string{"done-by-run Provider infrastructure-azure: The version v1.17.0 is replaced by v2.0.0."}},
		"newest version": {"CAPZ 1.26 is the last one", versions, []string{contract, providerObject("capz-system", "v1.26.0")}, []string{current}},
		"too old": {"older ones store objects in other forms", versions, []string{contract, providerObject("capz-system", "v1.16.4")},
			[]string{"blocks Provider infrastructure-azure: The version v1.16.4 is not from v1.17 to v1.26. Moves from other versions are not supported. -> Upgrade the established provider to v1.26 first."}},
		"too new": {"a later one may store more", versions, []string{contract, providerObject("capz-system", "v1.27.0")},
			[]string{"blocks Provider infrastructure-azure: The version v1.27.0 is later than v1.26, the newest one that was tested. -> Use a newer release of this provider. If there is none, read the other findings, and continue with --despite-findings."}},
		"unknown series": {"clusterctl does not upgrade a version whose contract it does not know", versions, []string{contract, providerObject("capz-system", "v1.31.0")},
			[]string{"blocks Provider infrastructure-azure: The version v1.31.0 is later than v1.26, the newest one that was tested. -> Use a newer release of this provider: clusterctl cannot upgrade to this one."}},
		"not a version": {"the inventory was edited", versions, []string{contract, providerObject("capz-system", "latest")},
			[]string{"blocks Provider infrastructure-azure: The inventory of clusterctl has the version latest. -> Correct the version in the Provider object."}},
		"moved already": {"a second check after the move", versions, []string{contract, providerObject("capz-system", "v2.0.0")},
			[]string{"to-know Provider infrastructure-azure: The version v2.0.0 is a version of this provider."}},
		"another namespace": {"the steps know one namespace", versions, []string{contract, providerObject("elsewhere", "v1.26.0")},
			[]string{"blocks Provider infrastructure-azure: It is in the namespace elsewhere. -> The command knows only the namespace capz-system. Move by hand, as in docs/book/release.md, section \"CAPZ that clusterctl has not installed\".", current}},
		"not installed": {"without an inventory clusterctl upgrades nothing", versions, []string{contract},
			[]string{"blocks Provider infrastructure-azure: clusterctl has not installed a provider for Azure. -> The command needs an installation by clusterctl. Move by hand, as in docs/book/release.md, section \"CAPZ that clusterctl has not installed\"."}},
		"old contract": {"Cluster API before v1.11 does not serve the contract", versions,
			[]string{strings.ReplaceAll(contract, "{name: v1beta2, served: true", "{name: v1beta2, served: false"), providerObject("capz-system", "v1.26.0")},
			[]string{"blocks Provider cluster-api: Cluster API does not serve contract v1beta2. -> Upgrade Cluster API to v1.11 or later first: clusterctl upgrade apply --core cluster-api:VERSION --bootstrap kubeadm:VERSION --control-plane kubeadm:VERSION", current}},
		"no Cluster API": {"the kubeconfig leads to another cluster", versions, []string{providerObject("capz-system", "v1.26.0")},
			[]string{"blocks Provider cluster-api: Cluster API is not installed. -> Select the management cluster with --context.", current}},

		"kind in order": {"one version, stored as v1beta1", kinds, []string{definition("AzureCluster", "azureclusters", onlyV1beta1, "[v1beta1]", "")}, nil},
		"unknown kind": {"its objects would have no controller", kinds, []string{definition("AzureThing", "azurethings", onlyV1beta1, "[v1beta1]", "")},
			[]string{"blocks CustomResourceDefinition azurethings.infrastructure.cluster.x-k8s.io: This provider does not have the kind. -> Delete the objects of the kind, and its definition."}},
		"other storage version": {"this provider cannot read them", kinds,
			[]string{definition("AzureASOManagedCluster", "azureasomanagedclusters", "[{name: v1alpha1, served: true, storage: true}, {name: v1beta1, served: true, storage: false}]", "[v1alpha1]", "")},
			[]string{"blocks CustomResourceDefinition azureasomanagedclusters.infrastructure.cluster.x-k8s.io: Objects are stored as v1alpha1. This provider stores v1beta1. -> Upgrade the established provider to v1.26 first.",
				"done-by-run CustomResourceDefinition azureasomanagedclusters.infrastructure.cluster.x-k8s.io: status.storedVersions has [v1alpha1] as well. clusterctl stores these objects again as v1beta1."}},
		"former storage version": {"clusterctl migrates them", kinds,
			[]string{definition("AzureASOManagedCluster", "azureasomanagedclusters", onlyV1beta1, "[v1alpha1, v1beta1]", "")},
			[]string{"done-by-run CustomResourceDefinition azureasomanagedclusters.infrastructure.cluster.x-k8s.io: status.storedVersions has [v1alpha1] as well. clusterctl stores these objects again as v1beta1."}},
		"conversion": {"its webhook ends with the established provider", kinds,
			[]string{definition("AzureMachine", "azuremachines", onlyV1beta1, "[v1beta1]", byWebhook)},
			[]string{"done-by-run CustomResourceDefinition azuremachines.infrastructure.cluster.x-k8s.io: Conversion by a webhook of the established provider is disabled."}},

		"own Secret": {"a credential of the namespace stays allowed", identities, []string{signIn +
			"spec: {type: ServicePrincipal, tenantID: t, clientID: c, clientSecret: {name: s, namespace: team}}"}, nil},
		"Secret elsewhere": {"isolation refuses it to new identities", identities, []string{signIn +
			"spec: {type: ServicePrincipal, tenantID: t, clientID: c, clientSecret: {name: s, namespace: other}}"},
			[]string{"done-by-run ServicePrincipal in namespace team, client ID c: It signs in with the Secret other/s. --tenancy=isolated refuses this to new identities. The manager records the identity and keeps accepting it."}},
		"machine identity": {"isolation refuses it to new identities", identities, []string{signIn + "spec: {type: UserAssignedMSI, tenantID: t, clientID: c}"},
			[]string{"done-by-run UserAssignedMSI in namespace team, client ID c: It signs in with the manager's own machine or files. --tenancy=isolated refuses this to new identities. The manager records the identity and keeps accepting it."}},
		"workload identity": {"its federated credential names the manager", identities, []string{signIn + "spec: {type: WorkloadIdentity, tenantID: t, clientID: c}"},
			[]string{"done-by-run WorkloadIdentity in namespace team, client ID c: It signs in as system:serviceaccount:capz-system:capz-manager. --tenancy=isolated refuses this to new identities. The manager records the identity and keeps accepting it. -> To isolate it later, create a federated credential with the subject system:serviceaccount:team:capz-workload-identity and then the ServiceAccount."}},
		"prepared workload identity": {"the ServiceAccount is used as soon as it exists", identities, []string{signIn + "spec: {type: WorkloadIdentity, tenantID: t, clientID: c}",
			"{apiVersion: v1, kind: ServiceAccount, metadata: {name: capz-workload-identity, namespace: team}}"},
			[]string{"to-know WorkloadIdentity in namespace team, client ID c: The namespace has the ServiceAccount capz-workload-identity. After the migration the identity signs in as it. -> The application needs a federated credential with the subject system:serviceaccount:team:capz-workload-identity."}},
		"credential of the operator": {"its federated credential names the operator", identities, []string{documents,
			credential + "stringData: {}\ndata: {AZURE_CLIENT_ID: Yw==, AZURE_TENANT_ID: dA==, AZURE_SUBSCRIPTION_ID: cw==}"},
			[]string{"done-by-run WorkloadIdentity in namespace team, client ID c: It signs in as system:serviceaccount:capz-system:azureserviceoperator-default. --tenancy=isolated refuses this to new identities. The manager records the identity and keeps accepting it. -> To isolate it later, create a federated credential with the subject system:serviceaccount:team:capz-workload-identity and then the ServiceAccount."}},
		"global credential": {"the operator's settings end with it", identities, []string{ownerCluster, strings.ReplaceAll(documents, "serviceoperator.azure.com/credential-from", "note"),
			"{apiVersion: v1, kind: Secret, metadata: {name: aso-controller-settings, namespace: capz-system}}"},
			[]string{"blocks Secret team/aso-credential: It does not exist. This provider will sign in with it for the resource manifests of Cluster team/one, because the global credential of the operator ends with the upgrade. -> Create the Secret with the keys AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID, AZURE_CLIENT_ID and those of the credential, as in Secret capz-system/aso-controller-settings."}},
		"missing credential": {"the manifest names it", identities, []string{ownerCluster, documents},
			[]string{"blocks Secret team/aso: It does not exist. This provider will sign in with it for the resource manifests of Cluster team/one, because the global credential of the operator ends with the upgrade. -> Create the Secret with the keys AZURE_SUBSCRIPTION_ID, AZURE_TENANT_ID, AZURE_CLIENT_ID and those of the credential, as in Secret capz-system/aso-controller-settings."}},
		"credential of the namespace": {"it contains the secret itself", identities, []string{ownerCluster, documents,
			credential + "data: {AZURE_CLIENT_ID: Yw==, AZURE_TENANT_ID: dA==, AZURE_SUBSCRIPTION_ID: cw==, AZURE_CLIENT_SECRET: cw==}"}, nil},
		"unreadable credential of a Cluster": {"it may exist", identities, []string{ownerCluster, documents, "unreadable"},
			[]string{"to-know Secret team/aso-credential: The command may not read the Secret, so the credential is not checked. -> Grant the right to get it, and repeat the check.",
				"to-know Secret team/aso: The command may not read the Secret, so the credential is not checked. -> Grant the right to get it, and repeat the check."}},
		"unreadable credential": {"the user may not read the named Secret, nor that of the default name", identities, []string{documents, "unreadable"},
			[]string{"to-know Secret team/aso-credential: The command may not read the Secret, so the credential is not checked. -> Grant the right to get it, and repeat the check.",
				"to-know Secret team/aso: The command may not read the Secret, so the credential is not checked. -> Grant the right to get it, and repeat the check."}},
		"identity of another namespace": {"its owner has to allow new uses", identities, []string{`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: one, namespace: team}
spec: {location: eastus, identityRef: {kind: AzureClusterIdentity, name: shared, namespace: default}}`},
			[]string{"to-know AzureCluster team/one: It uses AzureClusterIdentity default/shared of another namespace. Resources that it uses stay. --tenancy=isolated refuses new machines that use resources outside the cluster, such as user-assigned identities. -> Name these resources in spec.allowedResources and spec.allowedRoleScopes of the identity after the upgrade, or upgrade with CAPZ_TENANCY=trusted."}},
		"token of an identity of another namespace": {"Cluster API's access ends", identities, []string{`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: one, namespace: team}
spec: {location: eastus, disableLocalAccounts: true, identityRef: {kind: AzureClusterIdentity, name: shared, namespace: default}}`},
			[]string{"to-know AzureManagedControlPlane team/one: It uses AzureClusterIdentity default/shared of another namespace. Resources that it uses stay. --tenancy=isolated refuses new machines that use resources outside the cluster, such as user-assigned identities. -> Name these resources in spec.allowedResources and spec.allowedRoleScopes of the identity after the upgrade, or upgrade with CAPZ_TENANCY=trusted.",
				"to-know AzureManagedControlPlane team/one: Local accounts are disabled, and it uses an AzureClusterIdentity of another namespace. --tenancy=isolated writes no token of this identity into the kubeconfig, so Cluster API loses its access to the cluster. -> Before the upgrade, create an AzureClusterIdentity in the namespace of the cluster and use it, or upgrade with CAPZ_TENANCY=trusted."}},

		"operator's object": {"without the operator, its finalizer would stay", operator, []string{operatorKind, operatorObject(true, finalizer, "manage")},
			[]string{"done-by-run CustomResourceDefinition resourcegroups.resources.azure.com: Only a webhook of the operator can convert objects. The kind will serve only the version that objects are stored in.",
				"done-by-run ResourceGroup team/one: An object of the operator for a cluster. It is released: it gets the policy skip and loses its finalizer and owner references."}},
		"released object": {"an object without the finalizer was released", operator, []string{operatorKind, operatorObject(true, "", "skip")},
			[]string{"done-by-run CustomResourceDefinition resourcegroups.resources.azure.com: Only a webhook of the operator can convert objects. The kind will serve only the version that objects are stored in."}},
		"object of a user": {"the operator ends with the established provider", operator, []string{operatorKind, operatorObject(false, finalizer, "manage")},
			[]string{"to-know ResourceGroup team/one: An object of the operator that belongs to no cluster. It is not changed. The operator of the established provider ends with the upgrade. -> Install the Azure Service Operator separately after the upgrade, or delete the object before it.",
				"done-by-run CustomResourceDefinition resourcegroups.resources.azure.com: Only a webhook of the operator can convert objects. The kind will serve only the version that objects are stored in."}},
		"missing annotation": {"the manifest decides after the move", operator, []string{operatorKind, operatorObject(true, finalizer, "detach-on-delete"), documents},
			[]string{"blocks Azure Service Operator: namespace team, AzureASOManagedCluster one: ResourceGroup one of spec.resources[0] lacks the annotation serviceoperator.azure.com/reconcile-policy: detach-on-delete of its object. -> Copy the annotation into the resource manifest. Without it, another credential would be used, or a resource would be written to that has to stay as it is.",
				"done-by-run CustomResourceDefinition resourcegroups.resources.azure.com: Only a webhook of the operator can convert objects. The kind will serve only the version that objects are stored in.",
				"done-by-run ResourceGroup team/one: An object of the operator for a cluster. It is released: it gets the policy skip and loses its finalizer and owner references."}},
		"operator elsewhere": {"it has the same webhooks and kinds", operator, []string{operatorDeployment("azureserviceoperator-system", 1)},
			[]string{"blocks Deployment azureserviceoperator-system/azureserviceoperator-controller-manager: It runs an Azure Service Operator beside that of the established provider, with the same webhooks and kinds. It would undo the steps of the command. -> Stop it: kubectl -n azureserviceoperator-system scale deployment azureserviceoperator-controller-manager --replicas 0. Install it again after the migration, which deletes its webhooks and disables its conversions."}},
		"stopped operator elsewhere":           {"it does nothing", operator, []string{operatorDeployment("azureserviceoperator-system", 0)}, nil},
		"operator of the established provider": {"the migration stops it", operator, []string{operatorDeployment("capz-system", 1)}, nil},
		"operator's webhooks": {"they would refuse every change", operator,
			[]string{"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: azureserviceoperator-mutating-webhook-configuration}}"},
			[]string{"done-by-run MutatingWebhookConfiguration azureserviceoperator-mutating-webhook-configuration: Without a running operator it refuses every change of the operator's objects. It is deleted."}},

		"tags in order": {"46 additional ones, and four of the provider", tags, []string{tagged("AzureCluster", "", 46)}, nil},
		"too many tags": {"the tag of the owner is one too many", tags, []string{tagged("AzureCluster", "", 47)},
			[]string{"blocks AzureCluster team/one: The object would not be reconciled. spec.additionalTags: Invalid value: 51: tags on resources of the cluster, with those of the provider, are more than the 50 that Azure takes: remove 1." + fewerTags}},
		"too many tags of machines": {"machines have one more, by which the cloud provider finds them", tags,
			[]string{tagged("AzureCluster", "", 0), tagged("AzureMachineTemplate", "spec template", 46)},
			[]string{"blocks AzureMachineTemplate team/one: New machines of the template would be refused. spec.template.spec.additionalTags: Invalid value: 51: tags on the VM, with those of the provider, are more than the 50 that Azure takes: remove 1." + fewerTags}},
		"tags of machines in order": {"five of the provider", tags, []string{tagged("AzureCluster", "", 0), tagged("AzureMachineTemplate", "spec template", 45)}, nil},
		"template of a class":       {"its Cluster is not known", tags, []string{tagged("AzureMachineTemplate", "spec template", 50)}, nil},
		"too many tags of a pool": {"a scale set has the hash of its bootstrap data, too", tags,
			[]string{tagged("AzureCluster", "", 0), tagged("AzureMachinePool", "", 45)},
			[]string{"blocks AzureMachinePool team/one: The pool would not be Ready. spec.additionalTags: Invalid value: 51: tags on the scale set, with those of the provider, are more than the 50 that Azure takes: remove 1." + fewerTags}},
		"too many tags of AKS": {"an AKS cluster has tags of the provider, too", tags, []string{tagged("AzureManagedControlPlane", "", 47)},
			[]string{"blocks AzureManagedControlPlane team/one: The object would not be reconciled. spec.additionalTags: Invalid value: 51: tags on the AKS cluster, with those of the provider, are more than the 50 that Azure takes: remove 1." + fewerTags}},
		"tags of private DNS": {"a zone takes 15", tags, []string{strings.Replace(tagged("AzureCluster", "", 14), "spec: {", "spec: {controlPlaneEnabled: true, networkSpec: {apiServerLB: {type: Internal}}, ", 1)},
			[]string{"to-know AzureCluster team/one: The private DNS zone and its links do not get these tags of spec.additionalTags: t13. Azure takes at most 15 tags there, with those of the provider, and only names of letters, digits, _, . and - that do not start with a digit."}},

		"role": {"no upgrade removes it", roles,
			[]string{"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: capz-base-manager-role, labels: {cluster.x-k8s.io/provider: infrastructure-azure}}}"},
			[]string{"done-by-run ClusterRole capz-base-manager-role: A role of the established provider. It is replaced or deleted."}},
		"aggregated role": {"this provider does not collect rules", roles,
			[]string{"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: team, labels: {cluster.x-k8s.io/aggregate-to-capz-manager: 'true'}}}"},
			[]string{"to-know ClusterRole team: A role of your own whose rights the established provider has. This provider does not get them. -> Grant the rights by namespace, and delete the role after the migration."}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &checker{Options: Options{Reader: newReader(t, test.objects), Version: "v2.0.0"}}
			list := &apiextensionsv1.CustomResourceDefinitionList{}
			if err := c.Reader.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			c.definitions = list.Items
			if err := test.find(c)(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.report.Sort()
			var got []string
			for _, finding := range c.report.Findings {
				line := string(finding.Severity) + " " + finding.Object + ": " + finding.Found
				if finding.Remedy != "" {
					line += " -> " + finding.Remedy
				} else if finding.Severity == migration.Blocks {
					t.Errorf("a finding that blocks has no remedy: %s", line)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(sorted(test.want), sorted(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// newReader returns an API server in memory with objects. With the object "unreadable", Secrets cannot be read.
func newReader(t *testing.T, manifests []string) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme,
		apiextensionsv1.AddToScheme, rbacv1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for gvk, list := range map[schema.GroupVersionKind]string{migration.InventoryKind.GroupVersion().WithKind("Provider"): "ProviderList",
		{Group: "resources.azure.com", Version: "v1api20200601storage", Kind: "ResourceGroup"}: "ResourceGroupList"} {
		scheme.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind(list), &unstructured.UnstructuredList{})
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&appsv1.Deployment{}, metav1.ObjectNameField,
		func(object client.Object) []string { return []string{object.GetName()} })
	for _, manifest := range manifests {
		if manifest == "unreadable" {
			builder = builder.WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey,
				object client.Object, options ...client.GetOption) error {
				if _, is := object.(*corev1.Secret); is {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, nil)
				}
				return c.Get(ctx, key, object, options...)
			}})
			continue
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		builder = builder.WithObjects(object)
	}
	return builder.Build()
}

// TestUndefinedKinds holds that a check of a management cluster in which kinds of this provider are not defined, or not in its version, is
// complete: each finding of the other kinds is in the report.
func TestUndefinedKinds(t *testing.T) {
	all := newReader(t, []string{contract, providerObject("capz-system", "v1.26.0"), ownerCluster,
		definition("AzureASOManagedCluster", "azureasomanagedclusters", "[{name: v1alpha1, served: true, storage: true}]", "[v1alpha1]", ""), `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: one, namespace: team}
spec: {location: eastus, identityRef: {kind: AzureClusterIdentity, name: shared, namespace: default}}`})
	absent := func(object runtime.Object) error {
		gvk, err := apiutil.GVKForObject(object, all.Scheme())
		if err != nil {
			return err
		}
		kind := strings.TrimSuffix(gvk.Kind, "List")
		if gvk.Group == migration.GroupVersion.Group && kind != "AzureManagedControlPlane" {
			return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gvk.Group, Kind: kind}, SearchedVersions: []string{gvk.Version}}
		}
		return nil
	}
	reader := interceptor.NewClient(all.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := absent(list); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := absent(object); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	report, err := FindAll(t.Context(), Options{Reader: reader, Version: "v2.0.0", FindRelease: func(context.Context, string) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Objects are stored as v1alpha1. This provider stores v1beta1.", "It uses AzureClusterIdentity default/shared of another namespace."} {
		if !slices.ContainsFunc(report.Findings, func(f migration.Finding) bool { return strings.HasPrefix(f.Found, want) }) {
			t.Errorf("the report has no finding %q: %+v", want, report.Findings)
		}
	}
	stored := &backup.Backup{From: "v1.26.0"}
	if err := stored.Store(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if _, err := FindBack(t.Context(), reader, func(context.Context, string) error { return nil }); err != nil {
		t.Errorf("a check of the return: %v", err)
	}
}

// TestReadGates checks that plans use the feature gates of the installed manager, without those that no plan depends on.
func TestReadGates(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "capz-system", Name: "capz-controller-manager"}}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--leader-elect",
		"--feature-gates=MachinePool=true,ASOAPI=true,EdgeZone=false,ClusterResourceSet=true, APIServerILB=true"}}}
	c := fake.NewClientBuilder().WithObjects(deployment).Build()
	if got, err := ReadGates(t.Context(), c); err != nil || got != "MachinePool=true,ASOAPI=true,EdgeZone=false,APIServerILB=true" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ReadGates(t.Context(), fake.NewClientBuilder().Build()); err != nil || got != "" {
		t.Errorf("without a Deployment: %q, %v", got, err)
	}
}

// TestSectionByHand holds that the section exists to which findings lead.
func TestSectionByHand(t *testing.T) {
	page, err := os.ReadFile("../../../docs/book/release.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n### "+byHandSection+"\n") {
		t.Errorf("docs/book/release.md has no section %q", byHandSection)
	}
}

// TestSeries checks that clusterctl knows the contract of every version from which it can be asked to upgrade, and of no later one.
func TestSeries(t *testing.T) {
	raw, err := os.ReadFile("../../../metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct {
		ReleaseSeries []struct {
			Major, Minor uint64
			Contract     string
		}
	}
	if err := yaml.Unmarshal(raw, &metadata); err != nil {
		t.Fatal(err)
	}
	got, want := map[uint64]string{}, map[uint64]string{}
	for _, series := range metadata.ReleaseSeries {
		if series.Major == 1 && series.Minor >= oldestMinor {
			got[series.Minor] = series.Contract
		}
	}
	for minor := uint64(oldestMinor); minor <= knownMinor; minor++ {
		want[minor] = "v1beta1"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series 1.x in metadata.yaml (-want +got):\n%s", diff)
	}
}

// TestVersionsOnPages holds that the pages about upgrades name the versions from which a migration is supported.
func TestVersionsOnPages(t *testing.T) {
	want := fmt.Sprintf("CAPZ v1.%d to v1.%d (", oldestMinor, newestMinor)
	cell := fmt.Sprintf("| v1.%d to v1.%d |", oldestMinor, newestMinor)
	for page, want := range map[string]string{"release-notes.md": want, "book/versions.md": want, "book/moving-from-capz.md": cell} {
		raw, err := os.ReadFile("../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), want) {
			t.Errorf("docs/%s does not have %q", page, want)
		}
	}
}

func sorted(lines []string) map[string]bool {
	out := map[string]bool{}
	for _, line := range lines {
		out[line] = true
	}
	return out
}
