package bench

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

const (
	core           = "cluster.x-k8s.io/v1beta2"
	infrastructure = "infrastructure.cluster.x-k8s.io/v1beta1"
	vmSize         = "Standard_D2s_v3"
	// sshKey is a public key without owner. Without a key a provider would make an RSA key for each machine, which
	// takes longer than everything else.
	sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl bench"
)

func newObject(apiVersion, kind, name, cluster string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "spec": spec,
		"metadata": map[string]any{
			"name": name, "namespace": management.Namespace, "labels": map[string]any{"cluster.x-k8s.io/cluster-name": cluster},
		},
	}}
}

func newReference(kind, name string) map[string]any {
	return map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": kind, "name": name}
}

// ofMachines returns the objects of a cluster whose Machines the bench makes itself: there is no KubeadmControlPlane and no
// MachineDeployment, and bootstrap data are nothing that boots.
func (s Scenario) ofMachines(name string) []*unstructured.Unstructured {
	secret := newObject("v1", "Secret", name+"-bootstrap", name, nil)
	delete(secret.Object, "spec")
	secret.Object["type"] = "cluster.x-k8s.io/secret"
	secret.Object["stringData"] = map[string]any{"value": "#cloud-config\n", "format": "cloud-config"}
	out := []*unstructured.Unstructured{
		secret,
		newObject(infrastructure, "AzureCluster", name, name, map[string]any{
			"subscriptionID": settings.SubscriptionID, "location": settings.Location, "resourceGroup": name,
			"identityRef": map[string]any{"apiVersion": infrastructure, "kind": "AzureClusterIdentity", "name": management.IdentityName},
			"networkSpec": map[string]any{
				"vnet": map[string]any{"name": name + "-vnet"},
				"subnets": []any{map[string]any{"name": "control-plane-subnet", "role": "control-plane"},
					map[string]any{"name": "node-subnet", "role": "node"}},
			},
		}),
		newObject(core, "Cluster", name, name, map[string]any{
			"clusterNetwork":    map[string]any{"pods": map[string]any{"cidrBlocks": []any{"192.168.0.0/16"}}},
			"infrastructureRef": newReference("AzureCluster", name),
		}),
	}
	for i := range s.machines {
		machine := fmt.Sprintf("%s-%d", name, i)
		azure := newObject(infrastructure, "AzureMachine", machine, name, map[string]any{
			"vmSize": vmSize, "sshPublicKey": base64.StdEncoding.EncodeToString([]byte(sshKey)),
			"osDisk": map[string]any{"osType": "Linux", "diskSizeGB": int64(128)},
		})
		owner := newObject(core, "Machine", machine, name, map[string]any{
			"clusterName": name, "version": settings.KubernetesVersion, "infrastructureRef": newReference("AzureMachine", machine),
			"bootstrap": map[string]any{"dataSecretName": name + "-bootstrap"},
		})
		if i < s.controlPlanes() {
			for _, o := range []*unstructured.Unstructured{azure, owner} {
				labels := o.GetLabels()
				labels["cluster.x-k8s.io/control-plane"] = ""
				o.SetLabels(labels)
			}
		}
		out = append(out, azure, owner)
	}
	return out
}

// placeholder is the name of the cluster in a template that many clusters are made of.
const placeholder = "bench-cluster-name"

// renderTemplate fills a template of the source tree. The identity that it names exists already, and is left out.
func renderTemplate(ctx context.Context, s *settings.Settings, name string, o workload.Options) ([]*unstructured.Unstructured, error) {
	file := "cluster-template.yaml"
	if o.Flavor != workload.DefaultFlavor {
		file = "cluster-template-" + o.Flavor + ".yaml"
	}
	raw, err := management.RunClusterctl(ctx, s, nil, "generate", "cluster", name, "--from="+filepath.Join(s.Root, "templates", file),
		"--target-namespace="+management.Namespace, "--kubernetes-version="+o.ChosenVersion(),
		"--control-plane-machine-count="+strconv.Itoa(o.ControlPlaneMachines), "--worker-machine-count="+strconv.Itoa(o.WorkerMachines))
	if err != nil {
		return nil, err
	}
	objects, err := provider.DecodeDocuments(raw)
	var out []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() != "AzureClusterIdentity" {
			out = append(out, o)
		}
	}
	return out, err
}

// ofPools returns the objects of the flavor aks with another number of pools, which are like its second one.
func ofPools(objects []*unstructured.Unstructured, pools int) ([]*unstructured.Unstructured, error) {
	const second = "-pool1"
	var out []*unstructured.Unstructured
	for _, o := range objects {
		if !strings.HasSuffix(o.GetName(), second) {
			out = append(out, o)
			continue
		}
		raw, err := provider.EncodeDocuments([]*unstructured.Unstructured{o})
		if err != nil {
			return nil, err
		}
		for i := 1; i < pools; i++ {
			more, err := provider.DecodeDocuments([]byte(strings.ReplaceAll(string(raw), "pool1", fmt.Sprintf("pool%d", i))))
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

// nameObjects returns the objects of a template with the name of a cluster in place of the placeholder.
func nameObjects(objects []*unstructured.Unstructured, name string) ([]*unstructured.Unstructured, error) {
	raw, err := provider.EncodeDocuments(objects)
	if err != nil {
		return nil, err
	}
	return provider.DecodeDocuments([]byte(strings.ReplaceAll(string(raw), placeholder, name)))
}

// clusterName is that of the nth cluster.
func clusterName(i int) string { return fmt.Sprintf("bench-%03d", i) }
