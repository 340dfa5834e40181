package containerservice

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

var dnsPrefixForm = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,52}[a-zA-Z0-9])?$`)

// choices are enumerations, compared regardless of case and stored as listed.
var choices = map[string][]string{
	"sku.name":               {"Base", "Automatic"},
	"sku.tier":               {"Free", "Standard", "Premium", "Paid"},
	"properties.supportPlan": {"KubernetesOfficial", "AKSLongTermSupport"},
	"properties.networkProfile.networkPlugin":     {"azure", "kubenet", "none"},
	"properties.networkProfile.networkPluginMode": {"overlay"},
	"properties.networkProfile.networkPolicy":     {"none", "azure", "calico", "cilium"},
	"properties.networkProfile.networkDataplane":  {"azure", "cilium"},
	"properties.networkProfile.outboundType": {"loadBalancer", "userDefinedRouting", "managedNATGateway",
		"userAssignedNATGateway", "none"},
	"properties.networkProfile.loadBalancerSku":            {"standard", "basic"},
	"properties.autoUpgradeProfile.upgradeChannel":         {"none", "patch", "stable", "rapid", "node-image"},
	"properties.autoUpgradeProfile.nodeOSUpgradeChannel":   {"None", "Unmanaged", "NodeImage", "SecurityPatch"},
	"properties.nodeResourceGroupProfile.restrictionLevel": {"Unrestricted", "ReadOnly"},
	"properties.publicNetworkAccess":                       {"Enabled", "Disabled"},
	"identity.type":                                        {"SystemAssigned", "UserAssigned", "None"},
}

func checkChoices(n body.Object, table map[string][]string, prefix string) error {
	for _, path := range slices.Sorted(maps.Keys(table)) {
		v := body.String(n, path)
		if v == "" {
			continue
		}
		i := slices.IndexFunc(table[path], func(a string) bool { return strings.EqualFold(a, v) })
		if i < 0 {
			name := prefix + strings.TrimPrefix(path, "properties.")
			return invalidParameter(name, "'%s' is not one of %s", v, strings.Join(table[path], ", "))
		}
		body.Set(n, path, table[path][i])
	}
	return nil
}

// fixedCluster cannot change. Source: https://learn.microsoft.com/azure/aks/update-cluster and the SDK's remarks.
var fixedCluster = []string{
	"properties.dnsPrefix", "properties.fqdnSubdomain", "properties.nodeResourceGroup", "properties.enableRBAC",
	"properties.linuxProfile.adminUsername", "properties.windowsProfile.adminUsername",
	"properties.networkProfile.serviceCidr", "properties.networkProfile.dnsServiceIP", "properties.networkProfile.loadBalancerSku",
	"properties.apiServerAccessProfile.enablePrivateCluster", "properties.diskEncryptionSetID",
}

// validateCluster makes the checks that do not need the network.
func validateCluster(c *provider.Call, d *provider.Draft) error {
	n, p := d.New, "properties."
	if err := checkChoices(n, choices, ""); err != nil {
		return err
	}
	if d.Old != nil {
		// Setting a field that was never set would have no effect on the existing cluster.
		if body.Get(d.Old, p+"apiServerAccessProfile.enablePrivateCluster") == nil &&
			body.Get(n, p+"apiServerAccessProfile.enablePrivateCluster") == true {
			return newRefusal(400, "PropertyChangeNotAllowed",
				"Changing property 'properties.apiServerAccessProfile.enablePrivateCluster' is not allowed.").WithTarget("properties.apiServerAccessProfile.enablePrivateCluster")
		}
		if err := keepFixed(d.Old, n, fixedCluster...); err != nil {
			return err
		}
		if was := body.String(d.Old, p+"apiServerAccessProfile.privateDNSZone"); was != "" {
			if err := keepFixed(d.Old, n, p+"apiServerAccessProfile.privateDNSZone"); err != nil {
				return err
			}
		}
	}
	if s := body.String(n, p+"dnsPrefix"); s != "" && !dnsPrefixForm.MatchString(s) {
		return invalidParameter("dnsPrefix",
			"The DNS prefix '%s' must be 1 to 54 letters, digits and hyphens, and begin and end with a letter or digit", s)
	}
	if body.String(n, p+"dnsPrefix") != "" && body.String(n, p+"fqdnSubdomain") != "" {
		return invalidParameter("fqdnSubdomain", "fqdnSubdomain and dnsPrefix cannot be used together")
	}
	for _, check := range []func(*provider.Call, *provider.Draft) error{checkVersion, checkIdentity, checkEntra, checkSecurity, checkAccess,
		checkLinux} {
		if err := check(c, d); err != nil {
			return err
		}
	}
	return nil
}

func checkVersion(_ *provider.Call, d *provider.Draft) error {
	n, p := d.New, "properties."
	if d.Old == nil {
		body.Default(n, p+"kubernetesVersion", defaultVersion)
	} else {
		body.Default(n, p+"kubernetesVersion", body.String(d.Old, p+"kubernetesVersion"))
	}
	want, running := body.String(n, p+"kubernetesVersion"), body.String(d.Old, p+"currentKubernetesVersion")
	if want == body.String(d.Old, p+"kubernetesVersion") {
		// An upgrade that happened on its own is not taken back by a PUT that repeats the old wish.
		if _, ok := parseVersion(want); ok && body.String(d.Secret, "target") != "" {
			return nil
		}
	}
	v, ok := resolveVersion(want, running, d.Location, longTerm(n))
	if from, had := parseVersion(running); had {
		if w, parsed := parseVersion(want); parsed {
			if w.patch < 0 && w.minor == from.minor {
				w.patch = from.patch
			}
			if w.patch < 0 {
				w = v
			}
			if err := checkUpgrade(from, w, d.Location, longTerm(n)); err != nil {
				return err
			}
		}
	}
	if !ok {
		return newRefusal(400, "K8sVersionNotSupported",
			"Managed cluster %s is on version %s, which is not supported in this region. Please use [az aks get-versions] command to get the supported version list in this region. For more information, please check https://aka.ms/supported-version-list", d.Name, want).WithTarget("kubernetesVersion")
	}
	if v.String() != running && d.Old != nil {
		d.Secret["doing"] = "Upgrading"
	} else {
		delete(d.Secret, "doing")
	}
	d.Secret["target"] = v.String()
	if running == "" {
		body.Set(n, p+"currentKubernetesVersion", v.String())
	}
	return nil
}

func checkIdentity(c *provider.Call, d *provider.Draft) error {
	kubelet := body.String(d.New, "properties.identityProfile.kubeletidentity.resourceId")
	if kubelet == "" || strings.Contains(strings.ToLower(kubelet), "/resourcegroups/"+strings.ToLower(nodeGroupName(d))+"/") {
		return nil
	}
	if !strings.EqualFold(body.String(d.New, "identity.type"), "UserAssigned") {
		return invalidParameter("identityProfile.kubeletidentity", "A custom kubelet identity needs a cluster with a user assigned identity")
	}
	it := c.FindItem(kubelet)
	if it == nil {
		return newRefusal(404, "KubeletIdentityNotFound", "The kubelet identity '%s' was not found.", kubelet)
	}
	body.Set(d.New, "properties.identityProfile.kubeletidentity",
		body.Object{"resourceId": kubelet, "clientId": body.String(it.Body, "properties.clientId"),
			"objectId": body.String(it.Body, "properties.principalId")})
	if !hasRole(c, d.New, kubelet, roleIdentityOperator) {
		return newRefusal(400, "CustomKubeletIdentityMissingPermissionError",
			"The cluster user assigned identity must be given permission to assign kubelet identity %s. Check access result not allowed for action Microsoft.ManagedIdentity/userAssignedIdentities/assign/action.", kubelet)
	}
	return nil
}

func nodeGroupName(d *provider.Draft) string {
	return body.String(d.Old, "properties.nodeResourceGroup")
}

func checkEntra(_ *provider.Call, d *provider.Draft) error {
	p := "properties."
	if body.Child(d.Old, p+"aadProfile") != nil && body.Child(d.New, p+"aadProfile") == nil {
		return badRequest("Disabling Microsoft Entra integration of managed cluster %s is not allowed: aadProfile cannot be removed.", d.Name)
	}
	if body.Bool(d.Old, p+"aadProfile.managed") && body.Get(d.New, p+"aadProfile.managed") == false {
		return badRequest("Managed Microsoft Entra integration of managed cluster %s cannot be turned off.", d.Name)
	}
	if body.Bool(d.New, p+"disableLocalAccounts") && body.Child(d.New, p+"aadProfile") == nil {
		return badRequest("DisableLocalAccounts can only be true for AAD enabled cluster.")
	}
	return nil
}

func checkSecurity(c *provider.Call, d *provider.Draft) error {
	n, p := d.New, "properties."
	oidc := body.Bool(n, p+"oidcIssuerProfile.enabled")
	if body.Bool(d.Old, p+"oidcIssuerProfile.enabled") && !oidc {
		return badRequest("OIDC issuer feature cannot be disabled once it is enabled on managed cluster %s.", d.Name)
	}
	if body.Bool(n, p+"securityProfile.workloadIdentity.enabled") && !oidc {
		return badRequest("Workload identity requires the OIDC issuer feature: set oidcIssuerProfile.enabled to true.")
	}
	kms := p + "securityProfile.azureKeyVaultKms."
	if body.Bool(n, kms+"enabled") {
		access, vault := body.String(n, kms+"keyVaultNetworkAccess"), body.String(n, kms+"keyVaultResourceId")
		switch {
		case !strings.EqualFold(body.String(n, "identity.type"), "UserAssigned"):
			return badRequest("Azure Key Vault KMS requires a cluster with a user assigned identity.")
		case body.String(n, kms+"keyId") == "":
			return invalidParameter("securityProfile.azureKeyVaultKms.keyId", "keyId is required when Azure Key Vault KMS is enabled")
		case access == "Private" && vault == "":
			return invalidParameter("securityProfile.azureKeyVaultKms.keyVaultResourceId",
				"keyVaultResourceId is required when keyVaultNetworkAccess is Private")
		case access != "Private" && vault != "":
			return invalidParameter("securityProfile.azureKeyVaultKms.keyVaultResourceId",
				"keyVaultResourceId must be empty when keyVaultNetworkAccess is Public")
		}
		body.Default(n, kms+"keyVaultNetworkAccess", "Public")
	}
	// Of a feature that is off only the switch counts: charts of users ship imageCleaner {enabled: false, intervalHours: 1}, which AKS
	// takes. Source of the limits: https://learn.microsoft.com/azure/aks/image-cleaner
	cleaner := p + "securityProfile.imageCleaner."
	if hours := body.Int(n, cleaner+"intervalHours"); body.Bool(n, cleaner+"enabled") && hours != 0 && (hours < 24 || hours > 2160) {
		return invalidParameter("securityProfile.imageCleaner.intervalHours", "intervalHours %d is not between 24 and 2160", hours)
	}
	if longTerm(n) && !strings.EqualFold(body.String(n, "sku.tier"), "Premium") {
		return badRequest("Support plan AKSLongTermSupport requires a cluster of tier Premium.")
	}
	return nil
}

func checkLinux(_ *provider.Call, d *provider.Draft) error {
	for _, key := range body.Objects(d.New, "properties.linuxProfile.ssh.publicKeys") {
		if data := body.String(key, "keyData"); !strings.HasPrefix(data, "ssh-") && !strings.HasPrefix(data, "ecdsa-") {
			return invalidParameter("linuxProfile.ssh.publicKeys.keyData", "The SSH public key is not valid")
		}
	}
	return nil
}
