package management

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// processSpecs returns those of all processes of a lab, without what cannot be compared.
func processSpecs(s *settings.Settings) []process.Spec {
	all := []process.Spec{etcdSpec(s), apiServerSpec(s), controllerManagerSpec(s), azuresimSpec(s), bridgeSpec(s), kubeletSpec(s), tracesSpec(s)}
	for i := range all {
		all[i].Ready = nil
	}
	return all
}

func TestSpecsAreThoseOfTheLab(t *testing.T) {
	s := &settings.Settings{Dir: "/lab", Root: "/source", BasePort: 22000, TimeScale: 0.05}
	before := processSpecs(s)
	for name, value := range map[string]string{
		"PATH": "/elsewhere/bin", "HOME": "/home/user", "TMPDIR": "/elsewhere/tmp", "HTTPS_PROXY": "http://proxy.example", "GOGC": "400",
		"AZURE_CLIENT_ID": "mine", "KUBECONFIG": "/home/somebody/.kube/config",
	} {
		t.Setenv(name, value)
	}
	if diff := cmp.Diff(before, processSpecs(s)); diff != "" {
		t.Errorf("lab up from a shell with another environment would replace processes (-before +after):\n%s", diff)
	}
}

// TestOwnersTakeRights checks that the API server runs with the admission plugin of some distributions, which refuses references to owners
// whose finalizers the writer may not update.
func TestOwnersTakeRights(t *testing.T) {
	const plugin = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"
	if args := apiServerSpec(&settings.Settings{Dir: "/lab"}).Args; !slices.Contains(args, plugin) {
		t.Errorf("the API server is started without %s: %q", plugin, args)
	}
}
