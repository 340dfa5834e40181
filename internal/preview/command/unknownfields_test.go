package command_test

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// misspelt has fields that its kinds do not have.
const misspelt = `apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: c1}
spec:
  clusterNetwrk: {}
  infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureCluster, name: c1}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: c1}
spec:
  location: westeurope
  resouceGroup: shared
  subscriptionID: 00000000-0000-0000-0000-000000000001
  identityRef: {kind: AzureClusterIdentity, name: id}
  networkSpec:
    subnets: [{name: a, role: control-plane}, {name: b, role: node, natgateway: {name: n}}]
status: {foo: bar}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: c1}
spec:
  version: v1.34.2
  entirelyDifferent: 1
  machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureMachineTemplate, name: c1}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: id}
spec: {type: WorkloadIdentity, tenantID: 00000000-0000-0000-0000-000000000009, clientID: 00000000-0000-0000-0000-000000000008, allowedNamespaces: {}}
`

// TestUnknownFields checks that a plan names the fields that the API server drops, and is made.
func TestUnknownFields(t *testing.T) {
	out, err := plan(t, misspelt, "-f", "-")
	if !errors.As(err, new(environment.FoundError)) {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  ! UnknownField: spec.clusterNetwrk is not a field of Cluster and has no effect. Did you mean clusterNetwork?\n",
		"  ! UnknownField: spec.resouceGroup is not a field of AzureCluster and has no effect. Did you mean resourceGroup?\n",
		"  ! UnknownField: spec.networkSpec.subnets[1].natgateway is not a field of AzureCluster and has no effect. Did you mean natGateway?\n",
		"  ! UnknownField: spec.entirelyDifferent is not a field of KubeadmControlPlane and has no effect\n",
		"  + create resourceGroups/c1\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("the plan does not have %q", line)
		}
	}
	if count := strings.Count(out, "UnknownField"); count != 4 || t.Failed() {
		t.Errorf("the plan has %d unknown fields, want 4:\n%s", count, out)
	}
}
