package command_test

import (
	"strings"
	"testing"
)

// foreign is a cluster with a MachineDeployment. CONTROL-PLANE is the reference to its control plane, and ANNOTATIONS are those of the AzureCluster.
const foreign = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: id}
spec: {type: WorkloadIdentity, tenantID: 00000000-0000-0000-0000-000000000009, clientID: 00000000-0000-0000-0000-000000000008, allowedNamespaces: {}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c1}
spec:
  controlPlaneEndpoint: {host: api.example.com, port: 6443}
  controlPlaneRef: CONTROL-PLANE
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureCluster, name: c1}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: c1, annotations: ANNOTATIONS}
spec:
  identityRef: {kind: AzureClusterIdentity, name: id}
  location: westeurope
  resourceGroup: c1
  subscriptionID: 00000000-0000-0000-0000-000000000001
  networkSpec:
    vnet: {name: c1-vnet, resourceGroup: c1}
    subnets: [{name: control, role: control-plane}, {name: nodes, role: node}]
status: {ready: true}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureMachineTemplate
metadata: {name: md}
spec:
  template:
    spec:
      osDisk: {diskSizeGB: 50, osType: Linux}
      vmSize: Standard_D4s_v3
      sshPublicKey: ""
      image: {marketplace: {publisher: cncf-upstream, offer: capi, sku: ubuntu-2204-gen1, version: 130.3.20240717}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md}
spec:
  clusterName: c1
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      clusterName: c1
      version: v1.30.3
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: RKE2ConfigTemplate, name: md}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureMachineTemplate, name: md}
`

// TestForeignParts plans the machines of clusters with parts about which other programs decide, and checks that a plan names these parts.
func TestForeignParts(t *testing.T) {
	for name, test := range map[string]struct {
		reason                    string
		controlPlane, annotations string
		want                      []string
	}{
		"RKE2": {
			reason:       "Cluster API creates workers when the control plane answers, which another program decides",
			controlPlane: "{apiGroup: controlplane.cluster.x-k8s.io, kind: RKE2ControlPlane, name: c1}", annotations: "{}",
			want: []string{"+ create virtualNetworks/c1-vnet", "AzureMachine default/md-new-0: new", "AzureMachine default/md-new-1: new",
				"Note: The machines of RKE2ControlPlane default/c1 are not planned. "},
		},
		"infrastructure of another program": {
			reason:       "the manager creates machines when the other program has set a status, which manifests do not have",
			controlPlane: "{apiGroup: hypershift.openshift.io, kind: HostedControlPlane, name: c1}", annotations: "{cluster.x-k8s.io/managed-by: team}",
			want: []string{"AzureMachine default/md-new-0: new", "AzureMachine default/md-new-1: new",
				"Note: The machines of HostedControlPlane default/c1 are not planned. ",
				"Note: AzureCluster default/c1 is managed by another program, so it is not planned. The plan assumes that it is provisioned."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := plan(t, strings.NewReplacer("CONTROL-PLANE", test.controlPlane, "ANNOTATIONS", test.annotations).Replace(foreign), "-f", "-")
			for _, part := range test.want {
				if !strings.Contains(out, part) {
					t.Errorf("%s: the plan does not have %q:\n%s", test.reason, part, out)
				}
			}
		})
	}
}
