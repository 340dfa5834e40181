package managed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	clusterPath = "resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1"
	clusterPut  = "PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1"
)

// bringUpCluster returns a stage with the cluster of the flavor aks, Ready.
func bringUpCluster(t *testing.T, change func(*infrav1.AzureManagedControlPlane)) *harness.Stage {
	t.Helper()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	controlPlane := stage.ControlPlane("c1")
	if change != nil {
		change(controlPlane)
	}
	stage.CreateManagedCluster(controlPlane, pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	return stage
}

func controlPlane(name string) *infrav1.AzureManagedControlPlane {
	return &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func machinePool(name string) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func azurePool(name string) *infrav1.AzureManagedMachinePool {
	return &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// waitValue waits until a value of an Azure resource is as wanted.
func waitValue(stage *harness.Stage, path, version, at, want string) {
	stage.T.Helper()
	stage.Eventually(path+" has "+at+" "+want, func() bool {
		_, have := stage.Azure.GetResource(path, version)
		return harness.FindString(have, at) == want
	})
}

// TestUpgrade raises the version of the control plane and of the pools at once: AKS takes the control plane first, and the
// pools wait for it by themselves.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	mark := stage.Azure.MarkRequests()
	const next = "v1.34.2"
	for _, pool := range pools {
		harness.ChangeObject(stage, machinePool("c1-"+pool.Name), func(m *clusterv1.MachinePool) { m.Spec.Template.Spec.Version = next })
	}
	stage.Eventually("the pool reports what it waits for", func() bool {
		pool := azurePool("c1-pool0")
		stage.ReadObject(pool, pool.Name)
		condition := harness.FindCondition(pool, infrav1.AgentPoolsReadyCondition)
		return condition.Status == metav1.ConditionFalse && strings.Contains(condition.Message, "v1.34.2") &&
			strings.Contains(condition.Message, "spec.version")
	})
	harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) { c.Spec.Version = next })
	for _, pool := range pools {
		waitValue(stage, clusterPath+"/agentPools/"+pool.Name, clusterVersion, "properties.currentOrchestratorVersion", "1.34.2")
	}
	writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))
	want := []string{clusterPut, clusterPut + "/agentPools/pool0", clusterPut + "/agentPools/pool1"}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Errorf("one write for the control plane and one for each pool (-want +got):\n%s", diff)
	}
	harness.WaitFor(stage, controlPlane("c1"), "c1", "at the new version", func(c *infrav1.AzureManagedControlPlane) bool {
		return c.Status.Version == next && len(c.Status.Versions) == 1 && c.Status.Versions[0].Version == next
	})
	stage.WaitPoolReady("c1-pool0", 2)
}

// TestScale takes a user pool to four nodes, to none and back, and deletes it.
func TestScale(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	for _, replicas := range []int32{4, 0, 1} {
		harness.ChangeObject(stage, machinePool("c1-pool1"), func(m *clusterv1.MachinePool) { m.Spec.Replicas = &replicas })
		stage.WaitPoolReady("c1-pool1", int(replicas))
	}
	mark := stage.Azure.MarkRequests()
	stage.DeleteManagedPool("c1-pool1")
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestAutoscaler turns AKS's autoscaler on and off again: while it is on, the number of nodes is AKS's, and the MachinePool
// follows.
func TestAutoscaler(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	harness.ChangeObject(stage, azurePool("c1-pool1"), func(p *infrav1.AzureManagedMachinePool) {
		p.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(3), MaxSize: new(5)}
	})
	stage.WaitPoolReady("c1-pool1", 3)
	harness.WaitFor(stage, machinePool("c1-pool1"), "c1-pool1", "following the autoscaler", func(m *clusterv1.MachinePool) bool {
		return m.Annotations[clusterv1.ReplicasManagedByAnnotation] == "true" && *m.Spec.Replicas == 3
	})
	harness.ChangeObject(stage, azurePool("c1-pool1"), func(p *infrav1.AzureManagedMachinePool) { p.Spec.Scaling = nil })
	harness.WaitFor(stage, machinePool("c1-pool1"), "c1-pool1", "its own master", func(m *clusterv1.MachinePool) bool {
		_, managed := m.Annotations[clusterv1.ReplicasManagedByAnnotation]
		return !managed && *m.Spec.Replicas == 3
	})
	harness.ChangeObject(stage, machinePool("c1-pool1"), func(m *clusterv1.MachinePool) { m.Spec.Replicas = new(int32(1)) })
	stage.WaitPoolReady("c1-pool1", 1)
}

