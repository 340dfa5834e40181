package server_test

import (
	"strings"
	"testing"
)

// TestSubnetOfANetworkThatIsDeleted: for as long as a network is being deleted, nothing new comes into its subnets.
func TestSubnetOfANetworkThatIsDeleted(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	if r := a.sendRequest("DELETE", net+"/virtualNetworks/vnet", nil); r.status != 202 {
		t.Fatalf("DELETE = %d %v", r.status, r.body)
	}
	r := a.sendRequest("PUT", net+"/networkInterfaces/nic", newNIC("cp", nil))
	expectCode(t, "a new interface", r, "RetryableError/ReferencedResourceNotProvisioned")
	if message, _ := r.valueAt("error.details.0.message").(string); !strings.Contains(message, net+"/virtualNetworks/vnet used by") ||
		!strings.Contains(message, "DeleteVirtualNetworkOperation") {
		t.Errorf("the message is %q, want one that names the network", message)
	}
	a.sim.Settle()
	expectCode(t, "an interface after the deletion", a.sendRequest("PUT", net+"/networkInterfaces/nic", newNIC("cp", nil)),
		"InvalidResourceReference/")
	if r := a.sendRequest("GET", net+"/virtualNetworks/vnet", nil); r.status != 404 {
		t.Errorf("the network still exists: %d", r.status)
	}
}
