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
	// OperatorSettings is the Secret with the settings of the operator: its own credential, which a backup does not have, and its cloud.
	OperatorSettings = "aso-controller-settings"
)

// endpointVariables are keys of the operator's settings, and variables of the same names from which clusterctl takes the endpoints of both
// providers. AzureASOManaged objects of the established provider have their cloud nowhere else.
var endpointVariables = []string{"AZURE_AUTHORITY_HOST", "AZURE_RESOURCE_MANAGER_ENDPOINT", "AZURE_RESOURCE_MANAGER_AUDIENCE"}

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

// readVariables returns the variables with which clusterctl gives a manager the feature gates, the subscription and the cloud of the installed
// one.
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
	credentials, err := readSecret(ctx, c, credentialsName)
	if err != nil {
		return nil, err
	}
	if subscription := credentials[subscriptionKey]; len(subscription) > 0 {
		out[subscriptionVariable] = base64.StdEncoding.EncodeToString(subscription)
	}
	settings, err := readSecret(ctx, c, OperatorSettings)
	if err != nil {
		return nil, err
	}
	for _, name := range endpointVariables {
		if value := settings[name]; len(value) > 0 {
			out[name] = string(value)
		}
	}
	return out, nil
}

// readSecret returns the content of a Secret of the installation. It is empty if there is none.
func readSecret(ctx context.Context, c client.Reader, name string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Secret %s: %w", name, err)
	}
	return secret.Data, nil
}
