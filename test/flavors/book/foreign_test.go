package book_test

// otherKinds are those of programs that the API server of the tests does not have, by resource or kind, with the program.
var otherKinds = map[string]string{
	"providers":               "clusterctl",
	"certificates":            "cert-manager",
	"Certificate":             "cert-manager",
	"Issuer":                  "cert-manager",
	"ServiceMonitor":          "the operator of Prometheus",
	"PrometheusRule":          "the operator of Prometheus",
	"gatewayclass":            "the gateway API",
	"applicationloadbalancer": "the controller of Application Gateway for Containers",
	"gitrepositories":         "Flux",
	"kustomizations":          "Flux",
	"ipamconfigurations":      "Calico",
	"installation":            "the operator of Calico",
	"widgets":                 "an example of the page",
}

// foreign are the commands and flags of programs that cannot run in a test: they need accounts or networks, or other tests run them. A
// page with another command or flag fails until its line is looked up in the reference of the program and added.
var foreign = map[string]map[string]string{
	"az":   azCommands,
	"curl": {"": "L S sSf X H d cacert data fail-with-body header insecure request retry retry-connrefused retry-delay"},
	"helm": {
		// https://helm.sh/docs/helm/helm_upgrade/ and helm_show_values.
		"upgrade": "create-namespace install kubeconfig namespace repo set take-ownership values", "show values": "",
	},
	// https://kind.sigs.k8s.io/docs/user/quick-start/
	"kind": {"create cluster": "name", "delete cluster": "name"},
	"jq":   {"": "r"},
	"ssh":  {"": "J L"},
	// With -f it does not end.
	"tail": {"": "f"},
	// TestInstallation of hack/release/plugin unpacks the archive of a release.
	"tar": {"": "C xzf"},
	// TestAzapi and TestAzuredisk of test/programs, and TestCloudProvider of lab/scenario, run these.
	"terraform":                {"apply": ""},
	"azurediskplugin":          {"": "enable-migration-monitor endpoint"},
	"cloud-controller-manager": {"": "cloud-config cloud-provider cluster-name configure-cloud-routes controllers kubeconfig secure-port"},
	// Its module is not on Go's module proxy. The pages state that it has not been run.
	"cluster-autoscaler": {"": "cloud-config cloud-provider kubeconfig nodes"},
}

// azCommands are the commands and flags of az that pages use. They were collected from the pages. The place to look up others is
// https://learn.microsoft.com/cli/azure/reference-index.
var azCommands = map[string]string{
	"account set":                                   "subscription",
	"account show":                                  "output query",
	"ad app create":                                 "display-name is-fallback-public-client o query",
	"ad app delete":                                 "id",
	"ad app update":                                 "id set",
	"ad sp create":                                  "id",
	"ad sp create-for-rbac":                         "name output query role scopes",
	"ad sp list":                                    "display-name output query",
	"aks update":                                    "attach-acr",
	"aks check-acr":                                 "acr name resource-group",
	"aks create":                                    "enable-oidc-issuer generate-ssh-keys location name node-count resource-group",
	"cloud set":                                     "name",
	"aks get-credentials":                           "name resource-group",
	"aks maintenanceconfiguration list":             "cluster-name output resource-group",
	"aks nodepool show":                             "cluster-name name query resource-group",
	"aks nodepool upgrade":                          "cluster-name name node-image-only resource-group",
	"aks show":                                      "name output query resource-group",
	"aks trustedaccess rolebinding list":            "cluster-name resource-group",
	"dataprotection backup-instance create":         "backup-instance resource-group vault-name",
	"dataprotection backup-instance list":           "query resource-group vault-name",
	"dataprotection backup-policy create":           "name policy resource-group vault-name",
	"dataprotection backup-vault create":            "location resource-group storage-settings type vault-name",
	"dataprotection backup-vault show":              "output query resource-group vault-name",
	"fleet member list":                             "fleet-name output resource-group",
	"fleet updaterun show":                          "fleet-name name query resource-group",
	"fleet updaterun start":                         "fleet-name name resource-group",
	"group create":                                  "location name",
	"group delete":                                  "name yes",
	"identity create":                               "name resource-group",
	"identity federated-credential create":          "audiences identity-name issuer name resource-group subject",
	"identity show":                                 "name output query resource-group",
	"k8s-configuration flux show":                   "cluster-name cluster-type name query resource-group",
	"login":                                         "",
	"monitor data-collection rule association list": "resource-group rule-name",
	"monitor metrics list":                          "metrics resource",
	"network bastion ssh":                           "auth-type name resource-group ssh-key target-ip-address username",
	"network private-dns link vnet list":            "resource-group zone-name",
	"provider register":                             "namespace wait",
	"resource list":                                 "o output query tag",
	"role assignment create":                        "assignee assignee-object-id assignee-principal-type role scope",
	"role assignment delete":                        "assignee role scope",
	"role definition create":                        "role-definition",
	"role definition delete":                        "name",
	"sig create":                                    "gallery-name resource-group",
	"sig image-version list-community":              "gallery-image-definition location public-gallery-name query",
	"storage container create":                      "account-name auth-mode name",
	"tag update":                                    "operation resource-id tags",
	"vm boot-diagnostics get-boot-log":              "name resource-group",
	"vm extension image list":                       "latest location name output publisher",
	"vm image list":                                 "all location offer output publisher",
	"vm image show":                                 "location urn",
	"vm image terms accept":                         "offer plan publisher",
	"vm list-skus":                                  "location output resource-type size",
	"vm list-usage":                                 "location output",
}
