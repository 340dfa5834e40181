package aksengine

import (
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// shape has the objects and lists of a model, and the texts that decide how it is converted. A value of another type would be read as an
// absent one. Types of other values are reported when they are carried.
type shape struct {
	APIVersion string `json:"apiVersion"`
	Properties struct {
		OrchestratorProfile struct {
			OrchestratorType string `json:"orchestratorType"`
			KubernetesConfig struct {
				PrivateCluster          map[string]any `json:"privateCluster"`
				APIServerConfig         map[string]any `json:"apiServerConfig"`
				ControllerManagerConfig map[string]any `json:"controllerManagerConfig"`
				SchedulerConfig         map[string]any `json:"schedulerConfig"`
				KubeletConfig           map[string]any `json:"kubeletConfig"`
				Addons                  []any          `json:"addons"`
			} `json:"kubernetesConfig"`
		} `json:"orchestratorProfile"`
		MasterProfile struct {
			machineShape
			SubjectAltNames []any `json:"subjectAltNames"`
		} `json:"masterProfile"`
		AgentPoolProfiles []struct {
			machineShape
			Name   string `json:"name"`
			OSType string `json:"osType"`
		} `json:"agentPoolProfiles"`
		LinuxProfile struct {
			SSH struct {
				PublicKeys []map[string]any `json:"publicKeys"`
			} `json:"ssh"`
		} `json:"linuxProfile"`
		ServicePrincipalProfile map[string]any `json:"servicePrincipalProfile"`
		AADProfile              map[string]any `json:"aadProfile"`
	} `json:"properties"`
}

// machineShape is the part that masters and pools share.
type machineShape struct {
	VMSize              string         `json:"vmSize"`
	AvailabilityProfile string         `json:"availabilityProfile"`
	AvailabilityZones   []any          `json:"availabilityZones"`
	DiskSizesGB         []any          `json:"diskSizesGB"`
	CustomNodeLabels    map[string]any `json:"customNodeLabels"`
	CustomVMTags        map[string]any `json:"customVMTags"`
	ImageReference      map[string]any `json:"imageReference"`
	KubernetesConfig    map[string]any `json:"kubernetesConfig"`
}

// checkShape returns the objects, lists and texts of a model that have other types.
func checkShape(raw []byte) error {
	var content any
	if err := json.Unmarshal(raw, &content); err != nil {
		return err
	}
	return userinput.FindWrongTypes(content, nil, shape{}).ToAggregate()
}
