package management

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// Names of the objects with the lab's credentials.
const (
	IdentityName   = "cluster-identity"
	IdentitySecret = "cluster-identity-secret"
	// documentSecret is the credential that the documents of flavors name, as Azure Service Operator reads it.
	documentSecret = "aso-credential"
	Namespace      = "default"
	// workloadIdentity is the account that identities of its namespace sign in as.
	workloadIdentity = "capz-workload-identity"
)

// The templates' default identity of control-plane machines, which cloud-provider-azure logs in with. The page Getting started creates it.
const (
	identityGroup   = "cluster-api"
	machineIdentity = "cluster-api-control-plane"
)

// machineIdentityID is its Azure ID.
const machineIdentityID = "/subscriptions/" + settings.SubscriptionID + "/resourceGroups/" + identityGroup +
	"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + machineIdentity

// TemplateVariables returns the values that the lab gives to the variables of templates. CLUSTER_CLASS_NAME is not one of them:
// flavors of AKS have a default of their own.
func TemplateVariables(s *settings.Settings) map[string]string {
	return map[string]string{
		"AZURE_SUBSCRIPTION_ID":                  settings.SubscriptionID,
		"AZURE_TENANT_ID":                        settings.TenantID,
		"AZURE_CLIENT_ID":                        settings.ClientID,
		"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY": settings.ClientID,
		"AZURE_LOCATION":                         settings.Location,
		"AZURE_CONTROL_PLANE_MACHINE_TYPE":       "Standard_D2s_v3",
		"AZURE_NODE_MACHINE_TYPE":                "Standard_D2s_v3",
		"CLUSTER_IDENTITY_NAME":                  IdentityName,
		"KUBERNETES_VERSION":                     settings.KubernetesVersion,

		// Those of single flavors.
		"APISERVER_LB_DNS_SUFFIX":            "lab",
		"ASO_CREDENTIAL_SECRET_NAME":         documentSecret,
		"AZURE_EXTENDEDLOCATION_NAME":        "losangeles",
		"AZURE_EXTENDEDLOCATION_TYPE":        "EdgeZone",
		"AZURE_SERVER_APP_ID":                settings.ClientID,
		"FLATCAR_VERSION":                    "3815.2.0",
		"USER_ASSIGNED_IDENTITY_PROVIDER_ID": machineIdentityID,
	}
}

// seedAzure makes the user-assigned identity that the templates give to control-plane machines.
func (l *lab) seedAzure(ctx context.Context) error {
	azure, err := simulator.New(l.s)
	if err != nil {
		return err
	}
	group := fmt.Sprintf("/subscriptions/%s/resourceGroups/%s", settings.SubscriptionID, identityGroup)
	if err := azure.PutResource(ctx, group, "2021-04-01", map[string]any{"location": settings.Location}); err != nil {
		return err
	}
	return azure.PutResource(ctx, machineIdentityID, "2023-01-31", map[string]any{"location": settings.Location})
}

// federatedSubjects are who may sign in as the lab's application with a token of the management cluster: the identity of the
// templates, our manager, and the established provider's and its operator's.
var federatedSubjects = []string{
	"system:serviceaccount:" + Namespace + ":" + workloadIdentity,
	"system:serviceaccount:" + managerNamespace + ":" + managerServiceAccount,
	"system:serviceaccount:" + managerNamespace + ":azureserviceoperator-default",
}

// trustTokens has the lab's application trust the management cluster, as `az ad app federated-credential create` does it.
func (l *lab) trustTokens(ctx context.Context) error {
	azure, err := simulator.New(l.s)
	if err != nil {
		return err
	}
	keys, err := pki.KeySet(l.s.JoinPath("pki"))
	if err != nil {
		return err
	}
	if err := azure.TrustIssuer(ctx, pki.Issuer, keys); err != nil {
		return fmt.Errorf("the issuer of tokens in the simulated Entra ID: %w", err)
	}
	return azure.TrustSubjects(ctx, pki.Issuer, federatedSubjects)
}

// applyIdentity makes the credentials that the templates name, and the Secret for those who prefer a service principal.
func (l *lab) applyIdentity(ctx context.Context) error {
	kube, err := NewClient(l.s)
	if err != nil {
		return err
	}
	objects := []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{
			"name": IdentitySecret, "namespace": Namespace,
			"labels": map[string]any{"clusterctl.cluster.x-k8s.io/move-hierarchy": "true"},
		},
		"stringData": map[string]any{"clientSecret": l.s.ClientSecret},
	}}, {Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{
			"name": documentSecret, "namespace": Namespace,
			// It is of no Cluster, and moves with all of them.
			"labels": map[string]any{"clusterctl.cluster.x-k8s.io/move": "true"},
		},
		"stringData": map[string]any{
			"AZURE_SUBSCRIPTION_ID": settings.SubscriptionID, "AZURE_TENANT_ID": settings.TenantID,
			"AZURE_CLIENT_ID": settings.ClientID, "AZURE_CLIENT_SECRET": l.s.ClientSecret,
		},
	}}}
	if !l.s.WithoutProvider {
		// Tenants are isolated, so the identity proves itself with this account of its namespace.
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ServiceAccount",
			"metadata": map[string]any{"name": workloadIdentity, "namespace": Namespace},
		}}, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureClusterIdentity",
			"metadata": map[string]any{"name": IdentityName, "namespace": Namespace},
			"spec": map[string]any{
				"type": "WorkloadIdentity", "allowedNamespaces": map[string]any{},
				"tenantID": settings.TenantID, "clientID": settings.ClientID,
			},
		}})
	}
	for _, object := range objects {
		if err := ApplyObject(ctx, kube, object); err != nil {
			return err
		}
	}
	return nil
}

// RESTConfig leads to the management cluster. It is an error when its API server does not run.
func RESTConfig(s *settings.Settings) (*rest.Config, error) {
	if err := ProcessTable(s).CheckRunning(apiServer); err != nil {
		return nil, err
	}
	c, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.KubeconfigPath(), err)
	}
	c.QPS, c.Burst = 100, 200
	return c, nil
}

// NewClient talks to the management cluster, with unstructured objects.
func NewClient(s *settings.Settings) (client.Client, error) {
	c, err := RESTConfig(s)
	if err != nil {
		return nil, err
	}
	return client.New(c, client.Options{})
}

// NewCachedClient returns a client for callers that read repeatedly: it watches each kind after the first read, until
// ctx ends, and reads from that watch.
func NewCachedClient(ctx context.Context, s *settings.Settings) (client.Client, error) {
	c, err := RESTConfig(s)
	if err != nil {
		return nil, err
	}
	watched, err := cache.New(c, cache.Options{DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return nil, err
	}
	go func() { _ = watched.Start(ctx) }() // It returns no error but that of a context that has ended.
	if !watched.WaitForCacheSync(ctx) {
		return nil, context.Cause(ctx)
	}
	return client.New(c, client.Options{Cache: &client.CacheOptions{Reader: watched, Unstructured: true}})
}
