package tenancy_test

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestUses lets tenants, and the administrator, create clusters with their own identities or with those that others let them use, beside
// each other.
func TestUses(t *testing.T) {
	w := newWorld(t)
	w.CreateCredential(w.Azure.ClientSecret)
	certificate, key := azuretest.NewCertificate(t)
	if err := w.Azure.TrustCertificate(w.Azure.ClientID, certificate); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.certificates, "operators.pem"), append(certificate, key...), 0o600); err != nil {
		t.Fatal(err)
	}
	workload := func(clientID string) func(*infrav1.AzureClusterIdentitySpec) {
		return func(i *infrav1.AzureClusterIdentitySpec) {
			i.Type, i.ClientID, i.ClientSecret = infrav1.WorkloadIdentity, clientID, corev1.SecretReference{}
		}
	}
	for name, use := range map[string]struct {
		reason string
		// do makes the identity, and returns the namespace of the one that the cluster names, "" for its own.
		do func(tenant *harness.Stage) string
		// operators runs it in the operator's namespace.
		operators bool
	}{
		"own Secret": {reason: "it is the tenant's", do: func(tenant *harness.Stage) string {
			tenant.CreateCredential(w.Azure.ClientSecret)
			createIdentity(tenant, func(*infrav1.AzureClusterIdentitySpec) {})
			return ""
		}},
		"Secret that is let": {reason: "its owner lets the namespace use it", do: func(tenant *harness.Stage) string {
			w.CreateObject(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "let",
					Annotations: map[string]string{infrav1.IdentityNamespacesAnnotation: "others," + tenant.Namespace}},
				Data: map[string][]byte{"clientSecret": []byte(w.Azure.ClientSecret)},
			})
			createIdentity(tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.ClientSecret = corev1.SecretReference{Namespace: w.Namespace, Name: "let"}
			})
			return ""
		}},
		"own account": {reason: "Azure trusts the subject of the namespace", do: func(tenant *harness.Stage) string {
			w.createAccount(tenant, infrav1.WorkloadIdentityServiceAccount)
			createIdentity(tenant, workload(w.createApplication("own", tenant.Namespace, infrav1.WorkloadIdentityServiceAccount)))
			return ""
		}},
		"account of the manager": {reason: "the operator's namespace is listed", operators: true, do: func(operator *harness.Stage) string {
			object := operator.NewIdentity()
			workload(w.createApplication("managers", w.Namespace, managerAccount))(&object.Spec)
			object.Name = "managers"
			operator.CreateObject(object)
			return operator.Namespace + "/managers"
		}},
		"file of the manager": {reason: "the operator's namespace is listed", operators: true, do: func(operator *harness.Stage) string {
			object := operator.NewIdentity()
			object.Spec.Type, object.Spec.CertPath, object.Spec.ClientSecret = infrav1.ServicePrincipalCertificate,
				filepath.Join(w.certificates, "operators.pem"), corev1.SecretReference{}
			object.Name = "file"
			operator.CreateObject(object)
			return operator.Namespace + "/file"
		}},
		"identity of the operator": {reason: "the operator lets the namespace use it, with a Secret beside it",
			do: func(tenant *harness.Stage) string {
				object := w.NewIdentity()
				object.Name = "shared"
				object.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{tenant.Namespace}}
				w.CreateObject(object)
				return w.Namespace + "/shared"
			}},
	} {
		t.Run(name, func(t *testing.T) {
			tenant := w.InOtherNamespaceFor(t)
			named := use.do(map[bool]*harness.Stage{true: w.Stage, false: tenant}[use.operators])
			createCluster(tenant, func(c *infrav1.AzureCluster) {
				if named != "" {
					c.Spec.IdentityRef.Namespace, c.Spec.IdentityRef.Name = filepath.Dir(named), filepath.Base(named)
				}
			})
			tenant.WaitClusterProvisioned("c1")
			tenant.WaitMachineProvisioned("m1")
			tenant.DeleteCluster("c1", "m1")
		})
	}
}
