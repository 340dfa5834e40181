package changes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

func newCluster(name string) *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestPausedBeforeItIsMade pauses a cluster of which Azure has nothing yet: it can be moved like that, and is made when the
// pause ends.
func TestPausedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	stage.CreateCluster(azureCluster)
	paused := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "paused", harness.IsPaused)
	if !harness.IsMovable(paused) {
		t.Error("a paused cluster can be moved")
	}
	for _, request := range stage.Azure.RequestsSince(0) {
		if strings.Contains(request, "resourceGroups/c1") {
			t.Errorf("a paused cluster asks nothing of Azure, but: %s", request)
		}
	}
	harness.ChangeObject(stage, paused, func(c *infrav1.AzureCluster) { delete(c.Annotations, clusterv1.PausedAnnotation) })
	if harness.IsMovable(stage.WaitClusterProvisioned("c1")) {
		t.Error("a cluster that is not paused cannot be moved")
	}
	stage.DeleteCluster("c1")
}

// TestPaused checks that a paused cluster and its machines are left alone, deletion included, and that the changes requested meanwhile
// are made when the pause ends.
func TestPaused(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	for _, name := range []string{"m1", "m2"} {
		stage.CreateMachine(stage.AzureMachine("c1", name), harness.Worker, "")
		stage.WaitMachineProvisioned(name)
	}

	stage.PauseCluster("c1", true)
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "free to move", harness.IsMovable)
	for _, name := range []string{"m1", "m2"} {
		harness.WaitFor(stage, &infrav1.AzureMachine{}, name, "free to move", harness.IsMovable)
	}
	if described := stage.DescribeCluster("c1"); !strings.Contains(described, "Paused") ||
		!strings.Contains(described, "Cluster spec.paused is set to true") {
		t.Errorf("clusterctl describe does not tell that the cluster is paused:\n%s", described)
	}
	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		c.Spec.NetworkSpec.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "konnectivity", Port: 8132}}
	})
	if err := stage.Client.Delete(t.Context(),
		&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "m2"}}); err != nil {
		t.Fatal(err)
	}
	stage.AdvanceClock(time.Hour)
	// Another cluster shows that the manager has had the time.
	stage.CreateCluster(stage.AzureCluster("c2"))
	stage.WaitClusterProvisioned("c2")
	ours := func(write string) bool { return strings.Contains(write, "resourceGroups/c1") }
	if writes := slices.DeleteFunc(stage.Azure.WritesSince(mark), func(w string) bool { return !ours(w) }); len(writes) > 0 {
		t.Errorf("a paused cluster is left alone, but: %q", writes)
	}

	stage.PauseCluster("c1", false)
	stage.WaitGone(&infrav1.AzureMachine{}, "m2")
	stage.Eventually("the port is added", func() bool {
		_, lb := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-public-lb", networkVersion)
		return slices.Contains(listNames(lb, "loadBalancingRules"), "konnectivity")
	})
	writes := slices.DeleteFunc(stage.Azure.WritesSince(mark), func(w string) bool { return !ours(w) })
	slices.Sort(writes)
	want := []string{
		"DELETE resourceGroups/c1/Microsoft.Compute/disks/m2_OSDisk",
		"DELETE resourceGroups/c1/Microsoft.Compute/virtualMachines/m2",
		"DELETE resourceGroups/c1/Microsoft.Network/networkInterfaces/m2-nic",
		"PUT resourceGroups/c1/Microsoft.Network/loadBalancers/c1-public-lb",
	}
	if diff := cmp.Diff(want, slices.Compact(writes)); diff != "" {
		t.Errorf("what was asked for meanwhile is done, and no more (-want +got):\n%s", diff)
	}
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "not paused any more", func(c *infrav1.AzureCluster) bool {
		return harness.FindCondition(c, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
	})
	stage.DeleteCluster("c2")
	harness.ChangeObject(stage, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m2"}},
		func(m *clusterv1.Machine) { m.Finalizers = nil })
	stage.DeleteCluster("c1", "m1")
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}

