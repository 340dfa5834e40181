package imported_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/desiredstate"
	"sigs.k8s.io/cluster-api/util/collections"

	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// controlPlaneObjects are the objects of an import that Cluster API's KubeadmControlPlane controller reads.
type controlPlaneObjects struct {
	cluster  clusterv1.Cluster
	control  *controlplanev1.KubeadmControlPlane
	configs  map[string]*bootstrapv1.KubeadmConfig
	machines []*clusterv1.Machine
	// templates has the template from which each AzureMachine was made, by the name of the AzureMachine.
	templates map[string]string
}

// readManifestsWhole returns the objects of a control plane, read as strictly as an API server that warns of unknown fields.
func readManifestsWhole(t testing.TB, raw string) (out controlPlaneObjects) {
	t.Helper()
	out.configs, out.templates = map[string]*bootstrapv1.KubeadmConfig{}, map[string]string{}
	documents, err := manifests.Files{Input: bytes.NewReader([]byte(raw))}.Read([]string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		decode := func(into any) {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(d.Object, into, true); err != nil {
				t.Fatalf("%s %s: %v", d.GetKind(), d.GetName(), err)
			}
		}
		switch d.GetKind() {
		case "Cluster":
			decode(&out.cluster)
		case "KubeadmControlPlane":
			out.control = &controlplanev1.KubeadmControlPlane{}
			decode(out.control)
		case "KubeadmConfig":
			out.configs[d.GetName()] = &bootstrapv1.KubeadmConfig{}
			decode(out.configs[d.GetName()])
		case "AzureMachine":
			out.templates[d.GetName()] = d.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation]
		case "Machine":
			if _, is := d.GetLabels()[clusterv1.MachineControlPlaneLabel]; is {
				machine := &clusterv1.Machine{}
				decode(machine)
				out.machines = append(out.machines, machine)
			}
		}
	}
	return out
}

// requireAdopted fails the test unless Cluster API's KubeadmControlPlane controller adopts all control-plane machines of an import, if there
// are any, and finds each of them up to date. Its own functions compute what a Machine should have.
func requireAdopted(t testing.TB, of controlPlaneObjects) {
	t.Helper()
	if len(of.machines) == 0 {
		return
	}
	if of.control == nil {
		t.Fatalf("no KubeadmControlPlane adopts %d control-plane machines", len(of.machines))
	}
	spec := of.control.Spec
	if of.cluster.Spec.ControlPlaneRef.Name != of.control.Name || of.cluster.Spec.ControlPlaneRef.Kind != "KubeadmControlPlane" {
		t.Errorf("the Cluster refers to %+v", of.cluster.Spec.ControlPlaneRef)
	}
	if int(*spec.Replicas) != len(of.machines) {
		t.Errorf("%d replicas, %d machines", *spec.Replicas, len(of.machines))
	}
	for _, m := range of.machines {
		if !collections.AdoptableControlPlaneMachines(of.cluster.Name)(m) {
			t.Errorf("Machine %s is not adoptable: %+v", m.Name, m.ObjectMeta)
		}
		ref := m.Spec.Bootstrap.ConfigRef
		config := of.configs[ref.Name]
		if ref.Kind != "KubeadmConfig" || config == nil || m.Spec.Bootstrap.DataSecretName == nil {
			t.Errorf("Machine %s: bootstrap %+v", m.Name, m.Spec.Bootstrap)
			continue
		}
		if _, is := config.Labels[clusterv1.MachineControlPlaneLabel]; !is {
			t.Errorf("the cache of the controller does not have KubeadmConfig %s: %v", config.Name, config.Labels)
		}
		if m.Spec.Version == "" || m.Spec.Version != spec.Version {
			t.Errorf("Machine %s has the version %q, its control plane %q", m.Name, m.Spec.Version, spec.Version)
		}
		desired, err := desiredstate.ComputeDesiredKubeadmConfig(of.control, &of.cluster, true, m.Name, config)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(desired.Spec, config.Spec); diff != "" {
			t.Errorf("KubeadmConfig %s (-desired +imported):\n%s", config.Name, diff)
		}
		if from := of.templates[m.Spec.InfrastructureRef.Name]; from != spec.MachineTemplate.Spec.InfrastructureRef.Name {
			t.Errorf("Machine %s was made from the template %q, and its control plane has %q", m.Name, from, spec.MachineTemplate.Spec.InfrastructureRef.Name)
		}
	}
}

