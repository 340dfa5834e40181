package reference

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register" // The manager has the format json, too.

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup"
)

// managerVariables are the variables of the environment that the manager reads. A test compares them with the code.
var managerVariables = map[string]string{
	"AZURE_AUTHORITY_HOST":            "endpoint of Entra ID. The default is that of `azureEnvironment`",
	"AZURE_RESOURCE_MANAGER_ENDPOINT": "endpoint of Azure Resource Manager. The default is that of `azureEnvironment`",
	"AZURE_RESOURCE_MANAGER_AUDIENCE": "audience of tokens for Azure Resource Manager. The default is that of `azureEnvironment`",
	"AZURE_FEDERATED_TOKEN_FILE":      "file with the manager's own token, for identities that use it",
	"AZURE_SUBSCRIPTION_ID":           "subscription of clusters without `subscriptionID`",
	"POD_NAMESPACE":                   "namespace of a manager without the file of a service account, for example outside of a pod. It is the default of `--manager-identity-namespaces`",
	"OTEL_SDK_DISABLED":               "`true` sends no traces",
	"OTEL_TRACES_EXPORTER":            "`none` sends no traces",
	"OTEL_EXPORTER_OTLP_*":            "collector of traces, its headers and timeouts: [traces](../traces.md)",
}

// kubeconfig is the only flag of the manager among those of the process. The others are those of the test that runs.
const kubeconfig = "kubeconfig"

// renderManager returns the page of flags, feature gates and variables.
func renderManager() (*page, error) {
	options := &setup.Options{}
	fs, err := setup.NewFlags(options, logs.NewOptions())
	if err != nil {
		return nil, err
	}
	p := newPage("Flags and variables of the manager", "Look up a flag, feature gate or environment variable of the manager. [Configure the manager](../manager.md) describes its Deployment and the variables of clusterctl.")
	groups := setup.GroupFlags(fs)
	for _, name := range groups.Order {
		title := name + " flags"
		if name == setup.WithoutEffectGroup {
			title = "Flags without effect"
		}
		p.heading(2, title)
		if name == setup.WithoutEffectGroup {
			p.paragraph("These flags of the established provider are accepted, so that existing Deployments start, and do nothing.")
		}
		var rows [][]string
		groups.FlagSets[name].VisitAll(func(f *pflag.Flag) {
			if flag.Lookup(f.Name) == nil || f.Name == kubeconfig {
				rows = append(rows, flagRow(f))
			}
		})
		p.table([]string{"Flag", "Default", "Meaning"}, rows)
	}
	p.heading(2, "Feature gates")
	p.paragraph("`--feature-gates=NAME=true,OTHER=false` turns gates on and off.")
	var gates, without [][]string
	for name, gate := range options.Gates.GetAll() {
		row := []string{code(string(name)), string(gate.PreRelease), fmt.Sprint(gate.Default)}
		if why := setup.WhyWithoutEffect(name); why != "" {
			without = append(without, append(row, plain(why)))
		} else {
			gates = append(gates, row)
		}
	}
	byName := func(a, b []string) int { return strings.Compare(a[0], b[0]) }
	slices.SortFunc(gates, byName)
	slices.SortFunc(without, byName)
	p.table([]string{"Gate", "Stage", "Default"}, gates)
	p.heading(2, "Feature gates without effect")
	p.paragraph("These gates are accepted, so that all providers can have the same arguments, and do nothing.")
	p.table([]string{"Gate", "Stage", "Default", "Why"}, without)
	p.heading(2, "Variables of the environment")
	var variables [][]string
	for name, meaning := range managerVariables {
		variables = append(variables, []string{code(name), meaning})
	}
	slices.SortFunc(variables, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	p.table([]string{"Variable", "Meaning"}, variables)
	return p, nil
}

// flagRow returns the row of a flag. The list of gates has a table of its own.
func flagRow(f *pflag.Flag) []string {
	kind, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if kind != "" {
		name += " " + kind
	}
	usage, _, _ = strings.Cut(usage, " Options are:")
	value := ""
	if f.DefValue != "" && f.DefValue != "[]" {
		value = code(f.DefValue)
	}
	return []string{code(name), value, plain(usage)}
}
