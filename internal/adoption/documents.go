package adoption

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// InDocuments writes the manifests of kinds with documents: one for the resource group, the cluster, each pool, and all that is
// around the cluster.
func InDocuments(f Found, o Options) (Manifest, []Left, error) {
	if err := f.check(o); err != nil {
		return Manifest{}, nil, err
	}
	var shown shownCluster
	if err := json.Unmarshal(f.Cluster.Body, &shown); err != nil {
		return Manifest{}, nil, fmt.Errorf("%s: %w", f.Cluster.ID, err)
	}
	n := names{namespace: o.Namespace, cluster: o.name(f)}
	w := &writer{found: f, options: o}
	d := &Documents{
		Infrastructure: &infrav1.AzureASOManagedCluster{TypeMeta: kind("AzureASOManagedCluster"), ObjectMeta: n.meta(n.cluster)},
		ControlPlane:   &infrav1.AzureASOManagedControlPlane{TypeMeta: kind("AzureASOManagedControlPlane"), ObjectMeta: n.meta(n.cluster)},
	}
	group := arm.ResourceGroupID(f.Cluster.ID.Subscription(), f.Cluster.ID.ResourceGroup())
	w.add(&d.Infrastructure.Spec.Resources, Resource{ID: group, APIVersion: groupVersion}, group.ResourceGroup(), nil, map[string]any{"location": shown.Location})

	spec, err := w.settable(f.Cluster)
	if err != nil {
		return Manifest{}, nil, err
	}
	d.ControlPlane.Spec.Version = "v" + strings.TrimPrefix(shown.Properties.CurrentKubernetesVersion, "v")
	w.add(&d.ControlPlane.Spec.Resources, f.Cluster, n.cluster, map[string]any{"name": group.ResourceGroup()}, spec)
	for _, resource := range f.Around {
		spec, err := w.settable(resource)
		if err != nil {
			w.lefts = append(w.lefts, left(resource.ID, "", nil, err.Error()))
			continue
		}
		owner := map[string]any{"name": n.cluster}
		if types.IsExtension(resource.ID.Type()) {
			owner["group"], owner["kind"] = asoresource.Kind(types.ManagedCluster)
		}
		w.add(&d.ControlPlane.Spec.Resources, resource, n.cluster+"-"+strings.ToLower(resource.ID.Name()), owner, spec)
	}
	for _, resource := range f.Pools {
		pool, err := showPool(resource)
		if err != nil {
			return Manifest{}, nil, fmt.Errorf("%s: %w", resource.ID, err)
		}
		spec, err := w.settable(resource)
		if err != nil {
			return Manifest{}, nil, err
		}
		name := n.cluster + "-" + resource.ID.Name()
		out := DocumentPool{
			MachinePool: n.machinePool("AzureASOManagedMachinePool", name, pool, documentScaledByAKS),
			AzurePool:   &infrav1.AzureASOManagedMachinePool{TypeMeta: kind("AzureASOManagedMachinePool"), ObjectMeta: n.meta(name)},
		}
		w.add(&out.AzurePool.Spec.Resources, resource, name, map[string]any{"name": n.cluster}, spec)
		d.Pools = append(d.Pools, out)
	}
	return Manifest{Cluster: n.clusterOf("AzureASOManagedCluster", "AzureASOManagedControlPlane", n.cluster), Documents: d}, w.lefts, w.err
}

// groupVersion is the version of the document of the resource group.
const groupVersion = "2020-06-01"

// writer writes documents.
type writer struct {
	found   Found
	options Options
	lefts   []Left
	err     error
}

// settable is the spec of a document for a resource, with the keys of properties beside the others.
func (w *writer) settable(r Resource) (map[string]any, error) {
	body, definition, err := settable(r)
	if err != nil {
		return nil, err
	}
	body, _ = referring(definition.Body(), body).(map[string]any)
	if said, ok := body["tags"].(map[string]any); ok {
		for key := range said {
			if infrav1.Marks(key) {
				delete(said, key)
			}
		}
	}
	spec := map[string]any{}
	for key, value := range body {
		if key != "properties" {
			spec[key] = value
		}
	}
	properties, _ := body["properties"].(map[string]any)
	for key, value := range properties {
		spec[key] = value
	}
	return spec, nil
}

// add adds the document of a resource, without what it may not say.
func (w *writer) add(to *[]runtime.RawExtension, r Resource, name string, owner, spec map[string]any) {
	row, err := types.ForID(r.ID)
	if err != nil {
		w.err = err
		return
	}
	group, kind := asoresource.Kind(row.Name)
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
		"apiVersion": group + "/v1api" + strings.ReplaceAll(r.APIVersion, "-", ""), "kind": kind, "metadata": metadata, "spec": spec,
	}
	for range 100 { // Each round takes something out.
		raw, err := json.Marshal(content)
		if err != nil {
			w.err = err
			return
		}
		wrong := refused(raw)
		if wrong == nil {
			*to = append(*to, runtime.RawExtension{Raw: raw})
			return
		}
		path := strings.TrimPrefix(wrong.Field, "spec.resources[0].spec.")
		value := at(spec, path)
		if strings.ContainsAny(path, "[") || path == wrong.Field || value == nil {
			w.err = fmt.Errorf("%s: no document says it: %w", r.ID, wrong)
			return
		}
		w.lefts = append(w.lefts, left(r.ID, path, value, wrong.Detail))
		take(spec, path)
	}
}

// refused is the first thing that is wrong with a document whatever others there are; nil when it is fine.
func refused(raw []byte) *field.Error {
	documents, errs := asoresource.Read("", []runtime.RawExtension{{Raw: raw}})
	if len(errs) > 0 {
		return errs[0]
	}
	if _, errs = (asoresource.Set{}).Translate(documents[0], nil); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
