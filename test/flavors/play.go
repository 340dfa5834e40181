package flavors

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Group is a set of machines that come from one template.
type Group struct {
	// Name of the machines without their number.
	Name     string
	Role     harness.Role
	Replicas int64
	// Template is the name of the AzureMachineTemplate.
	Template string
	// Format of the bootstrap data; "" is cloud-config.
	Format string
	// Labels of the Machines.
	Labels map[string]string
	// Zones that Cluster API spreads the machines over; nil for no choice.
	Zones []string
}

// Cluster is a cluster of a manifest, with the objects that the harness created for it.
type Cluster struct {
	Name   string
	Groups []Group
	// Machines are the names of all AzureMachines.
	Machines []string
	// Pools are the MachinePools with an AzureMachinePool of the same name, with how many VMs they have.
	Pools map[string]int
	// Secrets are names of Secrets with the key that bootstrap configurations take from them.
	Secrets map[string]string
}

// ByGroup returns the names of a group's machines.
func (c *Cluster) ByGroup(name string) []string {
	var names []string
	for _, group := range c.Groups {
		if group.Name == name {
			for i := range group.Replicas {
				names = append(names, machineName(group.Name, i))
			}
		}
	}
	return names
}

func machineName(group string, i int64) string { return fmt.Sprintf("%s-%05d", group, i) }

// BringUp applies the objects, and again before they are reconciled, and waits until the AzureCluster and all AzureMachines are provisioned and Ready, and the Secrets
// that machines take azure.json from are there.
func BringUp(stage *harness.Stage, objects []*unstructured.Unstructured) *Cluster {
	stage.T.Helper()
	SetNamespace(stage, objects)
	for _, object := range objects {
		mustApply(stage, object)
	}
	cluster := describeCluster(stage, objects)
	var templates []client.Object
	for _, group := range cluster.Groups {
		templates = append(templates, &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Name: group.Template}})
	}
	stage.PlayCluster(cluster.Name, templates...)
	applyEarly(stage, objects)
	azureCluster := stage.WaitClusterProvisioned(cluster.Name)
	for _, group := range cluster.Groups {
		if group.Role == harness.ControlPlane && group.Zones == nil {
			for _, domain := range azureCluster.Status.FailureDomains.Domains {
				if domain.ControlPlane != nil && *domain.ControlPlane {
					group.Zones = append(group.Zones, domain.Name)
				}
			}
		}
		cluster.Machines = append(cluster.Machines, CreateMachines(stage, cluster.Name, group)...)
	}
	for pool := range cluster.Pools {
		stage.PlayPool(pool)
	}
	if len(cluster.Pools) > 0 {
		stage.PlayPoolMachines(nil)
	}
	for pool, vms := range cluster.Pools {
		stage.WaitPool(pool, vms)
	}
	for _, machine := range cluster.Machines {
		stage.WaitMachineProvisioned(machine)
	}
	for name, key := range cluster.Secrets {
		harness.WaitFor(stage, &corev1.Secret{}, name, "there with the key "+key, func(s *corev1.Secret) bool { return len(s.Data[key]) > 0 })
	}
	return cluster
}

// CreateMachines makes the machines of a group and returns their names, without waiting for them.
func CreateMachines(stage *harness.Stage, cluster string, group Group) []string {
	stage.T.Helper()
	var names []string
	for i := range group.Replicas {
		names = append(names, CreateMachine(stage, cluster, group, i))
	}
	return names
}

// CreateMachine makes the machine of a group with this number and returns its name, without waiting for it.
func CreateMachine(stage *harness.Stage, cluster string, group Group, i int64) string {
	stage.T.Helper()
	template := &infrav1.AzureMachineTemplate{}
	stage.ReadObject(template, group.Template)
	name, zone := machineName(group.Name, i), ""
	if len(group.Zones) > 0 {
		zone = group.Zones[int(i)%len(group.Zones)]
	}
	azureMachine := &infrav1.AzureMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: stage.Namespace, Name: name,
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster},
			Annotations: map[string]string{
				clusterv1.TemplateClonedFromNameAnnotation:      template.Name,
				clusterv1.TemplateClonedFromGroupKindAnnotation: "AzureMachineTemplate." + infrav1.GroupVersion.Group,
			},
		},
		Spec: *template.Spec.Template.Spec.DeepCopy(),
	}
	maps.Copy(azureMachine.Labels, template.Spec.Template.ObjectMeta.Labels)
	maps.Copy(azureMachine.Annotations, template.Spec.Template.ObjectMeta.Annotations)
	format := group.Format
	if format == "" {
		format = "cloud-config"
	}
	stage.PlayMachine(azureMachine, group.Role, zone, format, group.Labels)
	return name
}