// TestCase changes labels, taints and tags in nothing but their case: Kubernetes and cost reports tell them apart.
func TestCase(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	set := func(value, label string) {
		harness.ChangeObject(stage, azurePool("c1-pool1"), func(p *infrav1.AzureManagedMachinePool) {
			p.Spec.NodeLabels = map[string]string{"color": value, label: "x"}
			p.Spec.Taints = infrav1.Taints{{Effect: "NoSchedule", Key: "color", Value: value}}
			p.Spec.AdditionalTags = infrav1.Tags{"team": value}
		})
		harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.AdditionalTags = infrav1.Tags{"team": value}
		})
	}
	shown := func() any {
		_, cluster := stage.Azure.GetResource(clusterPath, clusterVersion)
		_, pool := stage.Azure.GetResource(clusterPath+"/agentPools/pool1", clusterVersion)
		return []any{harness.FindValue(pool, "properties.nodeLabels"), harness.FindValue(pool, "properties.nodeTaints"),
			harness.FindString(pool, "properties.tags.team"), harness.FindString(cluster, "tags.team")}
	}
	for _, step := range []struct{ value, label string }{{"blue", "tier"}, {"Blue", "Tier"}} {
		set(step.value, step.label)
		want := []any{body{"color": step.value, step.label: "x"}, []any{"color=" + step.value + ":NoSchedule"}, step.value, step.value}
		stage.Eventually("labels, taints and tags are "+step.value, func() bool { return cmp.Equal(want, shown()) })
	}
}

// TestPatch sets a property by a patch, changes it and takes the patch back.
func TestPatch(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.ASOManagedClusterPatches = []string{`{"spec": {"workloadAutoScalerProfile": {"keda": {"enabled": true}}}}`}
	})
	keda := func() (any, bool) {
		_, have := stage.Azure.GetResource(clusterPath, clusterVersion)
		properties, _ := have["properties"].(map[string]any)
		profile, _ := properties["workloadAutoScalerProfile"].(map[string]any)
		addon, _ := profile["keda"].(map[string]any)
		value, ok := addon["enabled"]
		return value, ok
	}
	if value, _ := keda(); value != true {
		t.Errorf("the patch is not in the cluster that was created with it: %v", value)
	}
	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) { c.Spec.ASOManagedClusterPatches = nil })
	stage.Eventually("the effect of the patch is taken back", func() bool {
		value, _ := keda()
		return value == false
	})
	stage.WaitControlPlaneReady("c1")
	if diff := cmp.Diff([]string{clusterPut}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("taking a patch back is one write (-want +got):\n%s", diff)
	}

	err := harness.TryChange(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.ASOManagedClusterPatches = []string{`{"spec": {"workloadAutoscalerProfil": {}}}`}
	})
	if err == nil || !strings.Contains(err.Error(), "spec.asoManagedClusterPatches[0]") ||
		!strings.Contains(err.Error(), "workloadAutoScalerProfile") {
		t.Errorf("a key that matches nothing is refused with the nearest name, got %v", err)
	}
}

// TestPreview turns the preview api-version on on a cluster that runs, has a patch name an older one instead, and turns that off.
func TestPreview(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.EnablePreviewFeatures = new(true)
		c.Spec.ASOManagedClusterPatches = []string{`{"spec": {"enableNamespaceResources": true}}`}
	})
	stage.Eventually("the preview property is set", func() bool {
		_, have := stage.Azure.GetResource(clusterPath, previewVersion)
		properties, _ := have["properties"].(map[string]any)
		return properties["enableNamespaceResources"] == true
	})
	stage.WaitControlPlaneReady("c1")
	if got := spokenLast(stage); got != "2026-05-02-preview" {
		t.Errorf("with preview features the newest preview is spoken, not %s", got)
	}
	harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.EnablePreviewFeatures = nil
		c.Spec.ASOManagedClusterPatches = []string{`{"apiVersion": "containerservice.azure.com/v1api20251002preview", "spec": {"enableNamespaceResources": true, "storageProfile": {"diskCSIDriver": {"version": "v2"}}}}`}
	})
	stage.Eventually("what only the named version has is set", func() bool {
		_, have := stage.Azure.GetResource(clusterPath, previewVersion)
		properties, _ := have["properties"].(map[string]any)
		storage, _ := properties["storageProfile"].(map[string]any)
		disks, _ := storage["diskCSIDriver"].(map[string]any)
		return disks["version"] == "v2"
	})
	stage.WaitControlPlaneReady("c1")
	if got := spokenLast(stage); got != previewVersion {
		t.Errorf("the patch names %s, and %s is spoken", previewVersion, got)
	}
	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.ASOManagedClusterPatches = nil
	})
	harness.WaitFor(stage, controlPlane("c1"), "c1", "reconciled with the stable version", func(c *infrav1.AzureManagedControlPlane) bool {
		return harness.IsReady(c) && harness.FindCondition(c, infrav1.ReadyCondition).ObservedGeneration == c.Generation
	})
	for _, write := range harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)) {
		if write != clusterPut {
			t.Errorf("write %s", write)
		}
	}
}

// spokenLast returns the api-version of the last write of the managed cluster.
func spokenLast(stage *harness.Stage) string {
	version := ""
	for _, request := range stage.Azure.Requests() {
		path, query, _ := strings.Cut(request.URL, "?api-version=")
		if request.Method == "PUT" && strings.HasSuffix(strings.ToLower(path), strings.ToLower(clusterPath)) {
			version = query
		}
	}
	return version
}

