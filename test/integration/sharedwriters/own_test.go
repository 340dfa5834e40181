package sharedwriters_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestOwnEntriesGo takes an extension and an identity out of the spec of a pool. They go, and those of other programs in the same lists stay.
func TestOwnEntriesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := selfManaged(t, func(w *world, s *setup) {
			dualStack(w, s)
			s.pool.Spec.Template.VMExtensions = []infrav1.VMExtension{{Name: "CustomScript", Publisher: "Microsoft.Azure.Extensions",
				Version: "2.1"}}
			s.pool.Spec.Identity = infrav1.VMIdentityUserAssigned
			s.pool.Spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: "azure://" + string(w.ResourceID(identityPath("ours")))}}
		})
		w.joinTemplate()
		w.sendVersion(http.MethodPut, scaleSet+"/extensions/MDE.Linux", w.ResourceVersion(scaleSet),
			body{"properties": body{"publisher": "Microsoft.Azure.AzureDefenderForServers", "type": "MDE.Linux", "typeHandlerVersion": "1.0"}})
		w.PatchResource(scaleSet, w.buildIdentityBody(scaleSet))
		w.syncFully()
		harness.ChangeObject(w.Stage, newPool(), func(p *infrav1.AzureMachinePool) {
			p.Spec.Template.VMExtensions, p.Spec.Identity, p.Spec.UserAssignedIdentities = nil, infrav1.VMIdentityNone, nil
		})
		w.waitInPlace()
		w.syncFully()
		const extensions = "properties.virtualMachineProfile.extensionProfile.extensions"
		templatePools := interfaces + ".0.properties.ipConfigurations.0.properties." + pools
		users, _ := w.FindProperty(scaleSet, "identity.userAssignedIdentities").(body)
		for what, stays := range map[string]struct{ is, want bool }{
			"the extension of the spec":   {w.hasElement(scaleSet, extensions, "CustomScript"), false},
			"the extension of Defender":   {w.hasElement(scaleSet, extensions, "MDE.Linux"), true},
			"the identity of the spec":    {len(users) > 1, false},
			"the identity of a policy":    {hasIdentity(scaleSet)(w), true},
			"cloud-provider-azure's pool": {w.hasElement(scaleSet, templatePools, string(w.ResourceID(servicePool))), true},
		} {
			if stays.is != stays.want {
				t.Errorf("%s: is in the template: %t, want %t", what, stays.is, stays.want)
			}
		}
		mark := w.Azure.MarkRequests()
		w.syncFully()
		if writes := w.listWrites(mark); len(writes) > 0 {
			t.Errorf("nothing changed, and the provider sent %q", writes)
		}
	})
}
