package server_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	backups  = groupA + "/providers/Microsoft.DataProtection/backupVaults/vault"
	backupV  = "?api-version=2023-11-01"
	instance = backups + "/backupInstances/cluster" + backupV
)

// createBackup makes a vault with a policy, a cluster, and a backup instance of the cluster.
func (a *azure) createBackup() {
	a.t.Helper()
	a.createGroup()
	a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
	a.mustSucceed("PUT", backups+backupV, obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"}, "properties": obj{
		"storageSettings":  []any{obj{"datastoreType": "VaultStore", "type": "LocallyRedundant"}},
		"securitySettings": obj{"softDeleteSettings": obj{"state": "Off"}}}})
	a.mustSucceed("PUT", backups+"/backupPolicies/daily"+backupV, obj{"properties": obj{"objectType": "BackupPolicy", "policyRules": []any{
		obj{"trigger": obj{"taggingCriteria": []any{obj{"tagInfo": obj{"tagName": "Default"}}}}}}}})
	a.sim.Settle()
}

func backupInstance(policy string) obj {
	return obj{"properties": obj{"objectType": "BackupInstance", "dataSourceInfo": obj{"resourceID": aks},
		"policyInfo": obj{"policyId": backups + "/backupPolicies/" + policy, "policyParameters": obj{
			"dataStoreParametersList":        []any{obj{"resourceGroupId": groupA}},
			"backupDatasourceParametersList": []any{obj{"objectType": "KubernetesClusterBackupDatasourceParameters"}}}}}}
}

// Azure Backup shows properties unasked, by api-version and by other properties.
func TestBackupShown(t *testing.T) {
	a := newAzure(t)
	a.createBackup()
	a.mustSucceed("PUT", groupA+"/providers/Microsoft.DataProtection/backupVaults/second"+backupV, obj{"location": "westus3",
		"properties": obj{"storageSettings": []any{obj{"datastoreType": "VaultStore", "type": "LocallyRedundant"}}}})
	a.checkShown(t, map[string]shownCase{
		"vault": {"recorded", backups, "2023-11-01", obj{"properties.isVaultProtectedByResourceGuard": false, "properties.secureScore": "None",
			"properties.replicatedRegions": []any{}, "properties.securitySettings.softDeleteSettings.retentionDurationInDays": 0.0}},
		"vault, old": {"recorded", backups, "2023-01-01", obj{"properties.secureScore": nil, "properties.replicatedRegions": nil}},
		"vault without settings": {"recorded", groupA + "/providers/Microsoft.DataProtection/backupVaults/second", "2023-01-01",
			obj{"properties.securitySettings.softDeleteSettings.state": "On", "properties.securitySettings.softDeleteSettings.retentionDurationInDays": 14.0}},
		"policy": {"recorded", backups + "/backupPolicies/daily", "2023-11-01",
			obj{"properties.policyRules.0.trigger.taggingCriteria.0.tagInfo.id": "Default_"}},
	})
	for name, c := range map[string]struct {
		reason, method, path string
		body                 obj
		status               int
		code                 string
	}{
		"vault that never was": {"Resource Manager answers", "GET", backups + "2" + backupV, nil, 404, "ResourceNotFound"},
		"policy":               {"Azure Backup answers: it is no tracked resource", "GET", backups + "/backupPolicies/none" + backupV, nil, 404, "UserErrorGenericResourceNotFound"},
		"unknown policy":       {"recorded", "PUT", instance, backupInstance("none"), 400, "UserErrorInvalidRequestParameter"},
	} {
		if got := a.sendRequest(c.method, c.path, c.body); got.status != c.status || got.errorCode() != c.code {
			t.Errorf("%s: %s: got %d %s, want %d %s", name, c.reason, got.status, got.errorCode(), c.status, c.code)
		}
	}
	if again := a.sendRequest("PUT", backups+backupV, obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"}, "properties": obj{
		"storageSettings": []any{obj{"datastoreType": "VaultStore", "type": "GeoRedundant"}}}}); again.status != 201 ||
		again.valueAt("properties.provisioningState") != "Updating" || again.header.Get("Retry-After") != "10" {
		t.Errorf("a changed vault: %d %v, recordings have 201 and Updating", again.status, again.body)
	}
	a.sim.Settle()
	a.sendRequest("DELETE", backups+backupV, nil)
	a.sim.Settle()
	if got := a.sendRequest("GET", backups+backupV, nil); got.errorCode() != "UserErrorGenericResourceNotFound" {
		t.Errorf("a vault that was just deleted: %s, recordings have Azure Backup's answer", got.errorCode())
	}
}

