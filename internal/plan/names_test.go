package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func newMachineInput(name, osType, providerID string, labels map[string]string) plan.MachineInput {
	in := plan.MachineInput{
		ClusterInput: plan.ClusterInput{
			SubscriptionID: "s",
			Cluster:        &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "cl"}},
			AzureCluster:   &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "ac"}},
		},
		Machine:      &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		AzureMachine: &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}},
	}
	in.AzureMachine.Spec.OSDisk.OSType = osType
	if providerID != "" {
		in.AzureMachine.Spec.ProviderID = &providerID
	}
	return in
}

func TestVMName(t *testing.T) {
	tests := map[string]struct{ reason, name, osType, providerID, want string }{
		"Linux":           {"names are as long as they are", "machine-90123456789", "Linux", "", "machine-90123456789"},
		"Windows":         {"15 characters fit", "machine-9012345", "Windows", "", "machine-9012345"},
		"long Windows":    {"16 do not", "machine-90123456", "Windows", "", "machine-9-23456"},
		"dash at the cut": {"the name would have two adjacent dashes", "abcdefgh-xxxxx-12345", "Windows", "", "abcdefgh-12345"},
		"provider ID": {"a VM keeps the name it has", "m", "Windows",
			"azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/other-and-quite-long", "other-and-quite-long"},
		"no provider ID": {"a value that is no provider ID names no VM", "m", "Linux", "azure://x", "m"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := plan.VMName(newMachineInput(test.name, test.osType, test.providerID, nil)); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

func TestAvailabilitySetName(t *testing.T) {
	tests := map[string]struct {
		reason       string
		controlPlane bool
		labels       map[string]string
		want         string
	}{
		"control plane": {reason: "one for all of them", controlPlane: true, want: "cl_control-plane-as"},
		"deployment": {reason: "a MachineDeployment's sets come and go",
			labels: map[string]string{clusterv1.MachineDeploymentNameLabel: "md", clusterv1.MachineSetNameLabel: "ms"}, want: "cl_md-as"},
		"set": {reason: "a MachineSet of its own", labels: map[string]string{clusterv1.MachineSetNameLabel: "ms"},
			want: "cl_ms-as"},
		"machine by itself":  {reason: "nothing to spread"},
		"deployment unnamed": {reason: "an empty label is none", labels: map[string]string{clusterv1.MachineDeploymentNameLabel: ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newMachineInput("m", "Linux", "", test.labels)
			in.ControlPlane = test.controlPlane
			if got, ok := plan.AvailabilitySetName(in); got != test.want || ok != (test.want != "") {
				t.Errorf("%s: got %q, %v, want %q", test.reason, got, ok, test.want)
			}
		})
	}
}

func TestAPIServerDNSName(t *testing.T) {
	for cloud, want := range map[string]string{
		"":                       "cl-55012fa.eastus2.cloudapp.azure.com",
		"AzurePublicCloud":       "cl-55012fa.eastus2.cloudapp.azure.com",
		"AzureUSGovernmentCloud": "cl-55012fa.eastus2.cloudapp.usgovcloudapi.net",
		"AzureChinaCloud":        "cl-55012fa.eastus2.cloudapp.chinacloudapi.cn",
	} {
		in := newMachineInput("m", "", "", nil).ClusterInput
		in.AzureCluster.Spec.Location = "East US 2"
		in.AzureCluster.Spec.AzureEnvironment = cloud
		in.AzureCluster.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{
			FrontendIPs: []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{Name: "pip-ac-apiserver"}}}}
		if got := plan.APIServerDNSName(in); got != want {
			t.Errorf("%q: got %q, want %q: existing clusters have this name in their kubeconfigs", cloud, got, want)
		}
	}
}

func TestTagsThatWin(t *testing.T) {
	in := newMachineInput("m", "", "", nil).ClusterInput
	key, value := plan.OwnerTag(in)
	tags := plan.BuildTags(in, "common", "n", map[string]string{key: "theirs", "Name": "theirs", infrav1.RoleTag: "theirs", "a": "b"})
	for key, want := range map[string]string{key: value, "Name": "n", infrav1.RoleTag: "common", "a": "b"} {
		if got := tags[key]; got == nil || *got != want {
			t.Errorf("tag %s: want %q: users' tags must not take ownership away", key, want)
		}
	}
}

// TestTagsInOtherLetters builds tags whose names differ only in case: Azure takes them for one name, and refuses a request with both.
func TestTagsInOtherLetters(t *testing.T) {
	in := newMachineInput("m", "", "", nil)
	key, value := plan.OwnerTag(in.ClusterInput)
	in.AzureCluster.Spec.AdditionalTags = infrav1.Tags{"CostCenter": "cluster", "a": "cluster", "NAME": "cluster"}
	in.AzureMachine.Spec.AdditionalTags = infrav1.Tags{"costCenter": "machine", "name": "machine", strings.ToUpper(key): "theirs",
		"Kubernetes.io_cluster_cl": "theirs", "B": "first", "b": "last"}
	got := map[string]string{}
	for key, value := range plan.BuildMachineTags(in, "common", "n") {
		got[key] = *value
	}
	want := map[string]string{"costCenter": "machine", "a": "cluster", "Name": "n", key: value, "kubernetes.io_cluster_cl": "owned",
		infrav1.RoleTag: "common", "b": "last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the machine's tags win over the cluster's, and the provider's over both: -want +got\n%s", diff)
	}
}
