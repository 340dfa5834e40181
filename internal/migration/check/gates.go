package check

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
)

// planGates are the feature gates on which plans depend. Both providers have them.
var planGates = []string{"APIServerILB", "ASOAPI", "EdgeZone", "MachinePool"}

// ReadGates returns the feature gates of the installed manager on which plans depend, as in its flag. A migration gives them to the next
// manager. The result is empty if the manager has none.
func ReadGates(ctx context.Context, c client.Reader) (string, error) {
	gates, err := backup.ReadGates(ctx, c)
	if err != nil {
		return "", err
	}
	var out []string
	for _, gate := range gates {
		if slices.Contains(planGates, gate.Name) {
			out = append(out, gate.Name+"="+gate.Value)
		}
	}
	return strings.Join(out, ","), nil
}
