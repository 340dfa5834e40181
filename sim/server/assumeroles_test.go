package server_test

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// TestAssumedRoles makes what Azure refuses to identities without roles, in a simulator that assumes the roles: each service that checks roles
// accepts it.
func TestAssumedRoles(t *testing.T) {
	assume := func(o *server.Options) { o.AssumeRoles = true }
	t.Run("kubelet identity and private DNS zone of an AKS cluster", func(t *testing.T) {
		a := newAzure(t, assume)
		a.createGroup()
		at, zone := groupA+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/", groupA+"/providers/Microsoft.Network/privateDnsZones/privatelink.westus3.azmk8s.io"
		for _, name := range []string{"plane", "kubelet"} {
			a.mustSucceed("PUT", at+name, obj{"location": "westus3"})
		}
		a.mustSucceed("PUT", zone, obj{"location": "global"})
		doc := aksCluster(func(p obj) {
			p["identityProfile"] = obj{"kubeletidentity": obj{"resourceId": at + "kubelet"}}
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "privateDNSZone": zone}
		})
		doc["identity"] = obj{"type": "UserAssigned", "userAssignedIdentities": obj{at + "plane": obj{}}}
		a.mustSucceed("PUT", aks+aksV, doc)
	})
	t.Run("snapshots of a backup instance", func(t *testing.T) {
		a := newAzure(t, assume)
		a.createBackup()
		a.sendRequest("PUT", instance, backupInstance("daily"))
		a.sim.Settle()
		a.sim.Advance(time.Minute)
		const want = "UserErrorKubernetesBackupExtensionNotFound" // It is checked after the roles.
		if got := a.sendRequest("GET", instance, nil).valueAt("properties.protectionErrorDetails.code"); got != want {
			t.Errorf("the protection fails because of %v, want %s", got, want)
		}
	})
}
