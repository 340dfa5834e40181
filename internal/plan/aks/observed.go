package aks

import (
	"cmp"
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// ObservedCluster holds the properties of a managed cluster in Azure that plans and controllers read. The zero value stands for a
// cluster that does not exist.
//
// Values from Azure enter the body of the cluster only through this type.
type ObservedCluster struct {
	Exists bool `json:"-"`
	raw    rawResource

	Tags       map[string]string         `json:"tags"`
	Identity   *observedIdentity         `json:"identity"`
	Properties observedClusterProperties `json:"properties"`
}

// observedPoolProfile is an agent pool in the response for its cluster.
type observedPoolProfile struct {
	VnetSubnetID string `json:"vnetSubnetID"`
}

type observedIdentity struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
}

type observedClusterProperties struct {
	ProvisioningState        string                `json:"provisioningState"`
	KubernetesVersion        string                `json:"kubernetesVersion"`
	CurrentKubernetesVersion string                `json:"currentKubernetesVersion"`
	DNSPrefix                string                `json:"dnsPrefix"`
	FQDNSubdomain            string                `json:"fqdnSubdomain"`
	FQDN                     string                `json:"fqdn"`
	PrivateFQDN              string                `json:"privateFQDN"`
	EnableRBAC               *bool                 `json:"enableRBAC"`
	NodeResourceGroup        string                `json:"nodeResourceGroup"`
	DisableLocalAccounts     bool                  `json:"disableLocalAccounts"`
	AgentPoolProfiles        []observedPoolProfile `json:"agentPoolProfiles"`

	AADProfile *struct {
		Managed bool `json:"managed"`
	} `json:"aadProfile"`
	APIServerAccessProfile *struct {
		EnablePrivateCluster           bool `json:"enablePrivateCluster"`
		EnablePrivateClusterPublicFQDN bool `json:"enablePrivateClusterPublicFQDN"`
	} `json:"apiServerAccessProfile"`
	LinuxProfile *struct {
		AdminUsername string `json:"adminUsername"`
		SSH           struct {
			PublicKeys []struct {
				KeyData string `json:"keyData"`
			} `json:"publicKeys"`
		} `json:"ssh"`
	} `json:"linuxProfile"`
	OIDCIssuerProfile struct {
		IssuerURL string `json:"issuerURL"`
	} `json:"oidcIssuerProfile"`
	PowerState struct {
		Code string `json:"code"`
	} `json:"powerState"`
	ServicePrincipalProfile struct {
		ClientID string `json:"clientId"`
	} `json:"servicePrincipalProfile"`
}

// rawResource is the whole response for a resource. It is decoded on demand, because most callers need few fields.
type rawResource json.RawMessage

// decodeBody returns the resource as decoded JSON, nil if it cannot be decoded.
func (s rawResource) decodeBody() map[string]any {
	var out map[string]any
	if len(s) == 0 || json.Unmarshal(s, &out) != nil {
		return nil
	}
	return out
}

// ObserveCluster decodes a managed cluster. Nil stands for a cluster that does not exist. Properties that cannot be decoded are
// treated as absent.
func ObserveCluster(observed json.RawMessage) ObservedCluster {
	var out ObservedCluster
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return ObservedCluster{Exists: len(observed) > 0}
	}
	out.Exists, out.raw = true, rawResource(observed)
	return out
}

// Version returns the versions that Azure shows for the cluster.
func (c ObservedCluster) Version() version.Observed {
	return version.Observed{Requested: c.Properties.KubernetesVersion, Running: c.Properties.CurrentKubernetesVersion}
}

// APIServerPort is the port of the API server of every managed cluster.
const APIServerPort int32 = 443

// APIServerEndpoint returns the address of the API server: the private name if the cluster is private without a public name. It
// returns "" and 0 until there is a name.
func APIServerEndpoint(observed json.RawMessage) (host string, port int32) {
	p := ObserveCluster(observed).Properties
	host = p.FQDN
	if access := p.APIServerAccessProfile; access != nil && access.EnablePrivateCluster && !access.EnablePrivateClusterPublicFQDN {
		host = p.PrivateFQDN
	}
	if host == "" {
		return "", 0
	}
	return host, APIServerPort
}

