package tenancy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// scene has the targets of the tries: a tenant, and the operator's credentials.
type scene struct {
	*world
	tenant *harness.Stage
	// managers is the client ID of an application that trusts the manager, neighbours of one that trusts another tenant's
	// ServiceAccount; the other tenant has a cluster by it.
	managers, neighbours string
	neighbour            *harness.Stage
}

// try is something that a tenant tries.
type try struct {
	what string
	// do makes the objects; an identity of the tenant's that no cluster uses yet.
	do func(s *scene)
	// cluster changes the tenant's cluster; nil for none.
	cluster func(s *scene, c *infrav1.AzureCluster)
	// reason and says are in the conditions of the identity and of the cluster; ofIdentity is the identity's own where it differs.
	reason, ofIdentity string
	says               func(s *scene) []string
	// loot checks, when tenants are trusted, that the try succeeds. It is nil for tries that fail all the same.
	loot func(s *scene)
}

// waitProvisioned waits until the tenant's cluster exists: it was made with a credential that is not the tenant's.
func waitProvisioned(s *scene) { s.tenant.WaitClusterProvisioned("c1") }

// tries has its keys for names of applications in Azure.
var tries = map[string]try{
	"secret": {
		what: "use the operator's Secret, and read it in azure.json",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) { i.ClientSecret.Namespace = s.Namespace })
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says: func(s *scene) []string {
			return []string{"--tenancy=isolated", s.Namespace + "/identity", "kubectl annotate secret"}
		},
		loot: func(s *scene) {
			harness.WaitFor(s.tenant, &corev1.Secret{}, "m1-azure-json", "the loot", func(secret *corev1.Secret) bool {
				return strings.Contains(string(secret.Data["azure.json"]), s.Azure.ClientSecret)
			})
		},
	},
	"unproven": {
		what: "read a Secret that is no credential of the application in azure.json",
		do: func(s *scene) {
			s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "of-" + s.tenant.Namespace},
				Data: map[string][]byte{"clientSecret": []byte(s.tenant.NewSecretValue("another"))}})
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.ClientSecret = corev1.SecretReference{Namespace: s.Namespace, Name: "of-" + s.tenant.Namespace}
			})
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says:   func(s *scene) []string { return []string{"--tenancy=isolated"} },
	},
	"own-unproven": {
		what: "read a Secret of the namespace that its roles do not let it read, in azure.json",
		do: func(s *scene) {
			s.tenant.CreateCredential(s.tenant.NewSecretValue("in-the-namespace"))
			createIdentity(s.tenant, func(*infrav1.AzureClusterIdentitySpec) {})
		},
		reason: infrav1.CredentialsInvalidReason,
		says:   func(*scene) []string { return []string{"AADSTS7000215"} },
	},
	"certificate": {
		what: "have the bytes of a Secret quoted by what reads certificates",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.ClientSecret.Namespace = infrav1.ServicePrincipalCertificate, s.Namespace
			})
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says:   func(s *scene) []string { return []string{s.Namespace + "/identity"} },
	},
	"guess": {
		what: "learn which Secrets others have",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.ClientSecret = corev1.SecretReference{Namespace: s.Namespace, Name: "there-is-none"}
			})
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says: func(s *scene) []string {
			return []string{
				"there is no Secret " + s.Namespace + "/there-is-none that lets identities of namespace " + s.tenant.Namespace + " use it"}
		},
		loot: func(s *scene) {
			waitReason(s.tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, "SecretNotFound")
		},
	},
	"permit": {
		what: "permit itself the operator's Secret, by the annotation on its identity",
		do: func(s *scene) {
			object := s.tenant.NewIdentity()
			object.Annotations = map[string]string{infrav1.IdentityNamespacesAnnotation: "*"}
			object.Spec.ClientSecret.Namespace = s.Namespace
			s.tenant.CreateObject(object)
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says:   func(s *scene) []string { return []string{"--tenancy=isolated"} },
		loot:   waitProvisioned,
	},
	"manager": {
		what: "use an application that trusts the manager",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.ClientID, i.ClientSecret = infrav1.WorkloadIdentity, s.managers, corev1.SecretReference{}
			})
		},
		reason: "ServiceAccountNotFound",
		says: func(s *scene) []string {
			return []string{"--tenancy=isolated", s.tenant.Namespace + "/capz-workload-identity",
				"system:serviceaccount:" + s.tenant.Namespace + ":capz-workload-identity", "--manager-identity-namespaces"}
		},
		loot: waitProvisioned,
	},
	"subject": {
		what: "use an application that trusts the manager, with a ServiceAccount of its own",
		do: func(s *scene) {
			s.createAccount(s.tenant, infrav1.WorkloadIdentityServiceAccount)
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.ClientID, i.ClientSecret = infrav1.WorkloadIdentity, s.managers, corev1.SecretReference{}
			})
		},
		reason: infrav1.CredentialsInvalidReason,
		says: func(s *scene) []string {
			return []string{"AADSTS700213", "system:serviceaccount:" + s.tenant.Namespace + ":capz-workload-identity"}
		},
		loot: waitProvisioned,
	},
	"neighbour": {
		what: "use the application of another tenant, whose token the manager has in memory",
		do: func(s *scene) {
			s.createAccount(s.tenant, infrav1.WorkloadIdentityServiceAccount)
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.ClientID, i.ClientSecret = infrav1.WorkloadIdentity, s.neighbours, corev1.SecretReference{}
			})
		},
		reason: infrav1.CredentialsInvalidReason,
		says:   func(*scene) []string { return []string{"AADSTS700213"} },
	},
	"machine": {
		what: "use a managed identity of the machine that the manager runs on",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.ClientSecret = infrav1.UserAssignedMSI, corev1.SecretReference{}
			})
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says: func(s *scene) []string {
			return []string{"spec.type UserAssignedMSI", "--manager-identity-namespaces", s.tenant.Namespace}
		},
		loot: func(s *scene) {
			// The machine of the test has no managed identity, so the sign-in fails.
			harness.WaitFor(s.tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, "taken", func(i *infrav1.AzureClusterIdentity) bool {
				ready := harness.FindCondition(i, infrav1.ReadyCondition)
				return ready.Status != "" && ready.Reason != infrav1.NotAllowedByTenancyReason
			})
		},
	},
	"file": {
		what: "use a certificate in the manager's container",
		do: func(s *scene) {
			path := filepath.Join(s.certificates, "operators.pem")
			certificate, key := azuretest.NewCertificate(s.tenant.T)
			if err := s.Azure.TrustCertificate(s.Azure.ClientID, certificate); err != nil {
				s.tenant.T.Fatal(err)
			}
			if err := os.WriteFile(path, append(certificate, key...), 0o600); err != nil {
				s.tenant.T.Fatal(err)
			}
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.CertPath, i.ClientSecret = infrav1.ServicePrincipalCertificate, path, corev1.SecretReference{}
			})
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says: func(s *scene) []string {
			return []string{"spec.certPath", "--manager-identity-namespaces", s.tenant.Namespace}
		},
		loot: waitProvisioned,
	},
	"device": {
		what: "take the manager out of memory with a file without an end",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) {
				i.Type, i.CertPath, i.ClientSecret = infrav1.ServicePrincipalCertificate, "/dev/zero", corev1.SecretReference{}
			})
		},
		reason: infrav1.NotAllowedByTenancyReason,
		says:   func(*scene) []string { return []string{"spec.certPath"} },
	},
	"borrow": {
		what: "use the operator's identity, which does not let the namespace",
		do: func(s *scene) {
			createIdentity(s.tenant, func(i *infrav1.AzureClusterIdentitySpec) { i.ClientSecret.Namespace = s.tenant.Namespace })
			s.tenant.CreateCredential(s.Azure.ClientSecret)
		},
		cluster:    func(s *scene, c *infrav1.AzureCluster) { c.Spec.IdentityRef.Namespace = s.Namespace },
		reason:     infrav1.NamespaceNotAllowedByIdentityReason,
		ofIdentity: infrav1.ReadyReason,
		says:       func(s *scene) []string { return []string{s.tenant.Namespace, s.Namespace + "/identity"} },
	},
}

