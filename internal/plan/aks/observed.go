package aks

import (
	"encoding/json"
	"strings"
)

// Observed is what plans and controllers read of a managed cluster as Azure shows it. The zero value is that of one that
// does not exist.
//
// It is the one way by which what Azure has enters the body of the cluster.
type Observed struct {
	Exists bool `json:"-"`
	shown  shown

	Tags       map[string]string `json:"tags"`
	Identity   *observedIdentity `json:"identity"`
	Properties observedCluster   `json:"properties"`
}

// observedProfile is an agent pool as its cluster shows it.
type observedProfile struct {
	VnetSubnetID string `json:"vnetSubnetID"`
}

type observedIdentity struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
}

type observedCluster struct {
	ProvisioningState        string            `json:"provisioningState"`
	KubernetesVersion        string            `json:"kubernetesVersion"`
	CurrentKubernetesVersion string            `json:"currentKubernetesVersion"`
	DNSPrefix                string            `json:"dnsPrefix"`
	FQDNSubdomain            string            `json:"fqdnSubdomain"`
	FQDN                     string            `json:"fqdn"`
	PrivateFQDN              string            `json:"privateFQDN"`
	EnableRBAC               *bool             `json:"enableRBAC"`
	NodeResourceGroup        string            `json:"nodeResourceGroup"`
	DisableLocalAccounts     bool              `json:"disableLocalAccounts"`
	AgentPoolProfiles        []observedProfile `json:"agentPoolProfiles"`

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

// shown is all that Azure shows of a resource. Most of those who look at one want a field or two.
type shown json.RawMessage

// body is it as a body that is sent; nil is for what cannot be read.
func (s shown) body() map[string]any {
	var out map[string]any
	if len(s) == 0 || json.Unmarshal(s, &out) != nil {
		return nil
	}
	return out
}

// Observe reads a managed cluster as Azure shows it; nil is for one that does not exist. What cannot be read is as if it
// were absent.
func Observe(observed json.RawMessage) Observed {
	var out Observed
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return Observed{Exists: len(observed) > 0}
	}
	out.Exists, out.shown = true, shown(observed)
	return out
}

// APIServerPort is the port of the API server of every managed cluster.
const APIServerPort int32 = 443

// Endpoint is where the API server of a cluster is reached: its private name when it is private and has no public one.
// The host is "" and the port 0 while there is no name.
func Endpoint(observed json.RawMessage) (host string, port int32) {
	p := Observe(observed).Properties
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
	return withV(Observe(observed).Properties.CurrentKubernetesVersion)
}

// ObservedNodeResourceGroup is the name of the resource group that AKS made for the nodes; "" while there is none.
func ObservedNodeResourceGroup(observed json.RawMessage) string {
	return Observe(observed).Properties.NodeResourceGroup
}

// IssuerURL is the URL of the OIDC issuer; "" while there is none.
func IssuerURL(observed json.RawMessage) string {
	return Observe(observed).Properties.OIDCIssuerProfile.IssuerURL
}

// ProvisioningState is Azure's word for what is done to the cluster, as in "Succeeded" or "Updating".
func ProvisioningState(observed json.RawMessage) string {
	return Observe(observed).Properties.ProvisioningState
}

// LocalAccountsDisabled tells whether the cluster has no kubeconfig with a client certificate.
func LocalAccountsDisabled(observed json.RawMessage) bool {
	return Observe(observed).Properties.DisableLocalAccounts
}

// AADManaged tells whether users sign in to the cluster with Microsoft Entra ID.
func AADManaged(observed json.RawMessage) bool {
	profile := Observe(observed).Properties.AADProfile
	return profile != nil && profile.Managed
}

// Stopped tells whether the cluster was stopped: it then takes no changes and its API server does not answer.
func Stopped(observed json.RawMessage) bool {
	return strings.EqualFold(Observe(observed).Properties.PowerState.Code, "Stopped")
}

// ObservedPool is what plans and controllers read of an agent pool as Azure shows it. The zero value is that of one that
// does not exist.
//
// It is the one way by which what Azure has enters the body of the pool.
type ObservedPool struct {
	Exists bool `json:"-"`
	shown  shown

	Properties observedPool `json:"properties"`
}

type observedPool struct {
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
	out.Exists, out.shown = true, shown(observed)
	return out
}

// Settled tells whether Azure is at no operation on a resource as it shows it.
func Settled(observed json.RawMessage) bool { return terminal(ProvisioningState(observed)) }

// terminal tells whether a provisioningState is one in which AKS takes changes. "" is that of what does not exist.
func terminal(state string) bool {
	switch strings.ToLower(state) {
	case "", "succeeded", "failed", "canceled":
		return true
	}
	return false
}
