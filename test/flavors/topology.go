package flavors

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ReferToControlPlane has the Cluster refer to its KubeadmControlPlane, as Cluster API does for a Cluster of a class.
func ReferToControlPlane(objects []*unstructured.Unstructured) {
	for _, cluster := range objects {
		for _, o := range objects {
			if cluster.GetKind() == "Cluster" && o.GetKind() == "KubeadmControlPlane" {
				_ = unstructured.SetNestedStringMap(cluster.Object, map[string]string{"apiGroup": o.GroupVersionKind().Group, "kind": o.GetKind(),
					"name": o.GetName()}, "spec", "controlPlaneRef")
			}
		}
	}
}

// ApplyTopology plays Cluster API's topology controller for a ClusterClass as the flavor clusterclass has it: the
// objects of a cluster that come from the class, with random names, and the class's patches applied.
func ApplyTopology(class, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	byKind := map[string][]*unstructured.Unstructured{}
	for _, object := range append(class[:len(class):len(class)], objects...) {
		byKind[object.GetKind()] = append(byKind[object.GetKind()], object)
	}
	for _, kind := range []string{"Cluster", "ClusterClass", "AzureClusterTemplate", "KubeadmControlPlaneTemplate", "KubeadmConfigTemplate"} {
		if len(byKind[kind]) != 1 {
			return nil, fmt.Errorf("%d objects of kind %s, want one", len(byKind[kind]), kind)
		}
	}
	topology := byKind["Cluster"][0].DeepCopy()
	name := topology.GetName()
	pools, _, _ := unstructured.NestedSlice(topology.Object, "spec", "topology", "workers", "machineDeployments")
	version, replicas := FieldString(topology, "spec.topology.version"), fieldValue(topology.Object, "spec.topology.controlPlane.replicas")
	controlPlaneTemplate, workerTemplate := name+"-control-plane-x7k2p", name+"-md-0-q4w9z"

	out := append([]*unstructured.Unstructured(nil), byKind["AzureClusterIdentity"]...)
	cluster := newObject("infrastructure.cluster.x-k8s.io/v1beta1", "AzureCluster", name,
		fieldValue(byKind["AzureClusterTemplate"][0].Object, "spec.template.spec"))
	out = append(out, cluster)
	for _, machines := range byKind["AzureMachineTemplate"] {
		clone := controlPlaneTemplate
		if strings.HasSuffix(machines.GetName(), "-worker") {
			clone = workerTemplate
		}
		out = append(out, newObject(infrav1.GroupVersion.String(), "AzureMachineTemplate", clone, fieldValue(machines.Object, "spec")))
	}
	controlPlane := newObject("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", name+"-hm5tv",
		fieldValue(byKind["KubeadmControlPlaneTemplate"][0].Object, "spec.template.spec"))
	setField(controlPlane, version, "spec", "version")
	setField(controlPlane, replicas, "spec", "replicas")
	setField(controlPlane, map[string]any{"apiGroup": infrav1.GroupVersion.Group, "kind": "AzureMachineTemplate",
		"name": controlPlaneTemplate}, "spec", "machineTemplate", "spec", "infrastructureRef")
	bootstrap := newObject("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate", name+"-md-0-b8n3c",
		fieldValue(byKind["KubeadmConfigTemplate"][0].Object, "spec"))
	variables := topologyVariables(byKind["ClusterClass"][0], topology)
	variables["builtin"] = map[string]any{
		"cluster":           map[string]any{"name": name},
		"controlPlane":      map[string]any{"machineTemplate": map[string]any{"infrastructureRef": map[string]any{"name": controlPlaneTemplate}}},
		"machineDeployment": map[string]any{"infrastructureRef": map[string]any{"name": workerTemplate}},
	}
	for _, target := range []*unstructured.Unstructured{cluster, controlPlane, bootstrap} {
		if err := applyPatches(byKind["ClusterClass"][0], target, "", variables); err != nil {
			return nil, err
		}
	}
	out = append(out, bootstrap, controlPlane)
	setField(topology, map[string]any{"apiGroup": infrav1.GroupVersion.Group, "kind": "AzureCluster", "name": name}, "spec",
		"infrastructureRef")
	unstructured.RemoveNestedField(topology.Object, "spec", "topology")
	out = append(out, topology)
	for _, entry := range pools {
		pool := entry.(map[string]any)
		deployment := newObject("cluster.x-k8s.io/v1beta2", "MachineDeployment", fmt.Sprintf("%s-%s-t6r1d", name, pool["name"]), map[string]any{
			"clusterName": name, "replicas": pool["replicas"],
			"selector": map[string]any{"matchLabels": map[string]any{}},
			"template": map[string]any{"spec": map[string]any{
				"clusterName": name, "version": version,
				"bootstrap": map[string]any{"configRef": map[string]any{"apiGroup": "bootstrap.cluster.x-k8s.io",
					"kind": "KubeadmConfigTemplate", "name": bootstrap.GetName()}},
				"infrastructureRef": map[string]any{"apiGroup": infrav1.GroupVersion.Group, "kind": "AzureMachineTemplate", "name": workerTemplate},
			}},
		})
		out = append(out, deployment)
	}
	return out, nil
}