// TestControlPlaneAlone imports clusters whose control-plane machines no KubeadmControlPlane could adopt without a replacement: they stand
// alone, and a step has the reason.
func TestControlPlaneAlone(t *testing.T) {
	fits := func(vm string) string { return vm + "-nic" }
	for name, test := range map[string]struct {
		reason    string
		of        handmade
		arguments []string
		want      string
	}{
		"even number": {"the controller refuses an even number of machines with etcd", handmade{nic: fits, masters: 2},
			[]string{"--kubernetes-version", "v1.34.2"}, "they are 2"},
		"machine without objects": {"the controller removes members of etcd that have no Machine", handmade{nic: func(vm string) string {
			if vm == "master-2" {
				return "other"
			}
			return vm + "-nic"
		}}, []string{"--kubernetes-version", "v1.34.2"}, "the manifests lack the machines master-2"},
		"unknown version": {"a Machine without a version is replaced", handmade{nic: fits}, nil, "Import again with --kubernetes-version"},
		"no version":      {"a version is needed as Cluster API has it", handmade{nic: fits}, []string{"--kubernetes-version", "1.34"}, `"1.34" is not a version of Kubernetes`},
		"two versions": {"a Machine with another version is replaced", handmade{nic: fits, images: map[string]string{"master-2": "1.33.5"}},
			[]string{"--kubernetes-version", "v1.34.2"}, "master-0 has v1.34.2 and master-2 has v1.33.5"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, plan.Features{}, func(s *virtual.Scenario) {
				test.of.Scenario, test.of.configuration = s, func(string) string { return "pipConfig" }
				test.of.build()
				got := mustImport(s, append([]string{"--resource-group", "legacy", "--cluster", "legacy"}, test.arguments...)...)
				of := readManifestsWhole(t, got.Manifests)
				if len(of.machines) == 0 || of.control != nil || len(of.configs) > 0 || of.cluster.Spec.ControlPlaneRef.Name != "" {
					t.Errorf("%s: the control-plane machines do not stand alone:\n%s", test.reason, got.Manifests)
				}
				if !slices.ContainsFunc(got.Steps, func(step importing.Step) bool {
					return strings.HasPrefix(step.Why, "The control-plane machines stand alone") && strings.Contains(step.Why, test.want)
				}) {
					t.Errorf("%s: no step has %q: %+v", test.reason, test.want, got.Steps)
				}
			})
		})
	}
}

// kubeadmControlPlane returns the manifest of the KubeadmControlPlane of the default flavor.
func kubeadmControlPlane(t testing.TB) string {
	t.Helper()
	template, err := os.ReadFile("../../../templates/cluster-template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(template), "\n---\n") {
		if strings.Contains(document, "\nkind: KubeadmControlPlane\n") {
			return strings.NewReplacer("${CLUSTER_NAME}", "c1", "${CONTROL_PLANE_MACHINE_COUNT:=1}", "3", "${KUBERNETES_VERSION}", "v1.34.2",
				"${SERVICE_ACCOUNT_ISSUER:=", "", "cluster.local}", "cluster.local").Replace(document)
		}
	}
	t.Fatal("the default flavor has no KubeadmControlPlane")
	return ""
}

// TestKubeadmControlPlane passes the KubeadmControlPlane of the lost objects: machines that come later have its kubeadmConfigSpec, and those
// that exist are up to date with it.
func TestKubeadmControlPlane(t *testing.T) {
	objects := renderFlavor(t, "cluster-template.yaml", map[string]string{"CONTROL_PLANE_MACHINE_COUNT": "3"}, nil)
	document := kubeadmControlPlane(t)
	folder := t.TempDir()
	files := map[string]string{
		"whole":   document,
		"former":  strings.Replace(document, "/v1beta2", "/v1beta1", 1),
		"none":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"two":     document + "\n---\n" + strings.Replace(document, "name: c1-control-plane", "name: other", 1),
		"unknown": strings.Replace(document, "  kubeadmConfigSpec:\n", "  kubeadmConfigSpec:\n    colour: red\n", 1),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := map[string]string{"former": "apiVersion controlplane.cluster.x-k8s.io/v1beta1", "none": "has no KubeadmControlPlane",
		"two": "more than one KubeadmControlPlane", "unknown": `unknown field "spec.kubeadmConfigSpec.colour"`, "missing": "no such file"}
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		build(s, objects)
		for _, name := range slices.Sorted(maps.Keys(refused)) {
			if _, _, err := runImport(s, "--resource-group", "c1", "--kubeadm-control-plane", filepath.Join(folder, name)); err == nil ||
				!strings.Contains(err.Error(), refused[name]) {
				t.Errorf("%s: error %v, want %q", name, err, refused[name])
			}
		}
		got := mustImport(s, "--resource-group", "c1", "--kubeadm-control-plane", filepath.Join(folder, "whole"))
		dump(t, "kubeadm", got)
		of := readManifestsWhole(t, got.Manifests)
		if of.control == nil || of.control.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.Local.DataDir != "/var/lib/etcddisk/etcd" {
			t.Fatalf("the kubeadmConfigSpec is not that of the file:\n%s", got.Manifests)
		}
		setTags(s, got.Tags)
		applyImport(s, got)
	})
}
