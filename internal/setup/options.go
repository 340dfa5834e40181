package setup

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/featuregate"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/diagnostics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lastwrites"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// Options are the settings of the manager from flags and the environment.
type Options struct {
	LeaderElect                 bool
	LeaderElectionNamespace     string
	LeaderElectionID            string
	LeaseDuration               time.Duration
	RenewDeadline               time.Duration
	RetryPeriod                 time.Duration
	Namespace                   string
	SecretNamespaces            []string
	WatchFilter                 string
	AzureClusterConcurrency     int
	AzureMachineConcurrency     int
	AzureMachinePoolConcurrency int
	SyncPeriod                  time.Duration
	FullSyncPeriod              time.Duration
	Observe                     bool
	AzureRequestShare           float64
	HealthAddress               string
	WebhookPort                 int
	WebhookCertDir              string
	WebhookClientCA             string
	DisabledControllers         []string
	KubernetesQPS               float32
	KubernetesBurst             int
	Diagnostics                 diagnostics.Options
	UncheckedASOKinds           []string
	Gates                       featuregate.MutableVersionedFeatureGate
	Identity                    identity.Options
	Version                     string
	// WebhookHost is the listen address of the webhook server; "" is all addresses. Tests use one per manager.
	WebhookHost string
	// Transport sends every request to Azure; nil means azcore's default. Tests direct it to the simulator.
	Transport policy.Transporter
	// Clock is the clock of the engine and of the work queues; nil means the system's. Tests advance it instead of waiting for a retry.
	Clock engine.Clock
	// EnableTracing sends traces to the collector of the standard variables, or to tracing.DefaultEndpoint.
	EnableTracing bool
	// Traces say where traces are sent; nil sends none.
	Traces *tracing.Options
	// Plan is set if the controllers only plan; nil is a manager.
	Plan *PreviewDependencies
	// SkipNameValidation allows several managers in one process, for tests.
	SkipNameValidation bool

	// flags are the flags that AddFlags registered.
	flags *pflag.FlagSet
}

// gracePeriod is the time limit for workers to stop. It is less than the pod's, so that the lease is released before the pod is
// killed.
const gracePeriod = 20 * time.Second

// Values of --disable-controllers-or-webhooks.
const (
	// disableAzureJSONMachine turns off azure.json for machines without a template.
	disableAzureJSONMachine = "DisableAzureJSONMachineController"
	// disableASOSecret is accepted without effect: there is no controller for the Secrets of the Azure Service Operator.
	disableASOSecret = "DisableASOSecretController"
)

