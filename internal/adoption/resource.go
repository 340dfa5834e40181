package adoption

import (
	"cmp"
	"encoding/json"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// clusterResource holds the properties of a managed cluster that fields are set from.
type clusterResource struct {
	Location string `json:"location"`
	SKU      struct {
		Tier string `json:"tier"`
	} `json:"sku"`
	Identity struct {
		Type                   string         `json:"type"`
		UserAssignedIdentities map[string]any `json:"userAssignedIdentities"`
	} `json:"identity"`
	Properties struct {
		KubernetesVersion        string `json:"kubernetesVersion"`
		CurrentKubernetesVersion string `json:"currentKubernetesVersion"`
		DNSPrefix                string `json:"dnsPrefix"`
		NodeResourceGroup        string `json:"nodeResourceGroup"`
		DisableLocalAccounts     bool   `json:"disableLocalAccounts"`
		LinuxProfile             struct {
			SSH struct {
				PublicKeys []struct {
					KeyData string `json:"keyData"`
				} `json:"publicKeys"`
			} `json:"ssh"`
		} `json:"linuxProfile"`
		NetworkProfile     networkProfile                         `json:"networkProfile"`
		SecurityProfile    *infrav1.ManagedClusterSecurityProfile `json:"securityProfile"`
		AutoUpgradeProfile struct {
			UpgradeChannel string `json:"upgradeChannel"`
		} `json:"autoUpgradeProfile"`
		OIDCIssuerProfile struct {
			Enabled bool `json:"enabled"`
		} `json:"oidcIssuerProfile"`
		AADProfile *struct {
			Managed             bool     `json:"managed"`
			AdminGroupObjectIDs []string `json:"adminGroupObjectIDs"`
		} `json:"aadProfile"`
		AddonProfiles map[string]struct {
			Enabled bool              `json:"enabled"`
			Config  map[string]string `json:"config"`
		} `json:"addonProfiles"`
		APIServerAccessProfile struct {
			AuthorizedIPRanges             []string `json:"authorizedIPRanges"`
			EnablePrivateCluster           bool     `json:"enablePrivateCluster"`
			EnablePrivateClusterPublicFQDN bool     `json:"enablePrivateClusterPublicFQDN"`
			PrivateDNSZone                 string   `json:"privateDNSZone"`
		} `json:"apiServerAccessProfile"`
	} `json:"properties"`
}

type networkProfile struct {
	NetworkPlugin       string `json:"networkPlugin"`
	NetworkPluginMode   string `json:"networkPluginMode"`
	NetworkPolicy       string `json:"networkPolicy"`
	NetworkDataplane    string `json:"networkDataplane"`
	OutboundType        string `json:"outboundType"`
	LoadBalancerSKU     string `json:"loadBalancerSku"`
	ServiceCIDR         string `json:"serviceCidr"`
	PodCIDR             string `json:"podCidr"`
	DNSServiceIP        string `json:"dnsServiceIP"`
	LoadBalancerProfile *struct {
		ManagedOutboundIPs *struct {
			Count int `json:"count"`
		} `json:"managedOutboundIPs"`
		OutboundIPs struct {
			PublicIPs []resourceReference `json:"publicIPs"`
		} `json:"outboundIPs"`
		OutboundIPPrefixes struct {
			PublicIPPrefixes []resourceReference `json:"publicIPPrefixes"`
		} `json:"outboundIPPrefixes"`
		AllocatedOutboundPorts *int `json:"allocatedOutboundPorts"`
		IdleTimeoutInMinutes   *int `json:"idleTimeoutInMinutes"`
	} `json:"loadBalancerProfile"`
}

type resourceReference struct {
	ID string `json:"id"`
}

// poolProperties are the properties of an agent pool that fields are set from.
type poolProperties struct {
	Mode                       string            `json:"mode"`
	VMSize                     string            `json:"vmSize"`
	Count                      int32             `json:"count"`
	MinCount                   *int              `json:"minCount"`
	MaxCount                   *int              `json:"maxCount"`
	EnableAutoScaling          bool              `json:"enableAutoScaling"`
	OrchestratorVersion        string            `json:"orchestratorVersion"`
	CurrentOrchestratorVersion string            `json:"currentOrchestratorVersion"`
	VnetSubnetID               string            `json:"vnetSubnetID"`
	OSDiskSizeGB               *int              `json:"osDiskSizeGB"`
	OSDiskType                 string            `json:"osDiskType"`
	OSType                     string            `json:"osType"`
	MaxPods                    *int              `json:"maxPods"`
	AvailabilityZones          []string          `json:"availabilityZones"`
	KubeletDiskType            string            `json:"kubeletDiskType"`
	ScaleDownMode              string            `json:"scaleDownMode"`
	ScaleSetPriority           string            `json:"scaleSetPriority"`
	SpotMaxPrice               *float64          `json:"spotMaxPrice"`
	NodeLabels                 map[string]string `json:"nodeLabels"`
	NodeTaints                 []string          `json:"nodeTaints"`
	NodePublicIPPrefixID       string            `json:"nodePublicIPPrefixID"`
	EnableEncryptionAtHost     bool              `json:"enableEncryptionAtHost"`
	EnableFIPS                 bool              `json:"enableFIPS"`
	EnableNodePublicIP         bool              `json:"enableNodePublicIP"`
	EnableUltraSSD             bool              `json:"enableUltraSSD"`
	KubeletConfig              any               `json:"kubeletConfig"`
	LinuxOSConfig              any               `json:"linuxOSConfig"`
	Tags                       map[string]string `json:"tags"`
}

// machinePoolVersion returns the version of the MachinePool.
func (p poolProperties) machinePoolVersion() string {
	if version := cmp.Or(p.CurrentOrchestratorVersion, p.OrchestratorVersion); version != "" {
		return "v" + strings.TrimPrefix(version, "v")
	}
	return ""
}

func readPool(r Resource) (poolProperties, error) {
	var out struct {
		Properties poolProperties `json:"properties"`
	}
	err := json.Unmarshal(r.Body, &out)
	return out.Properties, err
}

// matchEnum returns the allowed value that equals a value without regard to case, nil if there is none.
func matchEnum[T ~string](value string, allowed ...T) *T {
	for _, one := range allowed {
		if strings.EqualFold(string(one), value) {
			return new(one)
		}
	}
	return nil
}

// trueOrNil returns a pointer to true, nil for false.
func trueOrNil(value bool) *bool {
	if value {
		return new(true)
	}
	return nil
}
