package adoption

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// WriteASOManaged writes the objects of AzureASOManaged kinds, with a resource manifest each for the resource group, the cluster,
// each pool, and each related resource.
func WriteASOManaged(f ObservedCluster, o Options) (ClusterObjects, []OmittedValue, error) {
	if err := f.checkAdoptable(o); err != nil {
		return ClusterObjects{}, nil, err
	}
	var shown clusterResource
	if err := json.Unmarshal(f.Cluster.Body, &shown); err != nil {
		return ClusterObjects{}, nil, fmt.Errorf("%s: %w", f.Cluster.ID, err)
	}
	n := objectNames{namespace: o.Namespace, cluster: o.clusterName(f)}
	w := &manifestWriter{found: f, options: o}
	d := &ASOObjects{
		Infrastructure: &infrav1.AzureASOManagedCluster{TypeMeta: newTypeMeta("AzureASOManagedCluster"), ObjectMeta: n.newMeta(n.cluster)},
		ControlPlane: &infrav1.AzureASOManagedControlPlane{TypeMeta: newTypeMeta("AzureASOManagedControlPlane"),
			ObjectMeta: n.newMeta(n.cluster)},
	}
	group := arm.ResourceGroupID(f.Cluster.ID.Subscription(), f.Cluster.ID.ResourceGroup())
	w.addManifest(&d.Infrastructure.Spec.Resources, Resource{ID: group, APIVersion: resourceGroupAPIVersion}, group.ResourceGroup(), nil,
		map[string]any{"location": shown.Location})

	spec, err := w.buildSpec(f.Cluster)
	if err != nil {
		return ClusterObjects{}, nil, err
	}
	d.ControlPlane.Spec.Version = "v" + strings.TrimPrefix(shown.Properties.CurrentKubernetesVersion, "v")
	w.addManifest(&d.ControlPlane.Spec.Resources, f.Cluster, n.cluster, map[string]any{"name": group.ResourceGroup()}, spec)
	for _, resource := range f.Related {
		spec, err := w.buildSpec(resource)
		if err != nil {
			w.omitted = append(w.omitted, newOmittedValue(resource.ID, "", nil, err.Error()))
			continue
		}
		owner := map[string]any{"name": n.cluster}
		if types.IsExtension(resource.ID.Type()) {
			owner["group"], owner["kind"] = aso.GroupKindOf(types.ManagedCluster)
		}
		w.addManifest(&d.ControlPlane.Spec.Resources, resource, n.cluster+"-"+strings.ToLower(resource.ID.Name()), owner, spec)
	}
	for _, resource := range f.Pools {
		pool, err := readPool(resource)
		if err != nil {
			return ClusterObjects{}, nil, fmt.Errorf("%s: %w", resource.ID, err)
		}
		spec, err := w.buildSpec(resource)
		if err != nil {
			return ClusterObjects{}, nil, err
		}
		name := n.cluster + "-" + resource.ID.Name()
		out := ASOPool{
			MachinePool: n.newMachinePool("AzureASOManagedMachinePool", name, pool, asoScaledByAKS),
			AzurePool:   &infrav1.AzureASOManagedMachinePool{TypeMeta: newTypeMeta("AzureASOManagedMachinePool"), ObjectMeta: n.newMeta(name)},
		}
		w.addManifest(&out.AzurePool.Spec.Resources, resource, name, map[string]any{"name": n.cluster}, spec)
		d.Pools = append(d.Pools, out)
	}
	return ClusterObjects{Cluster: n.newCluster("AzureASOManagedCluster", "AzureASOManagedControlPlane", n.cluster), ASO: d}, w.omitted, w.err
}

// resourceGroupAPIVersion is the version of the manifest of the resource group.
const resourceGroupAPIVersion = "2020-06-01"

// manifestWriter writes resource manifests.
type manifestWriter struct {
	found   ObservedCluster
	options Options
	omitted []OmittedValue
	err     error
}

// buildSpec returns the spec of a manifest for a resource, without ownership tags.
func (w *manifestWriter) buildSpec(r Resource) (map[string]any, error) {
	body, definition, err := settableBody(r)
	if err != nil {
		return nil, err
	}
	spec := aso.SpellSpec(definition, body)
	tags, _ := spec["tags"].(map[string]any)
	for key := range tags {
		if infrav1.Marks(key) {
			delete(tags, key)
		}
	}
	return spec, nil
}

// addManifest adds the manifest of a resource, without values that a manifest cannot contain.
func (w *manifestWriter) addManifest(to *[]runtime.RawExtension, r Resource, name string, owner, spec map[string]any) {
	row, err := types.ForID(r.ID)
	if err != nil {
		w.err = err
		return
	}
	group, kind := aso.GroupKindOf(row.Name)
	if name != r.ID.Name() {
		spec["azureName"] = r.ID.Name()
	}
	if owner != nil {
		spec["owner"] = owner
	}
	metadata := map[string]any{"name": name}
	if w.options.Credential != "" {
		metadata["annotations"] = map[string]any{asoresource.CredentialAnnotation: w.options.Credential}
	}
	content := map[string]any{
		"apiVersion": group + "/" + aso.ToVersion(r.APIVersion), "kind": kind, "metadata": metadata, "spec": spec,
	}
	for range 100 { // Each round deletes a value.
		raw, err := json.Marshal(content)
		if err != nil {
			w.err = err
			return
		}
		wrong := findRefusal(raw)
		if wrong == nil {
			*to = append(*to, runtime.RawExtension{Raw: raw})
			return
		}
		path := strings.TrimPrefix(wrong.Field, "spec.resources[0].spec.")
		value := jsonpath.GetFold(spec, path)
		if strings.ContainsAny(path, "[") || path == wrong.Field || value == nil {
			w.err = fmt.Errorf("%s: a resource manifest cannot contain it: %w", r.ID, wrong)
			return
		}
		w.omitted = append(w.omitted, newOmittedValue(r.ID, path, value, wrong.Detail))
		jsonpath.Delete(spec, path)
	}
}

// findRefusal returns the first error in a manifest that does not depend on other manifests, nil if there is none.
func findRefusal(raw []byte) *field.Error {
	documents, errs := asoresource.ReadManifests("", []runtime.RawExtension{{Raw: raw}})
	if len(errs) > 0 {
		return errs[0]
	}
	if _, errs = (asoresource.Set{}).TranslateManifest(documents[0], nil); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
