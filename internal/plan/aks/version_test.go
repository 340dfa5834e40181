package aks_test

import (
	"encoding/json"
	"fmt"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// clusterProperties returns the properties that the plan has for the managed cluster.
func clusterProperties(t *testing.T, in aks.Input) map[string]any {
	t.Helper()
	g, _, err := aks.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	return decodeProperties(t, g.Node(aks.ClusterID(in)).Body)
}

func poolProperties(t *testing.T, in aks.Input, pool aks.Pool) map[string]any {
	t.Helper()
	g, err := aks.BuildPoolPlan(in, pool)
	if err != nil {
		t.Fatal(err)
	}
	return decodeProperties(t, g.Node(aks.PoolID(in, pool)).Body)
}

func decodeProperties(t *testing.T, body any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Properties map[string]any }
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out.Properties
}

func TestControlPlaneVersion(t *testing.T) {
	tests := map[string]struct {
		reason, spec, asked, runs, want string
	}{
		"new":               {reason: "the version of the spec, without the v", spec: "v1.33.2", want: "1.33.2"},
		"without the v":     {reason: "an object from before defaulting", spec: "1.33.2", want: "1.33.2"},
		"upgrade":           {reason: "the spec is above the running version", spec: "v1.34.0", asked: "1.33.2", runs: "1.33.2", want: "1.34.0"},
		"raised by AKS":     {reason: "never a downgrade", spec: "v1.25.9", asked: "1.26.6", runs: "1.26.6", want: "1.26.6"},
		"upgrade under way": {reason: "the requested version is kept", spec: "v1.34.0", asked: "1.34.0", runs: "1.33.2", want: "1.34.0"},
		"alias that runs the spec's": {reason: "the name of a minor version is not fought over", spec: "v1.33.2", asked: "1.33", runs: "1.33.2",
			want: "1.33"},
		"alias that was raised": {reason: "AKS runs the newest patch of it", spec: "v1.33.2", asked: "1.33", runs: "1.33.7", want: "1.33"},
		"alias below the spec": {reason: "the spec asks for more than the alias gives", spec: "v1.33.9", asked: "1.33", runs: "1.33.7",
			want: "1.33.9"},
		"alias of another minor": {reason: "1.3 is no alias of 1.33", spec: "v1.33.2", asked: "1.3", runs: "1.33.2", want: "1.33.2"},
		"two digits": {reason: "versions are numbers and not text", spec: "v1.9.11", asked: "1.10.1", runs: "1.10.1",
			want: "1.10.1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readTestCase(t, "default").in
			in.ControlPlane.Spec.Version = test.spec
			if test.runs != "" {
				in.Facts.Cluster = json.RawMessage(fmt.Sprintf(`{"properties":{"kubernetesVersion":%q,"currentKubernetesVersion":%q}}`, test.asked,
					test.runs))
			}
			if got := clusterProperties(t, in)["kubernetesVersion"]; got != test.want {
				t.Errorf("%s: got %v, want %s", test.reason, got, test.want)
			}
		})
	}
}

func TestPoolVersion(t *testing.T) {
	tests := map[string]struct {
		reason, machinePool string
		channel             infrav1.UpgradeChannel
		status, cluster     string
		asked, runs         string
		want                any
	}{
		"nothing known":          {reason: "AKS chooses", want: nil},
		"machine pool":           {reason: "without the v", machinePool: "v1.26.6", want: "1.26.6"},
		"machine pool without v": {reason: "the same", machinePool: "1.26.6", want: "1.26.6"},
		"existing is higher":     {reason: "never a downgrade", machinePool: "v1.26.6", asked: "1.27.2", runs: "1.27.2", want: "1.27.2"},
		"existing is lower":      {reason: "an upgrade", machinePool: "v1.27.2", asked: "1.26.6", runs: "1.26.6", want: "1.27.2"},
		"failed upgrade": {reason: "a requested version that never ran can be undone", machinePool: "v1.26.6", asked: "1.27.2",
			runs: "1.26.6", want: "1.26.6"},
		"existing alone": {reason: "a version that was removed from the MachinePool is not undone", asked: "1.27.2", runs: "1.27.2",
			want: "1.27.2"},
		"channel": {reason: "pools follow a channel that raises the control plane", machinePool: "v1.26.6", channel: "stable",
			cluster: "1.27.3", want: "1.27.3"},
		"channel from the status": {reason: "with or without the v", machinePool: "v1.26.6", channel: "patch", status: "v1.27.3", want: "1.27.3"},
		"channel without the v":   {reason: "with or without the v", machinePool: "v1.26.6", channel: "patch", status: "1.27.3", want: "1.27.3"},
		"channel, pool is higher": {reason: "the highest wins", machinePool: "v1.28.0", channel: "rapid", cluster: "1.27.3", want: "1.28.0"},
		"node images only": {reason: "that channel raises no version", machinePool: "v1.26.6", channel: "node-image", cluster: "1.27.3",
			status: "v1.27.3", want: "1.26.6"},
		"no channel": {reason: "the same", machinePool: "v1.26.6", channel: "none", cluster: "1.27.3", want: "1.26.6"},
		"alias": {reason: "the name of a minor version is not fought over", machinePool: "v1.27.2", asked: "1.27",
			runs: "1.27.4", want: "1.27"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, pool := readTestCase(t, "default").poolInput(t, "c1-pool1")
			pool.MachinePool.Spec.Template.Spec.Version = test.machinePool
			if test.channel != "" {
				in.ControlPlane.Spec.AutoUpgradeProfile = &infrav1.ManagedClusterAutoUpgradeProfile{UpgradeChannel: &test.channel}
			}
			in.ControlPlane.Status.AutoUpgradeVersion = test.status
			in.Facts.Cluster = json.RawMessage(fmt.Sprintf(`{"properties":{"currentKubernetesVersion":%q}}`, test.cluster))
			if test.runs != "" {
				in.Facts.AgentPool = json.RawMessage(fmt.Sprintf(`{"properties":{"orchestratorVersion":%q,"currentOrchestratorVersion":%q}}`,
					test.asked, test.runs))
			}
			if got := poolProperties(t, in, pool)["orchestratorVersion"]; got != test.want {
				t.Errorf("%s: got %v, want %v", test.reason, got, test.want)
			}
		})
	}
}