// TestTries lets tenants try to reach resources of others, with a manager that isolates them and with one that trusts them; it expects that
// a try that fails with the one works with the other, or fails with both.
func TestTries(t *testing.T) {
	for _, tenancy := range []string{"isolated", "trusted"} {
		t.Run(tenancy, func(t *testing.T) {
			w := newWorld(t, "--tenancy="+tenancy)
			w.CreateCredential(w.Azure.ClientSecret)
			operators := w.NewIdentity()
			operators.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{w.Namespace}}
			w.CreateObject(operators)
			managers := w.createApplication("managers", w.Namespace, managerAccount)
			neighbour := w.InOtherNamespace()
			neighbours := w.createApplication("neighbours", neighbour.Namespace, infrav1.WorkloadIdentityServiceAccount)
			if tenancy == "isolated" {
				w.createAccount(neighbour, infrav1.WorkloadIdentityServiceAccount)
				createIdentity(neighbour, func(i *infrav1.AzureClusterIdentitySpec) {
					i.Type, i.ClientID, i.ClientSecret = infrav1.WorkloadIdentity, neighbours, corev1.SecretReference{}
				})
				createCluster(neighbour, nil)
				neighbour.WaitClusterProvisioned("c1")
			}
			t.Run("tries", func(t *testing.T) {
				for name, test := range tries {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						s := &scene{world: w, tenant: w.InOtherNamespaceFor(t), managers: managers, neighbours: neighbours, neighbour: neighbour}
						test.runTry(s, tenancy == "trusted")
					})
				}
			})
		})
	}
}

