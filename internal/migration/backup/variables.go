package backup

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

const (
	credentialsName      = "capz-manager-bootstrap-credentials"
	subscriptionKey      = "subscription-id"
	subscriptionVariable = "AZURE_SUBSCRIPTION_ID_B64"
)

// gateVariables are the variables from which clusterctl takes the feature gates of both providers.
var gateVariables = map[string]string{
	"AKSResourceHealth":                  "EXP_AKS_RESOURCE_HEALTH",
	"APIServerILB":                       "EXP_APISERVER_ILB",
	"ASOAPI":                             "EXP_ASO_API",
	"EdgeZone":                           "EXP_EDGEZONE",
	"MachinePool":                        "EXP_MACHINE_POOL",
	"SkipMachinePoolModelReconciliation": "EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION",
}

// Gate is a feature gate of a manager.
type Gate struct{ Name, Value string }

// ReadGates returns the feature gates of the installed manager, in the order of its flag. It returns none if there is no manager.
func ReadGates(ctx context.Context, c client.Reader) ([]Gate, error) {
	deployment := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: prepareupgrade.ProviderDeployment}, deployment)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Deployment %s: %w", prepareupgrade.ProviderDeployment, err)
	}
	var out []Gate
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, argument := range container.Args {
			list, has := strings.CutPrefix(argument, "--feature-gates=")
			if !has {
				continue
			}
			for gate := range strings.SplitSeq(list, ",") {
				if name, value, set := strings.Cut(gate, "="); set {
					out = append(out, Gate{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
				}
			}
		}
	}
	return out, nil
}

// readVariables returns the variables with which clusterctl gives a manager the feature gates and the subscription of the installed one.
func readVariables(ctx context.Context, c client.Reader) (map[string]string, error) {
	gates, err := ReadGates(ctx, c)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, gate := range gates {
		if variable := gateVariables[gate.Name]; variable != "" {
			out[variable] = gate.Value
		}
	}
	secret := &corev1.Secret{}
	err = c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: credentialsName}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Secret %s: %w", credentialsName, err)
	}
	if subscription := secret.Data[subscriptionKey]; len(subscription) > 0 {
		out[subscriptionVariable] = base64.StdEncoding.EncodeToString(subscription)
	}
	return out, nil
}
