package bridge

import (
	"fmt"
	"slices"
	"strings"
)

// guest is a VM as the simulator's control API shows it (GET /_sim/guests).
type guest struct {
	VMID              string `json:"vmID"`
	InstanceID        string `json:"instanceID"`
	ComputerName      string `json:"computerName"`
	ResourceGroup     string `json:"resourceGroup"`
	SubscriptionID    string `json:"subscriptionID"`
	Location          string `json:"location"`
	Zone              string `json:"zone"`
	BootID            string `json:"bootID"`
	PowerState        string `json:"powerState"`
	ProvisioningState string `json:"provisioningState"`
	CustomData        string `json:"customData"`
	OSType            string `json:"osType"`
	// AdminUsername and SSHPublicKeys are those of the administrator.
	AdminUsername string   `json:"adminUsername"`
	SSHPublicKeys []string `json:"sshPublicKeys"`
	// VCPUs and MemoryGB are what VMSize has; 0 if the simulator does not know the size.
	VMSize   string  `json:"vmSize"`
	VCPUs    int     `json:"vCPUs"`
	MemoryGB float64 `json:"memoryGB"`
	NICs     []struct {
		ID         string   `json:"id"`
		PrivateIPs []string `json:"privateIPs"`
		PublicIPs  []string `json:"publicIPs"`
	} `json:"nics"`
	Identity struct {
		Type                   string         `json:"type"`
		PrincipalID            string         `json:"principalId"`
		UserAssignedIdentities map[string]any `json:"userAssignedIdentities"`
	} `json:"identity"`
	Status guestStatus `json:"status"`
}

// Phases of a guest's boot, as PUT /_sim/guests/status takes them.
const (
	phaseBooting = "Booting"
	phaseRunning = "Running"
	phaseFailed  = "Failed"
)

type guestStatus struct {
	VMID     string `json:"vmID,omitempty"`
	Phase    string `json:"phase"`
	Message  string `json:"message"`
	NodeName string `json:"nodeName"`
}

func (g guest) isRunning() bool {
	return g.PowerState == "" || strings.EqualFold(g.PowerState, "running")
}

func (g guest) isWindows() bool { return strings.EqualFold(g.OSType, "Windows") }

// sameMachine reports whether g and o, which have one VM ID, have one disk: custom data cannot change during a VM's
// life, so other custom data mean that the VM was deleted and created again.
func (g guest) sameMachine(o guest) bool {
	return g.VMID == o.VMID && g.InstanceID == o.InstanceID && g.CustomData == o.CustomData
}

func (g guest) privateIPs() []string {
	var ips []string
	for _, n := range g.NICs {
		ips = append(ips, n.PrivateIPs...)
	}
	return ips
}

func (g guest) publicIPs() []string {
	var ips []string
	for _, n := range g.NICs {
		ips = append(ips, n.PublicIPs...)
	}
	return slices.DeleteFunc(ips, func(s string) bool { return s == "" })
}

func (g guest) String() string { return fmt.Sprintf("%s/%s", g.ResourceGroup, g.ComputerName) }
