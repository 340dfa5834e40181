// Package workload creates, watches and deletes workload clusters of a lab, and finds out why one does not come up.
package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kinds and labels of Cluster API, by the names a person knows them.
const (
	coreGroup         = "cluster.x-k8s.io"
	clusterLabel      = "cluster.x-k8s.io/cluster-name"
	controlPlaneLabel = "cluster.x-k8s.io/control-plane"
	deploymentLabel   = "cluster.x-k8s.io/deployment-name"
)

// Object is one object of a cluster with those below it.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Status is one or two words on where it is.
	Status string `json:"status"`
	// Ready is whether nothing is missing from this object.
	Ready bool `json:"ready"`
	// Conditions that are not as they should be.
	Problems []Problem `json:"problems,omitempty"`
	Children []*Object `json:"children,omitempty"`

	raw *unstructured.Unstructured
}

// Problem is a condition that is not as it should be.
type Problem struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Unknown is a condition that is neither true nor false.
	Unknown bool `json:"unknown,omitempty"`
}

// LoadCluster reads a cluster and all that belongs to it. It returns nil when there is no such cluster.
func LoadCluster(ctx context.Context, kube client.Client, namespace, name string) (*Object, error) {
	l := &loader{kube: kube, namespace: namespace, cluster: name}
	cluster, err := l.getObject(ctx, schema.GroupKind{Group: coreGroup, Kind: "Cluster"}, name)
	if err != nil || cluster == nil {
		return nil, err
	}
	root := summarizeObject(cluster)
	for _, field := range []string{"infrastructureRef", "controlPlaneRef"} {
		child, err := l.followReference(ctx, cluster, "spec", field)
		if err != nil {
			return nil, err
		}
		if child != nil {
			root.Children = append(root.Children, child)
		}
	}
	deployments, err := l.listObjects(ctx, schema.GroupKind{Group: coreGroup, Kind: "MachineDeployment"})
	if err != nil {
		return nil, err
	}
	for i := range deployments {
		root.Children = append(root.Children, summarizeObject(&deployments[i]))
	}
	if err := l.addPools(ctx, root); err != nil {
		return nil, err
	}
	return root, l.addMachines(ctx, root)
}

type loader struct {
	kube      client.Client
	namespace string
	cluster   string
}

// addMachines hangs each machine below what made it.
func (l *loader) addMachines(ctx context.Context, root *Object) error {
	machines, err := l.listObjects(ctx, schema.GroupKind{Group: coreGroup, Kind: "Machine"})
	if err != nil {
		return err
	}
	for i := range machines {
		machine := summarizeObject(&machines[i])
		for _, field := range [][]string{{"spec", "bootstrap", "configRef"}, {"spec", "infrastructureRef"}} {
			child, err := l.followReference(ctx, &machines[i], field...)
			if err != nil {
				return err
			}
			if child != nil {
				machine.Children = append(machine.Children, child)
			}
		}
		parent := root
		labels := machines[i].GetLabels()
		for _, o := range root.Children {
			_, controlPlane := labels[controlPlaneLabel]
			if o.Kind == "MachineDeployment" && o.Name == labels[deploymentLabel] || controlPlane && strings.HasSuffix(o.Kind, "ControlPlane") {
				parent = o
			}
		}
		parent.Children = append(parent.Children, machine)
	}
	return nil
}

// followReference follows a contract reference: apiGroup, kind and name, in the same namespace.
func (l *loader) followReference(ctx context.Context, from *unstructured.Unstructured, fields ...string) (*Object, error) {
	ref, ok, _ := unstructured.NestedStringMap(from.Object, fields...)
	if !ok || ref["name"] == "" {
		return nil, nil
	}
	object, err := l.getObject(ctx, schema.GroupKind{Group: ref["apiGroup"], Kind: ref["kind"]}, ref["name"])
	if err != nil {
		return nil, err
	}
	if object == nil {
		return &Object{Kind: ref["kind"], Name: ref["name"], Status: "does not exist"}, nil
	}
	return summarizeObject(object), nil
}

