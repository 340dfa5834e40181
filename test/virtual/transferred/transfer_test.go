package transferred_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/readonly"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/transfer"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// newTransfer returns the transfer of the cluster c1.
func newTransfer(s *virtual.Scenario, to string, messages *bytes.Buffer) *transfer.Transfer {
	s.T.Helper()
	user := virtual.UserTransport{Scenario: s}
	azure, err := armclient.New(user, cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: s.Azure.URL, Audience: "https://management.core.windows.net/"},
	}}, armclient.Options{Principal: "convert", Version: "test", Transport: readonly.Transport{Next: user}})
	if err != nil {
		s.T.Fatal(err)
	}
	return &transfer.Transfer{
		Kubernetes: s.Client, Azure: azure, Key: client.ObjectKey{Namespace: s.Namespace, Name: "c1"}, To: to,
		Identity: harness.IdentityName, Credential: harness.OperatorSecret, SubscriptionID: s.Azure.SubscriptionID,
		APIVersion: types.ContainerServiceAPIVersion, Messages: messages, Poll: time.Second, Patience: 10 * time.Minute,
	}
}

// writesSince returns the writes to Azure without the requests for a kubeconfig, which are reads with the method POST.
func writesSince(s *virtual.Scenario, mark harness.Mark) []string {
	return slices.DeleteFunc(s.Azure.WritesSince(mark), func(request string) bool {
		return strings.HasPrefix(request, "POST ") && strings.HasSuffix(request, "/listClusterAdminCredential")
	})
}

// readSpecs returns the specs of all objects of AzureManaged kinds.
func readSpecs(s *virtual.Scenario) map[string]any {
	s.T.Helper()
	controlPlane, infrastructure := &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedCluster{}
	s.ReadObject(controlPlane, "c1")
	s.ReadObject(infrastructure, "c1")
	out := map[string]any{"control plane": controlPlane.Spec, "cluster": infrastructure.Spec}
	for i := range 2 {
		pool := &infrav1.AzureManagedMachinePool{}
		s.ReadObject(pool, fmt.Sprintf("c1-pool%d", i))
		out[pool.Name] = pool.Spec
	}
	return out
}

// differingFields returns the paths of the fields that differ.
func differingFields(t *testing.T, before, after any) []string {
	t.Helper()
	flat := func(value any) map[string]string {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var content any
		if err := json.Unmarshal(raw, &content); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		var walk func(path string, value any)
		walk = func(path string, value any) {
			if object, is := value.(map[string]any); is {
				for key, inner := range object {
					walk(path+"."+key, inner)
				}
				return
			}
			out[path] = fmt.Sprint(value)
		}
		walk("", content)
		return out
	}
	from, to := flat(before), flat(after)
	var out []string
	for path, value := range from {
		if to[path] != value {
			out = append(out, path)
		}
	}
	for path := range to {
		if _, had := from[path]; !had {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// explicit are the fields that differ after the way back: the new objects have the values that AKS and the provider chose, where the first ones left
// the choice to them. docs/book/convert.md describes the list.
var explicit = []string{
	".c1-pool0.asoManagedClustersAgentPoolPatches", ".c1-pool0.kubeletDiskType", ".c1-pool0.maxPods", ".c1-pool0.osDiskSizeGB",
	".c1-pool1.asoManagedClustersAgentPoolPatches", ".c1-pool1.kubeletDiskType", ".c1-pool1.maxPods", ".c1-pool1.osDiskSizeGB",
	".control plane.additionalTags.Name", ".control plane.additionalTags.sigs.k8s.io_cluster-api-provider-azure_role",
	".control plane.asoManagedClusterPatches", ".control plane.dnsServiceIP", ".control plane.enablePreviewFeatures",
	".control plane.loadBalancerProfile.managedOutboundIPs", ".control plane.networkDataplane", ".control plane.outboundType",
}

// TestThereAndBack checks that a cluster moves to the other family and back without a write to Azure, that all its objects are Ready after
// each move, and that the old objects are gone.
func TestThereAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := virtual.New(t)
		s.StartProvider()
		s.BuildAKSCluster("c1", 2)
		s.CreateOperatorSecret(harness.OperatorSecret)
		virtual.WaitForSignal(nil, 20*time.Minute)
		mark, before, specs := s.Azure.MarkRequests(), s.Azure.ListResources(), readSpecs(s)
		move := func(to string) {
			messages := &bytes.Buffer{}
			if err := newTransfer(s, to, messages).Run(t.Context()); err != nil {
				t.Fatalf("to %s: %v\n%s", to, err, messages)
			}
			t.Logf("to %s:\n%s", to, messages)
			waitReady(s, to)
			virtual.WaitForSignal(nil, 2*time.Hour)
			waitReady(s, to)
			if writes := writesSince(s, mark); len(writes) > 0 {
				t.Errorf("to %s: writes to Azure: %q", to, writes)
			}
			if diff := cmp.Diff(before, s.Azure.ListResources()); diff != "" {
				t.Errorf("to %s: resources in Azure (-before +after):\n%s", to, diff)
			}
		}
		move(transfer.AzureASOManaged)
		move(transfer.AzureManaged)
		if diff := cmp.Diff(explicit, differingFields(t, specs, readSpecs(s))); diff != "" {
			t.Errorf("fields that differ after the way back (-want +got):\n%s", diff)
		}
	})
}

