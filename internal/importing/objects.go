package importing

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/manifest"
)

// listObjects returns all objects in the order to apply them: Machines exist before the set that adopts them, and the set before its
// deployment. The Cluster is first, because webhooks read it. The control plane is last.
func (w *writer) listObjects() []client.Object {
	out := []client.Object{w.cluster, w.azure}
	if w.control != nil {
		for _, config := range w.control.configs {
			out = append(out, config)
		}
	}
	for _, m := range w.machines {
		out = append(out, m.azure, m.machine)
	}
	for _, p := range w.pools {
		out = append(out, p.azure, p.machine)
	}
	for _, g := range w.groups {
		out = append(out, g.template, g.set, g.deployment)
	}
	if w.control != nil {
		out = append(out, w.control.template, w.control.object)
	}
	return out
}

// YAML returns the objects as users apply them.
func (r Result) YAML() ([]byte, error) { return manifest.EncodeYAML(r.Objects) }
