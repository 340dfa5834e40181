package properties

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

var objectProperties = []Property{
	{"SpecIsNotWritten", "The spec is the user's.", byManager(findWrittenSpec)},
	{"ForeignStatusIsNotWritten", "The status of an object has one writer.", byManager(findForeignStatus)},
	{"ProviderIDStays", "Cluster API finds the Node by it.", byManager(changedValue("spec.providerID"))},
	{"EndpointStays", "Kubeconfigs and Nodes have the endpoint.", byManager(changedValue("spec.controlPlaneEndpoint.host"))},
	{"ProvisionedStays", "Cluster API takes it as final.", byManager(findLostProvision)},
	{"GenerationIsObserved", "A client would take an old status for the current one.", exceptHandovers(byManager(findObservedGeneration))},
	{"OwnersStay", "Cluster API and garbage collection need owner references.", byManager(findLostOwners)},
	{"ForeignAnnotationsStay", "Annotations and labels of others are theirs.", byManager(findLostMetadata)},
	{"FinalizerHoldsResources", "Resources would stay behind in Azure, and cost money.", findLeftResources},
	{"ManagerDeletesItsOwn", "Objects of users and of Cluster API are theirs.", byManager(findForeignDeletes)},
}

// byManager returns a property of each change of an object by a manager.
func byManager(check func(*Object) string) func(t *timeline) []string {
	return func(t *timeline) (out []string) {
		for _, step := range t.Steps {
			if step.Object == nil || !step.Object.ByManager {
				continue
			}
			if found := check(step.Object); found != "" {
				out = append(out, fmt.Sprintf("%s: %s", step.Object, found))
			}
		}
		return out
	}
}

// writable are the fields of specs that controllers write by Cluster API's contract, and those of pools.
var writable = map[string][]string{
	"AzureCluster": {"controlPlaneEndpoint"}, "AzureManagedCluster": {"controlPlaneEndpoint"}, "AzureManagedControlPlane": {"controlPlaneEndpoint"},
	"AzureMachine": {"providerID"}, "AzureMachinePool": {"providerID", "providerIDList"}, "AzureMachinePoolMachine": {"providerID"},
	"AzureASOManagedCluster": {"controlPlaneEndpoint"}, "AzureManagedMachinePool": {"providerID", "providerIDList"}, "AzureASOManagedMachinePool": {"providerIDList"},
}

func findWrittenSpec(o *Object) string {
	if o.Before == nil || o.After == nil {
		return ""
	}
	before, _ := o.Before["spec"].(map[string]any)
	after, _ := o.After["spec"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(joinKeys(before, after))) {
		if !slices.Contains(writable[o.Kind], key) && !reflect.DeepEqual(before[key], after[key]) {
			return "spec." + key + " was written"
		}
	}
	return ""
}

