package standin

import "strings"

const workspaces = "Microsoft.OperationalInsights/workspaces"

// rows are by type in lower case.
var rows = func() map[string]row {
	out := map[string]row{}
	for _, of := range []map[string]row{monitorRows, vaultRows, storageRows, registryRows, fleetRows, clusterRows, computeRows, networkRows} {
		for name, r := range of {
			out[strings.ToLower(name)] = r
		}
	}
	return out
}()