// TestEntraOnly creates a cluster without local accounts; it expects that Cluster API gets a kubeconfig with a token of the identity.
func TestEntraOnly(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.AADProfile = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: []string{"00000000-0000-0000-0000-0000000000aa"}}
		c.Spec.DisableLocalAccounts = new(true)
	})
	config, err := clientcmd.Load(stage.SecretData("c1-kubeconfig")["value"])
	if err != nil {
		t.Fatal(err)
	}
	for name, user := range config.AuthInfos {
		if strings.Count(user.Token, ".") != 2 || user.Exec != nil || len(user.ClientCertificateData) > 0 {
			t.Errorf("user %s of c1-kubeconfig proves itself by something else than a token", name)
		}
	}
	config, err = clientcmd.Load(stage.SecretData("c1-kubeconfig-user")["value"])
	if err != nil {
		t.Fatal(err)
	}
	for name, user := range config.AuthInfos {
		if user.Exec == nil || user.Exec.Command != "kubelogin" {
			t.Errorf("user %s of c1-kubeconfig-user does not sign in by kubelogin", name)
		}
	}
	for _, write := range stage.Azure.WritesSince(0) {
		if strings.Contains(write, "listClusterAdminCredential") {
			t.Errorf("%s: Azure refuses that for a cluster without local accounts", write)
		}
	}
}

// TestIssuer expects the URL of the OIDC issuer in the status and in the ConfigMap that manifests read.
func TestIssuer(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)}
	})
	configMap := &corev1.ConfigMap{}
	stage.ReadObject(configMap, "c1-aso-oidc-issuer-profile")
	url := configMap.Data["oidc-issuer-profile-url"]
	if !strings.HasPrefix(url, "https://eastus.oic.prod-aks.azure.com/") {
		t.Errorf("issuer %q", url)
	}
	if status := stage.WaitControlPlaneReady("c1").Status.OIDCIssuerProfile; status == nil || *status.IssuerURL != url {
		t.Errorf("status has %v, the ConfigMap %q", status, url)
	}
}

// TestPaused leaves a paused cluster alone, and lets clusterctl move it.
func TestPaused(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	stage.PauseCluster("c1", true)
	harness.WaitFor(stage, controlPlane("c1"), "c1", "free to move", harness.IsMovable)
	harness.WaitFor(stage, azurePool("c1-pool0"), "c1-pool0", "free to move", harness.IsMovable)
	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, machinePool("c1-pool1"), func(m *clusterv1.MachinePool) { m.Spec.Replicas = new(int32(3)) })
	stage.AdvanceClock(time.Hour)
	stage.PauseCluster("c1", false)
	stage.WaitPoolReady("c1-pool1", 3)
	if diff := cmp.Diff([]string{clusterPut + "/agentPools/pool1"}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("the change is made once, after the pause (-want +got):\n%s", diff)
	}
}

// TestTagOfOthersJustBeforeOurs lets another program tag the cluster a moment before the provider changes it; it expects that the provider
// does not build the change on the state that it read before that.
func TestTagOfOthersJustBeforeOurs(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	if err := stage.Azure.AddFault(fault.Rule{Now: true, ID: "/subscriptions/" + stage.Azure.SubscriptionID + "/" + clusterPath,
		Kind: fault.Edit, Patch: body{"tags": body{"cost": "42"}}}); err != nil {
		t.Fatal(err)
	}
	harness.ChangeObject(stage, controlPlane("c1"),
		func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	waitValue(stage, clusterPath, clusterVersion, "tags.team", "a")
	waitValue(stage, clusterPath, clusterVersion, "tags.cost", "42")
}

// TestPodNetwork migrates a cluster with kubenet to Azure CNI Overlay, and then to the data plane of Cilium.
func TestPodNetwork(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, func(c *infrav1.AzureManagedControlPlane) { c.Spec.NetworkPlugin = new("kubenet") })
	for _, test := range []struct {
		change   func(*infrav1.AzureManagedControlPlane)
		at, want string
	}{
		{func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.NetworkPlugin, c.Spec.NetworkPluginMode = new("azure"), new(infrav1.NetworkPluginModeOverlay)
		}, "properties.networkProfile.networkPluginMode", "overlay"},
		{func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.NetworkDataplane, c.Spec.NetworkPolicy = new(infrav1.NetworkDataplaneTypeCilium), new("cilium")
		}, "properties.networkProfile.networkDataplane", "cilium"},
	} {
		mark := stage.Azure.MarkRequests()
		harness.ChangeObject(stage, controlPlane("c1"), test.change)
		waitValue(stage, clusterPath, clusterVersion, test.at, test.want)
		stage.WaitManagedClusterReady("c1", pools...)
		if diff := cmp.Diff([]string{clusterPut}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", test.at, diff)
		}
	}
}
