package webhook

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// TestTemplateIsReplaced lets a ClusterClass refer to another template, as the refusal of a change of a template advises. Cluster API then
// applies the class of the new template to the cluster.
func TestTemplateIsReplaced(t *testing.T) {
	newTemplate := func(name, subnet string) *infrav1.AzureManagedControlPlaneTemplate {
		out := &infrav1.AzureManagedControlPlaneTemplate{}
		out.Name, out.Spec.Template.Spec.Version = name, "v1.33.2"
		out.Spec.Template.Spec.IdentityRef = &corev1.ObjectReference{Name: "i"}
		out.Spec.Template.Spec.VirtualNetwork.Subnet.Name = subnet
		defaults.FillAzureManagedControlPlaneTemplate(out)
		return out
	}
	kind := controlPlanes(managedLookup{}, nil)
	newControlPlane := func(from *infrav1.AzureManagedControlPlaneTemplate) *infrav1.AzureManagedControlPlane {
		out := &infrav1.AzureManagedControlPlane{}
		out.Name, out.Spec.AzureManagedControlPlaneClassSpec = "c1", *from.Spec.Template.Spec.AzureManagedControlPlaneClassSpec.DeepCopy()
		return out
	}
	for name, test := range map[string]struct {
		reason string
		// former and next are the names of the subnet in the two templates.
		former, next string
		want         string
		refused      bool
	}{
		"no names":             {reason: "the cluster names its subnet", want: "c1"},
		"former default":       {reason: "the cluster keeps its subnet", former: "aks-v1", want: "aks-v1"},
		"same name":            {reason: "nothing changes", former: "nodes", next: "nodes", want: "nodes"},
		"another name":         {reason: "AKS does not move the nodes", former: "nodes", next: "others", want: "others", refused: true},
		"name for the default": {reason: "AKS does not move the nodes", next: "others", want: "others", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			old := newControlPlane(newTemplate("aks-v1", test.former))
			if err := kind.Default(t.Context(), old); err != nil {
				t.Fatal(err)
			}
			giveEndpoint(old)
			changed := newControlPlane(newTemplate("aks-v2", test.next))
			if err := kind.Default(updateOf(t, old), changed); err != nil {
				t.Fatal(err)
			}
			if got := changed.Spec.VirtualNetwork.Subnet.Name; got != test.want {
				t.Errorf("%s: the subnet is %q, want %q", test.reason, got, test.want)
			}
			if errs := validateUpdate(t, kind, old, changed); (len(errs) > 0) != test.refused {
				t.Errorf("%s: %v", test.reason, errs)
			}
		})
	}
}

// TestTemplateKeepsSubnetName applies manifests of templates again.
func TestTemplateKeepsSubnetName(t *testing.T) {
	for name, test := range map[string]struct {
		reason              string
		stored, given, want string
		refused             bool
	}{
		"left out":         {reason: "a manifest has no name, and the established provider has filled it in", stored: "aks", want: "aks"},
		"no name":          {reason: "clusters name their subnets"},
		"same name":        {reason: "nothing changes", stored: "nodes", given: "nodes", want: "nodes"},
		"another name":     {reason: "clusters would be refused", stored: "nodes", given: "others", want: "others", refused: true},
		"name for no name": {reason: "clusters have named their subnets", given: "nodes", want: "nodes", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			old := newControlPlaneTemplate(func(t *infrav1.AzureManagedControlPlaneTemplate) {
				t.Spec.Template.Spec.VirtualNetwork.Subnet.Name = test.stored
			})
			template := old.DeepCopy()
			template.Spec.Template.Spec.VirtualNetwork.Subnet.Name = test.given
			if err := controlPlaneTemplates.Default(updateOf(t, old), template); err != nil {
				t.Fatal(err)
			}
			if got := template.Spec.Template.Spec.VirtualNetwork.Subnet.Name; got != test.want {
				t.Errorf("%s: the subnet is %q, want %q", test.reason, got, test.want)
			}
			if errs := validateUpdate(t, controlPlaneTemplates, old, template); (len(errs) > 0) != test.refused {
				t.Errorf("%s: %v", test.reason, errs)
			}
		})
	}
}
