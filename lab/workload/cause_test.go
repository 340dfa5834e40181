package workload

import (
	"testing"

	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

func parseObject(t *testing.T, text string, children ...*Object) *Object {
	t.Helper()
	raw := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	o := summarizeObject(raw)
	o.Children = children
	return o
}

const (
	cluster = `{kind: Cluster, metadata: {name: c}, status: {phase: Provisioning, conditions: [
		{type: Available, status: "False", reason: NotAvailable, message: "* InfrastructureReady: ..."},
		{type: Paused, status: "False", reason: NotPaused}]}}`
	waitingMachine = `{kind: AzureMachine, metadata: {name: m}, status: {conditions: [
		{type: VMRunning, status: "False", reason: WaitingForClusterInfrastructure, message: the cluster comes first}]}}`
	runningMachine = `{kind: AzureMachine, metadata: {name: m}, status: {conditions: [{type: Ready, status: "True"}]}}`
)

func TestFindCause(t *testing.T) {
	failedCluster := `{kind: AzureCluster, metadata: {name: c}, status: {conditions: [
		{type: Ready, status: "False", reason: Failed, message: summary},
		{type: SubnetsReady, status: "False", reason: InvalidConfiguration, message: "NetcfgInvalidSubnet: outside"},
		{type: LoadBalancersReady, status: "False", reason: WaitingForDependency}]}}`
	failedGuest := simulator.Guest{ComputerName: "m"}
	failedGuest.Status.Phase, failedGuest.Status.Message = "Failed", "cloud-config is not YAML"
	stranger := failedGuest
	stranger.ComputerName = "of-another-cluster"
	cases := map[string]struct {
		reason  string
		root    *Object
		guests  []simulator.Guest
		want    string
		process string
	}{
		"Failure": {
			reason: "a failure explains more than a deeper object that waits for it, and a part more than the summary",
			root:   parseObject(t, cluster, parseObject(t, failedCluster), parseObject(t, waitingMachine)),
			want:   "AzureCluster c: SubnetsReady is not true: InvalidConfiguration: NetcfgInvalidSubnet: outside", process: "capz-manager",
		},
		"Inspection": {
			reason: "Cluster API cannot connect to the cluster, because Azure refuses the machine",
			root: parseObject(t, cluster, parseObject(t, `{kind: KubeadmControlPlane, metadata: {name: kcp}, status: {conditions: [
				{type: EtcdClusterHealthy, status: "False", reason: InspectionFailed, message: no connection}]}}`,
				parseObject(t, `{kind: Machine, metadata: {name: m}, status: {conditions: [{type: NodeHealthy, status: Unknown, reason: InspectionFailed}]}}`,
					parseObject(t, `{kind: AzureMachine, metadata: {name: m}, status: {conditions: [{type: VMRunning, status: Unknown, reason: QuotaExceeded, message: no cores}]}}`)))),
			want: "AzureMachine m: VMRunning is not true: QuotaExceeded: no cores", process: "capz-manager",
		},
		"Inspection while Azure creates": {
			reason: "the load balancer is on its way",
			root: parseObject(t, cluster, parseObject(t, `{kind: KubeadmControlPlane, metadata: {name: kcp}, status: {conditions: [
				{type: EtcdClusterHealthy, status: "False", reason: InspectionFailed, message: no connection}]}}`),
				parseObject(t, `{kind: AzureCluster, metadata: {name: c}, status: {conditions: [{type: LoadBalancersReady, status: "False", reason: Creating, message: creating it}]}}`)),
			want: "AzureCluster c: LoadBalancersReady is not true: Creating: creating it", process: "capz-manager",
		},
		"Guest": {
			reason: "Azure is content with a machine that cannot boot",
			root:   parseObject(t, cluster, parseObject(t, runningMachine)), guests: []simulator.Guest{stranger, failedGuest},
			want: "virtual machine m: boot failed: cloud-config is not YAML", process: "bridge",
		},
		"Waiting": {
			reason: "without a failure, the deepest object that waits",
			root:   parseObject(t, cluster, parseObject(t, waitingMachine)),
			want:   "AzureMachine m: VMRunning is not true: WaitingForClusterInfrastructure: the cluster comes first", process: "capz-manager",
		},
		"Unseen": {
			reason: "an object without conditions has not been seen by its controller",
			root: parseObject(t, `{kind: Cluster, metadata: {name: c}, status: {conditions: [{type: Available, status: "True"}]}}`,
				parseObject(t, `{kind: AzureCluster, metadata: {name: c}}`)),
			want: "AzureCluster c: pending; it has no condition with the cause", process: "capz-manager",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := FindCause(tc.root, tc.guests)
			if got == nil || got.String() != tc.want || got.Process != tc.process {
				t.Errorf("%s: FindCause = %v, want %s in the log of %s", tc.reason, got, tc.want, tc.process)
			}
		})
	}
	ready := parseObject(t, `{kind: Cluster, metadata: {name: c}, status: {conditions: [{type: Available, status: "True"}, {type: Deleting, status: "False"}]}}`, parseObject(t, runningMachine))
	if got := FindCause(ready, nil); got != nil || !ready.IsComplete() {
		t.Errorf("FindCause of a ready cluster = %v, Complete %v; want none and true", got, ready.IsComplete())
	}
}

func TestDescribeCountsReplicas(t *testing.T) {
	cases := map[string]struct {
		reason, status string
		ready          bool
	}{
		"All":     {"wanted, there and ready are the same", `{replicas: 3, readyReplicas: 3}`, true},
		"Missing": {"one is not ready", `{replicas: 3, readyReplicas: 2}`, false},
		"Surplus": {"a scale-down is not finished", `{replicas: 4, readyReplicas: 4}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := parseObject(t, `{kind: MachineDeployment, metadata: {name: d}, spec: {replicas: 3}, status: `+tc.status+`}`)
			o.raw.Object["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Available", "status": "True"}}
			if got := summarizeObject(o.raw).Ready; got != tc.ready {
				t.Errorf("%s: Ready = %v, want %v", tc.reason, got, tc.ready)
			}
		})
	}
}
