//go:build e2e

package specs

import (
	"context"
	"fmt"
	"maps"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/test/framework"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// runners call the specs of Cluster API, by their names.
var runners = map[string]func(c catalog.Case){
	"quick-start":          runQuickStart,
	"md-scale":             runMachineDeploymentScale,
	"rollout":              runRollout,
	"remediation":          runRemediation,
	"kcp-adoption":         runAdoption,
	"machine-pool":         runMachinePool,
	"upgrade":              runUpgrade,
	"upgrade-ha":           runUpgrade,
	"clusterclass-changes": runClassChanges,
	"clusterclass-rollout": runClassRollout,
	"cluster-deletion":     runDeletion,
	"managed-upgrade":      runManagedUpgrade,
	"move":                 runMove,
	"node-drain":           runNodeDrain,
	"self-hosted":          runSelfHosted,
	"autoscaler":           runAutoscaler,
	"conformance":          runConformance,
	"clusterctl-upgrade":   runProviderUpgrade,
}

var _ = func() bool {
	for _, c := range catalog.Cases {
		Describe(c.Name(), Label(c.Labels()...), func() { runners[c.Spec](c) })
	}
	return true
}()

// identitySecret has the credential of the identities in the namespace of a spec.
const identitySecret = "e2e-identity"

// prepareNamespace returns a hook that puts the credential of the clusters into the namespace of a spec, and sets the variables of its
// template. A process runs one spec at a time, so its environment is that of the spec.
func prepareNamespace(c catalog.Case) func(framework.ClusterProxy, string) {
	return func(management framework.ClusterProxy, namespace string) {
		variables := map[string]string{
			"CLUSTER_IDENTITY_NAME":                   "e2e-identity",
			"CLUSTER_IDENTITY_TYPE":                   "ServicePrincipal",
			"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY":  os.Getenv("AZURE_CLIENT_ID"),
			"AZURE_CLUSTER_IDENTITY_SECRET_NAME":      identitySecret,
			"AZURE_CLUSTER_IDENTITY_SECRET_NAMESPACE": namespace,
			"ASO_CREDENTIAL_SECRET_NAME":              identitySecret,
			"AZURE_SSH_PUBLIC_KEY_B64":                "",
		}
		if c.Family != catalog.SelfManaged {
			variables["KUBERNETES_VERSION"] = config.MustGetVariable("AKS_KUBERNETES_VERSION")
		}
		if run := os.Getenv(azure.RunVariable); run != "" {
			variables["AZURE_RESOURCE_GROUP"] = run + "-" + namespace
			labelNamespace(management, namespace, run)
		}
		maps.Copy(variables, c.Variables)
		for name, value := range variables {
			setVariable(name, value)
		}
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: identitySecret, Namespace: namespace, Labels: map[string]string{"clusterctl.cluster.x-k8s.io/move-hierarchy": "true"},
			},
			StringData: map[string]string{"clientSecret": os.Getenv("AZURE_CLIENT_SECRET")},
		}
		for _, name := range []string{"AZURE_SUBSCRIPTION_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"} {
			secret.StringData[name] = os.Getenv(name)
		}
		Expect(management.GetClient().Create(context.Background(), secret)).To(Succeed())
		if c.Family == catalog.SelfManaged && c.IsTopology() {
			createIdentity(management, namespace)
		}
	}
}

// createIdentity creates the identity that a Cluster with a topology expects in its namespace. The other flavors bring theirs.
func createIdentity(management framework.ClusterProxy, namespace string) {
	identity := &infrav1.AzureClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{
			Name: os.Getenv("CLUSTER_IDENTITY_NAME"), Namespace: namespace, Labels: map[string]string{"clusterctl.cluster.x-k8s.io/move-hierarchy": "true"},
		},
		Spec: infrav1.AzureClusterIdentitySpec{
			Type: infrav1.ServicePrincipal, TenantID: os.Getenv("AZURE_TENANT_ID"), ClientID: os.Getenv("AZURE_CLIENT_ID"),
			ClientSecret:      corev1.SecretReference{Name: identitySecret, Namespace: namespace},
			AllowedNamespaces: &infrav1.AllowedNamespaces{},
		},
	}
	Expect(management.GetClient().Create(context.Background(), identity)).To(Succeed())
}

// labelNamespace marks the namespace as one of the run, so that a sweep finds its clusters.
func labelNamespace(management framework.ClusterProxy, name, run string) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	change := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, azure.Tag, run))
	Expect(management.GetClient().Patch(context.Background(), namespace, change)).To(Succeed())
}

// setVariable sets a variable until the end of the spec.
func setVariable(name, value string) {
	before, isSet := os.LookupEnv(name)
	DeferCleanup(func() {
		if isSet {
			Expect(os.Setenv(name, before)).To(Succeed())
		} else {
			Expect(os.Unsetenv(name)).To(Succeed())
		}
	})
	Expect(os.Setenv(name, value)).To(Succeed())
}