// describeCluster reads from the objects what Cluster API would make of them.
func describeCluster(stage *harness.Stage, objects []*unstructured.Unstructured) *Cluster {
	stage.T.Helper()
	cluster := &Cluster{Secrets: map[string]string{}, Pools: map[string]int{}}
	formats := map[string]string{}
	for _, object := range objects {
		switch object.GetKind() {
		case "Cluster":
			cluster.Name = object.GetName()
		case "KubeadmConfigTemplate":
			formats[object.GetName()] = FieldString(object, "spec.template.spec.format")
			cluster.addSecrets(object, "spec", "template", "spec", "files")
		case "KubeadmConfig":
			cluster.addSecrets(object, "spec", "files")
		case "MachinePool":
			cluster.Pools[object.GetName()] = int(replicasOf(object))
		}
	}
	for _, object := range objects {
		switch object.GetKind() {
		case "KubeadmControlPlane":
			cluster.Groups = append(cluster.Groups, Group{
				Name: object.GetName(), Role: harness.ControlPlane, Replicas: replicasOf(object),
				Template: FieldString(object, "spec.machineTemplate.spec.infrastructureRef.name"),
				Format:   FieldString(object, "spec.kubeadmConfigSpec.format"),
			})
			cluster.addSecrets(object, "spec", "kubeadmConfigSpec", "files")
		case "MachineDeployment":
			cluster.Groups = append(cluster.Groups, Group{
				Name: object.GetName(), Role: harness.Worker, Replicas: replicasOf(object),
				Template: FieldString(object, "spec.template.spec.infrastructureRef.name"),
				Format:   formats[FieldString(object, "spec.template.spec.bootstrap.configRef.name")],
				Labels:   map[string]string{clusterv1.MachineDeploymentNameLabel: object.GetName()},
				Zones:    zonesOf(object),
			})
		}
	}
	for _, object := range objects {
		name := object.GetName()
		if object.GetKind() != "AzureMachineTemplate" || slices.ContainsFunc(cluster.Groups, func(g Group) bool { return g.Template == name }) {
			continue
		}
		group := Group{Name: name, Role: harness.Worker, Replicas: 1, Template: name}
		if strings.HasSuffix(name, "-control-plane") {
			group.Role = harness.ControlPlane
		}
		cluster.Groups = append(cluster.Groups, group)
	}
	if cluster.Name == "" {
		stage.T.Fatal("the manifest has no Cluster")
	}
	return cluster
}

func (c *Cluster) addSecrets(object *unstructured.Unstructured, path ...string) {
	files, _, _ := unstructured.NestedSlice(object.Object, path...)
	for _, file := range files {
		entry, _ := file.(map[string]any)
		name, _, _ := unstructured.NestedString(entry, "contentFrom", "secret", "name")
		key, _, _ := unstructured.NestedString(entry, "contentFrom", "secret", "key")
		if name != "" {
			c.Secrets[name] = key
		}
	}
}

func replicasOf(object *unstructured.Unstructured) int64 {
	n, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return n
}

func zonesOf(object *unstructured.Unstructured) []string {
	if zone := FieldString(object, "spec.template.spec.failureDomain"); zone != "" {
		return []string{zone}
	}
	return nil
}

// SnapshotAzure returns the resources in Azure by ID, without values that Azure increments by itself.
func SnapshotAzure(stage *harness.Stage) map[string]any {
	out := map[string]any{}
	for _, resource := range stage.Azure.State() {
		out[fmt.Sprint(resource["id"])] = withoutETags(resource)
	}
	return out
}

func withoutETags(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if key != "etag" {
				out[key] = withoutETags(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutETags(item)
		}
		return out
	default:
		return value
	}
}

// TearDown deletes the cluster in Cluster API's order and fails the test when Azure is not as it was before the cluster.
func TearDown(stage *harness.Stage, cluster *Cluster, before map[string]any) {
	stage.T.Helper()
	for pool := range cluster.Pools {
		stage.DeletePool(pool)
	}
	stage.DeleteCluster(cluster.Name, cluster.Machines...)
	expectAsBefore(stage, before)
}

func expectAsBefore(stage *harness.Stage, before map[string]any) {
	stage.T.Helper()
	if diff := harness.DiffContent(before, SnapshotAzure(stage)); diff != "" {
		stage.T.Errorf("after the deletion Azure is as before the cluster (-before +after):\n%s", diff)
	}
}