// A cluster is protected once its identity and the vault's have their roles and the extension is installed. Each failed attempt has a reason.
func TestBackupProtection(t *testing.T) {
	a := newAzure(t)
	a.createBackup()
	made := a.sendRequest("PUT", instance, backupInstance("daily"))
	if poll := a.sendRequest("GET", made.header.Get("Azure-AsyncOperation"), nil); poll.valueAt("status") != "Inprogress" ||
		poll.valueAt("endTime") == nil || poll.header.Get("Retry-After") != "" {
		t.Errorf("a poll: %v %v, recordings have the state Inprogress, an end time, and no time to wait", poll.header, poll.body)
	}
	a.sim.Settle()
	const state, reason = "properties.currentProtectionState", "properties.protectionErrorDetails.code"
	const cause = "properties.protectionErrorDetails.innerError.additionalInfo.DetailedNonLocalisedMessage"
	check := func(when string, want obj) {
		t.Helper()
		got := a.sendRequest("GET", instance, nil)
		if diff := cmp.Diff(want, obj{state: got.valueAt(state), reason: got.valueAt(reason)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	sync := func(want string) {
		t.Helper()
		began := a.sendRequest("POST", backups+"/backupInstances/cluster/sync"+backupV, obj{"syncType": "Default"})
		a.sim.Settle()
		if got := a.sendRequest("GET", began.header.Get("Azure-AsyncOperation"), nil); began.status != 202 || got.valueAt("status") != want {
			t.Errorf("sync: %d, then %v, want %s", began.status, got.body, want)
		}
	}
	check("made", obj{state: "ConfiguringProtection", reason: nil})
	a.sim.Advance(time.Minute)
	check("without roles", obj{state: "ProtectionError", reason: "UserErrorMissingMSIPermissionsOnSnapshotResourceGroup"})
	for name, role := range map[string]struct{ of, id string }{
		"11111111-2222-4333-8444-555555555555": {aks + aksV, "b24988ac-6180-42a0-ab88-20f7382dd24c"},
		"11111111-2222-4333-8444-555555555556": {backups + backupV, "acdd72a7-3385-48ef-bd42-f606fba81ae7"},
	} {
		a.mustSucceed("PUT", groupA+"/providers/Microsoft.Authorization/roleAssignments/"+name+"?api-version=2022-04-01", obj{"properties": obj{
			"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/" + role.id, "principalType": "ServicePrincipal",
			"principalId": a.sendRequest("GET", role.of, nil).valueAt("identity.principalId")}})
	}
	check("with roles, before it is tried again", obj{state: "ProtectionError", reason: "UserErrorMissingMSIPermissionsOnSnapshotResourceGroup"})
	sync("Failed")
	check("without the extension", obj{state: "ProtectionError", reason: "UserErrorKubernetesBackupExtensionNotFound"})
	got := a.sendRequest("GET", instance, nil)
	if _, has := got.valueAt("properties.protectionErrorDetails").(obj)["target"]; has || got.valueAt(cause) != "The azure backup k8s extension is not present in the cluster." {
		t.Errorf("the error of the instance is %v, recordings have a cause and no target", got.valueAt("properties.protectionErrorDetails"))
	}
	a.sendRequest("PUT", aks+"/providers/Microsoft.KubernetesConfiguration/extensions/backup?api-version=2023-05-01",
		obj{"properties": obj{"extensionType": "microsoft.dataprotection.kubernetes"}})
	a.sim.Settle()
	sync("Succeeded")
	check("with all", obj{state: "ProtectionConfigured", reason: nil})
}