// TestExternallyManaged checks that the provider leaves infrastructure alone that another system manages, and creates machines in it
// once it is ready. Deleting the cluster and its machines deletes nothing of it.
func TestExternallyManaged(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutNetwork("c1", "c1-vnet", "10.0.0.0/8", map[string]string{"control-planes": "10.0.0.0/16", "nodes": "10.1.0.0/16"})
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "network-team"}
	azureCluster.Spec.ControlPlaneEnabled = false
	azureCluster.Spec.NetworkSpec.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "control-planes", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"10.0.0.0/16"}}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.1.0.0/16"}}},
	}
	stage.CreateCluster(azureCluster)
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "waiting for the infrastructure", func(m *infrav1.AzureMachine) bool {
		return harness.FindCondition(m, infrav1.VMRunningCondition).Reason == infrav1.WaitingForClusterInfrastructureReason
	})
	if writes := stage.Azure.WritesSince(0); len(writes) > 0 {
		t.Errorf("another manager manages the infrastructure, but: %q", writes)
	}
	stage.ReadObject(azureCluster, "c1")
	if len(azureCluster.Finalizers) > 0 || len(azureCluster.Status.Conditions) > 0 {
		t.Errorf("another manager manages it, but it has the finalizers %v and the conditions %v", azureCluster.Finalizers,
			azureCluster.Status.Conditions)
	}

	// Its manager writes when it is there, in the words of the former contract, and Cluster API repeats it. A region without
	// zones would want availability sets.
	harness.ChangeStatus(stage, azureCluster, func(c *infrav1.AzureCluster) {
		c.Status.Ready = true
		c.Status.FailureDomains.Domains = []clusterv1.FailureDomain{{Name: "1"}, {Name: "2"}}
	})
	harness.WaitFor(stage, azureCluster, "c1", "provisioned in the words of today's contract", func(c *infrav1.AzureCluster) bool {
		return c.Status.Initialization.Provisioned != nil && *c.Status.Initialization.Provisioned
	})
	harness.ChangeStatus(stage, newCluster("c1"), func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = new(true) })
	stage.WaitMachineProvisioned("m1")
	for _, write := range stage.Azure.WritesSince(0) {
		if !strings.Contains(write, "/m1") {
			t.Errorf("only the machine is ours, but: %s", write)
		}
	}
	stage.DeleteMachine("m1")
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after the machine):\n%s", diff)
	}
}

// TestBootstrapDataGone deletes the bootstrap data of machines that have booted, as people do to tidy up: they stay Ready, follow
// changes, and can be deleted.
func TestBootstrapDataGone(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	clusterWithMachine(stage, harness.ControlPlane, "1")
	secret := bootstrapSecret(stage, "m1")
	if err := stage.Client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}, func(m *infrav1.AzureMachine) {
		m.Spec.AdditionalTags = infrav1.Tags{"team": "blue"}
	})
	stage.Eventually("the VM has the tag", func() bool {
		_, vm := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m1", computeVersion)
		return harness.FindString(vm, "tags.team") == "blue"
	})
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "Ready", func(m *infrav1.AzureMachine) bool {
		return harness.IsReady(m) && strings.Contains(m.Annotations[infrav1.AppliedAnnotation], "/tags/team")
	})
	for _, write := range stage.Azure.WritesSince(mark) {
		if strings.HasPrefix(write, "PUT") && strings.HasSuffix(write, "virtualMachines/m1") {
			t.Errorf("the VM is not made anew: %s", write)
		}
	}
	stage.DeleteCluster("c1", "m1")
}

func bootstrapSecret(stage *harness.Stage, name string) *corev1.Secret {
	stage.T.Helper()
	secret := &corev1.Secret{}
	stage.ReadObject(secret, name)
	return secret
}
