package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestInvalidTemplate makes fields of an existing pool invalid. The pool keeps its former template and names the field. Meanwhile it grows, a
// Machine that a user deletes goes and is replaced, and the states of VMs are reported. All ends with the correction.
func TestInvalidTemplate(t *testing.T) {
	changePool := func(change func(*infrav1.AzureMachinePool)) func(*world) {
		return func(w *world) {
			harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}}, change)
		}
	}
	setVersion := func(version string) func(*world) {
		return func(w *world) {
			harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
				func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = version })
		}
	}
	key := ""
	for name, test := range map[string]struct {
		reason         string
		damage, mend   func(*world)
		field, message string
	}{
		"image": {"no default image is known", setVersion("latest"), setVersion("v1.33.2"), "spec.template.image", `"latest" is not a semantic version`},
		"SSH key": {"it is not encoded", changePool(func(p *infrav1.AzureMachinePool) {
			key, p.Spec.Template.SSHPublicKey = p.Spec.Template.SSHPublicKey, "ssh-rsa AAAA"
		}), changePool(func(p *infrav1.AzureMachinePool) { p.Spec.Template.SSHPublicKey = key }), "spec.template.sshPublicKey", "not encoded in base64"},
		"subnet": {"it is not clear which of two", addNodeSubnet, changePool(func(p *infrav1.AzureMachinePool) {
			p.Spec.Template.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "c1-node-subnet", PrivateIPConfigs: 1}}
		}), "spec.template.networkInterfaces[0].subnetName", "the cluster has 2 subnets with the role node"},
		"tags": {"Azure takes 50", changePool(func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = fieldtest.NewTags(47) }),
			changePool(func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = nil }), "spec.additionalTags", "more than the 50 that Azure takes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, three)
				w.StartProvider()
				w.createNetwork()
				w.createPool()
				mark := w.Azure.MarkRequests()
				test.damage(w)
				read := func() *infrav1.AzureMachinePool {
					pool := &infrav1.AzureMachinePool{}
					w.ReadObject(pool, poolName)
					return pool
				}
				isReported := func() bool {
					model := harness.FindCondition(read(), infrav1.ScaleSetModelUpdatedCondition)
					return model.Status == metav1.ConditionFalse && model.Reason == infrav1.InvalidConfigurationReason &&
						strings.Contains(model.Message, test.field) && strings.Contains(model.Message, test.message) &&
						strings.Contains(model.Message, "The scale set keeps")
				}
				w.waitUntil(test.reason+", and the condition reports it", isReported)

				w.settings.replicas = 4
				w.resizePool()
				w.waitUntil("the pool is larger", w.hasGrown)
				gone := w.listVMNames()[0]
				if err := w.Kubernetes.Delete(t.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: gone}}); err != nil {
					t.Fatal(err)
				}
				w.waitUntil("the VM is replaced", func() bool {
					names := w.listVMNames()
					return len(names) == 4 && !slices.Contains(names, gone) && w.hasGrown()
				})
				virtual.WaitForSignal(nil, time.Hour)
				pool := read()
				if pool.Status.Replicas != 4 || len(pool.Spec.ProviderIDList) != 4 || pool.Status.ProvisioningState != "Succeeded" || !isReported() {
					t.Errorf("%s: the status is %s", test.reason, harness.EncodeStatus(pool))
				}
				if running := harness.FindCondition(pool, infrav1.ScaleSetRunningCondition); running.Status != metav1.ConditionTrue {
					t.Errorf("%s: ScaleSetRunning is %s: %s", test.reason, running.Status, running.Message)
				}
				// One adds the fourth VM, the other one that for the deleted Machine.
				if puts := listScaleSetPUTs(w, mark); len(puts) != 2 {
					t.Errorf("%s: writes of the scale set: %v", test.reason, puts)
				}
				test.mend(w)
				w.waitUntil("the correction ends it", w.isWhole)
				if puts := listScaleSetPUTs(w, mark); len(puts) != 2 {
					t.Errorf("%s: writes of the scale set, with that of the correction: %v", test.reason, puts)
				}
			})
		})
	}
}

func listScaleSetPUTs(w *world, mark harness.Mark) (out []string) {
	for _, write := range w.Azure.WritesSince(mark) {
		if strings.HasPrefix(write, "PUT ") && strings.HasSuffix(write, "virtualMachineScaleSets/"+poolName) {
			out = append(out, write)
		}
	}
	return out
}

// addNodeSubnet adds a second subnet of the nodes.
func addNodeSubnet(w *world) {
	harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		c.Spec.NetworkSpec.Subnets = append(c.Spec.NetworkSpec.Subnets, infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{
			Name: "more-nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.200.0.0/16"}}})
		defaults.FillAzureCluster(c)
	})
}
