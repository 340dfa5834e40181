package command_test

import (
	"strings"
	"testing"
)

// managed is an AKS cluster with one pool.
const managed = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: id}
spec: {type: WorkloadIdentity, tenantID: 00000000-0000-0000-0000-000000000009, clientID: 00000000-0000-0000-0000-000000000008, allowedNamespaces: {}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: aks}
spec:
  controlPlaneRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureManagedControlPlane, name: aks}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureManagedCluster, name: aks}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedCluster
metadata: {name: aks}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: aks}
spec:
  location: westeurope
  subscriptionID: 00000000-0000-0000-0000-000000000001
  version: v1.34.2
  sshPublicKey: ""
  identityRef: {kind: AzureClusterIdentity, name: id}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: pool0}
spec:
  clusterName: aks
  replicas: 2
  template:
    spec:
      clusterName: aks
      version: v1.34.2
      bootstrap: {dataSecretName: ""}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AzureManagedMachinePool, name: pool0}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedMachinePool
metadata: {name: pool0}
spec: {mode: System, sku: Standard_D4s_v5, osDiskType: Ephemeral}
`

// TestRefusalByAKS checks that a plan shows the reason of AKS, whose errors have another form than those of Resource Manager.
func TestRefusalByAKS(t *testing.T) {
	out, _ := plan(t, managed, "-f", "-")
	if strings.Contains(out, "Azure gives no reason") || !strings.Contains(out, "      refused: ") || !strings.Contains(out, "phemeral") {
		t.Errorf("the plan does not have AKS's reason for an ephemeral disk on a size without a place for it:\n%s", out)
	}
}
