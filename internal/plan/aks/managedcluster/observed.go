// Package managedcluster holds the rules about managed clusters of AKS that hold for both families of kinds: the typed ones, and those
// with resource manifests. It works on Azure's bodies, whichever family they come from.
//
// The package is pure: every function depends on its arguments only.
package managedcluster

import (
	"encoding/json"
	"fmt"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// Observed holds the properties of a managed cluster in Azure that plans and controllers read. The zero value stands for a
// cluster that does not exist.
//
// Values from Azure enter the body of the cluster only through this type.
type Observed struct {
	Exists bool `json:"-"`
	raw    json.RawMessage

	Tags       map[string]string  `json:"tags"`
	Identity   *observedIdentity  `json:"identity"`
	Properties observedProperties `json:"properties"`
}

// PoolProfile is an agent pool in the response for its cluster.
type PoolProfile struct {
	VnetSubnetID string `json:"vnetSubnetID"`
}

type observedIdentity struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
}

type observedProperties struct {
	ProvisioningState        string        `json:"provisioningState"`
	KubernetesVersion        string        `json:"kubernetesVersion"`
	CurrentKubernetesVersion string        `json:"currentKubernetesVersion"`
	DNSPrefix                string        `json:"dnsPrefix"`
	FQDNSubdomain            string        `json:"fqdnSubdomain"`
	FQDN                     string        `json:"fqdn"`
	PrivateFQDN              string        `json:"privateFQDN"`
	EnableRBAC               *bool         `json:"enableRBAC"`
	NodeResourceGroup        string        `json:"nodeResourceGroup"`
	DisableLocalAccounts     bool          `json:"disableLocalAccounts"`
	AgentPoolProfiles        []PoolProfile `json:"agentPoolProfiles"`

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

// Observe decodes a managed cluster. Nil stands for a cluster that does not exist. Properties that cannot be decoded are
// treated as absent.
func Observe(observed json.RawMessage) Observed {
	var out Observed
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return Observed{Exists: len(observed) > 0}
	}
	out.Exists, out.raw = true, observed
	return out
}

// Body returns the cluster as decoded JSON, nil if it cannot be decoded.
func (o Observed) Body() map[string]any {
	var out map[string]any
	if len(o.raw) == 0 || json.Unmarshal(o.raw, &out) != nil {
		return nil
	}
	return out
}

// PoolBody returns the body of a pool that the response for the cluster contains, nil if it has none of that name.
func (o Observed) PoolBody(name string) json.RawMessage {
	profiles, _ := jsonpath.Get(o.Body(), "properties.agentPoolProfiles").([]any)
	for _, item := range profiles {
		if profile, _ := item.(map[string]any); profile["name"] == name {
			out, _ := json.Marshal(map[string]any{"properties": profile}) // It was decoded from JSON.
			return out
		}
	}
	return nil
}

// Version returns the versions that Azure shows for the cluster.
func (o Observed) Version() version.Observed {
	return version.Observed{Requested: o.Properties.KubernetesVersion, Running: o.Properties.CurrentKubernetesVersion}
}

// APIServerPort is the port of the API server of every managed cluster.
const APIServerPort int32 = 443

// APIServerEndpoint returns the address of the API server: the private name if the cluster is private without a public name. It
// returns "" and 0 until there is a name.
func APIServerEndpoint(observed json.RawMessage) (host string, port int32) {
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

// CurrentVersion returns the running version of the control plane, as in "v1.33.2", "" if unknown.
func CurrentVersion(observed json.RawMessage) string {
	return version.WithV(Observe(observed).Properties.CurrentKubernetesVersion)
}

// NodeResourceGroup returns the name of the resource group that AKS created for the nodes, "" if there is none.
func NodeResourceGroup(observed json.RawMessage) string {
	return Observe(observed).Properties.NodeResourceGroup
}

// IssuerURL returns the URL of the OIDC issuer, "" if there is none.
func IssuerURL(observed json.RawMessage) string {
	return Observe(observed).Properties.OIDCIssuerProfile.IssuerURL
}

// ProvisioningState returns the provisioning state, as in "Succeeded" or "Updating".
func ProvisioningState(observed json.RawMessage) string {
	return Observe(observed).Properties.ProvisioningState
}

// HasLocalAccountsDisabled reports whether the cluster has no kubeconfig with a client certificate.
func HasLocalAccountsDisabled(observed json.RawMessage) bool {
	return Observe(observed).Properties.DisableLocalAccounts
}

// UsesEntraID reports whether users sign in to the cluster with Microsoft Entra ID.
func UsesEntraID(observed json.RawMessage) bool {
	profile := Observe(observed).Properties.AADProfile
	return profile != nil && profile.Managed
}

// IsStopped reports whether the cluster is stopped. A stopped cluster accepts no changes, and its API server does not answer.
func IsStopped(observed json.RawMessage) bool { return Observe(observed).isStopped() }

// WriteBlockedReason returns why AKS refuses changes of a stopped cluster and of its pools, extensions and maintenance windows. It returns "" for a
// cluster that runs. name is the name of the cluster in the message.
// https://learn.microsoft.com/en-us/azure/aks/start-stop-cluster
func (o Observed) WriteBlockedReason(name string) string {
	if !o.isStopped() {
		return ""
	}
	return fmt.Sprintf("waits for the start of the AKS cluster %s, because AKS accepts no changes of a stopped cluster, its pools and its extensions. "+
		"Start it with az aks start, or with the annotation %s=false on the Cluster", name, infrav1.StopAnnotation)
}

// PoolPowerState returns the power state to request for a pool: none while the cluster is stopped, because its pools are stopped with it.
func (o Observed) PoolPowerState(wanted string) string {
	if o.isStopped() {
		return ""
	}
	return wanted
}

func (o Observed) isStopped() bool { return strings.EqualFold(o.Properties.PowerState.Code, "Stopped") }

// IsInTerminalState reports whether no operation of Azure is in progress on the resource.
func IsInTerminalState(observed json.RawMessage) bool {
	return IsTerminalState(ProvisioningState(observed))
}

// IsTerminalState reports whether AKS accepts changes in a provisioning state. "" is the state of a resource that does not exist.
func IsTerminalState(state string) bool {
	switch strings.ToLower(state) {
	case "", "succeeded", "failed", "canceled":
		return true
	}
	return false
}
