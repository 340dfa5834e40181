package operate

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// medianSeconds are the median durations of operations on a type, in seconds from the request to the end; 0 is unknown or immediate.
type medianSeconds struct{ create, update, remove float64 }

// usualDurations are the usual durations of operations, by type and change. They are the medians of the recordings of Azure Service
// Operator v2.20.0 (2024 to 2026); those of agent pools that create machines come from documentation and forums. They only schedule
// checks: an operation of another duration is followed all the same.
var usualDurations = map[string]time.Duration{}

func init() {
	for name, median := range map[string]medianSeconds{
		types.ResourceGroup:           {remove: 60},
		types.VirtualNetwork:          {2.6, 2.6, 10},
		types.Subnet:                  {1.8, 1.8, 10},
		types.VirtualNetworkPeering:   {2, 2, 10},
		types.NetworkSecurityGroup:    {2.4, 2.4, 1.5},
		types.SecurityRule:            {2, 2, 1.5},
		types.RouteTable:              {2.4, 2.4, 3},
		types.Route:                   {2, 2, 2},
		types.PublicIPAddress:         {2, 2, 10},
		types.NATGateway:              {6.6, 6.6, 9},
		types.LoadBalancer:            {1.4, 1.4, 10},
		types.NetworkInterface:        {remove: 4},
		types.PrivateEndpoint:         {48, 13, 10},
		types.BastionHost:             {420, 60, 360},
		types.VirtualMachine:          {40, 12, 29},
		types.VirtualMachineExtension: {11.5, 11.5, 20},
		types.ScaleSet:                {67, 20, 17},
		types.Disk:                    {1, 1, 1},
		types.ManagedCluster:          {176, 60, 220},
		types.AgentPool:               {122, 60, 60},
		types.FleetMember:             {50, 10, 30},
		types.ClusterExtension:        {350, 100, 100},
	} {
		key := strings.ToLower(name) + " "
		for state, seconds := range map[arm.State]float64{arm.Creating: median.create, arm.Updating: median.update,
			arm.Deleting: median.remove} {
			usualDurations[key+string(state)] = time.Duration(seconds * float64(time.Second))
		}
	}
}