func (t try) runTry(s *scene, trusted bool) {
	s.tenant.T.Helper()
	t.do(s)
	createCluster(s.tenant, func(c *infrav1.AzureCluster) {
		if t.cluster != nil {
			t.cluster(s, c)
		}
	})
	if trusted {
		harness.WaitFor(s.tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, "with a condition about trusted tenants",
			func(i *infrav1.AzureClusterIdentity) bool {
				condition := harness.FindCondition(i, infrav1.TenantsIsolatedCondition)
				return condition.Status == metav1.ConditionFalse && strings.Contains(condition.Message, "--tenancy=trusted")
			})
		if t.loot != nil {
			t.loot(s)
			return
		}
	} else {
		if reason := t.ofIdentity; reason != "" {
			waitReason(s.tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, reason)
		} else {
			waitReason(s.tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, t.reason, t.says(s)...)
		}
		waitReason(s.tenant, &infrav1.AzureCluster{}, "c1", t.reason, t.says(s)...)
	}
	harness.WaitFor(s.tenant, &infrav1.AzureCluster{}, "c1", "refused", func(c *infrav1.AzureCluster) bool {
		return harness.FindCondition(c, infrav1.ReadyCondition).Status == metav1.ConditionFalse
	})
	s.checkHeld(t.what)
}

// checkHeld fails the test if the tenant has got anywhere.
func (s *scene) checkHeld(what string) {
	s.tenant.T.Helper()
	if done := s.inAzure(s.tenant); len(done) > 0 {
		s.tenant.T.Errorf("who wanted to %s was heard by Azure: %q", what, done)
	}
	for _, secret := range secretsOf(s.tenant) {
		// The Secret of an identity without a secret has only values that the tenant wrote itself.
		var configuration struct {
			ClientSecret string `json:"aadClientSecret"`
		}
		if raw := secret.Data["azure.json"]; len(raw) > 0 && (json.Unmarshal(raw, &configuration) != nil || configuration.ClientSecret != "") {
			s.tenant.T.Errorf("who wanted to %s got a credential in the Secret %s", what, secret.Name)
		}
	}
}
