package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// sshPort is the port of SSH servers of machines.
const sshPort = 22

// Route is the way to the SSH server of a machine.
type Route struct {
	// User is the administrator of the machine.
	User string
	// Address is host:port of a public address, "" for a route through a bastion host.
	Address string
	// Bastion is the bastion host.
	Bastion arm.ID
	// Through describes the route.
	Through string
}

// reference is a resource that refers to another one.
type reference struct {
	ID arm.ID `json:"id"`
}

type networkInterface struct {
	Properties struct {
		IPConfigurations []struct {
			Properties struct {
				PublicIPAddress             reference   `json:"publicIPAddress"`
				LoadBalancerInboundNATRules []reference `json:"loadBalancerInboundNatRules"`
				Subnet                      reference   `json:"subnet"`
			} `json:"properties"`
		} `json:"ipConfigurations"`
	} `json:"properties"`
}

// FindRoute finds the way to the SSH server of a machine: its public IP address, an inbound NAT rule of a public load balancer, or a bastion
// host in its virtual network, in this order.
func FindRoute(ctx context.Context, c *armclient.Client, m *Machine) (*Route, error) {
	var vm virtualMachine
	if err := readResource(ctx, c, m.VM, &vm); err != nil {
		return nil, err
	}
	if len(vm.Properties.OSProfile.WindowsConfiguration) > 0 && string(vm.Properties.OSProfile.WindowsConfiguration) != "null" {
		return nil, fmt.Errorf("%s runs Windows, which has no SSH server by default. Use its serial console: az serial-console connect --name %s --resource-group %s",
			m.VM.ShortName(), arm.ShellQuote(m.VM.Name()), arm.ShellQuote(m.VM.ResourceGroup()))
	}
	out := &Route{User: vm.Properties.OSProfile.AdminUsername}
	var network arm.ID
	var rules []arm.ID
	for _, nic := range vm.Properties.NetworkProfile.NetworkInterfaces {
		var found networkInterface
		if err := readResource(ctx, c, nic.ID, &found); err != nil {
			return nil, err
		}
		for _, configuration := range found.Properties.IPConfigurations {
			if network == "" && configuration.Properties.Subnet.ID != "" {
				network = configuration.Properties.Subnet.ID.Parent()
			}
			if id := configuration.Properties.PublicIPAddress.ID; id != "" {
				address, err := readAddress(ctx, c, id)
				if err != nil {
					return nil, err
				}
				if address != "" {
					out.Address, out.Through = net.JoinHostPort(address, strconv.Itoa(sshPort)), id.ShortName()
					return out, nil
				}
			}
			for _, rule := range configuration.Properties.LoadBalancerInboundNATRules {
				rules = append(rules, rule.ID)
			}
		}
	}
	for _, rule := range rules {
		address, err := readRule(ctx, c, rule)
		if err != nil {
			return nil, err
		}
		if address != "" {
			out.Address, out.Through = address, rule.ShortName()
			return out, nil
		}
	}
	bastion, err := findBastion(ctx, c, network)
	if err != nil {
		return nil, err
	}
	if bastion == "" {
		return nil, fmt.Errorf(
			"%s has no public IP address, no inbound NAT rule and no bastion host. Set spec.bastionSpec.azureBastion of the AzureCluster, or spec.allocatePublicIP of the machine",
			m.VM.ShortName())
	}
	out.Bastion, out.Through = bastion, bastion.ShortName()
	return out, nil
}

// readAddress returns the address of a public IP address, "" if it has none yet.
func readAddress(ctx context.Context, c *armclient.Client, id arm.ID) (string, error) {
	var found struct {
		Properties struct {
			IPAddress string `json:"ipAddress"`
		} `json:"properties"`
	}
	if err := readResource(ctx, c, id, &found); err != nil {
		return "", err
	}
	if found.Properties.IPAddress != "" && net.ParseIP(found.Properties.IPAddress) == nil {
		return "", fmt.Errorf("%s has the address %q, which is none", id.ShortName(), found.Properties.IPAddress)
	}
	return found.Properties.IPAddress, nil
}

// readRule returns the address that an inbound NAT rule forwards to port 22, "" if it forwards another port or is not public.
func readRule(ctx context.Context, c *armclient.Client, id arm.ID) (string, error) {
	var rule struct {
		Properties struct {
			FrontendPort            int       `json:"frontendPort"`
			BackendPort             int       `json:"backendPort"`
			FrontendIPConfiguration reference `json:"frontendIPConfiguration"`
		} `json:"properties"`
	}
	if err := readResource(ctx, c, id, &rule); err != nil {
		return "", err
	}
	if rule.Properties.BackendPort != sshPort {
		return "", nil
	}
	var balancer struct {
		Properties struct {
			FrontendIPConfigurations []struct {
				ID         arm.ID `json:"id"`
				Properties struct {
					PublicIPAddress reference `json:"publicIPAddress"`
				} `json:"properties"`
			} `json:"frontendIPConfigurations"`
		} `json:"properties"`
	}
	if err := readResource(ctx, c, id.Parent(), &balancer); err != nil {
		return "", err
	}
	for _, frontend := range balancer.Properties.FrontendIPConfigurations {
		if !frontend.ID.Equal(rule.Properties.FrontendIPConfiguration.ID) || frontend.Properties.PublicIPAddress.ID == "" {
			continue
		}
		address, err := readAddress(ctx, c, frontend.Properties.PublicIPAddress.ID)
		if address == "" || err != nil {
			return "", err
		}
		return net.JoinHostPort(address, strconv.Itoa(rule.Properties.FrontendPort)), nil
	}
	return "", nil
}

// findBastion returns the bastion host of a virtual network, "" if there is none.
func findBastion(ctx context.Context, c *armclient.Client, network arm.ID) (arm.ID, error) {
	if network == "" {
		return "", nil
	}
	items, err := c.List(ctx, "/subscriptions/"+network.Subscription()+"/providers/Microsoft.Network/bastionHosts", networkAPIVersion, nil)
	if err != nil {
		return "", err
	}
	for _, item := range items {
		var host struct {
			ID         arm.ID `json:"id"`
			Properties struct {
				IPConfigurations []struct {
					Properties struct {
						Subnet reference `json:"subnet"`
					} `json:"properties"`
				} `json:"ipConfigurations"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(item, &host); err != nil {
			return "", fmt.Errorf("bastion hosts: %w", err)
		}
		for _, configuration := range host.Properties.IPConfigurations {
			if configuration.Properties.Subnet.ID.Parent().Equal(network) {
				return host.ID, nil
			}
		}
	}
	return "", nil
}

// BastionCommand returns the arguments of az that open a session through a bastion host, with its native client.
// https://learn.microsoft.com/azure/bastion/connect-vm-native-client-linux
func (r *Route) BastionCommand(m *Machine, keyFile string) []string {
	arguments := []string{"network", "bastion", "ssh", "--subscription", r.Bastion.Subscription(), "--resource-group", r.Bastion.ResourceGroup(),
		"--name", r.Bastion.Name(), "--target-resource-id", string(m.VM), "--auth-type", "ssh-key", "--username", r.User}
	if keyFile != "" {
		arguments = append(arguments, "--ssh-key", keyFile)
	}
	return arguments
}

// FormatCommand formats a command for a shell.
func FormatCommand(words ...string) string {
	var out []string
	for _, word := range words {
		out = append(out, arm.ShellQuote(word))
	}
	return strings.Join(out, " ")
}
