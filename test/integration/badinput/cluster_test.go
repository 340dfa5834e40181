package badinput_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestCluster creates clusters that the API server accepts but the provider cannot create: the Ready condition reports the cause and
// the time of the next try, no resource is created, and the same object becomes ready once the input is corrected.
func TestCluster(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// given prepares Azure and the identity; nil makes the stage's identity.
		given func(s *harness.Stage)
		// change makes the default AzureCluster bad; nil leaves it.
		change func(s *harness.Stage, c *infrav1.AzureCluster)
		// condition is the reason of the Ready condition; its message contains each part of message.
		condition string
		message   []string
		correct   func(s *harness.Stage)
	}{
		"missing identity": {
			reason:    "there is no AzureClusterIdentity of the name that spec.identityRef has",
			given:     func(*harness.Stage) {},
			condition: infrav1.IdentityNotFoundReason,
			message:   []string{"spec.identityRef", "AzureClusterIdentity", harness.IdentityName},
			correct:   func(s *harness.Stage) { s.CreateIdentity() },
		},
		"identity for other namespaces": {
			reason: "the identity's spec.allowedNamespaces does not include the cluster's namespace",
			given: func(s *harness.Stage) {
				s.CreateCredential(s.Azure.ClientSecret)
				identity := s.NewIdentity()
				identity.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{"somebody-else"}}
				s.CreateObject(identity)
			},
			condition: infrav1.NamespaceNotAllowedByIdentityReason,
			message:   []string{"spec.allowedNamespaces", harness.IdentityName},
			correct: func(s *harness.Stage) {
				harness.ChangeObject(s, s.NewIdentity(), func(i *infrav1.AzureClusterIdentity) {
					i.Spec.AllowedNamespaces.NamespaceList = append(i.Spec.AllowedNamespaces.NamespaceList, s.Namespace)
				})
			},
		},
		"wrong client secret": {
			reason: "Entra ID answers 401 to the request for a token",
			given: func(s *harness.Stage) {
				s.CreateCredential(s.NewSecretValue("wrong"))
				s.CreateObject(s.NewIdentity())
			},
			condition: infrav1.CredentialsInvalidReason,
			message:   []string{"AADSTS7000215", "client secret"},
			correct: func(s *harness.Stage) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}
				harness.ChangeObject(s, secret, func(c *corev1.Secret) { c.Data["clientSecret"] = []byte(s.Azure.ClientSecret) })
			},
		},
		"subscription unknown": {
			reason: "Azure does not know the subscription, or not for this identity",
			change: func(_ *harness.Stage, c *infrav1.AzureCluster) {
				c.Spec.SubscriptionID = "00000000-0000-0000-0000-00000000dead"
			},
			condition: infrav1.SubscriptionNotFoundReason,
			message:   []string{"SubscriptionNotFound", "00000000-0000-0000-0000-00000000dead"},
			correct: func(s *harness.Stage) {
				changeCluster(s, func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = s.Azure.SubscriptionID })
			},
		},
		"region unknown": {
			reason:    "Azure has no region of that name",
			change:    func(_ *harness.Stage, c *infrav1.AzureCluster) { c.Spec.Location = "eastuss" },
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"spec.location", "eastuss", "eastus"},
			correct: func(s *harness.Stage) {
				changeCluster(s, func(c *infrav1.AzureCluster) { c.Spec.Location = "eastus" })
			},
		},
		"network that does not exist": {
			reason: "spec.networkSpec.vnet names a network of the user, which does not exist",
			change: func(s *harness.Stage, c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{
					ResourceGroup: "hub", Name: "hub-vnet",
					ID: "/subscriptions/" + s.Azure.SubscriptionID + "/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-vnet",
				}
			},
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"spec.networkSpec.vnet", "hub-vnet"},
			correct: func(s *harness.Stage) {
				s.Azure.PutNetwork("hub", "hub-vnet", "10.0.0.0/8",
					map[string]string{"c1-controlplane-subnet": "10.0.0.0/16", "c1-node-subnet": "10.1.0.0/16"})
				nextTry(s)
			},
		},
		"network of another region": {
			reason: "a network of the user is in another region than the cluster, where nothing can be made in it",
			given: func(s *harness.Stage) {
				s.Azure.PutNetwork("hub", "hub-vnet", "10.0.0.0/8",
					map[string]string{"c1-controlplane-subnet": "10.0.0.0/16", "c1-node-subnet": "10.1.0.0/16"})
				s.CreateIdentity()
			},
			change: func(_ *harness.Stage, c *infrav1.AzureCluster) {
				c.Spec.Location = "westus2"
				c.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{ResourceGroup: "hub", Name: "hub-vnet"}
			},
			condition: infrav1.InvalidConfigurationReason,
			message: []string{"spec.networkSpec.vnet", "hub-vnet", "is in region eastus", "spec.location is westus2",
				"set spec.location to eastus"},
			correct: func(s *harness.Stage) {
				changeCluster(s, func(c *infrav1.AzureCluster) { c.Spec.Location = "East US" })
			},
		},
		"overlapping subnets": {
			reason: "an address would be in two subnets",
			change: func(_ *harness.Stage, c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
					{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"10.0.0.0/16"}}},
					{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.0.128.0/17"}}},
				}
			},
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"spec.networkSpec.subnets[1].cidrBlocks[0]", "10.0.128.0/17", "10.0.0.0/16"},
			correct: func(s *harness.Stage) {
				changeCluster(s, func(c *infrav1.AzureCluster) {
					c.Spec.NetworkSpec.Subnets[1].CIDRBlocks = []string{"10.1.0.0/16"}
				})
			},
		},
		"identity without rights": {
			reason: "the service principal has no role in the subscription, so Azure refuses every write",
			given: func(s *harness.Stage) {
				s.CreateIdentity()
				err := s.Azure.AddFault(fault.Rule{Method: "PUT", Count: -1, Kind: fault.Status, Status: 403, Code: "AuthorizationFailed",
					Message: "The client does not have authorization to perform action."})
				if err != nil {
					s.T.Fatal(err)
				}
			},
			condition: infrav1.FailedReason,
			message:   []string{"AuthorizationFailed", "does not have authorization"},
			correct: func(s *harness.Stage) {
				s.Azure.ClearFaults()
				nextTry(s)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			if test.given == nil {
				stage.CreateIdentity()
			} else {
				test.given(stage)
			}
			before := stage.Azure.ListResources()
			stage.StartManager(harness.ManagerOptions{})
			azureCluster := stage.AzureCluster("c1")
			if test.change != nil {
				test.change(stage, azureCluster)
			}
			stage.CreateCluster(azureCluster)
			bad := waitNotReady(stage, &infrav1.AzureCluster{}, "c1", test.condition)
			checkExplained(t, test.reason, harness.FindCondition(bad, infrav1.ReadyCondition).Message, test.message)
			if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s, but something was made (-before +after):\n%s", test.reason, diff)
			}

			test.correct(stage)
			stage.WaitClusterProvisioned("c1")
			stage.DeleteCluster("c1")
			after := stage.Azure.ListResources()
			if diff := cmp.Diff([]string(nil), ofCluster(after)); diff != "" {
				t.Errorf("resources left behind (-want +got):\n%s", diff)
			}
		})
	}
}

// ofCluster returns the resources without those of the network that the user brought.
func ofCluster(resources []string) []string {
	var out []string
	for _, resource := range resources {
		if !strings.HasPrefix(resource, "resourceGroups/hub") {
			out = append(out, resource)
		}
	}
	return out
}

func changeCluster(s *harness.Stage, change func(*infrav1.AzureCluster)) {
	s.T.Helper()
	harness.ChangeObject(s, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, change)
}

// nextTry advances the clock and changes an annotation, so that the provider reconciles the cluster again after a correction in Azure.
func nextTry(s *harness.Stage) {
	s.T.Helper()
	s.AdvanceClock(10 * time.Minute)
	changeCluster(s, func(c *infrav1.AzureCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "example.com/look", "again")
	})
}
