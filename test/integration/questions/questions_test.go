// Package questions tests identities and facts against the simulated Azure: real tokens over TLS, and the answers a plan
// starts from.
package questions

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/endpoint"
)

// world is a simulated Azure and a Kubernetes with one identity for it.
type world struct {
	sim        *server.Server
	kubernetes client.Client
	secret     *corev1.Secret
	identities *identity.Provider
	clients    *identity.Clients
	facts      *facts.Facts
}

func newWorld(t *testing.T, secret string) *world {
	t.Helper()
	sim, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listener := endpoint.ListenTLS(sim)
	t.Cleanup(func() {
		listener.Close()
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{
		sim: sim,
		secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "secret"},
			Data: map[string][]byte{"clientSecret": []byte(secret)}},
	}
	w.kubernetes = fake.NewClientBuilder().WithScheme(scheme).WithObjects(w.secret, &infrav1.AzureClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "id"},
		Spec: infrav1.AzureClusterIdentitySpec{
			Type: infrav1.ServicePrincipal, TenantID: server.DefaultTenant, ClientID: server.DefaultClientID,
			ClientSecret:      corev1.SecretReference{Name: "secret"},
			AllowedNamespaces: &infrav1.AllowedNamespaces{NamespaceList: []string{"ns"}},
		},
	}).Build()
	transport := listener.Client()
	w.identities = identity.New(w.kubernetes,
		identity.Options{AuthorityHost: listener.URL + "/", ResourceManagerEndpoint: listener.URL, Transport: transport})
	w.clients = identity.NewClients(armclient.Options{Transport: transport})
	w.facts = facts.New(facts.Options{})
	return w
}

// askClusterFacts asks for the facts of a cluster as a controller does: it asks again once the pending facts have arrived.
func (w *world) askClusterFacts(ctx context.Context, c *armclient.Client, in plan.ClusterInput) (plan.ClusterFacts, error) {
	arrived := make(chan struct{}, 1)
	got, err := w.facts.ClusterFacts(ctx, facts.Caller{Client: c}, in, func() { arrived <- struct{}{} })
	if err != nil || !got.ZonesPending {
		return got, err
	}
	<-arrived
	return w.facts.ClusterFacts(ctx, facts.Caller{Client: c}, in, func() {})
}

func (w *world) newClient(t *testing.T) *armclient.Client {
	t.Helper()
	resolved, err := w.identities.Resolve(context.Background(), &corev1.ObjectReference{Name: "id"}, "ns", "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.clients.ClientFor(resolved)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newInput(location, subscription string) plan.ClusterInput {
	azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	azureCluster.Spec.Location = location
	azureCluster.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{Name: "lb"}
	return plan.ClusterInput{Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, AzureCluster: azureCluster,
		SubscriptionID: subscription}
}

func TestQuestions(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, server.DefaultSecret)
	c := w.newClient(t)

	cluster, err := w.askClusterFacts(ctx, c, newInput("East US 2", server.DefaultSubscription))
	if err != nil {
		t.Fatal(err)
	}
	if len(cluster.Zones) != 3 || cluster.VNet.Exists {
		t.Errorf("a new cluster in a region with zones: %+v", cluster)
	}

	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
	machine.Spec.VMSize = "Standard_D2s_v3"
	in := plan.MachineInput{ClusterInput: newInput("eastus2", server.DefaultSubscription), AzureMachine: machine, ControlPlane: true}
	got, err := w.facts.MachineFacts(ctx, facts.Caller{Client: c}, in, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.VMSize == nil || got.VMSize.VCPUs != 2 || len(got.VMSize.Zones) == 0 || got.MaximumPlatformFaultDomainCount == 0 ||
		got.SSHNATPort != 22 || got.VMExists {
		t.Errorf("a new machine: %+v", got)
	}
	machine.Spec.VMSize = "Standard_D2sv3"
	if got, err = w.facts.MachineFacts(ctx, facts.Caller{Client: c}, in, false); err != nil || got.VMSize != nil || len(got.NearestVMSizes) == 0 ||
		got.NearestVMSizes[0] != "Standard_D2s_v3" {
		t.Errorf("a misspelt size: %+v, %v", got, err)
	}

	catalogs := 0
	for _, request := range w.sim.Requests() {
		if strings.Contains(request.URL, "/skus") {
			catalogs++
		}
	}
	if catalogs != 1 {
		t.Errorf("the catalog was read %d times", catalogs)
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		reason       string
		secret       string
		location     string
		subscription string
		field, code  string
		message      string
	}{
		"unknown region": {
			reason: "the field and what it may have meant", secret: server.DefaultSecret, location: "eastus22",
			subscription: server.DefaultSubscription,
			field:        "spec.location", message: "names most like it: eastus2",
		},
		"unknown subscription": {
			reason: "Azure's code", secret: server.DefaultSecret, location: "eastus2", subscription: "00000000-0000-0000-0000-00000000dead",
			code: "SubscriptionNotFound", message: "00000000-0000-0000-0000-00000000dead",
		},
		"wrong secret": {
			reason: "the token endpoint answers 401; its code is shown, the secret is not", secret: "wr0ng-s3cret", location: "eastus2",
			subscription: server.DefaultSubscription,
			code:         armclient.CodeCredentialsInvalid, message: "AADSTS7000215",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.secret)
			_, err := w.askClusterFacts(context.Background(), w.newClient(t), newInput(test.location, test.subscription))
			if err == nil || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "wr0ng") {
				t.Fatalf("%s: got %v", test.reason, err)
			}
			var invalid *field.Error
			if errors.As(err, &invalid) != (test.field != "") || invalid != nil && invalid.Field != test.field {
				t.Errorf("%s: field of %v", test.reason, err)
			}
			var azure *arm.Error
			if errors.As(err, &azure) != (test.code != "") || azure != nil && azure.Code != test.code {
				t.Errorf("%s: code of %v", test.reason, err)
			}
		})
	}
}

// TestCorrectedSecret makes sure that mending the Secret is enough.
func TestCorrectedSecret(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, "wrong")
	in := newInput("eastus2", server.DefaultSubscription)
	if _, err := w.askClusterFacts(ctx, w.newClient(t), in); err == nil {
		t.Fatal("a wrong secret was accepted")
	}
	w.secret.Data["clientSecret"] = []byte(server.DefaultSecret)
	if err := w.kubernetes.Update(ctx, w.secret); err != nil {
		t.Fatal(err)
	}
	if _, err := w.askClusterFacts(ctx, w.newClient(t), in); err != nil {
		t.Errorf("after the Secret was mended: %v", err)
	}
}