// AddFlags registers the flags. Names and defaults are those of the established provider. Its flags without effect here are
// accepted, with the reason in their help, so that existing Deployments start.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.EnableTracing, "enable-tracing", false, "Send traces to "+tracing.DefaultEndpoint+
		". The variable OTEL_EXPORTER_OTLP_ENDPOINT names another collector, and enables traces without this flag.")
	fs.BoolVar(&o.LeaderElect, "leader-elect", false, "Elect a leader, so that only one of several managers reconciles objects.")
	fs.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"Namespace of the leader election lease. The default is the namespace of the manager.")
	fs.StringVar(&o.LeaderElectionID, "leader-election-id", leaderElectionID,
		"Name of the leader election lease. Managers with the same lease take over from each other. Managers that divide the objects with "+
			"--watch-filter or --namespace need a lease each.")
	fs.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second,
		"Time after the last renewal of the lease after which another manager can become the leader.")
	fs.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"Time during which the leader tries to renew its lease before it exits.")
	fs.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "Time between two attempts to get or renew the lease.")
	fs.StringVar(&o.Namespace, "namespace", "", "Namespace to watch. The default is all namespaces.")
	fs.StringSliceVar(&o.SecretNamespaces, "secret-namespaces", nil,
		"Namespaces of Secrets and ConfigMaps to watch, for a manager that may not read those of other namespaces. The default is all namespaces.")
	fs.StringVar(&o.WatchFilter, "watch-filter", "",
		fmt.Sprintf("Value of the label %s that objects must have. By default, objects need no such label.", clusterv1.WatchLabel))
	fs.IntVar(&o.AzureClusterConcurrency, "azurecluster-concurrency", 10,
		"Number of AzureClusters, and number of AKS control planes, that are reconciled at the same time.")
	fs.IntVar(&o.AzureMachineConcurrency, "azuremachine-concurrency", 30, "Number of AzureMachines that are reconciled at the same time.")
	fs.IntVar(&o.AzureMachinePoolConcurrency, "azuremachinepool-concurrency", 10,
		"Number of AzureMachinePools, number of AzureManagedMachinePools, and number of AzureASOManagedMachinePools, that are reconciled at the same time.")
	fs.DurationVar(&o.SyncPeriod, "sync-period", 10*time.Minute,
		"Interval of the regular sync, which reads the resources of stable objects from Azure again. Catalogs of VM sizes, zones and regions are also read again after this interval, and after ten minutes at the earliest.")
	fs.DurationVar(&o.FullSyncPeriod, "full-sync-period", time.Hour,
		"Interval of the full sync, which reads every resource. The regular sync reads only resources that Azure's list shows as changed. 0, or a value up to --sync-period, makes every sync a full one.")
	fs.BoolVar(&o.Observe, "observe", false,
		"Write nothing to Azure. The condition Drifted of each object lists the writes that the manager would send. The annotation "+
			infrav1.ObserveAnnotation+" does the same for an object, a Cluster or a Namespace.")
	fs.Float64Var(&o.AzureRequestShare, "azure-request-share", 1,
		"Share of Azure's request limits that this manager uses, more than 0 and at most 1. Set it if several managers send requests "+
			"with the same identity to the same subscription. The sum of their shares must not exceed 1.")
	fs.StringVar(&o.HealthAddress, "health-addr", ":9440", "Address of the health endpoint.")
	fs.IntVar(&o.WebhookPort, "webhook-port", 9443, "Port of the webhook server.")
	fs.StringVar(&o.WebhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/",
		"Folder with tls.crt and tls.key of the webhook server.")
	fs.StringVar(&o.WebhookClientCA, "webhook-client-ca", "",
		"File in --webhook-cert-dir with the CA certificates of webhook clients. If it is set, only clients with a certificate of these CAs, such as the API server's, can call webhooks. By default every client can call them.")
	addTenancyFlags(fs, &o.Identity)
	fs.StringSliceVar(&o.DisabledControllers, "disable-controllers-or-webhooks", nil, "Controllers to disable: "+disableAzureJSONMachine+".")
	fs.Float32Var(&o.KubernetesQPS, "kube-api-qps", 500, "Queries per second to the Kubernetes API server.")
	fs.IntVar(&o.KubernetesBurst, "kube-api-burst", 1000, "Queries to the Kubernetes API server in one burst.")
	fs.StringSliceVar(&o.UncheckedASOKinds, strings.TrimPrefix(aso.UncheckedKindsFlag, "--"), nil,
		"Kinds of resource manifests of AzureASOManaged objects that are sent to Azure without a check, because the provider has no definition of them. "+
			"They are refused by default, and always with an AzureClusterIdentity of another namespace unless tenants are trusted. A group with /* selects all its kinds. Supported: "+
			strings.Join(aso.ListUncheckedKinds(), ", ")+".")
	o.Diagnostics.AddFlags(fs)
	o.Gates = newGates()
	o.Gates.AddFlag(fs)
	addFlagsWithoutEffect(fs)
	o.flags = fs
}

// CheckUncheckedASOKinds refuses kinds that need no permission, or cannot have it.
func (o *Options) CheckUncheckedASOKinds() error { return aso.CheckUncheckedKinds(o.UncheckedASOKinds) }

