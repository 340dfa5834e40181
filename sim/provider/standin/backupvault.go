package standin

import (
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	backupVaultType    = "Microsoft.DataProtection/backupVaults"
	backupPolicyType   = backupVaultType + "/backupPolicies"
	backupInstanceType = backupVaultType + "/backupInstances"
)

// backupTypes returns the types of Azure Backup. Source: recordings of the Azure Service Operator v2.18.0, and
// https://learn.microsoft.com/en-us/rest/api/dataprotection. Codes of refused deletions are an assumption.
func backupTypes() []*provider.Type {
	types := []*provider.Type{newBackupVault(), newBackupPolicy(), newBackupInstance()}
	for _, t := range types {
		t.ShowOperation = showBackupOperation
		t.DeleteRetryAfter = 30
	}
	return types
}

var backupVersions = []string{"2023-11-01", "2023-01-01"}

func newBackupVault() *provider.Type {
	vault := newUndefinedType(backupVaultType, backupVersions, []string{"properties.storageSettings"}, nil)
	vault.StateNew, vault.RetryAfter, vault.AcceptedStatus = "Provisioning", 10, http.StatusCreated
	vault.Create.LRO, vault.Update, vault.Delete.LRO = 10*time.Second, provider.Timing{HTTP: time.Second, LRO: 10 * time.Second}, 30*time.Second
	vault.Missing = func(c *provider.Call) *provider.Error {
		if !c.WasJustDeleted() {
			return nil
		}
		return backupNotFound()
	}
	vault.CanDelete = func(c *provider.Call, it *provider.Item) error {
		for _, instance := range c.List(backupInstanceType, it.ID) {
			return provider.Errorf(http.StatusBadRequest, "UserErrorVaultContainsBackupInstances",
				"The backup vault contains the backup instance '%s'. Delete it first.", instance.Name())
		}
		return nil
	}
	return vault
}

func newBackupPolicy() *provider.Type {
	policy := newUndefinedType(backupPolicyType, backupVersions, []string{"properties.objectType", "properties.policyRules"}, nil)
	policy.Untracked, policy.NoState, policy.AcceptedStatus = true, true, http.StatusOK
	policy.Missing = func(*provider.Call) *provider.Error { return backupNotFound() }
	policy.View = func(_ *provider.Call, it *provider.Item) {
		for _, rule := range body.Objects(it.Body, "properties.policyRules") {
			for _, criterion := range body.Objects(rule, "trigger.taggingCriteria") {
				if name := body.String(criterion, "tagInfo.tagName"); name != "" {
					body.Set(criterion, "tagInfo.id", name+"_")
				}
			}
		}
	}
	policy.CanDelete = func(c *provider.Call, it *provider.Item) error {
		vaultID, _, _ := strings.Cut(it.ID, "/backupPolicies/")
		for _, instance := range c.List(backupInstanceType, vaultID) {
			if strings.EqualFold(body.String(instance.Body, "properties.policyInfo.policyId"), it.ID) {
				return provider.Errorf(http.StatusBadRequest, "UserErrorPolicyInUse", "The policy is used by the backup instance '%s'.", instance.Name())
			}
		}
		return nil
	}
	return policy
}

// backupNotFound is the answer for a missing policy or instance. It comes from Azure Backup, and not from Resource Manager.
func backupNotFound() *provider.Error {
	e := provider.Errorf(http.StatusNotFound, "UserErrorGenericResourceNotFound",
		"Azure resource does not exist. Please make sure required resources exist. If the issue persists, contact Microsoft support.")
	e.More = body.Object{"target": nil, "details": nil}
	return e
}

// showBackupOperation shows an operation as Azure Backup does: with an end before it has ended, and without a time to wait.
func showBackupOperation(op *store.Operation, rep *provider.Reply, shown body.Object) {
	rep.RetryAfter = 0
	delete(shown, "properties")
	if op.VisibleStatus() == store.InProgress {
		shown["status"], shown["endTime"] = "Inprogress", "0001-01-01T00:00:00Z"
	}
}
