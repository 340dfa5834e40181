//go:build programs

package unmodified

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/programs/neighbor"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// configuration makes a group with an identity in it, and in the cluster's group a rule in a security group of the provider and a disk.
const configuration = `
terraform {
  required_providers {
    azapi = { source = "Azure/azapi" }
  }
}
provider "azapi" {
  use_cli                    = false
  skip_provider_registration = true
}
data "azapi_resource" "cluster" {
  type = "Microsoft.Resources/resourceGroups@2021-04-01"
  name = "c1"
}
resource "azapi_resource" "group" {
  type     = "Microsoft.Resources/resourceGroups@2021-04-01"
  name     = "terraform"
  location = "eastus"
}
resource "azapi_resource" "identity" {
  type      = "Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31"
  parent_id = azapi_resource.group.id
  name      = "terraform"
  location  = "eastus"
  tags      = { team = "platform" }
}
resource "azapi_resource" "disk" {
  type      = "Microsoft.Compute/disks@2022-03-02"
  parent_id = data.azapi_resource.cluster.id
  name      = "terraform"
  location  = "eastus"
  body = {
    sku        = { name = "Premium_LRS" }
    properties = { creationData = { createOption = "Empty" }, diskSizeGB = 8 }
  }
}
resource "azapi_resource" "rule" {
  type      = "Microsoft.Network/networkSecurityGroups/securityRules@2022-07-01"
  parent_id = "${data.azapi_resource.cluster.id}/providers/Microsoft.Network/networkSecurityGroups/c1-node-nsg"
  name      = "terraform"
  body = {
    properties = {
      access = "Allow", direction = "Inbound", priority = 3000, protocol = "Tcp"
      sourceAddressPrefix = "10.0.0.0/8", sourcePortRange = "*", destinationAddressPrefix = "*", destinationPortRange = "9100"
    }
  }
}
`

// TestAzapi lets Terraform apply a configuration with its provider azapi beside a cluster. It expects that a second plan is empty, before
// and after the provider's full sync, and that the deletion of the cluster leaves the resources of Terraform in a group of its own.
func TestAzapi(t *testing.T) {
	terraform, dir := findInstalled(t, "terraform"), t.TempDir()
	settings := filepath.Join(dir, "terraformrc")
	for file, content := range map[string]string{
		settings: fmt.Sprintf("provider_installation {\n  dev_overrides { \"Azure/azapi\" = %q }\n  direct {}\n}\n",
			filepath.Dir(findProgram(t, "terraform-provider-azapi"))),
		filepath.Join(dir, "main.tf"): configuration,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := virtual.ListenOutside(t)
	variables := environment(outside, "TF_CLI_CONFIG_FILE="+settings, "CHECKPOINT_DISABLE=1", "ARM_TENANT_ID="+server.DefaultTenant,
		"ARM_SUBSCRIPTION_ID="+server.DefaultSubscription, "ARM_CLIENT_ID="+server.DefaultClientID, "ARM_CLIENT_SECRET="+server.DefaultSecret)
	command := func(arguments ...string) func() error {
		return func() error {
			_, err := run(dir, variables, terraform, append(arguments, "-input=false", "-no-color")...)
			return err
		}
	}
	neighbor.Play(t, func(c *neighbor.Cluster) {
		mark := c.Azure.MarkRequests()
		want := []string{"PUT resourceGroups/c1/Microsoft.Compute/disks/terraform",
			"PUT resourceGroups/c1/Microsoft.Network/networkSecurityGroups/c1-node-nsg/securityRules/terraform",
			"PUT resourceGroups/terraform", "PUT resourceGroups/terraform/Microsoft.ManagedIdentity/userAssignedIdentities/terraform"}
		writes := act(c, outside, command("apply", "-auto-approve"))
		slices.Sort(writes)
		if diff := cmp.Diff(want, writes); diff != "" {
			c.T.Errorf("writes of apply (-want +got):\n%s", diff)
		}
		unchanged := command("plan", "-detailed-exitcode")
		act(c, outside, unchanged)
		c.CheckNoWrites(mark)
		act(c, outside, unchanged)

		c.Delete()
		if left := c.ListLeft(neighbor.Group); len(left) > 0 {
			c.T.Errorf("left in the cluster's group: %q", left)
		}
		if left := c.ListLeft("terraform"); len(left) != 2 {
			c.T.Errorf("left in Terraform's group: %q, want the group and the identity", left)
		}
		// The resources in the cluster's group are gone, so Terraform deletes those in its own.
		writes = act(c, outside, command("destroy", "-auto-approve", "-target=azapi_resource.identity", "-target=azapi_resource.group"))
		if len(writes) != 2 || !strings.HasPrefix(writes[0], "DELETE") {
			c.T.Errorf("writes of destroy: %q", writes)
		}
		if left := c.ListLeft("terraform"); len(left) > 0 {
			c.T.Errorf("left after destroy: %q", left)
		}
	})
}
