package cloudconfig_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cloudconfig"
)

// base is azure.json of a cluster whose machines sign in as the cluster's identity.
const base = `{
    "cloud": "AzurePublicCloud",
    "tenantId": "tenant",
    "subscriptionId": "sub",
    "aadClientId": "client",
    "aadClientSecret": "secret",
    "resourceGroup": "ac",
    "securityGroupName": "node-nsg",
    "securityGroupResourceGroup": "net-rg",
    "location": "westus2",
    "vmType": "vmss",
    "vnetName": "net",
    "vnetResourceGroup": "net-rg",
    "subnetName": "nodes",
    "routeTableName": "node-rt",
    "loadBalancerSku": "Standard",
    "loadBalancerName": "",
    "maximumLoadBalancerRuleCount": 250,
    "useManagedIdentityExtension": false,
    "useInstanceMetadata": true
}`

func newInput() cloudconfig.Input {
	azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "ac"}}
	azureCluster.Spec.Location = "westus2"
	azureCluster.Spec.NetworkSpec.Vnet.Name, azureCluster.Spec.NetworkSpec.Vnet.ResourceGroup = "net", "net-rg"
	for _, name := range []string{"control-plane", "node", "node"} {
		subnet := infrav1.SubnetSpec{SecurityGroup: infrav1.SecurityGroup{Name: name + "-nsg"},
			RouteTable: infrav1.RouteTable{Name: name + "-rt"}}
		subnet.Name, subnet.Role = name+"s", infrav1.SubnetRole(name)
		azureCluster.Spec.NetworkSpec.Subnets = append(azureCluster.Spec.NetworkSpec.Subnets, subnet)
	}
	return cloudconfig.Input{
		ClusterInput: plan.ClusterInput{SubscriptionID: "sub", AzureCluster: azureCluster, Cluster: &clusterv1.Cluster{}},
		Identity:     infrav1.VMIdentityNone,
		TenantID:     "tenant", ClientID: "client", ClientSecret: "secret",
	}
}

func TestAzureJSON(t *testing.T) {
	quantity := func(s string) *resource.Quantity { return new(resource.MustParse(s)) }
	tests := map[string]struct {
		reason string
		change func(in *cloudconfig.Input)
		// replace has pairs of old and new text that turn base into the expected file.
		replace []string
		err     string
	}{
		"service principal": {reason: "the file has its secret"},
		"workload identity": {reason: "there is no secret to hand out", change: func(in *cloudconfig.Input) { in.ClientSecret = "" },
			replace: []string{"    \"aadClientSecret\": \"secret\",\n", ""}},
		"system-assigned": {reason: "the machine's own identity needs no name and no secret",
			change: func(in *cloudconfig.Input) { in.Identity = infrav1.VMIdentitySystemAssigned },
			replace: []string{"    \"aadClientId\": \"client\",\n    \"aadClientSecret\": \"secret\",\n", "", `Extension": false`,
				`Extension": true`}},
		"user-assigned": {reason: "of several identities the first is named", change: func(in *cloudconfig.Input) {
			in.Identity, in.UserAssignedClientID = infrav1.VMIdentityUserAssigned, "user-client"
		}, replace: []string{"    \"aadClientId\": \"client\",\n    \"aadClientSecret\": \"secret\",\n", "", `Extension": false`,
			`Extension": true`,
			`Metadata": true`, "Metadata\": true,\n    \"userAssignedIdentityID\": \"user-client\""}},
		"identity unset": {reason: "an object that was stored before the field had a default counts as None",
			change: func(in *cloudconfig.Input) { in.Identity = "" }},
		"user-assigned unknown": {reason: "cloud-provider-azure would have no identity to sign in with",
			change: func(in *cloudconfig.Input) { in.Identity = infrav1.VMIdentityUserAssigned },
			err:    "spec.userAssignedIdentities"},
		"machine pools": {reason: "the gate of Cluster API decides", change: func(in *cloudconfig.Input) { in.Features.MachinePool = true },
			replace: []string{`Metadata": true`, "Metadata\": true,\n    \"enableVmssFlexNodes\": true"}},
		"node outbound load balancer": {reason: "services share it", change: func(in *cloudconfig.Input) {
			in.AzureCluster.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{Name: "ac"}
		}, replace: []string{`loadBalancerName": ""`, `loadBalancerName": "ac"`}},
		"edge zone in another cloud": {reason: "both are named", change: func(in *cloudconfig.Input) {
			in.AzureCluster.Spec.AzureEnvironment = infrav1.ChinaCloud
			in.AzureCluster.Spec.ExtendedLocation = &infrav1.ExtendedLocationSpec{Name: "edge", Type: "EdgeZone"}
		}, replace: []string{"AzurePublicCloud", "AzureChinaCloud", `"location": "westus2",`,
			"\"location\": \"westus2\",\n    \"extendedLocationType\": \"EdgeZone\",\n    \"extendedLocationName\": \"edge\","}},
		"limits and back-off": {reason: "the default limit is inlined, the others nest, zero values are left out",
			change: func(in *cloudconfig.Input) {
				in.AzureCluster.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{
					RateLimits: []infrav1.RateLimitSpec{
						{Name: "defaultRateLimit",
							Config: infrav1.RateLimitConfig{CloudProviderRateLimit: true, CloudProviderRateLimitQPS: quantity("1.2"),
								CloudProviderRateLimitBucket: 5}},
						{Name: "loadBalancerRateLimit",
							Config: infrav1.RateLimitConfig{CloudProviderRateLimitQPSWrite: quantity("2"), CloudProviderRateLimitBucketWrite: 7}},
					},
					BackOffs: infrav1.BackOffConfig{CloudProviderBackoff: true, CloudProviderBackoffRetries: 3,
						CloudProviderBackoffExponent: quantity("1.5"), CloudProviderBackoffDuration: 4, CloudProviderBackoffJitter: quantity("1.2")},
				}
			}, replace: []string{`Metadata": true`, `Metadata": true,
    "cloudProviderRateLimit": true,
    "cloudProviderRateLimitQPS": 1.2,
    "cloudProviderRateLimitBucket": 5,
    "loadBalancerRateLimit": {
        "cloudProviderRateLimitQPSWrite": 2,
        "cloudProviderRateLimitBucketWrite": 7
    },
    "cloudProviderBackoff": true,
    "cloudProviderBackoffRetries": 3,
    "cloudProviderBackoffExponent": 1.5,
    "cloudProviderBackoffDuration": 4,
    "cloudProviderBackoffJitter": 1.2000000000000002`}},
		"unknown limit": {reason: "a limit that is not read must not look set", change: func(in *cloudconfig.Input) {
			in.AzureCluster.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{
				RateLimits: []infrav1.RateLimitSpec{{Name: "x"}}}
		}, err: `"x" is not the name of a rate limit`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInput()
			if test.change != nil {
				test.change(&in)
			}
			controlPlane, worker, err := cloudconfig.BuildAzureJSON(in)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s: got %v, want an error with %q", test.reason, err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			want := base
			for i := 0; i < len(test.replace); i += 2 {
				want = strings.Replace(want, test.replace[i], test.replace[i+1], 1)
			}
			if diff := cmp.Diff(want, string(controlPlane)); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
			if !bytes.Equal(controlPlane, worker) {
				t.Error("workers have another file than control-plane machines")
			}
		})
	}
}