// TestDeletedAfterTransfer checks that the resources of a transferred cluster are still its own: they are deleted with it.
func TestDeletedAfterTransfer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := virtual.New(t)
		s.StartProvider()
		s.BuildAKSCluster("c1", 2)
		s.CreateOperatorSecret(harness.OperatorSecret)
		identity := &infrav1.AzureClusterIdentity{}
		if s.ReadObject(identity, harness.IdentityName); len(identity.Finalizers) == 0 {
			t.Fatal("nothing holds the AzureClusterIdentity of the cluster")
		}
		if err := newTransfer(s, transfer.AzureASOManaged, &bytes.Buffer{}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		waitReady(s, transfer.AzureASOManaged)
		if s.ReadObject(identity, harness.IdentityName); len(identity.Finalizers) > 0 {
			t.Errorf("the old objects still hold the AzureClusterIdentity: %q", identity.Finalizers)
		}
		s.DeleteManifests(s.BuildASOCluster("c1", "pool0", "pool1"))
		if left := s.Azure.ListResources(); len(left) > 0 {
			t.Errorf("resources are left in Azure: %q", left)
		}
	})
}

// TestNameIsTaken checks that a transfer which needs the name of an object of another cluster ends in an error before it pauses the
// cluster.
func TestNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := virtual.NewAtOnce(t)
		s.StartProvider()
		s.BuildAKSCluster("c1", 1)
		s.CreateOperatorSecret(harness.OperatorSecret)
		s.CreateObject(&infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "c1"}})
		messages := &bytes.Buffer{}
		err := newTransfer(s, transfer.AzureASOManaged, messages).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "AzureASOManagedCluster c1 exists already and does not belong to Cluster") {
			t.Fatalf("the error is %v\n%s", err, messages)
		}
		cluster := &clusterv1.Cluster{}
		if s.ReadObject(cluster, "c1"); cluster.Spec.Paused != nil {
			t.Error("the Cluster is paused")
		}
	})
}

// waitReady waits until all objects of a family are Ready, and checks that the other family has none.
func waitReady(s *virtual.Scenario, family string) {
	s.T.Helper()
	infrastructure, controlPlane := harness.Conditioned(&infrav1.AzureManagedCluster{}), harness.Conditioned(&infrav1.AzureManagedControlPlane{})
	pool, others := harness.Conditioned(&infrav1.AzureManagedMachinePool{}), []client.ObjectList{&infrav1.AzureASOManagedClusterList{},
		&infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{}}
	if family == transfer.AzureASOManaged {
		infrastructure, controlPlane = &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}
		pool, others = &infrav1.AzureASOManagedMachinePool{}, []client.ObjectList{&infrav1.AzureManagedClusterList{},
			&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{}}
	}
	s.WaitReady(infrastructure, "c1")
	s.WaitReady(controlPlane, "c1")
	for i := range 2 {
		s.WaitReady(pool, fmt.Sprintf("c1-pool%d", i))
	}
	for _, list := range others {
		if err := s.Client.List(s.T.Context(), list); err != nil {
			s.T.Fatal(err)
		}
		if n := meta.LenList(list); n > 0 {
			s.T.Errorf("%T has %d objects", list, n)
		}
	}
}

// TestInterruptedAtEachWrite ends the program at each of its writes to Kubernetes. A repetition completes the transfer.
func TestInterruptedAtEachWrite(t *testing.T) {
	interrupted := errors.New("interrupted")
	for n, done := 1, false; !done; n++ {
		synctest.Test(t, func(t *testing.T) {
			s := virtual.NewAtOnce(t)
			s.StartProvider()
			s.BuildAKSCluster("c1", 2)
			s.CreateOperatorSecret(harness.OperatorSecret)
			mark := s.Azure.MarkRequests()
			writes := 0
			count := func() error {
				if writes++; writes == n {
					return interrupted
				}
				return nil
			}
			messages := &bytes.Buffer{}
			first := newTransfer(s, transfer.AzureASOManaged, messages)
			first.Kubernetes = interruptible(s, count)
			err := first.Run(t.Context())
			if err == nil {
				done = true
				t.Logf("%d writes were interrupted", n-1)
				return
			}
			if !errors.Is(err, interrupted) {
				t.Fatalf("write %d: %v\n%s", n, err, messages)
			}
			if err := newTransfer(s, transfer.AzureASOManaged, messages).Run(t.Context()); err != nil {
				t.Fatalf("repetition after write %d: %v\n%s", n, err, messages)
			}
			waitReady(s, transfer.AzureASOManaged)
			virtual.WaitForSignal(nil, 20*time.Minute)
			waitReady(s, transfer.AzureASOManaged)
			if writes := writesSince(s, mark); len(writes) > 0 {
				t.Errorf("write %d: writes to Azure: %q", n, writes)
			}
		})
	}
}

// interruptible returns a client that asks before each write whether to go on.
func interruptible(s *virtual.Scenario, ask func() error) client.Client {
	return interceptor.NewClient(s.Kubernetes, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := ask(); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := ask(); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := ask(); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
	})
}
