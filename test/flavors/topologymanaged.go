package flavors

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ManagedTopology is ApplyTopology for ClusterClasses as the flavors aks-clusterclass and aks-aso-clusterclass have them.
func ManagedTopology(class, cluster []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	templates := map[string]*unstructured.Unstructured{}
	var clusterClass, topology *unstructured.Unstructured
	var out []*unstructured.Unstructured
	for _, o := range append(class[:len(class):len(class)], cluster...) {
		templates[o.GetName()] = o
		switch o.GetKind() {
		case "Cluster":
			topology = o.DeepCopy()
		case "ClusterClass":
			clusterClass = o
		case "AzureClusterIdentity":
			out = append(out, o)
		}
	}
	if clusterClass == nil || topology == nil {
		return nil, errors.New("there is no ClusterClass or no Cluster of it")
	}
	name, version := topology.GetName(), FieldString(topology, "spec.topology.version")
	builtin := func(pool any) map[string]any {
		variables := topologyVariables(clusterClass, topology)
		variables["builtin"] = map[string]any{"cluster": map[string]any{"name": name}, "machinePool": map[string]any{"topologyName": pool}}
		return variables
	}
	clone := func(of, as string) (*unstructured.Unstructured, error) {
		if templates[of] == nil {
			return nil, fmt.Errorf("the class has no template %q", of)
		}
		o := newObject(templates[of].GetAPIVersion(), strings.TrimSuffix(templates[of].GetKind(), "Template"), as, fieldValue(templates[of].Object, "spec.template.spec"))
		o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: name, clusterv1.ClusterTopologyOwnedLabel: ""})
		out = append(out, o)
		return o, nil
	}
	infrastructure, err := clone(FieldString(clusterClass, "spec.infrastructure.templateRef.name"), name+"-v8d2c")
	if err != nil {
		return nil, err
	}
	controlPlane, err := clone(FieldString(clusterClass, "spec.controlPlane.templateRef.name"), name+"-n5j7w")
	if err != nil {
		return nil, err
	}
	setField(controlPlane, version, "spec", "version")
	for _, target := range []*unstructured.Unstructured{infrastructure, controlPlane} {
		if err := applyPatches(clusterClass, target, "", builtin("")); err != nil {
			return nil, err
		}
	}
	setField(topology, localReference(infrastructure), "spec", "infrastructureRef")
	setField(topology, localReference(controlPlane), "spec", "controlPlaneRef")
	pools, _, _ := unstructured.NestedSlice(topology.Object, "spec", "topology", "workers", "machinePools")
	unstructured.RemoveNestedField(topology.Object, "spec", "topology")
	classes, _, _ := unstructured.NestedSlice(clusterClass.Object, "spec", "workers", "machinePools")
	for _, entry := range pools {
		pool := entry.(map[string]any)
		for _, c := range classes {
			poolClass := c.(map[string]any)
			if poolClass["class"] != pool["class"] {
				continue
			}
			as := fmt.Sprintf("%s-%s", name, pool["name"])
			azurePool, err := clone(fmt.Sprint(fieldValue(poolClass, "infrastructure.templateRef.name")), as+"-f9s4b")
			if err != nil {
				return nil, err
			}
			if err := applyPatches(clusterClass, azurePool, fmt.Sprint(pool["class"]), builtin(pool["name"])); err != nil {
				return nil, err
			}
			bootstrap, err := clone(fmt.Sprint(fieldValue(poolClass, "bootstrap.templateRef.name")), as+"-z3l6m")
			if err != nil {
				return nil, err
			}
			machinePool := newObject(clusterv1.GroupVersion.String(), "MachinePool", as+"-t6r1d", map[string]any{
				"clusterName": name, "replicas": pool["replicas"],
				"template": map[string]any{"spec": map[string]any{
					"clusterName": name, "version": version,
					"bootstrap": map[string]any{"configRef": localReference(bootstrap)}, "infrastructureRef": localReference(azurePool),
				}},
			})
			machinePool.SetLabels(azurePool.GetLabels())
			out = append(out, machinePool)
		}
	}
	return append(out, topology), nil
}

// localReference refers to an object within its namespace.
func localReference(to *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiGroup": to.GroupVersionKind().Group, "kind": to.GetKind(), "name": to.GetName()}
}

// topologyVariables returns the values of a cluster's variables, with the defaults of its class.
func topologyVariables(class, topology *unstructured.Unstructured) map[string]any {
	out := map[string]any{}
	declared, _, _ := unstructured.NestedSlice(class.Object, "spec", "variables")
	for _, v := range declared {
		variable := v.(map[string]any)
		if value := fieldValue(variable, "schema.openAPIV3Schema.default"); value != nil {
			out[fmt.Sprint(variable["name"])] = value
		}
	}
	given, _, _ := unstructured.NestedSlice(topology.Object, "spec", "topology", "variables")
	for _, v := range given {
		variable := v.(map[string]any)
		out[fmt.Sprint(variable["name"])] = variable["value"]
	}
	return out
}
