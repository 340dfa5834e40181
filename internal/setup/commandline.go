package setup

import (
	"flag"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
)

// NewFlags returns all flags: those of the manager, of controller-runtime and of logging. The latter include klog's own in addition
// to those of component-base, because existing Deployments set them.
func NewFlags(options *Options, logOptions *logs.Options) (*pflag.FlagSet, error) {
	fs := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	logsv1.AddFlags(logOptions, fs)
	options.AddFlags(fs)
	fs.AddGoFlagSet(flag.CommandLine)
	own := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(own)
	fs.AddGoFlagSet(own) // It does not replace existing flags.
	fs.Bool("version", false, "Print the version and exit.")
	return fs, fs.Set("v", "2")
}

// Groups of flags, in the order of the help.
const (
	generalGroup     = "General"
	syncGroup        = "Synchronization"
	tenancyGroup     = "Tenancy and identities"
	leaderGroup      = "Leader election"
	kubernetesGroup  = "Kubernetes API"
	webhookGroup     = "Webhooks"
	diagnosticsGroup = "Diagnostics and TLS"
	loggingGroup     = "Logging"
	// WithoutEffectGroup has the flags that are accepted and ignored.
	WithoutEffectGroup = "Ineffective"
)

// flagGroups are the groups with their flags. Flags that no group has are those of logging.
var flagGroups = []struct {
	name  string
	flags []string
}{
	{generalGroup, []string{"feature-gates", "unchecked-aso-kinds", "disable-controllers-or-webhooks", "namespace", "watch-filter", "version"}},
	{syncGroup, []string{
		"sync-period", "full-sync-period", "observe", "azurecluster-concurrency", "azuremachine-concurrency", "azuremachinepool-concurrency",
		"azure-request-share",
	}},
	{tenancyGroup, []string{"tenancy", "manager-identity-namespaces", "identity-certificate-folder", "secret-namespaces"}},
	{leaderGroup, []string{
		"leader-elect", "leader-election-namespace", "leader-election-id", "leader-elect-lease-duration", "leader-elect-renew-deadline",
		"leader-elect-retry-period",
	}},
	{kubernetesGroup, []string{"kubeconfig", "kube-api-qps", "kube-api-burst"}},
	{webhookGroup, []string{"webhook-port", "webhook-cert-dir", "webhook-client-ca"}},
	{diagnosticsGroup, []string{
		"health-addr", "diagnostics-address", "insecure-diagnostics", "profiler-address", "enable-tracing", "tls-min-version", "tls-cipher-suites",
		"tls-curve-preferences",
	}},
	{loggingGroup, nil},
	{WithoutEffectGroup, namesWithoutEffect()},
}

func namesWithoutEffect() (names []string) {
	for _, f := range flagsWithoutEffect {
		names = append(names, f.name)
	}
	return names
}

// GroupFlags returns the flags of a set by their purpose, for the help and the documentation.
func GroupFlags(fs *pflag.FlagSet) *cliflag.NamedFlagSets {
	groups := &cliflag.NamedFlagSets{}
	groupOf := map[string]string{}
	for _, group := range flagGroups {
		groups.FlagSet(group.name) // keeps the order
		for _, name := range group.flags {
			groupOf[name] = group.name
		}
	}
	fs.VisitAll(func(f *pflag.Flag) {
		group, ok := groupOf[f.Name]
		if !ok {
			group = loggingGroup
		}
		groups.FlagSet(group).AddFlag(f)
	})
	return groups
}