// applyPatches applies the enabled patches of the class to an object that was created from a template, which belongs to a class of machine
// pools, "" for none.
func applyPatches(class, target *unstructured.Unstructured, poolClass string, variables map[string]any) error {
	patches, _, _ := unstructured.NestedSlice(class.Object, "spec", "patches")
	for _, p := range patches {
		if source, has, _ := unstructured.NestedString(p.(map[string]any), "enabledIf"); has {
			enabled, err := renderValue(source, variables)
			if err != nil {
				return fmt.Errorf("enabledIf of a patch: %w", err)
			}
			if enabled != true {
				continue
			}
		}
		definitions, _, _ := unstructured.NestedSlice(p.(map[string]any), "definitions")
		for _, d := range definitions {
			definition := d.(map[string]any)
			kind, _, _ := unstructured.NestedString(definition, "selector", "kind")
			names, _, _ := unstructured.NestedStringSlice(definition, "selector", "matchResources", "machinePoolClass", "names")
			if strings.TrimSuffix(kind, "Template") != strings.TrimSuffix(target.GetKind(), "Template") ||
				poolClass != "" && !slices.Contains(names, poolClass) {
				continue
			}
			operations, _, _ := unstructured.NestedSlice(definition, "jsonPatches")
			for _, o := range operations {
				if err := applyOperation(target, o.(map[string]any), variables); err != nil {
					return fmt.Errorf("patch of %s: %w", target.GetKind(), err)
				}
			}
		}
	}
	return nil
}

// applyOperation puts a value into an object or to the end of a list. Cluster API refuses other places in lists.
func applyOperation(target *unstructured.Unstructured, operation, variables map[string]any) error {
	op, _, _ := unstructured.NestedString(operation, "op")
	path, _, _ := unstructured.NestedString(operation, "path")
	value, err := valueOf(operation, variables)
	if err != nil {
		return fmt.Errorf("%s %s: %w", op, path, err)
	}
	if !strings.HasSuffix(target.GetKind(), "Template") {
		path = strings.Replace(path, "/spec/template/spec", "/spec", 1)
	}
	fields := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch _, found, _ := unstructured.NestedFieldNoCopy(target.Object, fields...); {
	case op == "replace" && !found:
		return fmt.Errorf("%s: there is nothing to replace", path)
	case op != "replace" && op != "add":
		return fmt.Errorf("%s %s: only additions and replacements are played here", op, path)
	}
	if last := len(fields) - 1; fields[last] == "-" {
		list, found, err := unstructured.NestedSlice(target.Object, fields[:last]...)
		if err != nil || !found {
			return fmt.Errorf("%s: there is no list (%w)", path, err)
		}
		return unstructured.SetNestedSlice(target.Object, append(list, value), fields[:last]...)
	}
	return unstructured.SetNestedField(target.Object, value, fields...)
}

// valueOf returns the value of an operation, from a variable or a template.
func valueOf(operation, variables map[string]any) (any, error) {
	if name, found, _ := unstructured.NestedString(operation, "valueFrom", "variable"); found {
		if value := fieldValue(variables, name); value != nil {
			return value, nil
		}
		return nil, fmt.Errorf("there is no variable %s", name)
	}
	source, found, _ := unstructured.NestedString(operation, "valueFrom", "template")
	if !found {
		return nil, errors.New("only values from variables and templates are played here")
	}
	return renderValue(source, variables)
}

// renderValue renders a template whose result is YAML. As in Cluster API, a variable without a value counts as empty.
func renderValue(source string, variables map[string]any) (any, error) {
	parsed, err := template.New("value").Parse(source)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, variables); err != nil {
		return nil, err
	}
	var value any
	err = yaml.Unmarshal(text.Bytes(), &value)
	return value, err
}

// CheckClass checks the patches of a ClusterClass against a rule of Cluster API's webhook: in lists they may add an item to either end, and
// nothing else. Other objects pass.
func CheckClass(class *unstructured.Unstructured) error {
	if class.GetKind() != "ClusterClass" {
		return nil
	}
	patches, _, _ := unstructured.NestedSlice(class.Object, "spec", "patches")
	for _, p := range patches {
		definitions, _, _ := unstructured.NestedSlice(p.(map[string]any), "definitions")
		for _, d := range definitions {
			operations, _, _ := unstructured.NestedSlice(d.(map[string]any), "jsonPatches")
			for _, o := range operations {
				op, _, _ := unstructured.NestedString(o.(map[string]any), "op")
				path, _, _ := unstructured.NestedString(o.(map[string]any), "path")
				fields := strings.Split(path, "/")
				for i, field := range fields {
					item := field == "-" || field != "" && strings.Trim(field, "0123456789") == ""
					if end := i == len(fields)-1 && op == "add" && (field == "-" || field == "0"); item && !end {
						return fmt.Errorf("%s %s: Cluster API lets patches only add to the ends of lists", op, path)
					}
				}
			}
		}
	}
	return nil
}

func newObject(apiVersion, kind, name string, spec any) *unstructured.Unstructured {
	return (&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
	}}).DeepCopy()
}

func fieldValue(object map[string]any, path string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, strings.Split(path, ".")...)
	return value
}

func setField(object *unstructured.Unstructured, value any, path ...string) {
	// The paths lead through objects only, so this cannot fail.
	_ = unstructured.SetNestedField(object.Object, value, path...)
}