// Validate refuses values that would be ignored otherwise.
func (o *Options) Validate() error {
	for _, name := range o.DisabledControllers {
		if !slices.Contains([]string{disableAzureJSONMachine, disableASOSecret}, name) {
			return fmt.Errorf("--disable-controllers-or-webhooks: %q is not known, use %s", name, disableAzureJSONMachine)
		}
	}
	if err := o.CheckUncheckedASOKinds(); err != nil {
		return err
	}
	if o.FullSyncPeriod < 0 {
		return fmt.Errorf("--full-sync-period: %s is negative; use 0 to make every sync a full one", o.FullSyncPeriod)
	}
	// NaN fails both comparisons of the allowed range.
	if !(o.AzureRequestShare > 0 && o.AzureRequestShare <= 1) {
		return fmt.Errorf("--azure-request-share: %v is not more than 0 and at most 1; use 1 divided by the number of managers",
			o.AzureRequestShare)
	}
	if errs := validation.IsDNS1123Subdomain(o.LeaderElectionID); len(errs) > 0 {
		return fmt.Errorf("--leader-election-id: %q is not the name of a Lease: %s", o.LeaderElectionID, strings.Join(errs, "; "))
	}
	return o.validateTenancy()
}

// fullSyncPeriod returns the period of full syncs, or 0 if every sync is a full one.
func (o *Options) fullSyncPeriod() time.Duration {
	if o.FullSyncPeriod <= o.SyncPeriod {
		return 0
	}
	return o.FullSyncPeriod
}

// uncachedObjects are read from the API server when they are needed, so that a rotated Secret takes effect at once and none stays in memory.
var uncachedObjects = []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}

// managerOptions returns the options of the controller manager, and the TLS options of all its servers.
func (o *Options) managerOptions() (ctrl.Options, []func(*tls.Config), error) {
	tlsOptions, err := o.Diagnostics.TLS()
	if err != nil {
		return ctrl.Options{}, nil, err
	}
	shared := new(sharer)
	cacheOptions := cache.Options{DefaultTransform: shared.transform, ByObject: map[client.Object]cache.ByObject{}}
	if o.Namespace != "" {
		cacheOptions.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	for _, kind := range []string{"Secret", "ConfigMap"} {
		metadata := &metav1.PartialObjectMetadata{}
		metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		cacheOptions.ByObject[metadata] = o.metadataOnlyCache(shared)
	}
	return ctrl.Options{
		Scheme:                     newScheme(),
		LeaderElection:             o.LeaderElect,
		LeaderElectionID:           o.LeaderElectionID,
		LeaderElectionNamespace:    o.LeaderElectionNamespace,
		LeaseDuration:              &o.LeaseDuration,
		RenewDeadline:              &o.RenewDeadline,
		RetryPeriod:                &o.RetryPeriod,
		LeaderElectionResourceLock: resourcelock.LeasesResourceLock,
		// The process exits when the manager stops, so the lease can be released at once for the next leader.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(gracePeriod),
		HealthProbeBindAddress:        o.HealthAddress,
		Metrics:                       o.Diagnostics.Metrics(tlsOptions),
		Cache:                         cacheOptions,
		Controller:                    config.Controller{SkipNameValidation: &o.SkipNameValidation},
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: uncachedObjects}},
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			c, err := client.New(config, options)
			if err != nil {
				return nil, err
			}
			return lastwrites.NewClient(c, time.Now, uncachedObjects...), nil
		},
		WebhookServer: newGuarded(webhook.NewServer(webhook.Options{
			Host: o.WebhookHost, Port: o.WebhookPort, CertDir: o.WebhookCertDir, TLSOpts: tlsOptions, ClientCAName: o.WebhookClientCA,
		})),
	}, tlsOptions, nil
}

// metadataOnlyCache returns the cache options of Secrets and ConfigMaps. Only their metadata is cached, without annotations, because kubectl
// apply stores a copy of the content in an annotation.
func (o *Options) metadataOnlyCache(shared *sharer) cache.ByObject {
	out := cache.ByObject{Transform: func(obj any) (any, error) {
		if metadata, ok := obj.(*metav1.PartialObjectMetadata); ok {
			metadata.Annotations, metadata.ManagedFields = nil, nil
			shared.shareStrings(metadata)
		}
		return obj, nil
	}}
	for _, namespace := range o.SecretNamespaces {
		if out.Namespaces == nil {
			out.Namespaces = map[string]cache.Config{}
		}
		out.Namespaces[namespace] = cache.Config{}
	}
	return out
}
