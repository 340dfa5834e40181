package standin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// TestDiagnosticSettingShown reads a setting as recording Test_Insights_DiagnosticSetting_v20210501preview_CRUD has it.
func TestDiagnosticSettingShown(t *testing.T) {
	a := newAzure(t)
	for _, id := range []string{account, workspace} {
		a.putResource(id, body.Object{"location": "westus3"})
	}
	const setting = account + "/providers/Microsoft.Insights/diagnosticSettings/audit"
	made := a.sendRequest("PUT", setting, body.Object{"properties": body.Object{"workspaceId": workspace,
		"logs": []any{body.Object{"categoryGroup": "allLogs", "enabled": true}}}})
	off := body.Object{"enabled": false, "days": 0.0}
	log := body.Object{"category": nil, "categoryGroup": "allLogs", "enabled": true, "retentionPolicy": off}
	want := body.Object{"id": strings.ToLower(account) + "/providers/microsoft.insights/diagnosticSettings/audit", "name": "audit",
		"type": "Microsoft.Insights/diagnosticSettings", "location": nil, "kind": nil, "tags": nil, "identity": nil,
		"properties": body.Object{"workspaceId": workspace, "storageAccountId": nil, "serviceBusRuleId": nil, "eventHubAuthorizationRuleId": nil,
			"eventHubName": nil, "logAnalyticsDestinationType": nil, "metrics": []any{}, "logs": []any{log}}}
	if diff := cmp.Diff(want, made.body); diff != "" {
		t.Errorf("the answer to the write (-want +got):\n%s", diff)
	}
	want["location"] = "westus3"
	body.Set(want, "properties.metrics", []any{body.Object{"category": "AllMetrics", "enabled": false, "retentionPolicy": off}})
	if diff := cmp.Diff(want, a.sendRequest("GET", setting, nil).body); diff != "" {
		t.Errorf("a read also has the location and the metrics (-want +got):\n%s", diff)
	}
}

// TestUndefinedTypes makes a resource of each type that has no definition, without a required property and with all, and deletes it.
func TestUndefinedTypes(t *testing.T) {
	const backups = group + "/providers/Microsoft.DataProtection/backupVaults/v"
	policy := backups + "/backupPolicies/p"
	steps := []struct {
		id          string
		sent        body.Object
		needs, code string
	}{
		{group + "/providers/Microsoft.Dashboard/grafana/g", body.Object{"location": "westus3", "sku": body.Object{"name": "Standard"}}, "sku", "BadRequest"},
		{group + "/providers/Microsoft.AlertsManagement/prometheusRuleGroups/r", body.Object{"location": "westus3",
			"properties": body.Object{"scopes": []any{account}, "rules": []any{}}}, "properties", "BadRequest"},
		{account + "/providers/Microsoft.Insights/diagnosticSettings/d", body.Object{"properties": body.Object{"workspaceId": workspace}},
			"properties", "BadRequest"},
		{backups, body.Object{"location": "westus3", "properties": body.Object{"storageSettings": []any{}}}, "properties", "BadRequest"},
		{policy, body.Object{"properties": body.Object{"objectType": "BackupPolicy", "policyRules": []any{}}}, "properties", "BadRequest"},
		{backups + "/backupInstances/i", body.Object{"properties": body.Object{"policyInfo": body.Object{"policyId": policy},
			"dataSourceInfo": body.Object{"resourceID": account}}}, "properties", "BadRequest"},
	}
	a := newAzure(t)
	for _, id := range []string{account, workspace} {
		a.putResource(id, body.Object{"location": "westus3"})
	}
	for _, step := range steps {
		short := body.Clone(step.sent)
		delete(short, step.needs)
		if got := a.sendRequest("PUT", step.id, short); got.code != step.code {
			t.Errorf("%s without %s: %d %q", step.id, step.needs, got.status, got.code)
		}
		a.putResource(step.id, step.sent)
		if got := a.sendRequest("GET", step.id, nil); got.code != "" {
			t.Errorf("%s: %s", step.id, got.code)
		}
	}
	for id, code := range map[string]string{backups: "UserErrorVaultContainsBackupInstances", policy: "UserErrorPolicyInUse"} {
		if got := a.sendRequest("DELETE", id, nil); got.code != code {
			t.Errorf("deletion of %s while it is in use: %q", id, got.code)
		}
	}
	for i := range steps {
		id := steps[len(steps)-1-i].id
		if got := a.sendRequest("DELETE", id, nil); got.code != "" {
			t.Errorf("deletion of %s: %s", id, got.code)
		}
		a.runUntilIdle()
		if got := a.sendRequest("GET", id, nil); got.code != "ResourceNotFound" && got.code != "UserErrorGenericResourceNotFound" {
			t.Errorf("%s after its deletion: %d %q", id, got.status, got.code)
		}
	}
}
