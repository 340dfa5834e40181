package aks

import (
	"encoding/json"
	"strings"
)

// ObservedCluster is what plans and controllers read of a managed cluster as Azure shows it. The zero value is that of one that
// does not exist.
//
// It is the one way by which what Azure has enters the body of the cluster.
type ObservedCluster struct {
	Exists bool `json:"-"`
	raw    rawResource

	Tags       map[string]string         `json:"tags"`
	Identity   *observedIdentity         `json:"identity"`
	Properties observedClusterProperties `json:"properties"`
}

// observedPoolProfile is an agent pool as its cluster shows it.
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

// rawResource is all that Azure shows of a resource. Most of those who look at one want a field or two.
type rawResource json.RawMessage

// decodeBody is it as a body that is sent; nil is for what cannot be read.
func (s rawResource) decodeBody() map[string]any {
	var out map[string]any
	if len(s) == 0 || json.Unmarshal(s, &out) != nil {
		return nil
	}
	return out
}

// ObserveCluster reads a managed cluster as Azure shows it; nil is for one that does not exist. What cannot be read is as if it
// were absent.
func ObserveCluster(observed json.RawMessage) ObservedCluster {
	var out ObservedCluster
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return ObservedCluster{Exists: len(observed) > 0}
	}
	out.Exists, out.raw = true, rawResource(observed)
	return out
}

// APIServerPort is the port of the API server of every managed cluster.
const APIServerPort int32 = 443

// APIServerEndpoint is where the API server of a cluster is reached: its private name when it is private and has no public one.
// The host is "" and the port 0 while there is no name.
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

// CurrentVersion is the version that the control plane runs, as in "v1.33.2"; "" while it is unknown.
func CurrentVersion(observed json.RawMessage) string {
	return withV(ObserveCluster(observed).Properties.CurrentKubernetesVersion)
}

// ObservedNodeResourceGroup is the name of the resource group that AKS made for the nodes; "" while there is none.
func ObservedNodeResourceGroup(observed json.RawMessage) string {
	return ObserveCluster(observed).Properties.NodeResourceGroup
}

// IssuerURL is the URL of the OIDC issuer; "" while there is none.
func IssuerURL(observed json.RawMessage) string {
	return ObserveCluster(observed).Properties.OIDCIssuerProfile.IssuerURL
}

// ProvisioningState is Azure's word for what is done to the cluster, as in "Succeeded" or "Updating".
func ProvisioningState(observed json.RawMessage) string {
	return ObserveCluster(observed).Properties.ProvisioningState
}

// HasLocalAccountsDisabled tells whether the cluster has no kubeconfig with a client certificate.
func HasLocalAccountsDisabled(observed json.RawMessage) bool {
	return ObserveCluster(observed).Properties.DisableLocalAccounts
}

// UsesEntraID tells whether users sign in to the cluster with Microsoft Entra ID.
func UsesEntraID(observed json.RawMessage) bool {
	profile := ObserveCluster(observed).Properties.AADProfile
	return profile != nil && profile.Managed
}

// IsStopped tells whether the cluster was stopped: it then takes no changes and its API server does not answer.
func IsStopped(observed json.RawMessage) bool {
	return strings.EqualFold(ObserveCluster(observed).Properties.PowerState.Code, "Stopped")
}

// ObservedPool is what plans and controllers read of an agent pool as Azure shows it. The zero value is that of one that
// does not exist.
//
// It is the one way by which what Azure has enters the body of the pool.
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

// ObservePool reads an agent pool as Azure shows it; nil is for one that does not exist. What cannot be read is as if it
// were absent.
func ObservePool(observed json.RawMessage) ObservedPool {
	var out ObservedPool
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return ObservedPool{Exists: len(observed) > 0}
	}
	out.Exists, out.raw = true, rawResource(observed)
	return out
}

// IsInTerminalState tells whether Azure is at no operation on a resource as it shows it.
func IsInTerminalState(observed json.RawMessage) bool {
	return isTerminalState(ProvisioningState(observed))
}

// isTerminalState tells whether a provisioningState is one in which AKS takes changes. "" is that of what does not exist.
func isTerminalState(state string) bool {
	switch strings.ToLower(state) {
	case "", "succeeded", "failed", "canceled":
		return true
	}
	return false
}