func TestCount(t *testing.T) {
	scaling := func(least, most int) *infrav1.ManagedMachinePoolScaling {
		return &infrav1.ManagedMachinePoolScaling{MinSize: &least, MaxSize: &most}
	}
	tests := map[string]struct {
		reason   string
		replicas *int32
		scaling  *infrav1.ManagedMachinePoolScaling
		manager  string
		observed string
		want     float64
	}{
		"replicas":               {reason: "the MachinePool decides", replicas: new(int32(3)), observed: "7", want: 3},
		"no replicas":            {reason: "Cluster API's default", want: 1},
		"zero":                   {reason: "is a number, too", replicas: new(int32(0)), observed: "7", want: 0},
		"autoscaler, new":        {reason: "it begins with the replicas", replicas: new(int32(3)), scaling: scaling(1, 5), want: 3},
		"autoscaler, new, below": {reason: "AKS refuses a count below the bounds", replicas: new(int32(1)), scaling: scaling(2, 5), want: 2},
		"autoscaler, new, above": {reason: "AKS refuses a count above the bounds", replicas: new(int32(9)), scaling: scaling(2, 5), want: 5},
		"autoscaler":             {reason: "it has decided", replicas: new(int32(3)), scaling: scaling(1, 2000), observed: "1212", want: 1212},
		"autoscaler at zero":     {reason: "it may go there", replicas: new(int32(3)), scaling: scaling(0, 5), observed: "0", want: 0},
		"bounds moved": {reason: "AKS refuses a count outside the new bounds", replicas: new(int32(3)), scaling: scaling(4, 5),
			observed: "2", want: 4},
		"no bounds": {reason: "an object from before the rule", replicas: new(int32(3)),
			scaling: &infrav1.ManagedMachinePoolScaling{}, observed: "8", want: 8},
		"annotation of AKS, off": {reason: "it is left over from when the autoscaler was on", replicas: new(int32(3)), manager: "true",
			observed: "7", want: 3},
		"no other autoscaler": {reason: "false is Cluster API's word for none", replicas: new(int32(3)), manager: "false", observed: "7",
			want: 3},
		"another autoscaler":      {reason: "it decides", replicas: new(int32(3)), manager: "external-autoscaler", observed: "7", want: 7},
		"another autoscaler, new": {reason: "there is nothing to keep yet", replicas: new(int32(3)), manager: "external-autoscaler", want: 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, pool := readTestCase(t, "default").poolInput(t, "c1-pool1")
			pool.MachinePool.Spec.Replicas, pool.AzurePool.Spec.Scaling = test.replicas, test.scaling
			if test.manager != "" {
				pool.MachinePool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: test.manager}
			}
			if test.observed != "" {
				in.Facts.AgentPool = json.RawMessage(`{"properties":{"count":` + test.observed + `}}`)
			}
			if got := poolProperties(t, in, pool)["count"]; got != test.want {
				t.Errorf("%s: got %v, want %v", test.reason, got, test.want)
			}
		})
	}
}

func TestDNSServiceIP(t *testing.T) {
	tests := map[string]struct {
		reason, services, spec string
		want                   any
	}{
		"made":                {reason: "the tenth address", services: "192.168.0.0/16", want: "192.168.0.10"},
		"wide range":          {reason: "the same", services: "0.0.0.0/10", want: "0.0.0.10"},
		"host bits":           {reason: "the range counts, not the address in it", services: "10.1.2.3/16", want: "10.1.0.10"},
		"explicit":            {reason: "also one that the webhook would not take", services: "10.0.0.0/16", spec: "10.0.0.11", want: "10.0.0.11"},
		"no range":            {reason: "AKS chooses both", want: nil},
		"IPv6":                {reason: "it has last bytes, too", services: "fd00::/108", want: "fd00::a"},
		"narrow range":        {reason: "the tenth address", services: "10.0.0.0/27", want: "10.0.0.10"},
		"range within a byte": {reason: "the tenth address of the range, not of the byte", services: "10.0.0.64/26", want: "10.0.0.74"},
		"tiny range":          {reason: "it has no tenth address, and AKS reports that", services: "10.0.0.64/30", want: nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readTestCase(t, "default").in
			in.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks = nil
			if test.services != "" {
				in.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks = []string{test.services}
			}
			if test.spec != "" {
				in.ControlPlane.Spec.DNSServiceIP = &test.spec
			}
			profile, _ := clusterProperties(t, in)["networkProfile"].(map[string]any)
			if got := profile["dnsServiceIP"]; got != test.want {
				t.Errorf("%s: got %v, want %v", test.reason, got, test.want)
			}
		})
	}
}
