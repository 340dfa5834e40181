package standin

import (
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

const (
	backupVaultType    = "Microsoft.DataProtection/backupVaults"
	backupPolicyType   = backupVaultType + "/backupPolicies"
	backupInstanceType = backupVaultType + "/backupInstances"
)

// backupTypes returns the types of Azure Backup. Source: recordings of the Azure Service Operator v2.18.0, and
// https://learn.microsoft.com/en-us/rest/api/dataprotection. Durations are an assumption.
func backupTypes() []*provider.Type {
	versions := []string{"2023-11-01", "2023-01-01"}
	vault := newUndefinedType(backupVaultType, versions, []string{"properties.storageSettings"}, nil)
	vault.StateNew, vault.RetryAfter = "Provisioning", 10
	vault.Create.LRO, vault.Update, vault.Delete.LRO = 15*time.Second, provider.Timing{HTTP: time.Second, LRO: 5 * time.Second}, 10*time.Second
	vault.CanDelete = func(c *provider.Call, it *provider.Item) error {
		for _, instance := range c.List(backupInstanceType, it.ID) {
			return provider.Errorf(http.StatusBadRequest, "UserErrorVaultContainsBackupInstances",
				"The backup vault contains the backup instance '%s'. Delete it first.", instance.Name())
		}
		return nil
	}
	policy := newUndefinedType(backupPolicyType, versions, []string{"properties.objectType", "properties.policyRules"}, nil)
	policy.Untracked, policy.NoState, policy.AcceptedStatus = true, true, http.StatusOK
	policy.CanDelete = func(c *provider.Call, it *provider.Item) error {
		vaultID, _, _ := strings.Cut(it.ID, "/backupPolicies/")
		for _, instance := range c.List(backupInstanceType, vaultID) {
			if strings.EqualFold(body.String(instance.Body, "properties.policyInfo.policyId"), it.ID) {
				return provider.Errorf(http.StatusBadRequest, "UserErrorPolicyInUse", "The policy is used by the backup instance '%s'.", instance.Name())
			}
		}
		return nil
	}
	instance := newUndefinedType(backupInstanceType, versions, []string{"properties.policyInfo.policyId", "properties.dataSourceInfo.resourceID"}, nil)
	instance.Untracked = true
	instance.StateNew, instance.RetryAfter = "Provisioning", 10
	instance.Create.LRO, instance.Update, instance.Delete.LRO = 30*time.Second, provider.Timing{HTTP: time.Second, LRO: 5 * time.Second}, 20*time.Second
	instance.View = func(_ *provider.Call, it *provider.Item) {
		showValues(it, map[string]any{"currentProtectionState": "ProtectionConfigured", "protectionStatus": body.Object{"status": "ProtectionConfigured"}})
	}
	return []*provider.Type{vault, policy, instance}
}
