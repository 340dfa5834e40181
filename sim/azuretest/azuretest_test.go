package azuretest_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// TestStart: each has a state of its own, also with options that a test changes.
func TestStart(t *testing.T) {
	azure := azuretest.Start(t)
	other := azuretest.Start(t, func(o *server.Options) {
		o.Subscriptions = []string{"00000000-0000-0000-0000-000000000009"}
		o.Clock, o.TimeScale = store.Real{}, 0
	})
	if other.Subscription != "00000000-0000-0000-0000-000000000009" || other.Endpoint == azure.Endpoint {
		t.Errorf("the other one has subscription %s and endpoint %s", other.Subscription, other.Endpoint)
	}
	for _, a := range []*azuretest.Azure{azure, other} {
		credential, options, err := sdkOptions(a)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := armresources.NewResourceGroupsClient(a.Subscription, credential, options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := groups.CreateOrUpdate(t.Context(), "mine", armresources.ResourceGroup{Location: new("westus3")}, nil); err != nil {
			t.Fatal(err)
		}
		disks, err := armcompute.NewDisksClient(a.Subscription, credential, options)
		if err != nil {
			t.Fatal(err)
		}
		poller, err := disks.BeginCreateOrUpdate(t.Context(), "mine", "d", armcompute.Disk{Location: new("westus3"),
			Properties: &armcompute.DiskProperties{DiskSizeGB: new(int32(8)),
				CreationData: &armcompute.CreationData{CreateOption: new(armcompute.DiskCreateOptionEmpty)}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Finish(t.Context(), poller); err != nil {
			t.Fatal(err)
		}
		if n := len(a.State()); n != 2 {
			t.Errorf("there are %d resources, want a group and a disk", n)
		}
	}
}

// TestPollUntilDone lets the SDK wait for operations of providers that tell clients in different ways when to poll.
func TestPollUntilDone(t *testing.T) {
	azure := azuretest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	credential, options, err := sdkOptions(azure)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := armresources.NewResourceGroupsClient(azure.Subscription, credential, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := groups.CreateOrUpdate(ctx, "mine", armresources.ResourceGroup{Location: new("westus3")}, nil); err != nil {
		t.Fatal(err)
	}
	networks, err := armnetwork.NewVirtualNetworksClient(azure.Subscription, credential, options)
	if err != nil {
		t.Fatal(err)
	}
	network, err := networks.BeginCreateOrUpdate(ctx, "mine", "net", armnetwork.VirtualNetwork{Location: new("westus3"),
		Properties: &armnetwork.VirtualNetworkPropertiesFormat{AddressSpace: &armnetwork.AddressSpace{
			AddressPrefixes: []*string{new("10.0.0.0/16")}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := network.PollUntilDone(ctx, nil); err != nil {
		t.Errorf("network: %v", err)
	}
	disks, err := armcompute.NewDisksClient(azure.Subscription, credential, options)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := disks.BeginCreateOrUpdate(ctx, "mine", "d", armcompute.Disk{Location: new("westus3"),
		Properties: &armcompute.DiskProperties{DiskSizeGB: new(int32(8)),
			CreationData: &armcompute.CreationData{CreateOption: new(armcompute.DiskCreateOptionEmpty)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.PollUntilDone(ctx, nil); err != nil {
		t.Errorf("disk: %v", err)
	}
	deletion, err := groups.BeginDelete(ctx, "mine", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deletion.PollUntilDone(ctx, nil); err != nil {
		t.Errorf("deletion: %v", err)
	}
	if left := azure.State(); len(left) > 0 {
		t.Errorf("%d resources are left", len(left))
	}
}

func TestOpenNeedsAnOwner(t *testing.T) {
	if _, err := azuretest.Open(func(o *server.Options) { o.Principals = nil }); err == nil || !strings.Contains(err.Error(), "Principals") {
		t.Errorf("got %v, want an error that names Principals", err)
	}
}

// TestFinishEnds: an operation that a fault keeps from ending is an error instead of a test that hangs.
func TestFinishEnds(t *testing.T) {
	azure := azuretest.Start(t)
	if err := azure.Finish(t.Context(), endless{}); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("got %v, want an error about the missing end", err)
	}
}

// endless is a poller of an operation that never ends.
type endless struct{}

func (endless) Done() bool { return false }

func (endless) Poll(context.Context) (*http.Response, error) { return nil, nil }

// TestEnviron: a program that knows nothing of the simulator reaches Azure's own names.
func TestEnviron(t *testing.T) {
	azure := azuretest.Start(t)
	environ, err := azure.Environ(filepath.Join(t.TempDir(), "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "curl", "-sS", "-o", filepath.Join(t.TempDir(), "out"), "-w", "%{http_code}", "-H",
		"Authorization: Bearer "+azure.Token(""),
		"https://management.azure.com/subscriptions?api-version=2022-12-01")
	cmd.Env = append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "200" {
		t.Errorf("curl: %s, %v", out, err)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
