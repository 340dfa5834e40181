package setup

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"net/http/pprof"
	"strings"

	"sigs.k8s.io/cluster-api/util/flags"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Who asks for diagnostics is authenticated by a TokenReview and authorized by a SubjectAccessReview.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// profiles is the folder of what a profile of the process is asked from.
const profiles = "/debug/pprof/"

// diagnostics are the options of what is served over TLS, and of the metrics without the profiles that Cluster API puts
// beside them: those need a flag of their own.
func (o *Options) diagnostics() ([]func(*tls.Config), *metricsserver.Options, error) {
	tlsOptions, metrics, err := flags.GetManagerOptions(o.Manager)
	if err != nil {
		return nil, nil, fmt.Errorf("flags: %w", err)
	}
	tlsOptions = append(tlsOptions, withoutHTTP2)
	metrics.TLSOpts = tlsOptions
	maps.DeleteFunc(metrics.ExtraHandlers, func(path string, _ http.Handler) bool { return strings.HasPrefix(path, profiles) })
	return tlsOptions, metrics, nil
}

// withoutHTTP2 leaves HTTP/1.1 alone. Nobody who asks a manager needs many streams on a connection, and resetting them by the
// thousand is an attack on the server: CVE-2023-44487, CVE-2023-39325.
func withoutHTTP2(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }

// addProfiles serves profiles where --profiler-address says, to whom the API server allows to get their paths: a profile has
// what is in memory, names and all.
func (o *Options) addProfiles(mgr ctrl.Manager, tlsOptions []func(*tls.Config)) error {
	if o.ProfilerAddress == "" {
		return nil
	}
	server, err := metricsserver.NewServer(metricsserver.Options{
		BindAddress: o.ProfilerAddress, SecureServing: true, TLSOpts: tlsOptions, FilterProvider: filters.WithAuthenticationAndAuthorization,
		ExtraHandlers: map[string]http.Handler{
			profiles:             http.HandlerFunc(pprof.Index),
			profiles + "cmdline": http.HandlerFunc(pprof.Cmdline),
			profiles + "profile": http.HandlerFunc(pprof.Profile),
			profiles + "symbol":  http.HandlerFunc(pprof.Symbol),
			profiles + "trace":   http.HandlerFunc(pprof.Trace),
		},
	}, mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	return mgr.Add(server)
}
