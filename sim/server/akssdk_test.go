package server_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"
)

func TestAKSWithTheSDK(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	ctx := context.Background()
	f, err := armcontainerservice.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	clusters, pools := f.NewManagedClustersClient(), f.NewAgentPoolsClient()
	begin, err := clusters.BeginCreateOrUpdate(ctx, "rg", "c1", armcontainerservice.ManagedCluster{
		Location: new("westus3"),
		Identity: &armcontainerservice.ManagedClusterIdentity{Type: new(armcontainerservice.ResourceIdentityTypeSystemAssigned)},
		Properties: &armcontainerservice.ManagedClusterProperties{DNSPrefix: new("c1"), KubernetesVersion: new("1.33"),
			AgentPoolProfiles: []*armcontainerservice.ManagedClusterAgentPoolProfile{
				{Name: new("pool0"), Mode: new(armcontainerservice.AgentPoolModeSystem), Count: new(int32(1)), VMSize: new("Standard_D2s_v5")}}}}, nil)
	made, err := pollUntilDone(a, begin, err)
	if err != nil {
		t.Fatal(err)
	}
	if *made.Properties.ProvisioningState != "Succeeded" || *made.Properties.CurrentKubernetesVersion != "1.33.6" ||
		*made.Properties.KubernetesVersion != "1.33" {
		t.Errorf("cluster = %s, version %s", *made.Properties.ProvisioningState, *made.Properties.CurrentKubernetesVersion)
	}
	add, err := pools.BeginCreateOrUpdate(ctx, "rg", "c1", "pool1",
		armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{
			Count: new(int32(1)), VMSize: new("Standard_D2s_v5"), Mode: new(armcontainerservice.AgentPoolModeUser)}}, nil)
	pool, err := pollUntilDone(a, add, err)
	if err != nil || *pool.Properties.CurrentOrchestratorVersion != "1.33.6" {
		t.Fatalf("pool: %v", err)
	}
	var names []string
	for pager := pools.NewListPager("rg", "c1", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Value {
			names = append(names, *p.Name)
		}
	}
	if len(names) != 2 {
		t.Errorf("pools = %v", names)
	}
	if admin, err := clusters.ListClusterAdminCredentials(ctx, "rg", "c1", nil); err != nil || len(admin.Kubeconfigs) != 1 ||
		len(admin.Kubeconfigs[0].Value) == 0 {
		t.Errorf("admin credentials: %v", err)
	}
	if p, err := clusters.GetUpgradeProfile(ctx, "rg", "c1", nil); err != nil ||
		*p.Properties.ControlPlaneProfile.KubernetesVersion != "1.33.6" || len(p.Properties.AgentPoolProfiles) != 2 {
		t.Errorf("upgrade profile: %v", err)
	}
	if v, err := clusters.ListKubernetesVersions(ctx, "westus3", nil); err != nil || len(v.Values) == 0 {
		t.Errorf("versions: %v", err)
	}
	run, err := clusters.BeginRunCommand(ctx, "rg", "c1", armcontainerservice.RunCommandRequest{Command: new("kubectl version")}, nil)
	if out, err := pollUntilDone(a, run, err); err != nil || out.Properties == nil || *out.Properties.ExitCode != 0 {
		t.Errorf("run command: %v", err)
	}
	stop, err := clusters.BeginStop(ctx, "rg", "c1", nil)
	if _, err := pollUntilDone(a, stop, err); err != nil {
		t.Errorf("stop: %v", err)
	}
	start, err := clusters.BeginStart(ctx, "rg", "c1", nil)
	if _, err := pollUntilDone(a, start, err); err != nil {
		t.Errorf("start: %v", err)
	}
	remove, err := pools.BeginDelete(ctx, "rg", "c1", "pool1", nil)
	if _, err := pollUntilDone(a, remove, err); err != nil {
		t.Errorf("pool deletion: %v", err)
	}
	_, err = pools.BeginDelete(ctx, "rg", "c1", "pool0", nil)
	if codeOf(err) != "BadRequest" {
		t.Errorf("last pool = %s, want BadRequest", codeOf(err))
	}
	gone, err := clusters.BeginDelete(ctx, "rg", "c1", nil)
	if _, err := pollUntilDone(a, gone, err); err != nil {
		t.Errorf("deletion: %v", err)
	}
	if _, err := clusters.Get(ctx, "rg", "c1", nil); codeOf(err) != "ResourceNotFound" {
		t.Errorf("Get = %s", codeOf(err))
	}
	if _, err := clusters.BeginDelete(ctx, "rg", "c1", nil); err != nil {
		t.Errorf("deletion of nothing: %v", err)
	}
}
