package compute

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// BlobRoot begins the paths of blobs with boot diagnostics. Azure has them in a storage account, whose name does not lead to the simulator.
const BlobRoot = "/bootdiagnostics/"

// retrieveBootDiagnostics answers with the URI of the serial console log. The error for a machine without boot diagnostics is an assumption.
// Source: https://learn.microsoft.com/rest/api/compute/virtual-machines/retrieve-boot-diagnostics-data
func retrieveBootDiagnostics(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if !body.Bool(r.Body, "properties.diagnosticsProfile.bootDiagnostics.enabled") {
		return nil, provider.Errorf(409, "OperationNotAllowed", "Boot diagnostics is not enabled for %s.", r.Name())
	}
	return provider.OK(body.Object{"serialConsoleLogBlobUri": c.BaseURL + BlobRoot + body.String(r.Body, "properties.vmId") +
		".serialconsole.log?sv=2018-03-28&sr=b&sig=" + c.NewGUID()}), nil
}

// ConsoleKey is the key of the note with the text that a guest has written to its serial console.
func ConsoleKey(vmID string) string { return "console/" + vmID }
