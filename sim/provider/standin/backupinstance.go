package standin

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const protectionError = "properties.protectionErrorDetails"

// configureTime is how long Azure Backup needs to configure protection after an instance was written.
const configureTime = time.Minute

// newBackupInstance returns the type of backup instances. An instance is made at once and configured later. Where that fails, the action sync
// repeats it.
func newBackupInstance() *provider.Type {
	instance := newUndefinedType(backupInstanceType, backupVersions, []string{"properties.policyInfo.policyId", "properties.dataSourceInfo.resourceID"}, nil)
	check := instance.Prepare
	instance.Prepare = func(c *provider.Call, d *provider.Draft) error {
		if policy := body.String(d.New, "properties.policyInfo.policyId"); policy != "" && c.FindItem(policy) == nil {
			return describeBackupError(provider.Errorf(http.StatusBadRequest, "UserErrorInvalidRequestParameter", "Parameter PolicyName in request is invalid"),
				"Please provide correct value for parameter PolicyName", body.Object{"target": nil, "details": nil})
		}
		return check(c, d)
	}
	instance.ReadOnlyPaths = []string{"properties.protectionStatus", "properties.currentProtectionState", protectionError}
	instance.Untracked = true
	instance.Missing = func(*provider.Call) *provider.Error { return backupNotFound() }
	instance.StateNew, instance.RetryAfter = "Provisioning", 15
	instance.Create.LRO, instance.Update, instance.Delete.LRO = 5*time.Second, provider.Timing{HTTP: time.Second, LRO: 5 * time.Second}, 90*time.Second
	instance.Finish = func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
		recordProtection(r, checkProtection(c, r))
		return nil
	}
	instance.View = showBackupInstance
	instance.Actions = map[string]*provider.Action{"sync": {
		Timing: provider.Timing{HTTP: time.Second, LRO: 30 * time.Second}, RetryAfter: 30,
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			problem := checkProtection(c, r)
			recordProtection(r, problem)
			c.SaveResource(r)
			if problem == nil {
				return nil
			}
			return problem
		},
	}}
	return instance
}

// recordProtection stores the outcome of configuring protection.
func recordProtection(r *store.Resource, problem *provider.Error) {
	body.Delete(r.Body, protectionError)
	if problem != nil {
		info := body.Objects(problem.More, "additionalInfo")
		body.Set(r.Body, protectionError, body.Clone(body.Child(info[0], "info")))
	}
}

// checkProtection returns why a cluster cannot be backed up. Other sources of data always can (assumption).
func checkProtection(c *provider.Call, r *store.Resource) *provider.Error {
	cluster := c.FindItem(body.String(r.Body, "properties.dataSourceInfo.resourceID"))
	if cluster == nil || !strings.EqualFold(cluster.Resource.Type, "Microsoft.ContainerService/managedClusters") {
		return nil
	}
	vaultID, _, _ := strings.Cut(r.ID, "/backupInstances/")
	vault := c.FindItem(vaultID)
	for _, place := range body.Objects(r.Body, "properties.policyInfo.policyParameters.dataStoreParametersList") {
		group := body.String(place, "resourceGroupId")
		if vault == nil || !holdsRole(c, cluster.Body, group, contributorRoles) || !holdsRole(c, vault.Body, group, readerRoles) {
			return describeProtectionError("UserErrorMissingMSIPermissionsOnSnapshotResourceGroup",
				"The AKS cluster requires a Contributor role and Backup Vault requires a Reader role on the snapshot resource group where the persistent volume snapshots will be stored.",
				"The AKS cluster requires a Contributor role and Backup Vault requires a Reader role on the snapshot resource group where the persistent volume snapshots will be stored.",
				"Grant the AKS cluster's managed identity Contributor role and Backup Vault's managed identity Reader role on the snapshot resource group. Refer to https://aka.ms/aksclusterbackup")
		}
	}
	found, healthy, unhealthy := false, false, ""
	c.Each("Microsoft.KubernetesConfiguration/extensions", func(extension *store.Resource) {
		id, err := store.ParseID(extension.ID)
		if err != nil || !store.SameID(id.Scope, cluster.ID) ||
			!strings.EqualFold(body.String(extension.Body, "properties.extensionType"), "microsoft.dataprotection.kubernetes") {
			return
		}
		found = true
		unhealthy = body.String(extension.Body, "properties.provisioningState")
		healthy = healthy || unhealthy == store.Succeeded
	})
	switch {
	case !found:
		return describeProtectionError("UserErrorKubernetesBackupExtensionNotFound", "Unable to find the Azure Backup Kubernetes extension in the cluster.",
			"The azure backup k8s extension is not present in the cluster.", "Please install the Azure Backup Kubernetes extension and retry the operation. If the issue persists, contact Microsoft Support. Refer to https://aka.ms/aksclusterbackup")
	case !healthy:
		return describeProtectionError("UserErrorKubernetesBackupExtensionUnhealthy", "The Backup Extension in the AKS cluster is unhealthy.",
			"Kubernetes Backup extension provisioningState = "+unhealthy+", statuses = []", "This error occurs when the backup extension is unhealthy due to the AKS cluster being scaled down, nodes unavailable or shut down. Please re-install the extension after ensuring that the AKS cluster has sufficient resources available (nodes, memory, CPU) and then retry the operation. If the issue persists, contact Microsoft Support. For more information, refer to https://aka.ms/aksclusterbackup")
	}
	return nil
}

