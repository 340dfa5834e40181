package defaults

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// FillAzureManagedMachinePool fills in fields that the user left out, and the label that repeats the mode.
func FillAzureManagedMachinePool(p *infrav1.AzureManagedMachinePool) {
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[infrav1.LabelAgentPoolMode] = p.Spec.Mode
	if valueOrEmpty(p.Spec.Name) == "" {
		p.Spec.Name = new(p.Name)
	}
	fillPoolClass(&p.Spec.AzureManagedMachinePoolClassSpec)
}

// FillAzureManagedMachinePoolTemplate fills in the fields that do not depend on the pool that is made from the template. The template's
// own name is used for the pools only where AKS would accept it.
func FillAzureManagedMachinePoolTemplate(t *infrav1.AzureManagedMachinePoolTemplate) {
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	spec := &t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec
	t.Labels[infrav1.LabelAgentPoolMode] = spec.Mode
	fillPoolClass(spec)
	if valueOrEmpty(spec.Name) == "" && aks.IsPoolName(t.Name, spec) {
		spec.Name = new(t.Name)
	}
}

// fillPoolClass fills in the defaults that the CRDs have, too, for objects that were stored without them.
func fillPoolClass(spec *infrav1.AzureManagedMachinePoolClassSpec) {
	if spec.OSType == nil {
		spec.OSType = new(infrav1.LinuxOS)
	}
	if spec.OsDiskType == nil {
		spec.OsDiskType = new("Managed")
	}
	if spec.ScaleDownMode == nil {
		spec.ScaleDownMode = new("Delete")
	}
	// A price is stored in the canonical form of quantities, and the API server does not take a plain 0.05. A webhook that
	// changes nothing answers nothing, so a change is made that does not show in JSON.
	if spec.SpotMaxPrice != nil {
		spec.SpotMaxPrice.ToDec()
	}
}

func valueOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