// CurrentVersion returns the running version of the control plane, as in "v1.33.2", "" if unknown.
func CurrentVersion(observed json.RawMessage) string {
	return version.WithV(ObserveCluster(observed).Properties.CurrentKubernetesVersion)
}

// ObservedNodeResourceGroup returns the name of the resource group that AKS created for the nodes, "" if there is none.
func ObservedNodeResourceGroup(observed json.RawMessage) string {
	return ObserveCluster(observed).Properties.NodeResourceGroup
}

// IssuerURL returns the URL of the OIDC issuer, "" if there is none.
func IssuerURL(observed json.RawMessage) string {
	return ObserveCluster(observed).Properties.OIDCIssuerProfile.IssuerURL
}

// ProvisioningState returns the provisioning state, as in "Succeeded" or "Updating".
func ProvisioningState(observed json.RawMessage) string {
	return ObserveCluster(observed).Properties.ProvisioningState
}

// HasLocalAccountsDisabled reports whether the cluster has no kubeconfig with a client certificate.
func HasLocalAccountsDisabled(observed json.RawMessage) bool {
	return ObserveCluster(observed).Properties.DisableLocalAccounts
}

// UsesEntraID reports whether users sign in to the cluster with Microsoft Entra ID.
func UsesEntraID(observed json.RawMessage) bool {
	profile := ObserveCluster(observed).Properties.AADProfile
	return profile != nil && profile.Managed
}

// IsStopped reports whether the cluster is stopped. A stopped cluster accepts no changes, and its API server does not answer.
func IsStopped(observed json.RawMessage) bool {
	return strings.EqualFold(ObserveCluster(observed).Properties.PowerState.Code, "Stopped")
}

// ObservedPool holds the properties of an agent pool in Azure that plans and controllers read. The zero value stands for a pool that
// does not exist.
//
// Values from Azure enter the body of the pool only through this type.
type ObservedPool struct {
	Exists bool `json:"-"`
	raw    rawResource

	Properties observedPoolProperties `json:"properties"`
}

type observedPoolProperties struct {
	ProvisioningState          string            `json:"provisioningState"`
	Count                      *int32            `json:"count"`
	EnableAutoScaling          bool              `json:"enableAutoScaling"`
	OrchestratorVersion        string            `json:"orchestratorVersion"`
	CurrentOrchestratorVersion string            `json:"currentOrchestratorVersion"`
	Type                       string            `json:"type"`
	NodeLabels                 map[string]string `json:"nodeLabels"`
	NodeTaints                 []string          `json:"nodeTaints"`
	NodeImageVersion           string            `json:"nodeImageVersion"`
}

// ObservePool decodes an agent pool. Nil stands for a pool that does not exist. Properties that cannot be decoded are treated as
// absent.
func ObservePool(observed json.RawMessage) ObservedPool {
	var out ObservedPool
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return ObservedPool{Exists: len(observed) > 0}
	}
	out.Exists, out.raw = true, rawResource(observed)
	return out
}

// Version returns the versions that Azure shows for the pool. The requested version counts as the running one until Azure shows that.
func (p ObservedPool) Version() version.Observed {
	requested := p.Properties.OrchestratorVersion
	return version.Observed{Requested: requested, Running: cmp.Or(p.Properties.CurrentOrchestratorVersion, requested)}
}

// IsInTerminalState reports whether no operation of Azure is in progress on the resource.
func IsInTerminalState(observed json.RawMessage) bool {
	return isTerminalState(ProvisioningState(observed))
}

// isTerminalState reports whether AKS accepts changes in a provisioning state. "" is the state of a resource that does not exist.
func isTerminalState(state string) bool {
	switch strings.ToLower(state) {
	case "", "succeeded", "failed", "canceled":
		return true
	}
	return false
}
