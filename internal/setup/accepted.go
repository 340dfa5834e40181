package setup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
)

// flagsWithoutEffect are flags of the established provider that have no effect here. They are accepted so that existing Deployments
// start. The value is the default.
var flagsWithoutEffect = []struct {
	name  string
	value any
	why   string
}{
	{"reconcile-timeout", time.Duration(0), "reconciliations never wait for operations of Azure"},
	{"service-reconcile-timeout", time.Duration(0), "reconciliations never wait for operations of Azure"},
	{"api-call-timeout", time.Duration(0), "reconciliations never wait for operations of Azure"},
	{"reconciler-requeue", time.Duration(0), "objects are reconciled when Azure's operations end"},
	{"debouncing-timer", time.Duration(0), "stable objects are not read again until something changes"},
	{"bootstrap-config-gvk", "", "machines wait for their bootstrap data from any kind of object"},
	{"azuremachinepoolmachine-concurrency", 10, "a reconciliation of a pool includes all its AzureMachinePoolMachines"},
}

// addFlagsWithoutEffect registers flagsWithoutEffect, with the reason in their help.
func addFlagsWithoutEffect(fs *pflag.FlagSet) {
	for _, f := range flagsWithoutEffect {
		usage := "Accepted and without effect: " + f.why + "."
		switch value := f.value.(type) {
		case time.Duration:
			fs.Duration(f.name, value, usage)
		case bool:
			fs.Bool(f.name, value, usage)
		case string:
			fs.String(f.name, value, usage)
		case int:
			fs.Int(f.name, value, usage)
		}
	}
}

// WhyWithoutEffect returns the reason why a feature gate has no effect, or "" if it has one.
func WhyWithoutEffect(gate featuregate.Feature) string {
	why, mine := gatesWithoutEffect[gate]
	if !mine && gate != gateMachinePool && slices.Contains(clusterAPIGates(), gate) {
		why = "the gate belongs to Cluster API's own managers"
	}
	return why
}

// withoutEffect returns the flags and gates that were set and have no effect, each with the reason. They are logged, because users
// may rely on them. Gates with their default value are left out, because manifests repeat defaults.
func (o *Options) withoutEffect() []string {
	var out []string
	for _, f := range flagsWithoutEffect {
		if o.flags != nil && o.flags.Changed(f.name) {
			out = append(out, fmt.Sprintf("--%s: %s", f.name, f.why))
		}
	}
	if slices.Contains(o.DisabledControllers, disableASOSecret) {
		out = append(out, fmt.Sprintf("--disable-controllers-or-webhooks=%s: %s", disableASOSecret,
			"the Azure Service Operator is not installed, so it needs no Secrets"))
	}
	for name, gate := range o.Gates.GetAll() {
		if why := WhyWithoutEffect(name); why != "" && o.Gates.Enabled(name) != gate.Default {
			out = append(out, fmt.Sprintf("--feature-gates=%s: %s", name, why))
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