// describeProtectionError returns an error of an instance. Unlike those of requests it has an inner error, which repeats the message or has
// a more exact cause: recording Test_DataProtection_BackupInstance_20231101_CRUD.
func describeProtectionError(code, message, cause, advice string) *provider.Error {
	var out *provider.Error
	errors.As(describeBackupError(provider.Errorf(http.StatusBadRequest, code, "%s", message), advice, nil), &out)
	for _, entry := range body.Objects(out.More, "additionalInfo") {
		info := body.Child(entry, "info")
		delete(info, "details")
		delete(info, "target")
		info["innerError"] = body.Object{"code": "Success", "additionalInfo": body.Object{"DetailedNonLocalisedMessage": cause}}
	}
	return out
}

// describeBackupError adds the properties that errors of Azure Backup have.
func describeBackupError(e *provider.Error, advice string, more body.Object) error {
	e.More = body.Clone(more)
	if e.More == nil {
		e.More = body.Object{}
	}
	e.More["additionalInfo"] = []any{body.Object{"type": "UserFacingError", "info": body.Object{"message": e.Message, "code": e.Code,
		"recommendedAction": []any{advice}, "details": nil, "target": "", "isRetryable": false, "isUserError": false,
		"innerError": nil,
		"properties": body.Object{"ActivityId": madeGUID(e.Code, "activity")}}}}
	return e
}

func showBackupInstance(c *provider.Call, it *provider.Item) {
	state := "ProtectionConfigured"
	problem := body.Child(it.Body, protectionError)
	switch {
	case body.String(it.Body, "properties.provisioningState") != store.Succeeded || c.Now().Sub(it.Resource.Written) < c.ScaleDuration(configureTime):
		state, problem = "ConfiguringProtection", nil
		body.Delete(it.Body, protectionError)
	case problem != nil:
		state = "ProtectionError"
	}
	status := body.Object{"status": state}
	if problem != nil {
		status["errorDetails"] = body.Clone(problem)
	}
	showValues(it, map[string]any{"currentProtectionState": state, "protectionStatus": status})
	if source := body.Child(it.Body, "properties.dataSourceInfo"); body.String(source, "resourceName") == "" {
		id := body.String(source, "resourceID")
		source["resourceName"] = id[strings.LastIndexByte(id, '/')+1:]
	}
	for _, parameters := range body.Objects(it.Body, "properties.policyInfo.policyParameters.backupDatasourceParametersList") {
		if body.String(parameters, "objectType") == "KubernetesClusterBackupDatasourceParameters" {
			showNulls(parameters, "includedNamespaces", "excludedNamespaces", "includedResourceTypes", "excludedResourceTypes", "labelSelectors",
				"includedVolumeTypes", "backupHookReferences")
		}
	}
}

// Roles that Azure Backup needs, and those that include them. https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var (
	contributorRoles = []string{"b24988ac-6180-42a0-ab88-20f7382dd24c", "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"} // Contributor, Owner
	readerRoles      = append([]string{"acdd72a7-3385-48ef-bd42-f606fba81ae7"}, contributorRoles...)            // Reader
)

// holdsRole reports whether an identity of a resource has one of the roles at a scope or above it.
func holdsRole(c *provider.Call, of body.Object, scope string, roles []string) bool {
	principals := []string{body.String(of, "identity.principalId")}
	for _, identity := range body.Child(of, "identity.userAssignedIdentities") {
		if identity, ok := identity.(body.Object); ok {
			principals = append(principals, body.String(identity, "principalId"))
		}
	}
	return c.HoldsRole(principals, scope, roles)
}