func (l *loader) getObject(ctx context.Context, kind schema.GroupKind, name string) (*unstructured.Unstructured, error) {
	mapping, err := l.kube.RESTMapper().RESTMapping(kind)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	err = l.kube.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

func (l *loader) listObjects(ctx context.Context, kind schema.GroupKind) ([]unstructured.Unstructured, error) {
	mapping, err := l.kube.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := l.kube.List(ctx, list, client.InNamespace(l.namespace), client.MatchingLabels{clusterLabel: l.cluster}); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int {
		if c := a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time); c != 0 {
			return c
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return list.Items, nil
}

// summarizeObject sums an object up.
func summarizeObject(raw *unstructured.Unstructured) *Object {
	o := &Object{Kind: raw.GetKind(), Name: raw.GetName(), raw: raw, Problems: problemsOf(raw)}
	switch {
	case raw.GetDeletionTimestamp() != nil:
		o.Status = "being deleted"
	case o.Kind == "Cluster":
		o.Ready = isTrue(raw, "Available")
		o.Status = phaseOf(raw)
	case o.Kind == "Machine":
		o.Ready = isTrue(raw, "Ready")
		o.Status = phaseOf(raw)
	case o.Kind == "MachinePool":
		o.Ready, o.Status = describePool(raw)
	case hasReplicas(raw):
		want, have, ready := replicasOf(raw)
		o.Ready = isTrue(raw, "Available") && have == want && ready == want
		o.Status = fmt.Sprintf("%d of %d ready", ready, want)
	default:
		o.Ready = isTrue(raw, "Ready") || len(conditionsOf(raw)) == 0 && isProvisioned(raw)
		o.Status = "pending"
		if o.Ready {
			o.Status = "ready"
		}
	}
	if !o.Ready && raw.GetDeletionTimestamp() == nil && len(o.Problems) > 0 && !hasReplicas(raw) {
		worst := slices.MinFunc(o.Problems, func(a, b Problem) int { return compareProblems(o.Kind, 0, a, o.Kind, 0, b) })
		// Unknown conditions, and summaries of conditions that are shown below, would only repeat that it is not ready
		// yet.
		if !worst.Unknown && (o.Kind != "Cluster" && o.Kind != "Machine" || !worst.isWaiting()) {
			o.Status += ", " + worst.Type + ": " + worst.Reason
		}
	}
	return o
}

func phaseOf(raw *unstructured.Unstructured) string {
	s, _, _ := unstructured.NestedString(raw.Object, "status", "phase")
	if s == "" {
		return "Pending"
	}
	return s
}

func hasReplicas(raw *unstructured.Unstructured) bool {
	_, ok, _ := unstructured.NestedInt64(raw.Object, "spec", "replicas")
	return ok
}

func replicasOf(raw *unstructured.Unstructured) (want, have, ready int64) {
	want, _, _ = unstructured.NestedInt64(raw.Object, "spec", "replicas")
	have, _, _ = unstructured.NestedInt64(raw.Object, "status", "replicas")
	ready, _, _ = unstructured.NestedInt64(raw.Object, "status", "readyReplicas")
	return want, have, ready
}

// negative are the conditions that are as they should be when they are false.
var negative = []string{"Paused", "Deleting", "ScalingUp", "ScalingDown", "RollingOut", "Remediating", "Updating"}

func conditionsOf(raw *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(raw.Object, "status", "conditions")
	var found []map[string]any
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			found = append(found, c)
		}
	}
	return found
}

func problemsOf(raw *unstructured.Unstructured) []Problem {
	var found []Problem
	for _, c := range conditionsOf(raw) {
		text := func(key string) string { s, _ := c[key].(string); return s }
		if text("status") == "True" || slices.Contains(negative, text("type")) {
			continue
		}
		found = append(found, Problem{Type: text("type"), Reason: text("reason"), Message: text("message"), Unknown: text("status") == "Unknown"})
	}
	return found
}

func isTrue(raw *unstructured.Unstructured, condition string) bool {
	for _, c := range conditionsOf(raw) {
		if c["type"] == condition {
			return c["status"] == "True"
		}
	}
	return false
}

// IsComplete is whether the object and all below it are ready.
func (o *Object) IsComplete() bool {
	if !o.Ready {
		return false
	}
	for _, child := range o.Children {
		if !child.IsComplete() {
			return false
		}
	}
	return true
}

// Walk visits the object and all below it, parents first.
func (o *Object) Walk(visit func(o *Object, depth int)) { o.walkFrom(visit, 0) }

func (o *Object) walkFrom(visit func(*Object, int), depth int) {
	visit(o, depth)
	for _, child := range o.Children {
		child.walkFrom(visit, depth+1)
	}
}

// groupFields say where infrastructure names resource groups.
var groupFields = map[string][][]string{
	"AzureCluster": {{"spec", "resourceGroup"}, {"spec", "networkSpec", "vnet", "resourceGroup"}},
	"AzureManagedControlPlane": {
		{"spec", "resourceGroupName"}, {"spec", "nodeResourceGroupName"}, {"spec", "virtualNetwork", "resourceGroup"},
	},
}

// ResourceGroups returns the resource groups that the cluster's infrastructure names.
func (o *Object) ResourceGroups() []string {
	var groups []string
	for _, child := range o.Children {
		if child.raw == nil {
			continue
		}
		for _, field := range groupFields[child.Kind] {
			if name, _, _ := unstructured.NestedString(child.raw.Object, field...); name != "" {
				groups = append(groups, name)
			}
		}
		for _, id := range documentIDs(child.raw) {
			if segments := strings.Split(id, "/"); len(segments) > 4 && !slices.Contains(groups, segments[4]) {
				groups = append(groups, segments[4])
			}
		}
	}
	return groups
}

// documentIDs returns the IDs of the resources of an object's documents, in their order. Objects without documents have none.
func documentIDs(raw *unstructured.Unstructured) []string {
	resources, _, _ := unstructured.NestedSlice(raw.Object, "status", "resources")
	var ids []string
	for _, resource := range resources {
		fields, _ := resource.(map[string]any)
		if document, _ := fields["resource"].(map[string]any); document == nil {
			continue
		}
		if id, _ := fields["id"].(string); strings.HasPrefix(id, "/subscriptions/") {
			ids = append(ids, id)
		}
	}
	return ids
}
