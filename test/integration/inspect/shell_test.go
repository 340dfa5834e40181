package inspect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	clienvironment "sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// allowSSH adds the rule that the book asks for to the subnet of the workers.
func allowSSH(cluster *infrav1.AzureCluster) {
	subnet := func(name, cidr string, role infrav1.SubnetRole) infrav1.SubnetSpec {
		return infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: name, Role: role, CIDRBlocks: []string{cidr}}}
	}
	nodes := subnet("nodes", "10.1.0.0/16", infrav1.SubnetNode)
	nodes.SecurityGroup.SecurityRules = infrav1.SecurityRules{{Name: "allow_ssh", Description: "SSH", Protocol: infrav1.SecurityGroupProtocolTCP,
		Direction: infrav1.SecurityRuleDirectionInbound, Action: infrav1.SecurityRuleActionAllow, Priority: 2200,
		Source: new("*"), SourcePorts: new("*"), Destination: new("*"), DestinationPorts: new("22")}}
	cluster.Spec.NetworkSpec.Subnets = infrav1.Subnets{subnet("cp", "10.0.0.0/16", infrav1.SubnetControlPlane), nodes}
}

// TestShell opens shells with the keys of an SSH agent: on a worker through its public IP address, and on a control plane machine through the NAT
// rule of the API server's load balancer. With a terminal the shell is interactive, and without one it reads the standard input.
func TestShell(t *testing.T) {
	t.Parallel()
	u, throughRule := newCluster(t, allowSSH)
	worker := u.stage.AzureMachine("c1", "m4")
	worker.Spec.AllocatePublicIP = true
	u.stage.CreateMachine(worker, harness.Worker, "")
	u.stage.WaitMachineProvisioned("m4")
	machine := &infrav1.AzureMachine{}
	u.stage.ReadObject(machine, "m4")
	signer, private := newSigner(t)
	server := startSSHServer(t, "capi", signer.PublicKey())
	for _, vm := range []string{throughRule, strings.TrimPrefix(*machine.Spec.ProviderID, "azure://")} {
		control(u.stage, "PUT", "/_sim/guests/status", map[string]any{"vmID": vm, "phase": "Running",
			"console": "-----BEGIN SSH HOST KEY KEYS-----\n" + string(ssh.MarshalAuthorizedKey(server.host.PublicKey())) + "-----END SSH HOST KEY KEYS-----\n"})
		control(u.stage, "PUT", "/_sim/guests/listeners", map[string]any{"vmID": vm, "port": 22, "address": server.address})
	}

	if _, err := u.run("ssh", "m4", "uptime"); err == nil || !strings.Contains(err.Error(), "there is no private key") {
		t.Errorf("without an agent: %v", err)
	}
	u.agent = agent.NewKeyring()
	if _, err := u.run("ssh", "m4", "uptime"); err == nil || !strings.Contains(err.Error(), "there is no private key") {
		t.Errorf("an agent without keys: %v", err)
	}
	_, other := newSigner(t)
	for _, key := range []any{&other, &private} { // The machine accepts the second key.
		if err := u.agent.Add(agent.AddedKey{PrivateKey: key}); err != nil {
			t.Fatal(err)
		}
	}
	u.dialed = nil
	for _, name := range []string{"m4", "m1"} {
		if out, err := u.run("ssh", name, "uptime"); err != nil || out != "ran uptime\n" {
			t.Errorf("%s with the agent: %v\n%s", name, err, out)
		}
	}
	var addresses []string
	for _, resource := range u.stage.Azure.ListResources() {
		if strings.Contains(resource, "/publicIPAddresses/") && strings.Contains(resource, "m4") {
			_, shown := u.stage.Azure.GetResource(strings.Replace(resource, "/Microsoft.Network/", "/providers/Microsoft.Network/", 1), "2024-05-01")
			properties, _ := shown["properties"].(map[string]any)
			addresses = append(addresses, fmt.Sprintf("%v:22", properties["ipAddress"]))
		}
	}
	if len(u.dialed) != 2 || len(addresses) != 1 || u.dialed[0] != addresses[0] || u.dialed[0] == u.dialed[1] {
		t.Errorf("the connections are to %q, want the public address %q of m4 and the rule of m1", u.dialed, addresses)
	}

	restored := 0
	u.input = "hostname\n"
	for name, test := range map[string]struct {
		reason   string
		terminal *clienvironment.Terminal
		want     string
	}{
		"terminal":    {"the machine gets its type and size", &clienvironment.Terminal{Kind: "xterm-256color", Width: 120, Height: 40, Restore: func() { restored++ }}, "shell with xterm-256color of 120 x 40\nran hostname\n"},
		"no terminal": {"the standard input is no terminal", nil, "shell with no terminal\nran hostname\n"},
	} {
		u.terminal = test.terminal
		for _, machine := range []string{"m4", "m1"} {
			out, err := u.run("ssh", machine)
			var exit clienvironment.ExitStatusError
			if !errors.As(err, &exit) || clienvironment.ExitCode(err) != 4 || out != test.want {
				t.Errorf("%s on %s: %s: %T %d\n%q, want %q", name, machine, test.reason, err, clienvironment.ExitCode(err), out, test.want)
			}
		}
	}
	if restored != 2 {
		t.Errorf("the terminal was restored %d times, want after each of 2 shells", restored)
	}
}