func joinKeys(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

func findForeignStatus(o *Object) string {
	if strings.HasPrefix(o.Kind, "Azure") || o.Before == nil || o.After == nil || reflect.DeepEqual(o.Before["status"], o.After["status"]) {
		return ""
	}
	return "the status was written"
}

// changedValue returns a check that a value does not change once it is set.
func changedValue(path string) func(*Object) string {
	return func(o *Object) string {
		was := find(o.Before, path)
		if was == nil || was == "" || o.After == nil || find(o.After, path) == was {
			return ""
		}
		return fmt.Sprintf("%s was changed from %v to %v", path, was, find(o.After, path))
	}
}

func findLostProvision(o *Object) string {
	for _, path := range []string{"status.initialization.provisioned", "status.initialization.controlPlaneInitialized"} {
		if o.After != nil && find(o.Before, path) == true && find(o.After, path) != true {
			return path + " is no longer true"
		}
	}
	return ""
}

func findObservedGeneration(o *Object) string {
	number := func(object map[string]any, path string) float64 {
		out, _ := find(object, path).(float64)
		return out
	}
	was, now := number(o.Before, "status.observedGeneration"), number(o.After, "status.observedGeneration")
	switch {
	case o.After == nil || find(o.Before, "status.observedGeneration") == nil:
	case now > number(o.After, "metadata.generation"):
		return "status.observedGeneration is ahead of the generation"
	case now < was:
		return fmt.Sprintf("status.observedGeneration went back from %v to %v", was, now)
	}
	return ""
}

func findLostOwners(o *Object) string {
	if o.After == nil {
		return ""
	}
	uids := func(object map[string]any) (out []any) {
		owners, _ := find(object, "metadata.ownerReferences").([]any)
		for _, each := range owners {
			owner, _ := each.(map[string]any)
			out = append(out, owner["uid"])
		}
		return out
	}
	after := uids(o.After)
	for _, uid := range uids(o.Before) {
		if !slices.Contains(after, uid) {
			return fmt.Sprintf("the owner reference to %v was removed", uid)
		}
	}
	return ""
}

// blockMove makes `clusterctl move` wait while an object has it. Providers set and remove it:
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#move
const blockMove = "clusterctl.cluster.x-k8s.io/block-move"

func findLostMetadata(o *Object) string {
	if o.After == nil {
		return ""
	}
	for _, of := range []string{"metadata.annotations", "metadata.labels"} {
		before, _ := find(o.Before, of).(map[string]any)
		after, _ := find(o.After, of).(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(before)) {
			if after[key] == nil && !strings.Contains(key, "azure") && !strings.Contains(key, "infrastructure.cluster.x-k8s.io") && key != blockMove {
				return fmt.Sprintf("%s %s was removed", of, key)
			}
		}
	}
	return ""
}

// clusterKinds have the resources of a whole cluster.
var clusterKinds = []string{"AzureCluster", "AzureManagedControlPlane", "AzureASOManagedCluster"}

func findLeftResources(t *timeline) (out []string) {
	for i, step := range t.Steps {
		o := step.Object
		if o == nil || !o.ByManager || !hadFinalizer(o.Before) || hadFinalizer(o.After) {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(t.resources)) {
			body := stateBefore(t.resources[id], i)
			if body == nil {
				continue
			}
			tags, _ := body["tags"].(map[string]any)
			isOfCluster := slices.Contains(clusterKinds, o.Kind) && tags[ownershipPrefix+o.Name] == "owned"
			if isOfCluster || t.isOfObject(id, o, i) {
				out = append(out, fmt.Sprintf("%s lost its finalizer while %s exists", o, id))
			}
		}
	}
	return out
}

// isOfObject reports whether a resource belongs to the object of a machine or pool, and has to be gone before it at a step. Those of a cluster that
// is being deleted go with its resource group or AKS cluster, and the VMs of a scale set with it.
func (t *timeline) isOfObject(id string, o *Object, step int) bool {
	of, single := findOwner(id)
	if !single || t.isClusterBeingDeleted(step) {
		return false
	}
	isNamed := strings.EqualFold(fmt.Sprint(find(o.Before, "spec.providerID")), "azure://"+id)
	if o.Kind == "AzureMachinePoolMachine" {
		return isNamed && t.isPoolKept(of, step)
	}
	// A VM or scale set of another owner can have the name. AKS clusters have no agent pools of others.
	tags, _ := stateBefore(t.resources[id], step)["tags"].(map[string]any)
	isOurs := isNamed || strings.Contains(id, "/agentpools/") ||
		slices.ContainsFunc(t.clusterNames(), func(cluster string) bool { return tags[ownershipPrefix+cluster] == "owned" })
	return isOurs && of.is(o.Kind, o.Before)
}

// isPoolKept reports whether there is an object of a pool that is not being deleted before a step.
func (t *timeline) isPoolKept(of owner, step int) bool {
	for key, versions := range t.objects {
		if state := stateBefore(versions, step); of.is(key.kind, state) && find(state, "metadata.deletionTimestamp") == nil {
			return true
		}
	}
	return false
}

// isClusterBeingDeleted reports whether a Cluster was being deleted before a step.
func (t *timeline) isClusterBeingDeleted(step int) bool {
	for key, versions := range t.objects {
		if key.kind == "Cluster" && find(stateBefore(versions, step), "metadata.deletionTimestamp") != nil {
			return true
		}
	}
	return false
}

func hadFinalizer(object map[string]any) bool {
	finalizers, _ := find(object, "metadata.finalizers").([]any)
	return len(finalizers) > 0
}

// deletable are the kinds of objects that a manager makes, and deletes.
var deletable = []string{"AzureMachinePoolMachine", "Machine", "Secret", "ConfigMap"}

func findForeignDeletes(o *Object) string {
	wasDeleting := find(o.Before, "metadata.deletionTimestamp") != nil
	isDeleting := o.After == nil || find(o.After, "metadata.deletionTimestamp") != nil
	if o.Before == nil || wasDeleting || !isDeleting || slices.Contains(deletable, o.Kind) {
		return ""
	}
	return "the object was deleted"
}
