package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// planGates are the feature gates on which plans depend. Both providers have them.
var planGates = []string{"APIServerILB", "ASOAPI", "EdgeZone", "MachinePool"}

// ReadGates returns the feature gates of the installed manager on which plans depend, as in its flag. clusterctl takes the gates of both
// providers from the same variables, so the next manager has them as well. The result is empty if the manager has none.
func ReadGates(ctx context.Context, c client.Reader) (string, error) {
	deployment := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: prepareupgrade.ProviderDeployment}, deployment)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("get Deployment %s: %w", prepareupgrade.ProviderDeployment, err)
	}
	var out []string
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, argument := range container.Args {
			list, _ := strings.CutPrefix(argument, "--feature-gates=")
			for gate := range strings.SplitSeq(list, ",") {
				if name, _, set := strings.Cut(gate, "="); set && slices.Contains(planGates, strings.TrimSpace(name)) {
					out = append(out, strings.TrimSpace(gate))
				}
			}
		}
	}
	return strings.Join(out, ","), nil
}
